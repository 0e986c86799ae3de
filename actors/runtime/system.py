"""A system of actors: what it consists of, how it comes up around its NATS, and how it goes down in order."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from secrets import token_hex
from types import MappingProxyType
from typing import Any, TypeVar

import anyio
import msgspec
from anyio.abc import TaskGroup
from msgspec import Struct

from actors.actor import Actor, grant_like, grant_of, handlers, purposes_of
from actors.registry import ACTORS, GATEWAY, kinds
from actors.runtime.natskeys import ONLOOKER, STDIO, SUPERVISOR, key_of, read_keys, supervised_by
from actors.runtime.natsserver import NatsServer
from actors.runtime.peers import first_peers, keep_vault_key, with_another_vault
from actors.runtime.replica import VERSION, ReplicaSpec
from actors.runtime.resealing import reseal
from actors.runtime.room import watched_room
from actors.runtime.rundir import Ready
from actors.runtime.spawners import Child, Spawner
from actors.runtime.supervisor import RestartPolicy, Slot, Supervisor
from actors.runtime.withheld import named
from actors.settings import Settings, env_name, key_file
from actors.settings.loading import invalid
from bus import Bus, TransportError
from bus.errors import NoRoomError, UnconnectedError
from bus.nats import keys
from bus.nats.keys import NKey
from bus.nats.transport import connect as connect_nats
from bus.nats.transport import hide_credentials
from bus.permissions import EVERYTHING, OBSERVER, Grant, observer, onlooker
from bus.seal import Seal
from protocol.collections import SHARED_RUNNERS
from protocol.faults import Code, FaultError, fault
from protocol.subject_kinds import Bucket, Journal, Objects, Work
from protocol.subjects import CAPTURE, RUN, table

START_TIMEOUT_S = 60.0


Kept = Bucket[Any] | Objects | Journal[Any] | Work[Any]

E = TypeVar("E", bound=Exception)

_LOOPBACK: Mapping[str, str] = MappingProxyType({"0.0.0.0": "127.0.0.1", "::": "::1"})  # noqa: S104 - compared, not bound
"""Where who listens on every address of the machine is found from this machine."""


@dataclass(frozen=True)
class Plan:
    """What a system is to consist of."""

    settings: Settings
    actors: dict[str, int]
    kinds: dict[str, type[Actor]]
    listener: socket.socket | None = None
    secrets: dict[str, NKey] = field(default_factory=dict[str, NKey])
    withheld: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Variables of the environment that are for the actors that name them."""
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    """Where each setting comes from."""

    @property
    def root(self) -> Seal | None:
        """The root of all keys that seal; no actor gets it."""
        return Seal.of(self.settings.vault_key) if self.settings.vault_key else None

    def key(self, participant: str) -> NKey | None:
        """Return the key of an actor or the supervisor; None on somebody else's NATS where the URL says who we are."""
        if self.settings.nats_url:
            return key_of(self.settings, participant)
        if participant not in self.secrets:
            self.secrets[participant] = keys.new()
        return self.secrets[participant]

    @property
    def observer(self) -> NKey | None:
        """Return the key of who looks at the whole bus; None where the URL says who we are, or this host has none."""
        return read_keys(self.settings).get(OBSERVER) if self.settings.nats_url else self.key(OBSERVER)

    @property
    def supervisor(self) -> str:
        """By which name the actors are supervised: on a NATS where this host makes nothing by another one."""
        return supervised_by(read_keys(self.settings))

    def users(self) -> dict[str, tuple[NKey, Grant]]:
        """Everybody who may take part: actors, who supervises and observes them, the command line, MCP over stdio."""
        grants = {SUPERVISOR: EVERYTHING, **{name: grant_of(kind) for name, kind in self.kinds.items()}}
        users = {name: (key, allowed) for name, allowed in grants.items() if (key := self.key(name))}
        if GATEWAY in self.kinds and (key := self.observer):
            users[OBSERVER] = (key, observer())
        if self.settings.api_key:
            users[ONLOOKER] = (keys.derived(self.settings.api_key, keys.ONLOOKER), onlooker())
            stdio = grant_like(STDIO, kinds((GATEWAY,))[GATEWAY])
            users[STDIO] = (keys.derived(self.settings.api_key, keys.STDIO), stdio)
        return users


class System(Struct, frozen=True):
    """A system that was started; `bus` is the supervisor's, `slots` are those of each actor."""

    plan: Plan
    bus: Bus
    nats_url: str
    supervisor: Supervisor
    slots: Mapping[str, list[Slot]]

    async def until_ready(self) -> None:
        """Wait until every actor serves.

        Raises:
            GivenUpError: one of them died too often before it did.
            FaultError: CONFIG_INVALID: one of them takes too long.
        """
        with anyio.move_on_after(START_TIMEOUT_S):
            await self.supervisor.until_ready([slot for group in self.slots.values() for slot in group])
            return
        raise FaultError(fault(Code.CONFIG_INVALID, f"Not every actor serves after {START_TIMEOUT_S:.0f} s"))

    def ready(self) -> Ready:
        """Where it is to be found."""
        settings = self.plan.settings
        address = _LOOPBACK.get(settings.host, settings.host)
        host = f"[{address}]" if ":" in address else address
        rest = f"http://{host}:{settings.port}" if self.plan.listener is not None else ""
        return Ready(
            rest=rest,
            mcp=f"{rest}/mcp" if rest else "",
            nats=hide_credentials(self.nats_url),
            key_file=str(key_file(settings)),
            pid=os.getpid(),
        )


@asynccontextmanager
async def running(plan: Plan, spawner: Spawner, folder: Path) -> AsyncGenerator[System]:
    """Start NATS (unless one is to be joined) and every actor, and stop them in order at the end of the block.

    Raises:
        FaultError: NATS could not be started or reached, or died too often.
    """
    supervisor, kept = Supervisor(_policy(plan.settings)), _kept(plan)
    async with (
        anyio.create_task_group() as group,
        _nats(plan, spawner, folder, supervisor, group) as url,
        _supervisor_bus(url, plan, kept) as bus,
    ):
        await supervisor.listen(bus)
        if plan.settings.nats_url:
            await _compare_vaults(plan, bus)
        if plan.supervisor == SUPERVISOR:
            if plan.root is not None:
                await keep_vault_key(bus, plan.root.fingerprint)
            for entry in kept:
                await bus.prepare(entry)
            if plan.root is not None:
                await reseal(bus, plan.root, plan.settings.data_dir)
        slots = {name: [_slot(plan, spawner, name, url) for _ in range(n)] for name, n in plan.actors.items()}
        for slot in chain.from_iterable(slots.values()):
            group.start_soon(supervisor.keep, slot)
        try:
            async with _watched(plan, bus):
                yield System(plan, bus, url, supervisor, slots)
        finally:
            with anyio.CancelScope(shield=True):
                _close_port(plan, slots.get(GATEWAY, []))
                for name in ACTORS:
                    await supervisor.stop(slots.get(name, []), plan.settings.drain_ms / 1000)


async def _compare_vaults(plan: Plan, bus: Bus) -> None:
    """Look whether those who take part already have the vault key of this host.

    With another one it would refuse what they have sealed: their runs, keys and logins.

    Raises:
        FaultError: CONFIG_INVALID: they have another one.
    """
    other = with_another_vault(await first_peers(bus), plan.root.fingerprint if plan.root else "")
    if other is not None:
        what = (
            f"vault_key: {other.actor} on the host {other.host} has another one, and all hosts of a NATS need the same"
        )
        cure = f"Set {env_name('vault_key')} here to theirs; the first host may have it in the file vault-key."
        raise invalid("vault_key", what, cure)


def _kept(plan: Plan) -> list[Kept]:
    """Everything that the actors keep on the server, once each; on a NATS of several hosts also those of the others."""
    if plan.settings.nats_keys:
        entries = [_sized(entry, plan.settings) if isinstance(entry, Work) else entry for _, entry in table()]
        return [entry for entry in entries if isinstance(entry, Bucket | Objects | Journal | Work)]
    kinds = plan.kinds.values()
    buckets = {bucket.name: bucket for kind in kinds for bucket in kind.buckets}
    stores = {store.name: store for kind in kinds for store in kind.stores}
    journals = {journal.name: journal for kind in kinds for journal in (*kind.journals, *kind.reads)}
    subjects = [subject for kind in kinds for subject in (*kind.publishes, *(one.subject for one in handlers(kind)))]
    works = {work.pattern: _sized(work, plan.settings) for work in subjects if isinstance(work, Work)}
    return [*buckets.values(), *stores.values(), *journals.values(), *works.values()]


def _sized(work: Work[Any], settings: Settings) -> Work[Any]:
    """Return the work with its numbers as they are set."""
    match work.pattern:
        case RUN.pattern:
            return replace(work, at_once=settings.runs_at_once, share=max(settings.runs_at_once - 1, 1))
        case CAPTURE.pattern:
            return replace(work, share=SHARED_RUNNERS * settings.captures_at_once)
        case _:
            return work


def _watched(plan: Plan, bus: Bus) -> AbstractAsyncContextManager[None]:
    """Look after the room that is left; a host that makes nothing leaves that to the one that does."""
    return watched_room(bus.transport.streams, _limit(plan)) if plan.supervisor == SUPERVISOR else nullcontext()


def _close_port(plan: Plan, gateways: list[Slot]) -> None:
    """See to it that the port closes as soon as the gateways that live accept no more."""
    for slot in gateways:
        slot.stopping.set()  # none is started again: it would want the socket
    if plan.listener is not None:
        plan.listener.close()


def _policy(settings: Settings) -> RestartPolicy:
    return RestartPolicy(
        limit=settings.restart_limit,
        window_s=settings.restart_window_ms / 1000,
        backoff_s=settings.restart_backoff_ms / 1000,
        backoff_max_s=settings.restart_backoff_max_ms / 1000,
    )


@asynccontextmanager
async def _nats(
    plan: Plan, spawner: Spawner, folder: Path, supervisor: Supervisor, group: TaskGroup
) -> AsyncGenerator[str]:
    """Yield the URL of the NATS to join, or of a server of our own that runs while the block lasts."""
    settings = plan.settings
    if settings.nats_url:
        yield settings.nats_url
        return
    if settings.nats_port:
        listen("nats_port", "127.0.0.1", settings.nats_port).close()
    server = NatsServer(spawner, folder, settings, plan.users())
    slot = Slot("nats-server", server.start, vital=True, log=str(server.log))
    group.start_soon(supervisor.keep, slot)
    group.start_soon(server.watch_room, slot.gone, supervisor.tell_filled)
    try:
        yield await server.url()
    finally:
        with anyio.CancelScope(shield=True):
            await supervisor.stop([slot], 1.0)


@asynccontextmanager
async def _supervisor_bus(url: str, plan: Plan, kept: list[Kept]) -> AsyncGenerator[Bus]:
    """Take part as the supervisor, which makes what all others use."""
    try:
        async with connect_nats(
            url, plan.supervisor, plan.key(plan.supervisor), ca_file=plan.settings.nats_ca_file
        ) as transport:
            bus = Bus(transport, plan.supervisor, token_hex(6), VERSION)
            async with bus.running():
                if plan.supervisor == SUPERVISOR:
                    await transport.keep_claims()
                    await transport.allot([one for one in kept if isinstance(one, Objects | Journal)], _limit(plan))
                yield bus
    except* NoRoomError as errors:
        raise _without_room(plan, _first(errors)) from None
    except* UnconnectedError as errors:
        raise FaultError(fault(Code.CONFIG_INVALID, f"nats_url: {_first(errors)}", field="nats_url")) from None
    except* TransportError as errors:
        message = f"nats_url: {_first(errors)}; check WEFT_NATS_URL, and that the server has JetStream"
        raise FaultError(fault(Code.CONFIG_INVALID, message, field="nats_url")) from None


def _limit(plan: Plan) -> int | None:
    """Return how much a server of our own may keep; of another one nobody here knows."""
    return None if plan.settings.nats_url else plan.settings.jetstream_max_bytes


def _without_room(plan: Plan, error: NoRoomError) -> FaultError:
    """Say which setting leaves too little room for what is kept, and how much is wanted."""
    if plan.settings.nats_url:
        limit = "max_memory_store" if error.in_memory else "max_file_store"
        message = (
            f"nats_url: the JetStream of this NATS has too little room: its {limit} has to leave {error.wanted_bytes} "
            "bytes to Weft at least"
        )
        return FaultError(fault(Code.CONFIG_INVALID, message, field="nats_url"))
    message = (
        f"jetstream_max_bytes: {plan.settings.jetstream_max_bytes} leaves too little room beside what is kept already; "
        f"raise WEFT_JETSTREAM_MAX_BYTES by {error.wanted_bytes} at least"
    )
    return FaultError(fault(Code.CONFIG_INVALID, message, field="jetstream_max_bytes"))


def _first(errors: BaseExceptionGroup[E]) -> E:
    """Return the first error of a group, however deep it lies."""
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


def _slot(plan: Plan, spawner: Spawner, name: str, url: str) -> Slot:
    """Return a slot for a replica; each gets the secrets that it needs, and the gateway gets the listening socket."""
    gateway = name == GATEWAY
    kind = plan.kinds[name]
    own = {"vault_key": ""} if gateway else {"vault_key": "", "api_key": "", "push_secret": ""}
    settings = msgspec.structs.replace(plan.settings, **own)
    seals = plan.root.derived(purposes_of(kind)) if plan.root else {}
    variables = {one: plan.withheld[one] for one in named(kind.variables, plan.withheld)}

    async def start() -> Child:
        slot.replica = token_hex(6)
        spec = ReplicaSpec(
            actor=name,
            replica=slot.replica,
            settings=settings,
            nats_url=url,
            restarts=len(slot.deaths_s),
            key=plan.key(name),
            observer=plan.observer if gateway else None,
            origins=dict(plan.origins) if gateway else {},
            seals=seals,
            vault=plan.root.fingerprint if plan.root else "",
            variables=variables,
        )
        return await spawner.replica(spec, plan.listener if gateway else None)

    slot = Slot(name, start, answers=tuple(handler.subject for handler in handlers(kind)))
    return slot


_NOT_HERE = (errno.EADDRNOTAVAIL, socket.EAI_NONAME, socket.EAI_AGAIN, socket.EAI_FAMILY)


def listen(setting: str, host: str, port: int) -> socket.socket:
    """Open the port that a setting names.

    The gateway's is opened by the launcher, so that clients can queue there while a gateway is restarted.

    Raises:
        FaultError: CONFIG_INVALID, when it is taken, or the host is none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]  # create_server adds the address
        if error.errno in _NOT_HERE:
            what = f"host: {host!r} is no address of this machine ({reason})"
            cure = f"Set {env_name('host')} to 127.0.0.1 for this machine alone, or to 0.0.0.0 for all its networks."
            raise invalid("host", what, cure) from None
        what = f"{setting}: {host}:{port} cannot be opened ({reason})"
        raise invalid(setting, what, f"Choose another with {env_name(setting)}.") from None
    # All processes that accept here share the flag, and each `dup` writes it anew: one that blocks serves nobody.
    listener.setblocking(False)  # noqa: FBT003 - the standard library takes it so
    return listener
