"""What can come of putting a tier to work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from protocol.faults import KINDS, Code, Fault
from protocol.pages import Fetched, Verdict
from protocol.tiers import RenderTier


@dataclass(frozen=True)
class Accepted:
    """The verifier had no objection."""

    page: Fetched
    verdict: Verdict


@dataclass(frozen=True)
class Rejected:
    """The verifier says that the page is something else, or not whole."""

    page: Fetched
    verdict: Verdict
    code: Code


@dataclass(frozen=True)
class Failed:
    """The tier got no page."""

    fault: Fault


@dataclass(frozen=True)
class Absent:
    """No live replica of the tier can work; `waited` when one was given time to appear, `why` when one says why."""

    waited: bool = False
    why: str = ""


@dataclass(frozen=True)
class TooSlow:
    """The tier was not started: it would not fit into the time that is left."""

    left_ms: int


@dataclass(frozen=True)
class Passed:
    """The tier was passed over for a better one, for this reason."""

    why: str


@dataclass(frozen=True)
class Overtaken:
    """The tier was stopped: the next one, which was started early, had the page first."""


Failure = Rejected | Failed
Outcome = Accepted | Failure | Absent | TooSlow | Passed | Overtaken


def judged(page: Fetched, verdict: Verdict) -> Accepted | Rejected:
    """Read a verdict as an outcome."""
    return Accepted(page, verdict) if verdict.code is None else Rejected(page, verdict, verdict.code)


@dataclass(frozen=True)
class Attempt:
    """One tier, and what came of it."""

    tier: RenderTier
    outcome: Outcome
    duration_ms: int = 0

    @property
    def tried(self) -> bool:
        """Whether the tier was really put to work."""
        return isinstance(self.outcome, Accepted | Rejected | Failed | Overtaken)

    @property
    def failure(self) -> Failure | None:
        """What was wrong, if the tier was put to work in vain."""
        return self.outcome if isinstance(self.outcome, Rejected | Failed) else None


def code_of(failure: Failure) -> Code:
    """Return the code of what was wrong."""
    return failure.code if isinstance(failure, Rejected) else failure.fault.code


def reason(outcome: Outcome) -> str:
    """Why a tier gave no answer, in words for people; nothing for one that gave it."""
    match outcome:
        case Accepted():
            words = ""
        case Rejected(verdict=verdict, code=code):
            words = "; ".join(verdict.reasons) or KINDS[code].meaning
        case Failed(fault=failure):
            words = failure.message
        case Absent(why=why):
            words = why or "No live replica of this tier"
        case TooSlow(left_ms=left_ms):
            words = f"Not started: only {left_ms} ms of maxLatencyMs were left"
        case Passed(why=why):
            words = f"Passed over: {why}"
        case Overtaken():
            words = "Stopped: the next tier, started early, had the page first"
        case _:
            assert_never(outcome)
    return words.removesuffix(".")
