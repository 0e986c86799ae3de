"""The APIs of well-known sites that Weft ships (`config/patterns.toml`)."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from actors.learner.patterns.sources.known import KNOWN_APIS, KnownApi, endpoints
from actors.learner.patterns.sources.source import Ask, hints
from protocol.patterns.pattern import PagePattern, PatternSource
from protocol.patterns.sample import PageSample


class Bootstrap(Struct, frozen=True):
    """What is known before the first visit."""

    name: ClassVar[PatternSource] = PatternSource.BOOTSTRAP

    apis: tuple[KnownApi, ...] = KNOWN_APIS.shipped.api

    async def find(self, sample: PageSample, ask: Ask) -> tuple[PagePattern, ...]:  # noqa: ARG002 - it asks nobody
        """Return the shipped APIs of the page's host."""
        return hints(self.name, sample, endpoints(self.apis, sample.final_url))
