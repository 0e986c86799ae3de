"""The official Inspector, in strict mode, finds nothing wrong with Weft, over each transport and in each era."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from tests.conformance import programs
from tests.conftest import COUNTS
from tests.flows.system import CALL_S, Json, System
from tests.site import Site
from tests.support.scale import first
from tests.support.system import environment
from tests.support.system import weft as command

pytestmark = [pytest.mark.nats, pytest.mark.slow, pytest.mark.full]

INSTALL_S = 240.0
"""The first test of a machine installs the Inspector."""

Era = Literal["legacy", "auto", "modern"]

STDIO = (("stdio", "legacy"), ("stdio", "auto"))

everywhere = pytest.mark.parametrize(
    ("transport", "era"),
    first(3, [("http", "legacy"), ("stdio", "modern"), ("http", "auto"), ("http", "modern"), *STDIO]),
)


def inspect(weft: System, folder: Path, transport: str, era: Era, *arguments: str) -> Json:
    """Have the Inspector ask Weft, and give what it was answered; any complaint fails the test."""
    config = folder / "mcp.json"
    config.write_bytes(msgspec.json.encode({"mcpServers": {"weft": _server(weft, transport) | {"protocolEra": era}}}))
    bins = programs() / ".bin"
    program = (str(bins / "node"), str(bins / "mcp-inspector"), "--cli", "--config", str(config), "--server", "weft")
    done = subprocess.run(
        [*program, "--format", "json", *arguments],
        env={**os.environ, "MCP_INSPECTOR_SECRET_STORE": "memory"},
        capture_output=True,
        text=True,
        timeout=CALL_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = msgspec.json.decode(done.stdout, type=dict[str, Json])
    return told["result"]


def _server(weft: System, transport: str) -> Json:
    if transport == "http":
        headers = {"Authorization": f"Bearer {weft.key}"}
        return {"type": "streamable-http", "url": weft.ready.mcp, "headers": headers}
    program, *arguments = command("mcp")
    environ = environment(weft.data_dir)
    return {"type": "stdio", "command": program, "args": arguments, "cwd": str(Path.cwd()), "env": environ}


@everywhere
@pytest.mark.timeout(INSTALL_S)
def test_the_inspector_finds_every_schema_portable(
    weft: System, tmp_path: Path, transport: str, era: Era, record_property: Callable[[str, object], None]
) -> None:
    result = inspect(weft, tmp_path, transport, era, "--method", "tools/list", "--strict")

    tools = msgspec.convert(result["tools"], list[Json])
    record_property(COUNTS, f"inspector, {transport}, {era}: {len(tools)} tools, no complaint")
    assert "browse" in [tool["name"] for tool in tools]


@everywhere
@pytest.mark.timeout(INSTALL_S)
def test_the_inspector_calls_a_tool(weft: System, site: Site, tmp_path: Path, transport: str, era: Era) -> None:
    asked = ("--tool-name", "browse", "--tool-arg", f"url={site.url('/article')}")

    result = inspect(weft, tmp_path, transport, era, "--method", "tools/call", *asked)

    page = msgspec.convert(result["structuredContent"], Json)
    assert (result["isError"], page["url"]) == (False, site.url("/article"))
    assert ("resultType" in result) == (era != "legacy")
