"""What users have corrected: the address that one of them holds to be right in the place of a pattern's."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import ClassVar, Final

from actors.learner.patterns.sources.source import ApiEndpoint, Ask, HintOrigin, domain_of
from protocol.patterns.pattern import PagePattern, PatternSource
from protocol.patterns.sample import PageSample

MAX_CORRECTIONS: Final = 1_000
"""Corrections that a replica remembers."""


@dataclass
class UserFeedback:
    """Makes hints of corrections, and finds them again when a page of their domain is shown."""

    name: ClassVar[PatternSource] = PatternSource.USER_FEEDBACK

    _corrected: OrderedDict[str, PagePattern] = field(default_factory=OrderedDict[str, PagePattern], repr=False)

    def correct(self, pattern: PagePattern, url: str, at_ms: int) -> PagePattern | None:
        """Return the hint that a pattern would be with this address, a template; None where that may not be asked."""
        page_url = pattern.page or pattern.requests[0].url
        hint_origin = HintOrigin(self.name, page_url, at_ms, pattern.profile, pattern.caller)
        hint = hint_origin.hint(ApiEndpoint(url=url, page=pattern.page, reason=f"corrects {pattern.pattern_id}"))
        if hint is not None:
            self._corrected[hint.pattern_id] = hint
            self._corrected.move_to_end(hint.pattern_id)
            if len(self._corrected) > MAX_CORRECTIONS:
                self._corrected.popitem(last=False)
        return hint

    async def find(self, sample: PageSample, ask: Ask) -> tuple[PagePattern, ...]:  # noqa: ARG002 - it asks nobody
        """Return the corrections for the page's host of who has shown it."""
        owner = (domain_of(sample.final_url), sample.profile, sample.caller)
        return tuple(one for one in self._corrected.values() if (one.domain, one.profile, one.caller) == owner)
