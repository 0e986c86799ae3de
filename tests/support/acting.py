"""All that acts on pages, on a bus in memory: planners that may die, the gate, the verifier, and a browser."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup, TaskStatus

from actors.actor import Actor, grant_of, handlers
from actors.planner.actor import Planner
from actors.policy.actor import Policy
from actors.settings import Settings
from actors.verifier.actor import Verifier
from bus import Bus
from bus.memory import Broker, MemoryTransport
from bus.seal import Seal, new_key
from protocol import subjects
from protocol.access import Scope
from protocol.acting.act import Reached, ReachOnPage, values_place
from protocol.acting.tasks import AskTask, TaskState
from protocol.browsers.operations import SESSION_PREFIX, CloseSession, CreateSession, Operation
from protocol.browsers.sessions import AskBrowser, BrowserAnswer
from protocol.models import CallModel, ModelAnswer
from tests.support.browsers import browser_lives

CALLER = "somebody"
Answerer = Callable[[CallModel], Awaitable[ModelAnswer]]


@dataclass
class ActingReplica:
    """A replica of an actor, which dies in the middle of whatever it does when its scope is cancelled."""

    transport: MemoryTransport
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def dies(self) -> None:
        """Fall silent, as a process does that is killed."""
        await self.transport.disconnect()
        self.scope.cancel()


@dataclass
class ActingWorld:
    """Who asks, and what answers him; `planners` are the replicas that plan."""

    broker: Broker
    asker: Bus
    seal: Seal
    key: str
    settings: Settings
    tasks: TaskGroup
    planners: list[ActingReplica] = field(default_factory=list[ActingReplica])

    async def session(self) -> str:
        """Open a browser session."""
        session = f"{SESSION_PREFIX}{uuid.uuid4().hex}"
        await self.browser(CreateSession(session_id=session))
        return session

    async def close(self, session: str) -> None:
        """Close a browser session."""
        await self.browser(CloseSession(session_id=session))

    async def browser(self, do: Operation) -> BrowserAnswer:
        """Have an operation done in a session."""
        return await self.asker.call(subjects.BROWSER, AskBrowser(caller=CALLER, do=do, at_need=True))

    async def act(self, goal: str, session: str, task: str = "", **more: Any) -> Reached:
        """Have a goal reached."""
        task = task or str(uuid.uuid4())
        if values := more.pop("values", None):
            more["values"] = self.seal.seal(msgspec.json.encode(values), values_place(task))
        given: dict[str, Any] = {"scopes": tuple(Scope), "local_only": True, **more}
        request = ReachOnPage(task=task, goal=goal, session=session, caller=CALLER, **given)
        return await self.asker.call(subjects.ACT, request, timeout_ms=120_000)

    async def state(self, task: str) -> TaskState:
        """Return how a task stands."""
        return await self.asker.call(subjects.TASK_GET, AskTask(task=task, caller=CALLER))

    async def begin_planner(self) -> ActingReplica:
        """Run one more planner."""
        replica = await self.begin(Planner, f"p{len(self.planners) + 1}")
        self.planners.append(replica)
        return replica

    async def begin(self, kind: type[Actor], name: str) -> ActingReplica:
        """Run a replica of an actor."""
        replica = ActingReplica(self.broker.connect(kind.name, grant_of(kind)))
        await self.tasks.start(self._live, kind, name, replica)
        return replica

    async def _live(
        self, kind: type[Actor], name: str, replica: ActingReplica, *, task_status: TaskStatus[None]
    ) -> None:
        with replica.scope:
            async with Bus(replica.transport, kind.name, name).running() as bus:
                bus.seal = self.seal
                await bus.open_discovery()
                actor = kind(bus=bus, settings=self.settings)
                async with actor.open():
                    for handler in handlers(kind):
                        await bus.serve(handler.subject, getattr(actor, handler.method), at_once=actor.room(handler))
                    task_status.started()
                    await anyio.sleep_forever()


@asynccontextmanager
async def acting_world(folder: Path, model: Answerer | None = None, **settings: Any) -> AsyncGenerator[ActingWorld]:
    """Run a planner, the gate, the verifier and a browser within the block; `model` answers what models are asked."""
    key = new_key()
    values: dict[str, Any] = {"data_dir": folder, "allow_private": ("127.0.0.0/8",), "browser_javascript": True}
    async with (
        Broker() as broker,
        Bus(broker.connect("asker"), "asker", "a1").running() as asker,
        anyio.create_task_group() as tasks,
    ):
        chosen = Settings(**{**values, **settings})
        world = ActingWorld(broker, asker, Seal.of(key), key, chosen, tasks)
        asker.seal = world.seal
        await world.begin(Policy, "g1")
        await world.begin(Verifier, "v1")
        await world.begin_planner()
        await browser_lives(broker, tasks, "b1", chosen, key)
        async with Bus(broker.connect("router"), "router", "r1").running() as router:
            if model is not None:
                await router.open_discovery()
                await router.serve(subjects.CALL_MODEL, model, at_once=4)
            yield world
        tasks.cancel_scope.cancel()
