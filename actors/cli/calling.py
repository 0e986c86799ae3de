"""One request of the command line to the edge of the running Weft."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from actors.cli.errors import from_structured, not_running
from actors.cli.running import find, key_of
from actors.settings import Loaded
from protocol.browse import StructuredError
from protocol.faults import Code, FaultError, fault

ANSWER_TIMEOUT_S = 100.0
"""What a renewal may take: two browses, and room."""

CONNECT_TIMEOUT_S = 5.0

S = TypeVar("S", bound=Struct)


@dataclass(frozen=True)
class Ask:
    """One request to the edge."""

    method: str
    path: str
    query: dict[str, str] | None = None
    body: dict[str, Any] | None = None


async def answered(loaded: Loaded, ask: Ask, kind: type[S]) -> S:
    """Ask the edge with the key of the installation, and read the answer.

    Raises:
        FaultError: what the edge refused it with.
        NotRunningError: there is no edge.
    """
    settings = loaded.settings
    ready = await find(settings)
    if ready is None:
        raise not_running(settings.data_dir)
    import httpx2  # noqa: PLC0415 - costs 100 ms

    headers = {"Authorization": f"Bearer {key_of(settings, ready)}", "Content-Type": "application/json"}
    content = None if ask.body is None else msgspec.json.encode(ask.body)
    timeout = httpx2.Timeout(ANSWER_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    try:
        # trust_env off: no proxy has business between us and our own machine
        async with httpx2.AsyncClient(trust_env=False, timeout=timeout, base_url=ready.rest) as client:
            answer = await client.request(ask.method, ask.path, params=ask.query, content=content, headers=headers)
    except httpx2.TransportError:
        raise not_running(settings.data_dir, f"The Weft at {ready.rest} went away: none runs") from None
    return _read(answer.status_code, answer.content, kind)


def _read(status: int, body: bytes, kind: type[S]) -> S:
    try:
        if status == HTTPStatus.OK:
            return msgspec.json.decode(body, type=kind)
        told = from_structured(msgspec.json.decode(body, type=StructuredError))
    except msgspec.DecodeError:
        told = fault(Code.INTERNAL_ERROR, f"The running Weft answered with status {status} and no readable body.")
    raise FaultError(told)
