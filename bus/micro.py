"""NATS micro discovery (ADR-32), spoken by hand: the library's own service drops what is queued when it stops."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from bus.permissions import micro_name
from bus.stats import EndpointStats, Replica
from bus.transport import BusMessage, Transport

SERVICE_NAME_LIMIT = 64


class _Identity(Struct, kw_only=True, tag_field="type", omit_defaults=False):
    name: str
    id: str
    version: str
    metadata: dict[str, str] = {}


class Pong(_Identity, kw_only=True, tag="io.nats.micro.v1.ping_response"):
    """Answer to $SRV.PING."""


class EndpointInfo(Struct, kw_only=True):
    """One endpoint in the answer to $SRV.INFO."""

    name: str
    subject: str
    queue_group: str
    metadata: dict[str, str] = {}


class Info(_Identity, kw_only=True, tag="io.nats.micro.v1.info_response"):
    """Answer to $SRV.INFO."""

    description: str = ""
    endpoints: list[EndpointInfo] = []


class EndpointFigures(Struct, kw_only=True):
    """One endpoint in the answer to $SRV.STATS; times in nanoseconds. `data` is ours."""

    name: str
    subject: str
    queue_group: str
    num_requests: int
    num_errors: int
    last_error: str
    processing_time: int
    average_processing_time: int
    data: EndpointStats


class Stats(_Identity, kw_only=True, tag="io.nats.micro.v1.stats_response"):
    """Answer to $SRV.STATS; `data` is ours, `started` in RFC 3339."""

    started: str
    endpoints: list[EndpointFigures] = []
    data: Replica | None = None


_NO_NAME = re.compile(r"[^A-Za-z0-9_]+")

_encode = msgspec.json.Encoder().encode
_read_stats = msgspec.json.Decoder(Stats).decode


class Discovery:
    """Answers PING, INFO and STATS for one replica."""

    def __init__(self, transport: Transport, read: Callable[[], Replica], description: str) -> None:
        """Answer with what `read` returns; `description` is one line about the actor."""
        self._transport = transport
        self._read = read
        self._description = description

    async def open(self) -> None:
        """Start to answer."""
        replica = self._read()
        name = micro_name(replica.actor)
        for subject in ("$SRV.*", f"$SRV.*.{name}", f"$SRV.*.{name}.{replica.replica}"):
            await self._transport.subscribe(subject, self._answer)

    async def _answer(self, message: BusMessage) -> None:
        answer = {"PING": _pong, "INFO": self._info, "STATS": _stats}.get(message.subject.split(".")[1])
        if answer is not None and message.reply:
            await self._transport.publish(message.reply, _encode(answer(self._read())))

    def _info(self, replica: Replica) -> Info:
        endpoints = [EndpointInfo(**_endpoint(replica, endpoint)) for endpoint in replica.endpoints]
        return Info(**_identity(replica), description=self._description, endpoints=endpoints)


def read_stats(payload: bytes) -> Replica | None:
    """Decode the replica from an answer to $SRV.STATS; None for a service that is not ours."""
    try:
        return _read_stats(payload).data
    except msgspec.MsgspecError:
        return None


def _identity(replica: Replica) -> dict[str, Any]:
    return {
        "name": micro_name(replica.actor),
        "id": replica.replica,
        "version": replica.version,
        "metadata": {"host": replica.host, "pid": str(replica.pid)},
    }


def _endpoint(replica: Replica, endpoint: EndpointStats) -> dict[str, Any]:
    return {
        "name": _NO_NAME.sub("-", endpoint.subject).strip("-"),
        "subject": endpoint.subject,
        "queue_group": micro_name(replica.actor),
    }


def _pong(replica: Replica) -> Pong:
    return Pong(**_identity(replica))


def _stats(replica: Replica) -> Stats:
    return Stats(
        **_identity(replica),
        started=_rfc_3339(replica.started),
        endpoints=[_figures(replica, endpoint) for endpoint in replica.endpoints],
        data=replica,
    )


def _rfc_3339(epoch_ms: int) -> str:
    """Spell a time with its milliseconds, which readers such as nats-py count on."""
    moment = datetime.fromtimestamp(epoch_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _figures(replica: Replica, endpoint: EndpointStats) -> EndpointFigures:
    total_ns = int(endpoint.duration_sum_s * 1e9)
    return EndpointFigures(
        **_endpoint(replica, endpoint),
        num_requests=endpoint.calls,
        num_errors=endpoint.errors,
        last_error=endpoint.last_error,
        processing_time=total_ns,
        average_processing_time=total_ns // max(endpoint.calls, 1),
        data=endpoint,
    )
