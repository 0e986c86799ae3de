"""Makes requests wait their turn, so that all replicas together ask a host no faster than is polite."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TypeVar

import anyio
import msgspec
import structlog

from actors.fetchers.web import rates
from actors.fetchers.web.paces import OwnPaces, Paces, Seen, changed
from actors.fetchers.web.rates import Given, Limits, Wish
from bus import TransportError
from protocol.faults import Fault, FaultError, rate_limited
from protocol.web import HostPace

log = structlog.stdlib.get_logger()

SHARED_PACE_AWAY = "shared_pace_away"

_BATCH = 64
"""Slots or leases that are taken at once for those who wait in this replica."""

_LINGER_S = 0.2
"""How long a replica keeps leases that nobody uses, for the next request."""

_TRY_AGAIN_S = 0.03
_CLOSE_S = 1.0
_LEAST_S = 0.05
"""With less time left, no request is worth being sent."""

_BUSY_MS = 1_000.0
"""When to come back where all connections are in use."""

_REFUSALS = frozenset({429, 503})

T = TypeVar("T")


@dataclass(frozen=True)
class Turn:
    """One request that wants to be sent, until when at the latest, in seconds since the epoch.

    What a page loads for itself (`part`) counts among the open requests alone. `interval_ms` is what robots.txt wants
    between any two.
    """

    until: float
    part: bool = False
    interval_ms: float = 0.0


@dataclass
class _Host:
    """What this replica knows of a host and holds of it."""

    seen: Seen = field(default_factory=Seen)
    slots: deque[float] = field(default_factory=deque[float])
    wanting: int = 0
    waiting: int = 0
    held: int = 0
    used: int = 0
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    freed: anyio.Event = field(default_factory=anyio.Event)

    def idle(self, now_ms: float) -> bool:
        while self.slots and self.slots[0] < now_ms:
            self.slots.popleft()
        busy = self.wanting or self.waiting or self.held or self.used or self.slots
        return not busy and self.seen.pace.wait_until_ms < now_ms


class Pace:
    """The pace of every host; open with `running`."""

    def __init__(self, limits: Limits, paces: Paces | None, clock: Callable[[], float]) -> None:
        """Hold `limits` together with whoever shares `paces`, or else alone."""
        self._limits = limits
        self._shared = paces
        self._own = OwnPaces()
        self._now = clock
        self._replica = token_hex(6)
        self._hosts: dict[str, _Host] = {}
        self._surplus = anyio.Event()
        self._chance = random.Random()  # noqa: S311 - spreads requests, hides nothing

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Return back leases that nobody uses, and all of them at the end."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._give_back_surplus)
                try:
                    yield
                finally:
                    tasks.cancel_scope.cancel()
                    with anyio.move_on_after(_CLOSE_S, shield=True):
                        await self._give_back()
        except BaseExceptionGroup as errors:
            # The task never fails: what is in the group is the block's own, which knows nothing of a group.
            own, *more = errors.exceptions
            if more:
                raise
            raise own from None

    async def enter(self, host: str, turn: Turn) -> None:
        """Wait until the host may be asked; `leave` when its answer is through.

        Raises:
            FaultError: RATE_LIMIT_EXCEEDED at once, where that will not be in time.
        """
        here = self._hosts.setdefault(host, _Host())
        entered, late_s = False, rates.JITTER_MS / 1000
        try:
            while not entered:
                await self._wait(here, here.seen.pace.wait_until_ms, turn)
                slot = self._now() if turn.part else await self._slot(host, here, turn)
                if not await self._open(host, here, turn):
                    continue
                # Who is held up by a busy machine would come together with the next: his slot is lost.
                entered = turn.part or self._now() - slot <= late_s
                if not entered:
                    here.used -= 1
                    late_s *= 2
        finally:
            if not entered:
                self._surplus.set()

    def leave(self, host: str) -> None:
        """Say that a request is through."""
        here = self._hosts[host]
        here.used -= 1
        here.freed.set()
        here.freed = anyio.Event()
        if not here.waiting:
            self._surplus.set()

    async def heard(self, host: str, status: int, retry_after: str | None) -> None:
        """Note how the host answered: 429 and 503 make everybody wait."""
        here = self._hosts.setdefault(host, _Host())
        if status in _REFUSALS:
            now, chance = self._now(), self._chance.random()
            wait_ms = rates.retry_after_ms(retry_after, now)
            await self._change(
                host, here, lambda pace: (rates.refused(pace, status, wait_ms, now * 1000, chance), None)
            )
        elif here.seen.pace.strikes:
            await self._change(host, here, lambda pace: (rates.answered(pace), None))

    async def _slot(self, host: str, here: _Host, turn: Turn) -> float:
        """Wait for the time at which a page may be asked for, and give it."""
        limits = self._limits.spaced(turn.interval_ms)
        if not limits.interval_ms:
            return self._now()
        here.wanting += 1
        try:
            while True:
                async with here.turn:
                    slot, given = self._reserved(here, limits, turn), Given()
                    if slot is None:
                        given = await self._take(host, here, turn, limits, slots=min(here.wanting, _BATCH))
                        here.slots.extend(given.slots)
                        slot = here.slots.popleft() if given.slots else None
                if slot is not None:
                    break
                await self._wait(here, given.wait_until_ms, turn)
        finally:
            here.wanting -= 1
        await anyio.sleep(max(0.0, slot / 1000 - self._now()))
        return slot / 1000

    def _reserved(self, here: _Host, limits: Limits, turn: Turn) -> float | None:
        """Return a slot that was taken before, unless its time has gone by."""
        if limits is not self._limits:
            here.slots.clear()
        now_ms = self._now() * 1000
        while here.slots and here.slots[0] < now_ms - rates.JITTER_MS:
            here.slots.popleft()
        return here.slots.popleft() if here.slots and here.slots[0] <= turn.until * 1000 else None

    async def _open(self, host: str, here: _Host, turn: Turn) -> bool:
        """Have one more request open; False where the host wants to be left alone now."""
        here.waiting += 1
        try:
            while self._limits.at_once and here.used >= here.held:
                async with here.turn:
                    if here.used < here.held:
                        break
                    given = await self._take(host, here, turn, self._limits, slots=0)
                if given.wait_until_ms:
                    await self._wait(here, given.wait_until_ms, turn)
                    return False
                if not given.open:
                    await self._freed(here, turn)
            here.used += 1
        finally:
            here.waiting -= 1
        return True

    async def _take(self, host: str, here: _Host, turn: Turn, limits: Limits, *, slots: int) -> Given:
        opening = max(min(here.waiting + slots, _BATCH) - (here.held - here.used), 1)
        wish = Wish(self._replica, slots, opening, turn.until * 1000)
        given = await self._change(host, here, lambda pace: rates.take(pace, wish, limits, self._now() * 1000))
        here.held += given.open
        return given

    async def _wait(self, here: _Host, until_ms: float, turn: Turn) -> None:
        """Wait until a time, unless that is too late."""
        wait_ms = until_ms - self._now() * 1000
        if wait_ms <= 0:
            return
        if until_ms > turn.until * 1000:
            raise FaultError(_too_fast(wait_ms, here.seen.pace.status))
        await anyio.sleep(wait_ms / 1000)

    async def _freed(self, here: _Host, turn: Turn) -> None:
        """Wait for a request of this replica to end, or a moment for those of others."""
        left = turn.until - self._now()
        if left <= _LEAST_S:
            raise FaultError(_too_fast(_BUSY_MS, 0))
        with anyio.move_on_after(min(_TRY_AGAIN_S * (1 + self._chance.random()), left - _LEAST_S)):
            await here.freed.wait()

    async def _change(self, host: str, here: _Host, turn: Callable[[HostPace], tuple[HostPace, T]]) -> T:
        """Change how a host stands with everybody, or, while the bus is away, with this replica."""
        try:
            if self._shared is not None:
                try:
                    return await changed(self._shared, host, here.seen, turn)
                except (TransportError, TimeoutError) as error:
                    log.warning(SHARED_PACE_AWAY, reason=type(error).__name__)
                    return await changed(self._own, host, Seen(), turn)
            return await changed(self._own, host, here.seen, turn)
        except ValueError:
            raise FaultError(_too_fast(_BUSY_MS, 0)) from None

    async def _give_back_surplus(self) -> None:
        while True:
            await self._surplus.wait()
            self._surplus = anyio.Event()
            await anyio.sleep(_LINGER_S)
            await self._give_back()

    async def _give_back(self) -> None:
        """Return back the leases that nobody uses, and forget hosts that nobody asks."""
        for host, here in list(self._hosts.items()):
            async with here.turn:
                if here.held > here.used and not here.waiting:
                    here.held = here.used
                    with suppress(FaultError):
                        await self._change(host, here, self._giving_back(here.used))
            if here.idle(self._now() * 1000) and self._hosts.get(host) is here:
                del self._hosts[host]

    def _giving_back(self, count: int) -> Callable[[HostPace], tuple[HostPace, None]]:
        return lambda pace: (rates.give_back(pace, self._replica, count), None)


def _too_fast(wait_ms: float, status: int) -> Fault:
    """Say that a host is asked no faster: because it answered `status`, or by Weft's own limit."""
    wait = max(round(wait_ms), 1)
    if status:
        return rate_limited(f"The site answered {status} and is left alone for a while.", wait, status)
    message = "The site is asked no faster than is polite; the time allowed is over before its turn comes."
    return msgspec.structs.replace(rate_limited(message, wait), http_status=None)
