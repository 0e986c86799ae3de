"""Limits the rate and the open requests of each host, for all replicas together, or for this one without a bus."""

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
import stamina
import structlog
from msgspec import Struct

from actors.sites import host_key
from actors.ungrouped import ungrouped
from actors.web import rate_limits
from actors.web.rate_limits import GrantedSlots, HostLimits, SlotRequest
from bus import TransportError
from bus.stores import KeyChange, KeyValues
from protocol.faults import Fault, FaultError, rate_limited
from protocol.web import HostPace

log = structlog.stdlib.get_logger()

SHARED_PACE_AWAY = "shared_pace_away"

_BATCH = 64
"""Slots or leases that are requested at once for those who wait in this replica."""

_LINGER_S = 0.2
"""How long a replica keeps leases that nobody uses, for the next request."""

_TRY_AGAIN_S = 0.03
_CLOSE_S = 1.0
_LEAST_S = 0.05
"""With less time left, no request is worth being sent."""

_BUSY_MS = 1_000.0
"""When to come back where all connections are in use."""

_CHANGE_S = 5.0
"""How long updates of a pace are retried."""

_BUS_S = 1.0
"""How long the bus may take before a replica limits by itself."""

_REFUSALS = frozenset({429, 503})

T = TypeVar("T")


class Turn(Struct, frozen=True):
    """One request that waits to be sent; `until` is its deadline, in seconds since the epoch.

    What a page loads for itself (`part`) counts among the open requests only. `interval_ms` is what robots.txt wants
    between any two.
    """

    until: float
    part: bool = False
    interval_ms: float = 0.0


@dataclass
class LastPace:
    """The shared pace of a host as this replica last read or wrote it."""

    last: KeyChange[HostPace] | None = None

    @property
    def pace(self) -> HostPace:
        """The pace at that time."""
        return (self.last.value if self.last else None) or HostPace()


@dataclass
class _HostState:
    """What this replica knows of a host, the slots that it has, and the leases that it holds and uses."""

    last_pace: LastPace = field(default_factory=LastPace)
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
        return not busy and self.last_pace.pace.wait_until_ms < now_ms


class HostLimiter:
    """The limits of every host; open with `running`."""

    def __init__(self, limits: HostLimits, paces: KeyValues[HostPace] | None, clock: Callable[[], float]) -> None:
        """Hold `limits` together with all who share `paces`; without them, alone."""
        self._limits = limits
        self._shared = paces
        self._own = LocalPaces()
        self._now = clock
        self._replica = token_hex(6)
        self._hosts: dict[str, _HostState] = {}
        self._surplus = anyio.Event()
        self._chance = random.Random()  # noqa: S311 - spreads requests, hides nothing

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Release leases that nobody uses while the block lasts, and all of them at its end."""
        with ungrouped():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._release_surplus)
                try:
                    yield
                finally:
                    tasks.cancel_scope.cancel()
                    with anyio.move_on_after(_CLOSE_S, shield=True):
                        await self._release()

    async def enter(self, host: str, turn: Turn) -> None:
        """Wait until a request may be sent to the host; call `leave` when its answer is complete.

        Raises:
            FaultError: RATE_LIMIT_EXCEEDED at once, where that would be too late.
        """
        state = self._hosts.setdefault(host, _HostState())
        entered, late_s = False, rate_limits.JITTER_MS / 1000
        try:
            while not entered:
                await self._wait(state, state.last_pace.pace.wait_until_ms, turn)
                slot = self._now() if turn.part else await self._slot(host, state, turn)
                if not await self._open(host, state, turn):
                    continue
                # A request that a busy machine has held up would come together with the next: its slot is lost.
                entered = turn.part or self._now() - slot <= late_s
                if not entered:
                    state.used -= 1
                    late_s *= 2
        finally:
            if not entered:
                self._surplus.set()

    def leave(self, host: str) -> None:
        """Count a request as complete."""
        state = self._hosts[host]
        state.used -= 1
        state.freed.set()
        state.freed = anyio.Event()
        if not state.waiting:
            self._surplus.set()

    async def note_answer(self, host: str, status: int, retry_after: str | None) -> None:
        """Note the status of an answer: 429 and 503 make everybody wait."""
        state = self._hosts.setdefault(host, _HostState())
        if status in _REFUSALS:
            now, chance = self._now(), self._chance.random()
            wait_ms = rate_limits.retry_after_ms(retry_after, now)
            await self._update(
                host, state, lambda pace: (rate_limits.after_refusal(pace, status, wait_ms, now * 1000, chance), None)
            )
        elif state.last_pace.pace.strikes:
            await self._update(host, state, lambda pace: (rate_limits.after_answer(pace), None))

    async def _slot(self, host: str, state: _HostState, turn: Turn) -> float:
        """Wait for the slot of a page, and return its time in seconds."""
        limits = self._limits.spaced(turn.interval_ms)
        if not limits.interval_ms:
            return self._now()
        state.wanting += 1
        try:
            while True:
                async with state.turn:
                    slot, granted = self._reserved(state, limits, turn), GrantedSlots()
                    if slot is None:
                        granted = await self._take(host, state, turn, limits, slots=min(state.wanting, _BATCH))
                        state.slots.extend(granted.slots)
                        slot = state.slots.popleft() if granted.slots else None
                if slot is not None:
                    break
                await self._wait(state, granted.wait_until_ms, turn)
        finally:
            state.wanting -= 1
        await anyio.sleep(max(0.0, slot / 1000 - self._now()))
        return slot / 1000

    def _reserved(self, state: _HostState, limits: HostLimits, turn: Turn) -> float | None:
        """Return a slot that was granted before, unless its time has passed."""
        if limits is not self._limits:
            state.slots.clear()
        now_ms = self._now() * 1000
        while state.slots and state.slots[0] < now_ms - rate_limits.JITTER_MS:
            state.slots.popleft()
        return state.slots.popleft() if state.slots and state.slots[0] <= turn.until * 1000 else None

    async def _open(self, host: str, state: _HostState, turn: Turn) -> bool:
        """Open one more request; return False where the host has asked to be left alone meanwhile."""
        state.waiting += 1
        try:
            while self._limits.at_once and state.used >= state.held:
                async with state.turn:
                    if state.used < state.held:
                        break
                    granted = await self._take(host, state, turn, self._limits, slots=0)
                if granted.wait_until_ms:
                    await self._wait(state, granted.wait_until_ms, turn)
                    return False
                if not granted.open:
                    await self._freed(state, turn)
            state.used += 1
        finally:
            state.waiting -= 1
        return True

    async def _take(self, host: str, state: _HostState, turn: Turn, limits: HostLimits, *, slots: int) -> GrantedSlots:
        opening = max(min(state.waiting + slots, _BATCH) - (state.held - state.used), 1)
        request = SlotRequest(self._replica, slots, opening, turn.until * 1000)
        granted = await self._update(
            host, state, lambda pace: rate_limits.grant(pace, request, limits, self._now() * 1000)
        )
        state.held += granted.open
        return granted

    async def _wait(self, state: _HostState, until_ms: float, turn: Turn) -> None:
        """Wait until a time; raise where that is too late for the turn."""
        wait_ms = until_ms - self._now() * 1000
        if wait_ms <= 0:
            return
        if until_ms > turn.until * 1000:
            raise FaultError(_too_fast(wait_ms, state.last_pace.pace.status))
        await anyio.sleep(wait_ms / 1000)

    async def _freed(self, state: _HostState, turn: Turn) -> None:
        """Wait until a request of this replica completes, or a moment for those of others."""
        left = turn.until - self._now()
        if left <= _LEAST_S:
            raise FaultError(_too_fast(_BUSY_MS, 0))
        with anyio.move_on_after(min(_TRY_AGAIN_S * (1 + self._chance.random()), left - _LEAST_S)):
            await state.freed.wait()

    async def _update(self, host: str, state: _HostState, update: Callable[[HostPace], tuple[HostPace, T]]) -> T:
        """Update the shared pace of a host, or, while the bus is away, that of this replica."""
        try:
            if self._shared is not None:
                try:
                    return await update_pace(self._shared, host, state.last_pace, update)
                except (TransportError, TimeoutError) as error:
                    log.warning(SHARED_PACE_AWAY, reason=type(error).__name__)
                    return await update_pace(self._own, host, LastPace(), update)
            return await update_pace(self._own, host, state.last_pace, update)
        except ValueError:
            raise FaultError(_too_fast(_BUSY_MS, 0)) from None

    async def _release_surplus(self) -> None:
        while True:
            await self._surplus.wait()
            self._surplus = anyio.Event()
            await anyio.sleep(_LINGER_S)
            await self._release()

    async def _release(self) -> None:
        """Release the leases that nobody uses, and forget idle hosts."""
        for host, state in list(self._hosts.items()):
            async with state.turn:
                if state.held > state.used and not state.waiting:
                    state.held = state.used
                    with suppress(FaultError):
                        await self._update(host, state, self._releasing(state.used))
            if state.idle(self._now() * 1000) and self._hosts.get(host) is state:
                del self._hosts[host]

    def _releasing(self, count: int) -> Callable[[HostPace], tuple[HostPace, None]]:
        return lambda pace: (rate_limits.release(pace, self._replica, count), None)


class LocalPaces:
    """The paces of a replica that shares them with nobody, as KeyValues."""

    def __init__(self) -> None:
        self._held: dict[str, KeyChange[HostPace]] = {}

    async def get(self, key: str) -> KeyChange[HostPace] | None:
        """Return the value of a key with its revision, if it has one."""
        return self._held.get(key)

    async def put(self, key: str, value: HostPace, *, revision: int | None = None) -> int:
        """Set a key; ValueError when `revision` is no longer the last."""
        last = held.revision if (held := self._held.get(key)) else 0
        if revision not in (None, last):
            raise ValueError(key)
        self._held[key] = KeyChange(key, value, last + 1)
        return last + 1


async def update_pace(
    paces: KeyValues[HostPace], host: str, known: LastPace, update: Callable[[HostPace], tuple[HostPace, T]]
) -> T:
    """Update the pace of a host; where another replica was faster, read it again and retry.

    Raises:
        ValueError: others were faster until the time for retries was over.
        TransportError, TimeoutError: the bus is away.
    """
    async for attempt in stamina.retry_context(
        on=ValueError, attempts=None, timeout=_CHANGE_S, wait_initial=0.001, wait_max=0.05, wait_jitter=0.01
    ):
        with attempt, anyio.fail_after(_BUS_S):
            return await _update_once(paces, key_of(host), known, update)
    raise AssertionError  # pragma: no cover - it returns or raises


async def _update_once(
    paces: KeyValues[HostPace], key: str, known: LastPace, update: Callable[[HostPace], tuple[HostPace, T]]
) -> T:
    """Update a pace as it was last known, or as it is read now where that would change nothing."""
    last, known.last = known.last, None
    if last is not None and last.value is not None:
        after, result = update(last.value)
        if after != last.value:
            known.last = KeyChange(key, after, await paces.put(key, after, revision=last.revision))
            return result
    change = await paces.get(key)
    before = (change.value if change else None) or HostPace()
    after, result = update(before)
    revision = change.revision if change else 0
    if after != before:
        revision = await paces.put(key, after, revision=revision)
    known.last = KeyChange(key, after, revision)
    return result


def key_of(host: str) -> str:
    """Return the key of a host: colons of IPv6 and letters of other scripts, which keys may not have, are escaped."""
    return host_key(host.lower().rstrip(".")) or "_"


def _too_fast(wait_ms: float, status: int) -> Fault:
    """Make the fault of a request that cannot be sent in time: for the `status` of the host, or Weft's own limit."""
    wait = max(round(wait_ms), 1)
    if status:
        return rate_limited(f"The site answered {status} and is left alone for a while.", wait, status)
    message = "The site is asked no faster than is polite; the time allowed is over before its turn comes."
    return msgspec.structs.replace(rate_limited(message, wait), http_status=None)
