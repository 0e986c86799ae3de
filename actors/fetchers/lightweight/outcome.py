"""Judges how a page ended: what of it is an answer, and which fault stands for what is none."""

from __future__ import annotations

from enum import StrEnum

from protocol.faults import Code, Fault, fault


class Ill(StrEnum):
    """The ways in which a page gives nothing at all."""

    JS_HANG = "js_hang"
    """Its scripts kept the engine busy: the watchdog closed its connection, and the process lives."""

    RESOURCE_EXHAUSTED = "resource_exhausted"
    """Its process died."""

    ENGINE_STUCK = "engine_stuck"
    """The engine gave no answer long after the deadline."""

    READ_FAILED = "read_failed"
    """The document could not be written out."""

    NO_ENGINE = "no_engine"
    """No process of the engine could be started."""


_FAULTS: dict[Ill, tuple[Code, str | None]] = {
    Ill.JS_HANG: (Code.BROWSER_PAGE_HUNG, None),
    Ill.RESOURCE_EXHAUSTED: (Code.PAGE_CRASHED, "The page needs more memory than the tier gives to one."),
    Ill.ENGINE_STUCK: (Code.PAGE_CRASHED, "The page kept its engine busy beyond every deadline."),
    Ill.READ_FAILED: (Code.PAGE_CRASHED, "What the page shows could not be read."),
    Ill.NO_ENGINE: (Code.INTERNAL_UNAVAILABLE, "The engine of the tier does not start."),
}


class IllError(Exception):
    """A page that gives nothing."""

    def __init__(self, ill: Ill, *, alone: bool = False) -> None:
        """Say in which way, and whether no other page was in its process."""
        super().__init__(ill.value)
        self.ill = ill
        self.alone = alone


def fault_of(ill: Ill) -> Fault:
    """Return the fault that stands for an end."""
    code, message = _FAULTS[ill]
    return fault(code, message)


def repeats(ill: Ill, *, alone: bool) -> bool:
    """Whether to show the page once more, alone: it may have suffered from what another page did to their process.

    That costs a page that hangs by itself a second turn, and spares one that only got no turn of the processor.
    """
    return ill is not Ill.NO_ENGINE and not alone


def harms(cut_short: str) -> bool:
    """Whether the process must be replaced after a page that was read: it may still be busy with it, or full of it."""
    return cut_short not in ("", "time")
