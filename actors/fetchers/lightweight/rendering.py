"""Rendering a page as data and pure rules: options, what its scripts report, when it is at rest, how it came out."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from msgspec import Struct

from protocol.browse import ConsoleMessage, Freshness, NetworkRequest
from protocol.faults import Code, Fault, fault
from protocol.pages import Dialog

GRACE_SECONDS = 2.0
"""How long after the deadline the engine may take to answer, at most."""

NAVIGATION_LOOP = "nav_loop"
DIALOG_LOOP = "dialog_loop"
"""The limits of a page that leads on without end, and of one that opens dialogs without end."""

POLL_MS = 20
"""How long after one report the next is read."""

NEAR_MS = 400
"""A timer that is due within is waited for."""

THIN_CHARS = 200
"""A page that shows less is looked at longer."""

CALM_REPORTS = 2
CALM_REPORTS_THIN = 8
LATE_WAITS = 2
"""How often a thin page's timer of up to 3 s is waited for."""

SOFT_MS = 2_000
"""So long after the last network activity a page that still moves is taken as it is."""

SOFT_THIN_MS = 2_600
"""The same for a page that shows next to nothing: what it draws frame by frame may come within 2 s of its load."""

RESTLESS_MS = 500
"""How long it must have moved then without a rest: what a late timer has begun may finish."""


class RequestTerms(Struct, frozen=True):
    """How the requests of a page are made: `partition` separates cached answers, `record` keeps the exchanges.

    `obey_robots` holds for the documents that the page's own window goes to. With `single_shot` nothing that broke off
    is sent again.
    """

    partition: str = ""
    freshness: Freshness = Freshness.ANY
    record: bool = False
    obey_robots: bool = False
    single_shot: bool = False


class RenderOptions(Struct, frozen=True):
    """How to render a page: `seconds` is how long it may move at most, `selector` an element to wait for.

    `grace_seconds` is how long after that the engine may take to answer; then it counts as stuck.
    """

    terms: RequestTerms
    agent: str
    seconds: float
    grace_seconds: float = GRACE_SECONDS
    selector: str | None = None
    scroll: bool = False
    console: bool = False


@dataclass
class Counters:
    """What a page has requested so far; `limit` names the limit that ended it."""

    requests: int = 0
    documents: int = 0
    frames: int = 0
    received: int = 0
    sent: int = 0
    scripts: int = 0
    failed_scripts: int = 0
    failed: int = 0
    refused: int = 0
    oversized: int = 0
    withheld: int = 0
    """Requests across origins that went without the cookies of their site: whether they should have them is unknown."""

    left_out: int = 0
    """Frames that a page with a login confines, or writes itself: they are not shown."""

    api_4xx: int = 0
    api_5xx: int = 0
    retries: int = 0
    limit: str = ""
    exchanges: list[NetworkRequest] = field(default_factory=list[NetworkRequest])
    apis: list[NetworkRequest] = field(default_factory=list[NetworkRequest])
    """The exchanges of XHR and fetch that were completed."""


class SettleResult(StrEnum):
    """How a page settled: it was quiet, it still moved without network activity, or not before the deadline."""

    SETTLED = "settled"
    SOFT = "soft"
    HARD = "hard"


class ScriptReport(Struct, frozen=True):
    """What the injected script reports; the page may have forged it. Times in ms from now, -1 for none."""

    activity: int = 0
    turned: bool = True
    """Whether the page's timers have run since the last report."""

    frames: int = 0
    due: float = -1
    late: float = -1
    lates: int = 0
    chars: int = 0
    errors: int = 0
    rejections: int = 0
    dialogs: int = 0
    contexts: str = ""
    refused: str = ""
    lacks: str = ""
    n_web_sockets: int = 0
    n_workers: int = 0
    n_intersections: int = 0
    n_resizes: int = 0
    n_media_queries: int = 0
    n_layout_reads: int = 0
    n_extended_elements: int = 0
    n_animations: int = 0
    n_dialog_loop: int = 0
    n_performance: int = 0
    n_event_sources: int = 0
    n_drawn_reads: int = 0


@dataclass
class StabilityWatch:
    """Decides by successive reports how long to wait for the next one, or how the page has settled."""

    _activity: int = field(default=-1, init=False)
    _calm: int = field(default=1, init=False)
    _late_waits: int = field(default=0, init=False)
    _restless_from: float | None = field(default=None, init=False)

    def assess(self, report: ScriptReport, requests: int, quiet_ms: float) -> float | SettleResult:
        """Return how the page has settled, or the milliseconds until the next report is worth reading.

        The report was read `quiet_ms` after the last of `requests` was answered; none is in flight.
        """
        still = report.turned and report.activity + requests == self._activity
        self._activity = report.activity + requests
        near = 0 <= report.due <= NEAR_MS
        busy = report.frames > 0 or near
        self._calm = self._calm + 1 if still and not busy else 1
        thin = report.chars < THIN_CHARS
        if self._is_restless(quiet_ms, SOFT_THIN_MS if thin else SOFT_MS, moves=busy or not still):
            return SettleResult.SOFT
        if near and report.frames == 0:
            return max(report.due, POLL_MS)
        if self._calm < (CALM_REPORTS_THIN if thin else CALM_REPORTS):
            return POLL_MS
        if thin and report.late >= 0 and self._late_waits < LATE_WAITS:
            self._late_waits += 1
            self._calm = 1
            return report.late + 1
        return SettleResult.SETTLED

    def restart(self) -> None:
        """Start over: there was network activity, or something was done to the page."""
        self._activity = -1

    def _is_restless(self, quiet_ms: float, soft_ms: float, *, moves: bool) -> bool:
        if not moves or self._restless_from is None or self._restless_from > quiet_ms:
            self._restless_from = quiet_ms if moves else None
            return False
        return quiet_ms > soft_ms and quiet_ms - self._restless_from > RESTLESS_MS


class RenderedContent(Struct, frozen=True):
    """The result of read.js."""

    html: str
    text: str
    words: int
    chars: int
    href: str = ""
    empty_roots: int = 0
    truncated: bool = False
    media: int = 0
    canvases: int = 0
    foreign: int = 0
    scripts: int = 0
    missing: int = 0
    tall: int = 0


class PageStorage(Struct, frozen=True):
    """The result of keep.js: the storage of the page's origin."""

    origin: str
    local: dict[str, str]
    session: dict[str, str]


class Snapshot(Struct, frozen=True):
    """A page as it was in the end. `url` is the document's, or one of its origin that scripts have put in its place.

    `unanswered` counts the requests that were still waited for.
    """

    url: str
    status: int
    content: RenderedContent
    report: ScriptReport
    settling: SettleResult
    counters: Counters
    cut_short: str
    unanswered: int
    storage: PageStorage | None
    selector_found: bool
    console: tuple[ConsoleMessage, ...] = ()
    dialogs: tuple[Dialog, ...] = ()


class RenderFailure(StrEnum):
    """The ways in which a page has no snapshot at all."""

    JS_HANG = "js_hang"
    """Its scripts kept the engine busy: the watchdog closed its connection, and the process lives."""

    RESOURCE_EXHAUSTED = "resource_exhausted"
    """Its process died."""

    ENGINE_STUCK = "engine_stuck"
    """The engine gave no answer long after the deadline."""

    READ_FAILED = "read_failed"
    """The document could not be written out."""

    NO_TIME = "no_time"
    """There was no time to begin with it."""

    NO_ENGINE = "no_engine"
    """No process of the engine could be started."""


_FAULTS: dict[RenderFailure, tuple[Code, str | None]] = {
    RenderFailure.JS_HANG: (Code.BROWSER_PAGE_HUNG, None),
    RenderFailure.RESOURCE_EXHAUSTED: (
        Code.PAGE_CRASHED,
        "The light engine died of the page, which needs more than the tier gives to one.",
    ),
    RenderFailure.ENGINE_STUCK: (Code.BROWSER_PAGE_HUNG, "The page kept the light engine busy beyond every deadline."),
    RenderFailure.READ_FAILED: (Code.PAGE_CRASHED, "What the page shows could not be read from the light engine."),
    RenderFailure.NO_TIME: (Code.NETWORK_TIMEOUT, "No time was left to run the scripts of the page."),
    RenderFailure.NO_ENGINE: (Code.INTERNAL_UNAVAILABLE, "The engine of the tier does not start."),
}


class RenderError(Exception):
    """A page could not be rendered."""

    def __init__(self, failure: RenderFailure, *, alone: bool = False) -> None:
        """Store in which way it failed, and whether no other page was in its process (`alone`)."""
        super().__init__(failure.value)
        self.failure = failure
        self.alone = alone


def fault_of(failure: RenderFailure) -> Fault:
    """Return the fault of a failure."""
    code, message = _FAULTS[failure]
    return fault(code, message)


def may_retry(failure: RenderFailure, *, alone: bool) -> bool:
    """Return whether to render a page once more, alone: another page may have harmed their process.

    That costs a page that hangs by itself a second try, and saves one that only was starved of the processor.
    """
    return failure not in (RenderFailure.NO_ENGINE, RenderFailure.NO_TIME) and not alone


def spoils_process(cut_short: str) -> bool:
    """Return whether a limit that ended a page spoils its process: that may still be busy with it, or full of it."""
    return cut_short not in ("", "time")
