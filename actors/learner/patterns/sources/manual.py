"""The APIs that the operator has written down, in a file of the form of `config/patterns.toml`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from msgspec import Struct

from actors.learner.patterns.sources.known import KnownApi, endpoints
from actors.learner.patterns.sources.source import Ask, hints
from protocol.patterns.pattern import PagePattern, PatternSource
from protocol.patterns.sample import PageSample


class Manual(Struct, frozen=True):
    """What the operator says; the file is read anew whenever it has changed."""

    name: ClassVar[PatternSource] = PatternSource.MANUAL

    apis: Callable[[], tuple[KnownApi, ...]] = tuple

    async def find(self, sample: PageSample, ask: Ask) -> tuple[PagePattern, ...]:  # noqa: ARG002 - it asks nobody
        """Return the operator's APIs of the page's host."""
        return hints(self.name, sample, endpoints(self.apis(), sample.final_url))
