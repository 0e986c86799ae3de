"""What a replica counts of its own work, as figures (one source for `weft status` and `/metrics`)."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable
from math import ceil
from pathlib import Path

from msgspec import Struct

BUCKET_BOUNDS_S: tuple[float, ...] = (
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
)  # fmt: skip
"""Upper bounds of the latency histogram in seconds; one more bucket holds what is slower."""

_WINDOW = 512
"""Durations that the percentiles look back on."""


MAX_ACCOUNTS = 256
"""Accounts that a meter counts one by one; of more, those with nothing at work are forgotten, the oldest first."""


class AccountStats(Struct, frozen=True, kw_only=True):
    """What one account had of one replica: `refused` are its calls beyond what it may have."""

    calls: int = 0
    refused: int = 0
    in_flight: int = 0


class EndpointStats(Struct, frozen=True, kw_only=True):
    """The figures of one subject at one replica; `buckets` are plain counts, one more than the bounds."""

    subject: str
    calls: int
    errors: int
    in_flight: int
    queued: int
    duration_sum_s: float
    buckets: tuple[int, ...]
    last_error: str = ""


class JournalPlace(Struct, frozen=True, kw_only=True):
    """How far a reader of a replica has taken in a journal: all up to the line of that sequence (0: nothing yet)."""

    journal: str
    reader: str
    sequence: int


class Replica(Struct, frozen=True, kw_only=True):
    """One live replica: who and where it is, and what it has done. Times in ms, `started` since the epoch."""

    actor: str
    replica: str
    host: str
    pid: int
    version: str
    started: int
    in_flight: int
    queued: int
    served: int
    errors: int
    slow: int
    p50_ms: float
    p99_ms: float
    endpoints: tuple[EndpointStats, ...]
    restarts: int = 0
    """How often it was started again in its place since the launcher was started."""
    memory_bytes: int = 0
    """What its process has in memory, with what it shares with others; 0 where the system does not say."""
    accounts: dict[str, AccountStats] = {}
    """By the names of accounts, which are no secret."""
    places: tuple[JournalPlace, ...] = ()
    clock_ms: int = 0
    """Its clock when it said so, since the epoch."""
    vault: str = ""
    """By what the vault key of its host is known, which is no secret: hosts that work together have the same."""


class AccountCounts:
    """Counts the work of one endpoint by the accounts that it is done for."""

    def __init__(self) -> None:
        """Count from nothing."""
        self.calls = Counter[str]()
        self.refused = Counter[str]()
        self.in_flight = Counter[str]()

    def begin(self, account: str) -> None:
        """Count a call that begins."""
        self.calls[account] += 1
        self.in_flight[account] += 1
        if len(self.calls) + len(self.refused) > 2 * MAX_ACCOUNTS:
            idle = [name for name in {**self.calls, **self.refused} if name not in self.in_flight]
            for name in idle[: len(idle) // 2]:
                del self.calls[name], self.refused[name]

    def end(self, account: str) -> None:
        """Count a call that has ended."""
        self.in_flight[account] -= 1
        if self.in_flight[account] <= 0:
            del self.in_flight[account]


def by_account(counts: Iterable[AccountCounts]) -> dict[str, AccountStats]:
    """Sum what several endpoints have counted."""
    calls, refused, in_flight = Counter[str](), Counter[str](), Counter[str]()
    for one in counts:
        calls.update(one.calls)
        refused.update(one.refused)
        in_flight.update(one.in_flight)
    return {
        name: AccountStats(calls=calls[name], refused=refused[name], in_flight=in_flight[name])
        for name in {**calls, **refused}
    }


class Meter:
    """Counts the work of one endpoint."""

    def __init__(self, subject: str) -> None:
        """Count for `subject`, from nothing."""
        self.subject = subject
        self.calls = 0
        self.errors = 0
        self.in_flight = 0
        self.last_error = ""
        self.duration_sum_s = 0.0
        self.accounts = AccountCounts()
        self.recent: deque[float] = deque(maxlen=_WINDOW)
        self._buckets = [0] * (len(BUCKET_BOUNDS_S) + 1)

    def count(self, duration_s: float, error: str = "") -> None:
        """Count one piece of work that has ended, with the code of its error if it had one."""
        self.calls += 1
        self.duration_sum_s += duration_s
        self.recent.append(duration_s)
        self._buckets[bisect_left(BUCKET_BOUNDS_S, duration_s)] += 1
        if error:
            self.errors += 1
            self.last_error = error

    def read(self, queued: int) -> EndpointStats:
        """Return the figures as they stand."""
        return EndpointStats(
            subject=self.subject,
            calls=self.calls,
            errors=self.errors,
            in_flight=self.in_flight,
            queued=queued,
            duration_sum_s=self.duration_sum_s,
            buckets=tuple(self._buckets),
            last_error=self.last_error,
        )


def memory_bytes() -> int:
    """Return the resident memory of this process; 0 where there is no /proc."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def percentile_ms(durations_s: list[float], share: float) -> float:
    """Return the value in ms below which `share` of the durations lie (nearest rank); 0 without any."""
    if not durations_s:
        return 0.0
    ordered = sorted(durations_s)
    return round(ordered[max(ceil(share * len(ordered)) - 1, 0)] * 1000, 3)
