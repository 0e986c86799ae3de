"""Decides in which process a page is loaded, and when a process has seen enough pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

PAGES_AT_ONCE: Final = 2
PAGES_IN_A_LIFE: Final = 200

R = TypeVar("R", bound="Room")


@dataclass(eq=False)
class Seat:
    """A page's place; `alone` when it wants no other beside it, `company` when there was one at any time."""

    tenant: str
    alone: bool = False
    company: bool = False
    ill: bool = False


@dataclass(eq=False)
class Room:
    """A process, in which only one tenant's pages are ever loaded."""

    tenant: str
    seats: set[Seat] = field(default_factory=set[Seat])
    served: int = 0
    retired: bool = False

    def open_to(self, seat: Seat) -> bool:
        """Return whether this page may come in."""
        most = 1 if seat.alone or any(other.alone for other in self.seats) else PAGES_AT_ONCE
        return (
            self.tenant == seat.tenant and not self.retired and self.served < PAGES_IN_A_LIFE and len(self.seats) < most
        )

    def take(self, seat: Seat) -> None:
        """Let a page in."""
        for other in self.seats:
            seat.company = other.company = True
        self.seats.add(seat)
        self.served += 1

    def release(self, seat: Seat, *, full: bool) -> None:
        """Let a page go; after one that ended ill, left the process `full` or was the last, no other comes in."""
        self.seats.discard(seat)
        self.retired |= seat.ill or full or self.served >= PAGES_IN_A_LIFE


@dataclass(frozen=True)
class Take(Generic[R]):
    """The page goes into this room."""

    room: R


@dataclass(frozen=True)
class Begin:
    """The page gets a new room."""


@dataclass(frozen=True)
class Wait(Generic[R]):
    """The page waits; this room, if any, is to be closed for it."""

    evicted: R | None


def choose(rooms: Sequence[R], seat: Seat, most: int) -> Take[R] | Begin | Wait[R]:
    """Find the place of a page where there may be `most` rooms.

    It is an empty room of its tenant, a new one, one to share, or the one of another tenant that nobody is in.
    """
    own = [room for room in rooms if room.open_to(seat)]
    for room in own:
        if not room.seats:
            return Take(room)
    if len(rooms) < most:
        return Begin()
    if own:
        return Take(own[0])
    idle = [room for room in rooms if not room.seats]
    return Wait(None if any(room.retired for room in idle) or not idle else idle[0])  # one that is going will do
