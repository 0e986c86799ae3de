"""Rules of the process pool: in which process a page is loaded, and when a process has loaded enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from msgspec import Struct

PAGES_AT_ONCE: Final = 2
PAGES_IN_A_LIFE: Final = 200

P = TypeVar("P", bound="TenantProcess")


@dataclass(eq=False)
class PageSlot:
    """A page in a process; `alone` when it wants no other beside it, `shared` when there was one at any time.

    `failed` when it may have left the process busy or full.
    """

    tenant: str
    alone: bool = False
    shared: bool = False
    failed: bool = False


@dataclass(eq=False)
class TenantProcess:
    """A process, in which only the pages of one tenant are ever loaded."""

    tenant: str
    slots: set[PageSlot] = field(default_factory=set[PageSlot])
    served: int = 0
    retired: bool = False

    def open_to(self, slot: PageSlot) -> bool:
        """Return whether this page may be loaded here."""
        most = 1 if slot.alone or any(other.alone for other in self.slots) else PAGES_AT_ONCE
        return (
            self.tenant == slot.tenant and not self.retired and self.served < PAGES_IN_A_LIFE and len(self.slots) < most
        )

    def take(self, slot: PageSlot) -> None:
        """Add a page."""
        for other in self.slots:
            slot.shared = other.shared = True
        self.slots.add(slot)
        self.served += 1

    def release(self, slot: PageSlot, *, full: bool) -> None:
        """Remove a page; retire after one that failed, left the process `full` or was the last of its life."""
        self.slots.discard(slot)
        self.retired |= slot.failed or full or self.served >= PAGES_IN_A_LIFE


class JoinProcess(Struct, Generic[P], frozen=True):
    """The page is loaded in this process."""

    process: P


class StartProcess(Struct, frozen=True):
    """The page gets a new process."""


class AwaitSlot(Struct, Generic[P], frozen=True):
    """The page waits; this process, if any, is to be ended for it."""

    evicted: P | None


def place(processes: Sequence[P], slot: PageSlot, most: int) -> JoinProcess[P] | StartProcess | AwaitSlot[P]:
    """Choose the process of a page where there may be `most` processes.

    It is an idle one of its tenant, a new one, one to share, or in place of an idle one of another tenant.
    """
    own = [process for process in processes if process.open_to(slot)]
    for process in own:
        if not process.slots:
            return JoinProcess(process)
    if len(processes) < most:
        return StartProcess()
    if own:
        return JoinProcess(own[0])
    idle = [process for process in processes if not process.slots]
    return AwaitSlot(
        None if any(process.retired for process in idle) or not idle else idle[0]
    )  # one that is going will do
