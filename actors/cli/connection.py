"""The Weft that runs with a data folder, or a private one for one call: how it is found, joined and asked."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct

from actors.cli.terminal import NotRunningError, first, from_structured, not_joined, not_running, other_key, unreachable
from actors.runtime.rundir import Ready, read_ready
from actors.settings import Loaded, Settings
from protocol.browse import StructuredError
from protocol.faults import Category, Code, FaultError, fault

if TYPE_CHECKING:
    from actors.gateway.client import GatewayClient
    from bus.bus import Bus

HEALTH_TIMEOUT_S = 2.0
CONNECT_TIMEOUT_S = 5.0

ANSWER_TIMEOUT_S = 100.0
"""What a renewal may take: two browses, and room."""

S = TypeVar("S", bound=Struct)


class EdgeRequest(Struct, frozen=True):
    """One request to the REST API of the running Weft."""

    method: str
    path: str
    query: dict[str, str] | None = None
    body: dict[str, Any] | None = None
    timeout_s: float = ANSWER_TIMEOUT_S


async def find(settings: Settings) -> Ready | None:
    """Find the system that runs with the data folder and answers at its edge."""
    ready = read_ready(settings.data_dir)
    if ready is None or not ready.rest:
        return None
    import httpx2  # noqa: PLC0415 - costs 100 ms

    try:
        # trust_env off: no proxy has business between us and our own machine
        async with httpx2.AsyncClient(trust_env=False, timeout=HEALTH_TIMEOUT_S, verify=_nobody()) as client:
            answer = await client.get(f"{ready.rest}/healthz")
    except (httpx2.HTTPError, httpx2.InvalidURL):
        return None
    return ready if answer.is_success else None


async def ask_edge(loaded: Loaded, request: EdgeRequest, kind: type[S]) -> S:
    """Send a request with the key of the installation, and decode the response.

    Raises:
        FaultError: what the edge refused it with.
        NotRunningError: there is no edge.
    """
    ready = await find(loaded.settings)
    if ready is None:
        raise not_running(loaded.settings.data_dir)
    return await send(loaded.settings, ready, request, kind)


async def send(settings: Settings, ready: Ready, request: EdgeRequest, kind: type[S]) -> S:
    """Send a request to a system that was found, and decode the response; raises like `ask_edge`."""
    import httpx2  # noqa: PLC0415 - costs 100 ms

    headers = {"Authorization": f"Bearer {_key_of(settings, ready)}", "Content-Type": "application/json"}
    content = None if request.body is None else msgspec.json.encode(request.body)
    timeout = httpx2.Timeout(request.timeout_s, connect=CONNECT_TIMEOUT_S)
    try:
        # trust_env off: no proxy has business between us and our own machine
        async with httpx2.AsyncClient(
            trust_env=False, timeout=timeout, base_url=ready.rest, verify=_nobody()
        ) as client:
            response = await client.request(
                request.method, request.path, params=request.query, content=content, headers=headers
            )
    except httpx2.TransportError:
        raise not_running(settings.data_dir, f"The Weft at {ready.rest} went away: none runs") from None
    return read_response(response.status_code, response.content, kind)


def _nobody() -> ssl.SSLContext:
    """Trust no certificate: the edge at our own machine has none, and to load the authorities costs 35 ms."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def read_response(status: int, body: bytes, kind: type[S]) -> S:
    """Decode what the edge answered.

    Raises:
        FaultError: the one of the response, or INTERNAL_ERROR for a response that is neither.
    """
    try:
        if status == HTTPStatus.OK:
            return msgspec.json.decode(body, type=kind)
        failure = from_structured(msgspec.json.decode(body, type=StructuredError))
    except msgspec.DecodeError:
        failure = fault(Code.INTERNAL_ERROR, f"The running Weft answered with status {status} and no readable body.")
    raise FaultError(failure)


@asynccontextmanager
async def at_gateway(
    loaded: Loaded, *, or_private: bool = False, watched: bool = False
) -> AsyncGenerator[GatewayClient]:
    """Yield a client of the running Weft; one that is `watched` hears how far work is.

    Where none runs, `or_private` starts one that ends with the block, and what it keeps ends with it.

    Raises:
        NotRunningError: there is none.
    """
    from importlib.metadata import version  # noqa: PLC0415 - costs 20 ms

    from actors.gateway.client import GatewayClient  # noqa: PLC0415 - imports the gateway

    joined = connected_or_private if or_private else connected
    async with joined(loaded, stdio=True) as bus:
        ready = read_ready(loaded.settings.data_dir)
        key = loaded.settings.api_key if ready is None else _key_of(loaded.settings, ready)
        client = GatewayClient(bus, version("weft"), loaded.settings.restart_grace_ms, key.encode())
        if watched:
            await client.listen(bus)
        yield client


@asynccontextmanager
async def connected(loaded: Loaded, *, stdio: bool = False) -> AsyncGenerator[Bus, None]:
    """Join the bus of the running system, to look and ask or to speak MCP over stdio.

    Raises:
        NotRunningError: there is none, or it cannot be reached.
    """
    from actors.runtime.launch import connect  # noqa: PLC0415 - imports the bus

    settings = quiet(loaded)
    async with AsyncExitStack() as stack:
        try:
            bus = await stack.enter_async_context(connect(settings, stdio=stdio))
        except (FaultError, OSError, ExceptionGroup) as error:
            if not _is_absence(error):
                raise
            failure = first(error, FaultError)
            if settings.nats_url and failure is not None:
                raise not_joined(failure.fault.message) from None
            ready = None if settings.nats_url else read_ready(settings.data_dir)
            raise _absent(loaded, ready) from None
        yield bus


def _absent(loaded: Loaded, ready: Ready | None) -> NotRunningError:
    """Return why a system is not joined that is said to run, if one is."""
    settings = loaded.settings
    if ready is None:
        return not_running(settings.data_dir)
    key_file = Path(ready.key_file)
    if settings.api_key and key_file.is_file() and key_file.read_text("ascii").strip() != settings.api_key:
        return other_key(settings.data_dir, loaded.origins["api_key"])
    return unreachable(settings.data_dir, ready.nats)


@asynccontextmanager
async def private(loaded: Loaded) -> AsyncGenerator[Bus, None]:
    """Start a system of one's own in this process, on a temporary data folder, and join its bus."""
    from actors.runtime.launch import private as launch_private  # noqa: PLC0415 - imports the bus

    async with launch_private(quiet(loaded, "error")) as system:  # what it lacks, the doctor says
        yield system.bus


@asynccontextmanager
async def connected_or_private(loaded: Loaded, *, stdio: bool = False) -> AsyncGenerator[Bus, None]:
    """Join the bus of the running system, or else of a private one."""
    there_is_one = loaded.settings.nats_url or read_ready(loaded.settings.data_dir)
    async with connected(loaded, stdio=stdio) if there_is_one else private(loaded) as bus:
        yield bus


def _key_of(settings: Settings, ready: Ready) -> str:
    """Return the key of a running system."""
    return settings.api_key or Path(ready.key_file).read_text(encoding="ascii").strip()


def quiet(loaded: Loaded, level: str = "warning") -> Settings:
    """Configure the log: to stderr, from `level` on unless one was chosen; return the settings so."""
    from bus.telemetry import configure  # noqa: PLC0415 - imports structlog

    chosen = loaded.origins["log_level"] != "default"
    settings = loaded.settings if chosen else msgspec.structs.replace(loaded.settings, log_level=level)
    configure(settings.log_level, settings.log_format)
    return settings


def _is_absence(error: Exception) -> bool:
    failure = first(error, FaultError)
    return failure.fault.category is Category.INTERNAL if failure else first(error, OSError) is not None
