"""Turns between the accounts whose calls come in at one endpoint, so that none takes the place of the others.

While several accounts are at work, one that has as many calls at work as there are places free gets no further place
(the dynamic threshold of Choudhury and Hahne, 1998): however many calls it sends, there is room for the next account at
once. One alone may take all places but one. What is over an account's share waits here, each account in its own order;
places that become free go round. What has no account is the system's own work, and only counts. It waits here, and so
does an account without work here, when it was refused elsewhere, until its patience is over and it asks another.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

import anyio

from bus.stats import Meter
from protocol.access import MAX_WEIGHT

MOST_WAITING = 128
"""Calls of one account that wait at one endpoint, more than a gateway lets in of a key; others are refused at once."""

ACTIVE_S = 60.0
"""How long an account that has nothing at work still counts as one that others share with."""


_TOKEN = re.compile(r"[A-Za-z0-9_-]+")

NO_LINE = "-"
"""The line of work that is done for no account."""


class Account(NamedTuple):
    """Whose work it is: a name without a secret, and how many shares it has (1 to MAX_WEIGHT)."""

    name: str
    weight: int = 1

    @property
    def header(self) -> str:
        """Write it as it travels."""
        return f"{self.name} {self.weight}"

    @property
    def line(self) -> str:
        """The token of a subject that stands for it: its name, where that is one."""
        return self.name if _TOKEN.fullmatch(self.name) else hashlib.sha256(self.name.encode()).hexdigest()[:32]


def account_of(header: str) -> Account | None:
    """Read an account as it travels; what cannot be read is nobody's."""
    name, _, weight = header.rpartition(" ")
    if not name or not (weight.isascii() and weight.isdigit()) or not 1 <= int(weight[:4]) <= MAX_WEIGHT:
        return None
    return Account(name, int(weight))


@dataclass(eq=False)
class Waiter:
    """A call that waits for its turn, for so long at most; `begun` is set when it has a place."""

    account: Account | None
    patience_s: float = inf
    turn: anyio.Event = field(default_factory=anyio.Event)
    begun: bool = False


@dataclass
class FairTurns:
    """The places of one endpoint; what is at work is counted in its meter."""

    places: int
    meter: Meter
    clock: Callable[[], float] = time.monotonic
    _waiting: OrderedDict[str, deque[Waiter]] = field(default_factory=OrderedDict[str, deque[Waiter]])
    _active: OrderedDict[str, float] = field(default_factory=OrderedDict[str, float])

    @property
    def waiting(self) -> int:
        """Calls that wait for their turn."""
        return sum(map(len, self._waiting.values()))

    def take(self, account: Account | None) -> bool:
        """Take a place, which has to be given back; returns whether there was one for this account."""
        if account is not None:
            self._see(account.name)
            if self._waiting.get(account.name):
                return False
        if not self._admits(account):
            return False
        self._begin(account)
        return True

    def join(self, account: Account | None, patience_s: float = inf) -> Waiter | None:
        """Wait in line; None where as many wait as may. Whoever joins has to leave, unless its turn came."""
        line = self._waiting.setdefault(_line_of(account), deque())
        if len(line) >= MOST_WAITING:
            return None
        waiter = Waiter(account, patience_s)
        line.append(waiter)
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """Wait no longer, where the turn has not come."""
        name = _line_of(waiter.account)
        line = self._waiting.get(name)
        if line is not None and waiter in line:
            line.remove(waiter)
            self._forget(name)

    def give_back(self, account: Account | None) -> None:
        """Return a place, and let those begin who may now, one of each account in turn."""
        self.meter.in_flight -= 1
        if account is not None:
            self.meter.accounts.end(account.name)
        self.next()

    def next(self) -> None:
        """Let those begin who may."""
        for name in list(self._waiting):
            line = self._waiting.get(name)
            if line and self._admits(line[0].account):
                waiter = line.popleft()
                self._waiting.move_to_end(name)
                self._forget(name)
                self._begin(waiter.account)
                waiter.begun = True
                waiter.turn.set()

    def dismiss(self) -> list[Waiter]:
        """Send away all who wait; their turn comes without a place."""
        waiters = [waiter for line in self._waiting.values() for waiter in line]
        self._waiting.clear()
        for waiter in waiters:
            waiter.turn.set()
        return waiters

    def has_work(self, account: Account | None) -> bool:
        """Return whether an account has a call at work or waiting here, and so is at its share and not merely late."""
        if account is None:
            return False
        return account.name in self.meter.accounts.in_flight or account.name in self._waiting

    def _admits(self, account: Account | None) -> bool:
        free = self.places - self.meter.in_flight
        if free <= 0 or account is None:
            return free > 0
        held = self.meter.accounts.in_flight[account.name]
        if held == 0:
            return True
        return held < account.weight * free if self._shares(account.name) else free > 1

    def _shares(self, name: str) -> bool:
        """Return whether another account has been active of late."""
        while self._active:
            oldest, active_s = next(iter(self._active.items()))
            if self.clock() - active_s < ACTIVE_S:
                break
            del self._active[oldest]
        others = len(self._active) - (name in self._active)
        return others > 0 or any(other != name for other in self.meter.accounts.in_flight)

    def _see(self, name: str) -> None:
        self._active[name] = self.clock()
        self._active.move_to_end(name)

    def _begin(self, account: Account | None) -> None:
        self.meter.in_flight += 1
        if account is not None:
            self.meter.accounts.begin(account.name)

    def _forget(self, name: str) -> None:
        if not self._waiting.get(name, True):
            del self._waiting[name]


def _line_of(account: Account | None) -> str:
    """Return the name of the line that an account waits in; what has none waits in one of its own."""
    return "" if account is None else account.name
