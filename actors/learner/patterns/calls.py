"""Answers what is asked about patterns over the bus: lists, files, judgements, and calls of their APIs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from msgspec import UNSET

from actors.gcra import Rate, earliest, taken
from actors.learner.patterns import answers
from actors.learner.patterns.answers import Import
from actors.learner.patterns.sources.source import host_of
from actors.learner.patterns.sources.user_feedback import UserFeedback
from actors.learner.patterns.store import PatternStore
from actors.learner.patterns.verification import PatternVerification, ask_api
from actors.page_addresses import page_address
from bus import Requester
from protocol.faults import Code, FaultError, fault, rate_limited
from protocol.patterns.listing import (
    MAX_FEEDBACK_A_MINUTE,
    ApiCalled,
    AskPattern,
    CallApi,
    ExportPatterns,
    ForgottenPattern,
    ImportedPatterns,
    ImportPatterns,
    JudgePattern,
    ListPatterns,
    PatternFile,
    PatternJudged,
    PatternList,
    PatternVerdict,
    PatternView,
    VerifyPattern,
)
from protocol.patterns.pattern import PagePattern

MAX_OPINIONS: Final = 10_000
MAX_CALLERS: Final = 10_000
FEEDBACK: Final = Rate.per_minute(MAX_FEEDBACK_A_MINUTE, MAX_FEEDBACK_A_MINUTE)


@dataclass
class PatternCalls:
    """Answers from the patterns that this replica knows, and writes what follows from what callers say."""

    store: PatternStore
    bus: Requester
    clock: Callable[[], int]
    corrections: UserFeedback = field(default_factory=UserFeedback)
    _judged: OrderedDict[str, float] = field(default_factory=OrderedDict[str, float], init=False)
    _opinions: OrderedDict[tuple[str, str], int] = field(default_factory=OrderedDict[tuple[str, str], int], init=False)
    """How far each caller has moved each pattern, in steps: by one at most, or one caller would decide for all."""

    def list(self, request: ListPatterns) -> PatternList:
        """List patterns that the caller may know of."""
        return answers.listed(self._of(request.domain), request, self.clock())

    def show(self, request: AskPattern) -> PatternView:
        """Return one pattern; raises VALIDATION_UNKNOWN_PATTERN, also for one of somebody else's login."""
        pattern = answers.visible(self.store.get(request.pattern_id), request)
        return PatternView(pattern=answers.info(pattern, self.clock()), shapes=pattern.shapes)

    async def forget(self, request: AskPattern) -> ForgottenPattern:
        """Forget one pattern; raises as `show`."""
        answers.visible(self.store.get(request.pattern_id), request)

        async def decide() -> tuple[Iterable[PagePattern], Iterable[str]]:
            return (), () if self.store.get(request.pattern_id) is None else (request.pattern_id,)

        await self.store.change(decide)
        return ForgottenPattern(pattern_id=request.pattern_id)

    def export(self, request: ExportPatterns) -> PatternFile:
        """Return what others may have of patterns."""
        return answers.exported(self._of(request.domain))

    async def import_file(self, request: ImportPatterns) -> ImportedPatterns:
        """Keep the patterns of a file as hints."""
        done = Import(())

        async def decide() -> tuple[Iterable[PagePattern], Iterable[str]]:
            nonlocal done
            done = Import(self.store.all())
            done.take(request.file, self.clock())
            return done.new.values(), ()

        await self.store.change(decide)
        return done.answer()

    async def feedback(self, request: JudgePattern) -> PatternJudged:
        """Take in what a caller says of a pattern.

        Raises:
            FaultError: VALIDATION_UNKNOWN_PATTERN; RATE_LIMIT_EXCEEDED; VALIDATION_INVALID_REQUEST for a correction
                that may not be asked.
        """
        self._check_rate(request.caller)
        before = answers.visible(self.store.get(request.pattern_id), request)
        now_ms = self.clock()
        correction = self._correction(before, request.correct_url, now_ms)
        steps = self._steps(request)
        after, shift = answers.judged(before, steps=steps, now_ms=now_ms)

        async def decide() -> tuple[Iterable[PagePattern], Iterable[str]]:
            nonlocal after, shift
            pattern = answers.visible(self.store.get(request.pattern_id), request)
            after, shift = answers.judged(pattern, steps=steps, now_ms=now_ms)
            is_new = correction is not None and self.store.get(correction.pattern_id) is None
            return (after, correction) if correction is not None and is_new else (after,), ()

        await self.store.change(decide)
        corrected = UNSET if correction is None else answers.info(correction, now_ms)
        return PatternJudged(pattern=answers.info(after, now_ms), shift=shift, correction=corrected)

    def _correction(self, pattern: PagePattern, url: str | None, now_ms: int) -> PagePattern | None:
        if url is None:
            return None
        hint = self.corrections.correct(pattern, url, now_ms)
        if hint is None:
            message = "correctUrl: it is no address of the same site that may be asked"
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="correctUrl"))
        return hint

    def _steps(self, request: JudgePattern) -> int:
        key = (request.caller, request.pattern_id)
        former = self._opinions.get(key, 0)
        self._opinions[key] = min(max(former + (1 if request.helpful else -1), -1), 1)
        self._opinions.move_to_end(key)
        if len(self._opinions) > MAX_OPINIONS:
            self._opinions.popitem(last=False)
        return self._opinions[key] - former

    def _check_rate(self, caller: str) -> None:
        now_ms = self.clock()
        arrival = self._judged.get(caller, 0.0)
        wait_ms = earliest(FEEDBACK, arrival, now_ms) - now_ms
        if wait_ms > 0:
            raise FaultError(rate_limited(f"Feedback is taken {MAX_FEEDBACK_A_MINUTE} times a minute.", round(wait_ms)))
        self._judged[caller] = taken(FEEDBACK, arrival, now_ms)
        self._judged.move_to_end(caller)
        if len(self._judged) > MAX_CALLERS:
            self._judged.popitem(last=False)

    async def call(self, request: CallApi) -> ApiCalled:
        """Ask the API of a pattern.

        Raises:
            FaultError: VALIDATION_UNKNOWN_PATTERN; VALIDATION_INVALID_REQUEST for its parameters; why there is no
                answer.
        """
        pattern = answers.visible(self.store.get(request.pattern_id), request)
        requests, slots = answers.prepared(pattern, request.parameters)
        answered = await ask_api(self.bus, pattern, requests, slots, login=request.login)
        return ApiCalled(
            pattern_id=pattern.pattern_id,
            urls=answered.urls,
            answers=answered.answers,
            from_cache=answered.from_cache,
        )

    async def verify(self, request: VerifyPattern) -> PatternVerdict:
        """Render a page, have its pattern make it, and compare; of a hint its API alone is asked.

        Raises:
            FaultError: VALIDATION_UNKNOWN_PATTERN; VALIDATION_INVALID_REQUEST for no page of the pattern; why the page
                was not to be had.
        """
        pattern = answers.visible(self.store.get(request.pattern_id), request)
        return await self.verification.verify(pattern, request)

    @property
    def verification(self) -> PatternVerification:
        """What compares pages with those that are rendered."""
        return PatternVerification(self.store, self.bus, self.clock)

    def _of(self, domain: str | None) -> tuple[PagePattern, ...]:
        """Return the patterns of a host and of those below it, or all."""
        kept = self.store.all()
        if domain is None:
            return kept
        host = urlsplit(page_address(domain, "domain")).netloc.lower().removesuffix(":443").removesuffix(":80")
        return tuple(one for one in kept if _lies_at(host, one))


def _lies_at(host: str, pattern: PagePattern) -> bool:
    """Return whether a pattern is kept under a host or one below it, or makes its pages."""
    names = (pattern.domain, host_of(pattern.page or pattern.requests[0].url))
    return any(name == host or name.endswith(f".{host}") for name in names)
