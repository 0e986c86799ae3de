"""Saved logins for a tier without a bus between it and the actor that keeps them."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import TaskStatus

from actors.actor import grant_of, handlers
from actors.fetchers.logins import Login, Logins
from actors.logins import login_pass
from actors.sessions.actor import LoginsActor
from actors.settings import Settings
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal
from protocol.access import OWNER_NAME
from protocol.browsers.operations import CreateSession, Operation
from protocol.faults import FaultError
from protocol.subjects import SESSION_OPEN

FOR_GOOD = 1 << 52
"""The end of a pass that never ends, in ms since the epoch."""


@dataclass(frozen=True)
class Direct:
    """Asks the actor itself."""

    actor: LoginsActor

    async def call(self, call: Any, args: Any, *, timeout_ms: int | None = None, wait_ms: int = 0) -> Any:
        """Open or keep a login."""
        del timeout_ms, wait_ms
        return await (self.actor.open_login(args) if call is SESSION_OPEN else self.actor.keep_login(args))


@dataclass(frozen=True)
class Holding:
    """The logins of one caller, as a tier holds them."""

    logins: Logins
    seal: Seal
    caller: str = OWNER_NAME

    @asynccontextmanager
    async def use(self, profile: str | None, url: str) -> AsyncGenerator[Login]:
        """Hold a login with the pass that its caller has."""
        async with self.logins.use(profile, url, passed(self.seal, profile, url, self.caller)) as login:
            yield login


def passed(seal: Seal, profile: str | None, url: str, caller: str = OWNER_NAME) -> bytes:
    """Return the pass of a caller to a login; nothing for what has no login."""
    try:
        return b"" if profile is None else login_pass(seal, caller, profile, url, FOR_GOOD)
    except FaultError:
        return b""


def login_of(seal: Seal, do: Operation, caller: str) -> bytes:
    """Return the pass that goes with an operation which opens a session with a login."""
    if not isinstance(do, CreateSession) or do.url is None:
        return b""
    return passed(seal, do.profile, do.url, caller)


async def keep_logins(broker: Broker, key: str, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
    """Serve the logins on a bus in memory."""
    transport = broker.connect(LoginsActor.name, grant_of(LoginsActor))
    async with Bus(transport, LoginsActor.name, f"l{secrets.token_hex(4)}").running() as bus:
        bus.seal = Seal.of(key)
        actor = LoginsActor(bus=bus, settings=Settings())
        async with actor.open():
            for handler in handlers(LoginsActor):
                await bus.serve(handler.subject, getattr(actor, handler.method), at_once=handler.at_once)
            task_status.started()
            await anyio.sleep_forever()


@asynccontextmanager
async def holding(bus: Bus, seal: Seal, caller: str = OWNER_NAME) -> AsyncGenerator[Holding]:
    """Hold logins in the bucket of a bus, which has the keys of the actor."""
    bus.seal = seal
    actor = LoginsActor(bus=bus, settings=Settings())
    async with actor.open():
        yield Holding(Logins(Direct(actor)), seal, caller)
