"""Verifies a pattern when somebody asks for it: a page as it is rendered now, and as the pattern makes it now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct, structs

from actors.learner.patterns import answers
from actors.learner.patterns.sources.source import slots_of
from actors.learner.patterns.store import PatternStore
from actors.patterns.addresses import match
from actors.patterns.mapping import DriftError, agreement, render
from actors.patterns.shapes import drift_of
from actors.patterns.trust import after_check
from bus import Requester
from protocol.browse import BrowseOptions, Freshness
from protocol.documents import WebObservationSummary
from protocol.faults import Code, FaultError, fault
from protocol.pages import BrowsePage
from protocol.patterns.api_calls import ApiAnswers, AskApi
from protocol.patterns.listing import PatternVerdict, VerifyPattern
from protocol.patterns.mapping import PageMapping
from protocol.patterns.pattern import ApiRequest, PagePattern
from protocol.subjects import API_ASK, BROWSE

RENDER_MS: Final = 45_000
"""What a page may take to be rendered."""


class PatternVerification(Struct, frozen=True):
    """Has pages rendered, and compares; what that teaches is written down."""

    store: PatternStore
    bus: Requester
    clock: Callable[[], int]

    async def verify(self, pattern: PagePattern, request: VerifyPattern) -> PatternVerdict:
        """Compare a page with how its pattern makes it; of a hint its API alone is asked; raises as PATTERN_VERIFY."""
        url, slots = _page_of(pattern, request.url)
        requests, values = answers.prepared(pattern, slots)
        try:
            answered = await ask_api(
                self.bus, pattern, requests, values, login=request.login, freshness=Freshness.REALTIME
            )
        except FaultError as error:
            why = error.fault.message
            return PatternVerdict(pattern=answers.info(pattern, self.clock()), answered=False, reason=why)
        if pattern.mapping is None or not url:
            return PatternVerdict(pattern=answers.info(pattern, self.clock()), answered=True)
        rendered = await self._rendered(pattern, url, request)
        verdict, is_sure = self._compared(pattern, pattern.mapping, _Both(url, slots, answered, rendered))
        if is_sure:
            pattern = await self._checked(pattern, url, same=verdict.same is True)
        return structs.replace(verdict, pattern=answers.info(pattern, self.clock()))

    async def _rendered(self, pattern: PagePattern, url: str, request: VerifyPattern) -> WebObservationSummary:
        options = BrowseOptions(
            max_latency_ms=RENDER_MS,
            freshness_requirement=Freshness.REALTIME,
            session_profile=pattern.profile or None,
        )
        page = BrowsePage(
            url=url, options=options, caller=pattern.caller, login=request.login, single_shot=True, rendered=True
        )
        browsed = await self.bus.call(BROWSE, page, timeout_ms=RENDER_MS)
        return browsed.page.document.content

    def _compared(self, pattern: PagePattern, mapping: PageMapping, both: _Both) -> tuple[PatternVerdict, bool]:
        """Return the verdict, and whether it is sure: the page may show a line that extraction has left out of it.

        Its sample tells that, and is learned from like any other.
        """
        verdict = PatternVerdict(pattern=answers.info(pattern, self.clock()), answered=True)
        drifts = (drift_of(shape, answer) for shape, answer in zip(pattern.shapes, both.answered.answers, strict=False))
        if (drift := next((one for one in drifts if one is not None), None)) is not None:
            return structs.replace(verdict, same=False, reason=f"{drift[0].value} at {drift[1]}"), True
        try:
            now = datetime.fromtimestamp(self.clock() / 1000, UTC)
            made = render(mapping, both.answered.answers, both.url, both.slots, now)
        except DriftError as error:
            return structs.replace(verdict, same=False, reason=f"{error.drift.value} at {error.where}"), True
        likeness = agreement(made, both.rendered)
        verdict = structs.replace(
            verdict, same=likeness.same, fields=likeness.fields, text=likeness.text, unlike=likeness.unlike
        )
        return verdict, likeness.same or not 0 < likeness.lines == likeness.extra

    async def _checked(self, pattern: PagePattern, url: str, *, same: bool) -> PagePattern:
        """Write down what was found, unless the page has taught it already as a sample."""

        async def decide() -> tuple[Iterable[PagePattern], Iterable[str]]:
            current = self.store.get(pattern.pattern_id)
            if current is None or current.version != pattern.version:
                return (), ()
            return (after_check(current, same, url, self.clock()),), ()

        await self.store.change(decide)
        return self.store.get(pattern.pattern_id) or pattern


class _Both(Struct, frozen=True):
    """A page as it was rendered, and what its API answers for it."""

    url: str
    slots: Mapping[str, str]
    answered: ApiAnswers
    rendered: WebObservationSummary


async def ask_api(  # noqa: PLR0913 - a pattern, what is asked by it, and as whom
    bus: Requester,
    pattern: PagePattern,
    requests: Sequence[ApiRequest],
    slots: Mapping[str, str],
    *,
    login: bytes = b"",
    freshness: Freshness = Freshness.ANY,
) -> ApiAnswers:
    """Ask the requests of a pattern, with the login that it was learned with; raises why there is no answer."""
    order = AskApi(
        site=answers.site_of_call(pattern),
        requests=tuple(requests),
        slots=dict(slots),
        freshness=freshness,
        session=pattern.profile or None,
        caller=pattern.caller,
        login=login,
    )
    return await bus.call(API_ASK, order)


def _page_of(pattern: PagePattern, url: str | None) -> tuple[str, dict[str, str]]:
    """Return the page that a pattern is verified by, and the values that its address has for the slots.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, it is none of the pattern's pages, or none is named and it has several.
    """
    if not pattern.page:
        return "", {}
    page = url or ("" if slots_of(pattern.page) else pattern.page)
    slots = match(pattern.page, page) if page else None
    if slots is None:
        message = "url: name a page that the pattern is for" if not page else "url: it is no page of the pattern"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="url"))
    return page, slots
