"""One replica of one actor, from its first breath to its last, in whichever process it lives."""

from __future__ import annotations

import faulthandler
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from importlib import metadata
from typing import Any, cast

import anyio
import msgspec
import structlog
from anyio import to_thread
from msgspec import Struct

from actors.actor import Actor, handlers, why_absent
from actors.registry import GATEWAY, kinds
from actors.settings import Settings
from bus import Bus, TransportError, telemetry, tracing
from bus.clock import now_ms
from bus.nats.keys import NKey
from bus.nats.transport import NatsTransport, connect
from bus.observing import MAX_HELD
from bus.permissions import OBSERVER, micro_name
from bus.recording import SEND_S, SharedRecorder
from bus.seal import Seal
from protocol.replicas import Absence, ReplicaDrained, ReplicaReady, WhyAbsent
from protocol.subjects import RECORDED, REPLICA_DRAINED, REPLICA_READY

log = structlog.stdlib.get_logger()

READY = "replica_ready"
DRAINED = "replica_drained"
DIED = "replica_died"
ABSENT = "replica_absent"

_ANSWERS_AT_ONCE = 64

STUCK_S = 20.0
"""An event loop that has not turned for so long is within one call in C, and with it all that the replica does."""

VERSION = metadata.version("weft")


class ReplicaSpec(Struct, frozen=True, kw_only=True):
    """What a replica must know; it carries secrets, so it travels by memory and private pipes alone."""

    actor: str
    replica: str
    settings: Settings
    nats_url: str
    restarts: int = 0
    key: NKey | None = None
    observer: NKey | None = None
    """The key by which the gateway looks at the whole bus for an operator."""
    origins: dict[str, str] = {}
    """Where each setting comes from, for the gateway, which tells an operator."""
    seals: dict[str, bytes] = {}
    """The key of each purpose that the actor is trusted with."""
    vault: str = ""
    """By what the root of those keys is known."""
    variables: dict[str, str] = {}
    """Those variables of the environment that are withheld from all others."""


_read_spec = msgspec.json.Decoder(ReplicaSpec, dec_hook=lambda kind, value: kind(value)).decode


async def live(kind: type[Actor], spec: ReplicaSpec, stop: anyio.Event, listener: socket.socket | None = None) -> int:
    """Serve until `stop`, then finish what is in hand; returns the exit status, 1 for a death of its own."""
    structlog.contextvars.bind_contextvars(actor=spec.actor, replica=spec.replica)
    traces = telemetry.start_tracing(spec.actor, spec.replica)
    tracing.use(traces)
    try:
        async with connect(spec.nats_url, spec.actor, spec.key, ca_file=spec.settings.nats_ca_file) as transport:
            await _serve(kind, spec, transport, stop, listener)
    except* (TransportError, OSError) as errors:
        log.error(DIED, reason=str(_first(errors)) or repr(_first(errors)))  # noqa: TRY400 - the reason says it, a traceback would say no more
    except* Exception:
        log.exception(DIED)
    else:
        return 0
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(traces.close)
    return 1


async def _serve(
    kind: type[Actor], spec: ReplicaSpec, transport: NatsTransport, stop: anyio.Event, listener: socket.socket | None
) -> None:
    bus = Bus(transport, spec.actor, spec.replica, VERSION, (kind.__doc__ or "").partition("\n")[0])
    bus.restarts = spec.restarts
    bus.vault = spec.vault
    bus.seal = Seal(spec.seals) if spec.seals else None
    if spec.actor == GATEWAY:
        bus.observing = partial(
            connect,
            spec.nats_url,
            OBSERVER,
            spec.observer,
            ca_file=spec.settings.nats_ca_file,
            pending_limit=MAX_HELD,
        )
    extra: dict[str, Any] = {"listener": listener} if listener is not None else {}
    if spec.origins:
        extra["origins"] = spec.origins
    if kind.variables:
        extra["environment"] = spec.variables
    actor = kind(bus=bus, settings=spec.settings, **extra)
    async with bus.running(), anyio.create_task_group() as tasks, recording(bus, spec.settings):
        tasks.start_soon(_until_closed, transport)
        async with _working(actor, bus):
            await bus.open_discovery()
            await transport.flush()
            await bus.tell(REPLICA_READY, _ready(bus))
            log.info(READY)
            await stop.wait()
            await bus.drain(spec.settings.drain_ms)
        await bus.tell(REPLICA_DRAINED.at(actor=micro_name(bus.actor)), ReplicaDrained(replica=bus.replica))
        log.info(DRAINED)
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def recording(bus: Bus, settings: Settings) -> AsyncGenerator[None]:
    """Have what a participant sends and is told noted while the block lasts, if conversations are recorded."""
    if not settings.record_conversations:
        yield
        return
    recorder = SharedRecorder(f"{bus.actor}/{bus.replica}", partial(bus.tell, RECORDED))
    bus.wire.recorder = recorder
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recorder.run)
        try:
            yield
        finally:
            tasks.cancel_scope.cancel()
            with anyio.move_on_after(SEND_S, shield=True):
                await recorder.flush()


@asynccontextmanager
async def _working(actor: Actor, bus: Bus) -> AsyncGenerator[None]:
    """Have the actor answer what it is there for; where it cannot work, only why."""
    kind = type(actor)
    unavailability = await to_thread.run_sync(kind.unavailability, actor.settings)  # may try a program
    if unavailability is not None:

        async def why(_asked: WhyAbsent) -> Absence:
            return unavailability

        log.warning(ABSENT, reason=unavailability.reason, cure=unavailability.cure)
        await bus.serve(why_absent(kind), why, at_once=_ANSWERS_AT_ONCE)
        yield
        return
    async with actor.open():
        for handler in handlers(kind):
            subject = handler.subject.answered_by(bus.replica)
            await bus.serve(subject, getattr(actor, handler.method), at_once=actor.room(handler), shared=handler.shared)
        yield


def _ready(bus: Bus) -> ReplicaReady:
    figures = bus.figures()
    return ReplicaReady(
        actor=figures.actor,
        replica=figures.replica,
        host=figures.host,
        pid=figures.pid,
        version=figures.version,
        started=now_ms(),
    )


async def _until_closed(transport: NatsTransport) -> None:
    """Die with the connection: nats-py gives up for good on most errors of the server, and cannot be revived."""
    await transport.closed.wait()
    msg = "NATS closed the connection for good"
    raise TransportError(msg)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


# -- in a process made for it ----------------------------------------------------------------------------------------


def replica_main(payload: bytes, listener_fd: int | None) -> int:
    """Live as one replica, in a process made for it; returns the exit status."""
    spec = _read_spec(payload)
    kind = kinds([spec.actor])[spec.actor]
    listener = None if listener_fd is None else socket.socket(fileno=listener_fd)

    async def main() -> int:
        status, stop = 1, anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(_set_on_sigterm, stop)
            group.start_soon(end_where_stuck, STUCK_S)
            status = await live(kind, spec, stop, listener)
            group.cancel_scope.cancel()
        return status

    return anyio.run(main)


async def end_where_stuck(seconds: float) -> None:
    """End the process, to be started again, where its event loop does not turn for so long; it says at which line.

    A thread outside of Python keeps the watch: one call of a regular expression lets no other thread run.
    """
    try:
        while True:
            faulthandler.dump_traceback_later(seconds, exit=True)
            await anyio.sleep(seconds / 10)
    finally:
        faulthandler.cancel_dump_traceback_later()


async def _set_on_sigterm(stop: anyio.Event) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM) as signals:
        async for _ in signals:
            stop.set()


if __name__ == "__main__":
    data = sys.stdin.buffer.read()
    chosen = _read_spec(data).settings
    telemetry.configure(chosen.log_level, chosen.log_format)
    sys.exit(replica_main(data, int(sys.argv[1]) if sys.argv[1:] else None))
