"""Keeps every replica alive: starts it, waits until it is ready, restarts it when it dies, and gives up loudly."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
import structlog
from msgspec import Struct

from actors.runtime.spawners import Child
from bus import Bus, TransportError
from protocol.faults import Code, FaultError, fault
from protocol.replicas import ReplicaGone, ReplicaReady, StorageFilled
from protocol.subject_kinds import Subject
from protocol.subjects import REPLICA_GONE, REPLICA_READY, STORAGE_FILLED

log = structlog.stdlib.get_logger()

STARTED = "child_started"
DIED = "child_died"
GIVEN_UP = "child_given_up"
STUCK = "child_killed_at_stop"

KILL_AFTER_S = 3.0
"""What a replica gets beyond its own draining time, before it is killed."""


@dataclass
class Slot:
    """A place that is to be filled by one living child, whatever died before.

    `start` makes the child. `replica` is the id of the life it leads at the moment, new at each start, so that the
    announcement of one is not mistaken for that of its predecessor. `answers` are the subjects that it answers.
    `log` is where a person may read why it died.
    """

    name: str
    start: Callable[[], Awaitable[Child]]
    vital: bool = False
    answers: tuple[Subject[Any], ...] = ()
    log: str = "the log"
    replica: str = ""
    child: Child | None = None
    deaths_s: list[float] = field(default_factory=list[float])
    stopping: anyio.Event = field(default_factory=anyio.Event)
    gone: anyio.Event = field(default_factory=anyio.Event)

    @property
    def failed(self) -> bool:
        """Whether it was given up."""
        return self.gone.is_set() and not self.stopping.is_set()


class GivenUpError(FaultError):
    """A child without which nothing works died too often."""

    def __init__(self, slot: Slot) -> None:
        """Name what died, and where to look for the reason."""
        message = f"{slot.name} died {len(slot.deaths_s)} times, so Weft cannot run: {slot.log} says why"
        super().__init__(fault(Code.CONFIG_INVALID, message))


class Supervisor:
    """Fills slots, and keeps them filled."""

    def __init__(self, policy: RestartPolicy) -> None:
        """Restart children as `policy` allows."""
        self._policy = policy
        self._bus: Bus | None = None
        self._ready: set[str] = set()
        self._changed = anyio.Event()

    async def keep(self, slot: Slot) -> None:
        """Keep one slot filled until it is stopped or given up.

        Raises:
            GivenUpError: it was vital.
        """
        try:
            while not slot.stopping.is_set():
                slot.child = await slot.start()
                log.debug(STARTED, child=slot.name, replica=slot.replica, pid=slot.child.pid)
                if slot.stopping.is_set():
                    await slot.child.stop()
                status = await slot.child.ended()
                if slot.stopping.is_set() or not await self._may_restart(slot, status):
                    return
        finally:
            slot.gone.set()
            self._change()

    async def _may_restart(self, slot: Slot, status: int) -> bool:
        """Wait out the back-off after a death; False when there were too many."""
        now = time.monotonic()
        slot.deaths_s.append(now)
        deaths = len(slot.deaths_s)
        wait_s = restart_delay_s(self._policy, slot.deaths_s, now, random.random())  # noqa: S311 - jitter is no secret
        if wait_s is None:
            log.critical(GIVEN_UP, child=slot.name, replica=slot.replica, status=status, deaths=deaths)
            await self._tell_gone(slot, "given_up")
            if slot.vital:
                raise GivenUpError(slot)
            return False
        wait_ms = int(wait_s * 1000)
        log.warning(DIED, child=slot.name, replica=slot.replica, status=status, deaths=deaths, restart_in_ms=wait_ms)
        await self._tell_gone(slot, "died")
        with anyio.move_on_after(wait_s):
            await slot.stopping.wait()
        return True

    async def _tell_gone(self, slot: Slot, reason: Literal["died", "given_up"]) -> None:
        if self._bus is None or slot.vital:
            return
        answers = tuple(subject.answered_by(slot.replica).wildcard for subject in slot.answers)
        gone = ReplicaGone(actor=slot.name, replica=slot.replica, reason=reason, answers=answers)
        with suppress(TransportError):
            await self._bus.tell(REPLICA_GONE, gone)

    async def tell_filled(self, free_bytes: int) -> None:
        """Publish that there is no room for what is kept."""
        if self._bus is not None:
            with suppress(TransportError):
                await self._bus.tell(STORAGE_FILLED, StorageFilled(free_bytes=free_bytes))

    # -- readiness ---------------------------------------------------------------------------------------------------

    async def listen(self, bus: Bus) -> None:
        """Subscribe on `bus` to replicas that become ready."""
        self._bus = bus
        await bus.serve(REPLICA_READY, self._on_ready, at_once=16)

    async def _on_ready(self, ready: ReplicaReady) -> None:
        self._ready.add(ready.replica)
        self._change()

    def _change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def until_ready(self, slots: Sequence[Slot]) -> None:
        """Wait until each slot's replica has announced itself.

        Raises:
            GivenUpError: one of them died too often before it was ready.
        """
        while not all(slot.replica in self._ready for slot in slots):
            for slot in slots:
                if slot.failed:
                    raise GivenUpError(slot)
            await self._changed.wait()

    # -- the end -----------------------------------------------------------------------------------------------------

    async def stop(self, slots: Sequence[Slot], grace_s: float) -> None:
        """Have some slots finish their work side by side; kill what is not done in time."""
        async with anyio.create_task_group() as tasks:
            for slot in slots:
                tasks.start_soon(self._stop, slot, grace_s)

    async def _stop(self, slot: Slot, grace_s: float) -> None:
        slot.stopping.set()
        if slot.child is not None:
            await slot.child.stop()
        with anyio.move_on_after(grace_s + KILL_AFTER_S):
            await slot.gone.wait()
            return
        log.error(STUCK, child=slot.name, replica=slot.replica)
        if slot.child is not None:
            await slot.child.kill()
        with anyio.move_on_after(KILL_AFTER_S):
            await slot.gone.wait()


MAX_DOUBLINGS = 32
"""No back-off grows any more after so many: what is later is bounded by the policy, not by floating point."""


class RestartPolicy(Struct, frozen=True):
    """More than `limit` deaths within `window_s` are too many; times in seconds."""

    limit: int
    window_s: float
    backoff_s: float
    backoff_max_s: float


def restart_delay_s(policy: RestartPolicy, deaths_s: Sequence[float], now_s: float, jitter: float) -> float | None:
    """How long to wait before the next start after `deaths_s`, of which the last is now; None to give up.

    `jitter` from 0 to 1 takes away up to half of the delay, so that replicas do not start all at once.
    """
    recent = sum(1 for death in deaths_s if now_s - death <= policy.window_s)
    if recent > policy.limit:
        return None
    delay = min(policy.backoff_s * 2.0 ** min(recent - 1, MAX_DOUBLINGS), policy.backoff_max_s) if recent else 0.0
    return delay * (1 - jitter / 2)
