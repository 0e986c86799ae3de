"""The ways in which the bus itself fails a call, one class for each reaction of the caller."""

from __future__ import annotations

import msgspec

from protocol.actions import OPERATOR, Action
from protocol.faults import Code, Fault, FaultError, fault

_FULL = (
    "The disk of Weft's data folder is full, or jetstream_max_bytes is reached: nothing more can be kept until there "
    "is room; pages are still read."
)
_MAKE_ROOM = Action(
    action="make_room",
    description="Have the operator free space on that disk (16 MB at least) or raise the limit, or delete what is "
    "needed no more; then send the same request again.",
)

_TURN_MS = 2_000
"""When a key that has too much at work may have room again."""


def storage_full() -> Fault:
    """Say that there is no room for what would be kept, and how some is made."""
    full = fault(Code.CONFIG_STORAGE_FULL, _FULL, actions=(_MAKE_ROOM, OPERATOR))
    return msgspec.structs.replace(full, retryable=True)


class NoResponderError(FaultError):
    """No live replica listens on the subject; known at once, never by a timeout."""

    def __init__(self, subject: str) -> None:
        """Name the subject that nobody answers."""
        super().__init__(fault(Code.INTERNAL_UNAVAILABLE, f"No live actor answers {subject}"))


class BusyError(FaultError):
    """The replica that was asked has its hands full; another may not."""

    def __init__(self, subject: str) -> None:
        """Name the subject whose replica refused."""
        super().__init__(fault(Code.INTERNAL_BUSY, f"The replica of {subject} that was asked has its hands full"))


def over_share() -> Fault:
    """Refuse a call of an account that has as much at work, and as much waiting, as it may have."""
    wait = Action(
        action="wait_and_retry",
        description=f"Wait {_TURN_MS // 1_000} s, then send the request again.",
        suggested_delay_ms=_TURN_MS,
    )
    message = "This key has as much at work, and waiting, as its share allows."
    fewer = Action(action="reduce_frequency", description="Send fewer requests at once.", priority=2)
    return fault(Code.RATE_LIMIT_EXCEEDED, message, actions=(wait, fewer))


class DisconnectedError(FaultError):
    """The connection broke while the answer was awaited; whether the work was done is unknown."""

    def __init__(self, subject: str) -> None:
        """Name the subject that was asked."""
        super().__init__(fault(Code.INTERNAL_DISCONNECTED, f"The bus broke off while {subject} was under way"))


class DeadlineError(FaultError):
    """No answer came in the time allowed."""

    def __init__(self, subject: str, timeout_ms: int) -> None:
        """Name the subject that was asked and the time that was given, in milliseconds."""
        super().__init__(fault(Code.INTERNAL_DEADLINE, f"{subject} gave no answer within {timeout_ms} ms"))


class TransportError(FaultError):
    """The transport could not take or fetch something: closed, draining, full while it reconnects, or silent."""

    def __init__(self, reason: str) -> None:
        """Keep `reason` for the log; what crosses the bus is the Fault."""
        super().__init__(fault(Code.INTERNAL_DISCONNECTED))
        self.reason = reason

    def __str__(self) -> str:
        """Return the reason."""
        return self.reason


class UnconnectedError(TransportError):
    """No connection came about at all: the address, the certificate or the key is at fault, or nobody is there."""


class StorageFullError(TransportError):
    """Something could not be written for want of room on the disk or in JetStream; it can be once there is some."""

    def __init__(self, reason: str) -> None:
        """Keep `reason` for the log."""
        super().__init__(reason)
        self.fault = storage_full()


class NoRoomError(TransportError):
    """A server has too little room to begin with."""

    def __init__(self, wanted_bytes: int, *, in_memory: bool = False) -> None:
        """Keep how much is wanted at least, and whether in the server's memory."""
        super().__init__(f"no room for {wanted_bytes} bytes")
        self.wanted_bytes = wanted_bytes
        self.in_memory = in_memory


class LineTooLargeError(FaultError):
    """A line of a journal is larger than what one message may be."""

    def __init__(self, size: int, limit: int) -> None:
        """Name its size and the limit, in bytes."""
        message = f"A line of {size} bytes is more than the {limit} that a journal takes; keep large values elsewhere"
        super().__init__(fault(Code.VALIDATION_INVALID_REQUEST, message))


class JournalFullError(FaultError):
    """A journal that is kept for good takes no more; nothing is forgotten for what is new."""

    def __init__(self, journal: str) -> None:
        """Name the journal."""
        super().__init__(fault(Code.CONFIG_STORAGE_FULL, f"There is no room left in what is kept of {journal}."))


class ForbiddenError(FaultError):
    """A participant used a subject that it has not declared: a mistake in the program, so nothing is tried again."""

    def __init__(self, actor: str, subject: str, use: str = "publish") -> None:
        """Name who may not use which subject, and how it was used."""
        message = f"{actor} has no permission to {use} {subject}: only who declares a subject may use it"
        super().__init__(msgspec.structs.replace(fault(Code.INTERNAL_ERROR, message, actions=()), retryable=False))
        self.subject = subject
