"""Runs a whole Weft where nothing leads out, has it do everything, and writes down who it tried to reach.

`python -m tests.flows.outbound_inside FOLDER FILE ROUTE BROWSER`: in a network namespace, with a route to nowhere or
without any, and with this Chromium.
"""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import msgspec
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult
from msgspec import Struct

from bus import telemetry
from protocol.tiers import TIERS
from tests.flows.system import CALL_S, System, weft_up
from tests.site import Site, site_in_thread
from tests.support import namespace
from tests.support.system import environment, weft
from tests.support.wire import Asked, Wire, wire

LIMIT_S = 240.0
NAME_SERVER = "203.0.113.53"
NAME_PORT, DNS_HEADER_BYTES = 53, 12
STRANGER = ("203.0.113.9", 80)
STRANGE_NAME = "telemetry.example"
"""Whom the control does try to reach, when all else is over."""

SOAK_S = 5.0
"""How long the system is left alone with a browser that is open: what calls home does so soon after its start."""


class Outbound(Struct, frozen=True):
    """Who was tried, and whom the control then tried; `wanted` counts look-ups of the name that was asked for.

    `done` is what the system did meanwhile, and whether it came to its end.
    """

    tried: tuple[str, ...]
    control: tuple[str, ...]
    wanted: int
    done: dict[str, bool]


def run(folder: Path, site: Site, browser: str) -> dict[str, bool]:
    """Run a system and have it do everything."""
    settings = {"WEFT_ALLOW_PRIVATE": "127.0.0.0/8", "WEFT_BROWSER_EXECUTABLE": browser}
    with weft_up(folder, **settings) as system:
        done = {
            f"browse in {tier}": system.browse(site.url("/article"), LIMIT_S, forceTier=tier.value).is_success
            for tier in TIERS
        }
        done["browse up the ladder"] = system.browse(site.url("/apps/react-list/"), LIMIT_S).is_success
        done["browse what is not there"] = not system.browse("http://site.example/").is_success
        done["weft doctor"] = system.run("doctor").returncode in (0, 1)
        done |= anyio.run(over_mcp, system, site)
        return done


async def over_mcp(system: System, site: Site) -> dict[str, bool]:
    """Browse over both transports, and hold a browser session open for a while."""
    done: dict[str, bool] = {}
    async with over_http(system) as client:
        done["mcp over http"] = not (await client.call_tool("browse", {"url": site.url("/article")})).is_error
        offered = {tool.name for tool in (await client.list_tools()).tools}
        if "navigate" in offered:
            done |= await in_a_session(client, site)
    server = StdioServerParameters(
        command=sys.executable, args=weft("mcp")[1:], env=environment(system.data_dir), cwd=Path.cwd()
    )
    with anyio.fail_after(LIMIT_S):
        async with Client(stdio_client(server)) as client:
            done["mcp over stdio"] = not (await client.call_tool("browse", {"url": site.url("/article")})).is_error
    return done


async def in_a_session(client: Client, site: Site) -> dict[str, bool]:
    """Use the tools of the browser."""
    opened = await client.call_tool("create_session", {"url": site.url("/article")})
    session = {"sessionId": _session(opened)}
    await anyio.sleep(SOAK_S)
    return {
        "create_session": not opened.is_error,
        "navigate": not (
            await client.call_tool("navigate", {**session, "url": site.url("/apps/react-list/")})
        ).is_error,
        "screenshot": not (await client.call_tool("screenshot", session)).is_error,
        "close_session": not (await client.call_tool("close_session", {**session, "force": True})).is_error,
    }


def _session(opened: CallToolResult) -> str:
    return str(msgspec.convert(opened.structured_content, dict[str, object]).get("sessionId", ""))


@asynccontextmanager
async def over_http(system: System) -> AsyncGenerator[Client]:
    """Connect the official client."""
    headers = {"Authorization": f"Bearer {system.key}"}
    with anyio.fail_after(LIMIT_S):
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=CALL_S) as http,
            Client(streamable_http_client(system.ready.mcp, http_client=http)) as client,
        ):
            yield client


def call_out() -> None:
    """Do what nothing of the system may: look up a name, and connect to somebody."""
    with socket.socket() as stranger:
        stranger.setblocking(False)  # noqa: FBT003 - takes nothing by name
        stranger.connect_ex(STRANGER)
    lookup = threading.Thread(target=socket.gethostbyname_ex, args=(STRANGE_NAME,), daemon=True)
    threading.excepthook = lambda _: None
    lookup.start()
    lookup.join(2)


def told(one: Asked) -> str:
    """Say who was asked for what."""
    name = ascii(one.data[DNS_HEADER_BYTES:])[2:-1] if one.port == NAME_PORT else ""
    return f"{one.kind} {one.address} {one.port} {name}".strip()


def wanted(one: Asked) -> bool:
    """Return whether it is a look-up of the name that the system was asked for."""
    return (str(one.address), one.port) == (NAME_SERVER, NAME_PORT) and b"\x04site\x07example" in one.data


def by_control(one: Asked) -> bool:
    """Return whether it is what the control does."""
    return str(one.address) == STRANGER[0] or b"\x09telemetry\x07example" in one.data


def main(folder: Path, file: Path, route: str, browser: str) -> None:
    """Prepare the namespace, run the system, and write what was seen."""
    with ExitStack() as stack:
        heard: Wire | None = None
        if route == "route":
            namespace.a_route_to_nowhere()
            namespace.mount_file(f"nameserver {NAME_SERVER}\noptions timeout:1 attempts:1\n", "/etc/resolv.conf")
            heard = stack.enter_context(wire(namespace.OUTWARD))
        else:
            namespace.loopback()
        done = run(folder, stack.enter_context(site_in_thread()), browser)
        call_out()
        seen = heard.take() if heard else []
    found = Outbound(
        tried=tuple(told(one) for one in seen if not by_control(one) and not wanted(one)),
        control=tuple(sorted({told(one) for one in seen if by_control(one)})),
        wanted=sum(map(wanted, seen)),
        done=done,
    )
    file.write_bytes(msgspec.json.encode(found))


if __name__ == "__main__":
    telemetry.configure("error", "json")
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4])
