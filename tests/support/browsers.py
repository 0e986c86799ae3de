"""Replicas of the browser tier on a bus in memory, each of which lives in a task until it dies."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup, TaskStatus

from actors.actor import grant_of, handlers
from actors.fetchers.playwright.actor import Playwright
from actors.settings import Settings
from bus import Bus
from bus.memory import Broker, MemoryTransport
from bus.seal import Seal
from tests.support.logins import keep_logins


@dataclass
class BrowserReplica:
    """One replica with a browser; `key` is what it opens sealed values with."""

    name: str
    transport: MemoryTransport
    bus: Bus
    actor: Playwright
    key: str
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    gone: anyio.Event = field(default_factory=anyio.Event)

    async def live(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until it dies."""
        try:
            with self.scope:
                async with self.bus.running():
                    self.bus.seal = Seal.of(self.key)
                    async with self.actor.open():
                        for handler in handlers(Playwright):
                            subject = handler.subject.answered_by(self.name)
                            await self.bus.serve(subject, getattr(self.actor, handler.method), at_once=handler.at_once)
                        task_status.started()
                        await anyio.sleep_forever()
        finally:
            self.gone.set()

    async def dies(self) -> None:
        """Fall silent in the middle of everything, as a process does that is killed."""
        await self.transport.disconnect()
        self.scope.cancel()
        await self.gone.wait()


async def browser_lives(broker: Broker, tasks: TaskGroup, name: str, settings: Settings, key: str) -> BrowserReplica:
    """Start a replica, and one of the actor that keeps the logins."""
    await tasks.start(keep_logins, broker, key)
    transport = broker.connect(Playwright.name, grant_of(Playwright))
    bus = Bus(transport, Playwright.name, name)
    replica = BrowserReplica(name, transport, bus, Playwright(bus=bus, settings=settings), key)
    await tasks.start(replica.live)
    return replica
