"""The peers of the field: how each is installed into a folder of its own, and how it reads a list of pages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent

from tests.bench.processes import cpu_s, family

FOLDER = Path(__file__).parents[3] / ".field"
INSTALL_S = 900.0
PAGE_S = 60.0
HERE = Path(__file__).parent
_FAILED = "<error>Page failed to be simplified"
"""What mcp-server-fetch writes in place of a page; it says so in the text alone."""


class Read(NamedTuple):
    """What a model gets of one page: whether it is given as a success, and the text."""

    ok: bool
    text: str


class PeerRun(NamedTuple):
    """What came of a list of pages, and the CPU in seconds of every process that worked on it."""

    reads: list[Read]
    cpu_s: float


@dataclass(frozen=True)
class Peer:
    """One way to give pages to a model: what installs it, and what reads pages with it."""

    name: str
    python: tuple[str, ...] = ()
    node: tuple[str, ...] = ()
    read: Callable[[Path, Sequence[str]], Awaitable[PeerRun]] | None = None

    @property
    def folder(self) -> Path:
        """Where it is installed."""
        return FOLDER / self.name

    def install(self) -> None:
        """Install it, unless it is there.

        Raises:
            subprocess.SubprocessError: it cannot be had.
        """
        done = self.folder / "installed"
        if done.exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        (FOLDER / ".gitignore").write_text("*\n")
        if self.python:
            python = self.folder / "bin" / "python"
            _quiet(sys.executable, "-m", "uv", "venv", "--quiet", "--clear", str(self.folder))
            _quiet(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python), *self.python)
        if self.node:
            _quiet("npm", "install", "--no-audit", "--no-fund", "--prefix", str(self.folder), *self.node)
        done.touch()


def _quiet(*argv: str) -> None:
    # The browser is the one of the machine.
    environ = os.environ | {"PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}
    subprocess.run(argv, env=environ, check=True, capture_output=True, timeout=INSTALL_S)


def chromium() -> str:
    """Return the browser of this machine, which every peer uses."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("bench field needs a Chromium: apt install chromium")
    return program


# -- libraries ---------------------------------------------------------------------------------------------------------


def _library(worker: str) -> Callable[[Path, Sequence[str]], Awaitable[PeerRun]]:
    async def read(folder: Path, urls: Sequence[str]) -> PeerRun:
        argv = [str(folder / "bin" / "python"), str(HERE / worker), chromium()]
        before_s = cpu_s([os.getpid()])
        with TemporaryDirectory(prefix="weft-field-") as home:
            environ = os.environ | {"CRAWL4AI_NO_CLOUD_NOTICE": "1", "HOME": home, "CRAWL4_AI_BASE_DIRECTORY": home}
            with anyio.fail_after(PAGE_S * len(urls)):
                done = await anyio.run_process(argv, input=json.dumps(urls).encode(), env=environ, cwd=home)
        *_, last = done.stdout.decode().strip().splitlines()
        return PeerRun([Read(*one) for one in json.loads(last)], cpu_s([os.getpid()]) - before_s)

    return read


# -- servers of MCP ----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _stdio(argv: Sequence[str]) -> AsyncGenerator[tuple[Client, list[int]]]:
    """Start a server, and yield its client and its processes; one moment after it is there."""
    mine = set(family(os.getpid()))
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:  # noqa: ASYNC230 - it takes no time
        server = StdioServerParameters(command=argv[0], args=list(argv[1:]), env=dict(os.environ), cwd=FOLDER)
        async with Client(stdio_client(server, errlog=nowhere)) as client:
            yield client, [pid for pid in family(os.getpid()) if pid not in mine]


async def call(client: Client, tool: str, arguments: dict[str, object]) -> Read:
    """Call a tool, and return the text that a model reads."""
    with anyio.fail_after(PAGE_S):
        result = await client.call_tool(tool, arguments)
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    return Read(not result.is_error, text)


def _server(
    argv: Callable[[Path], Sequence[str]], read: Callable[[Client, str], Awaitable[Read]]
) -> Callable[[Path, Sequence[str]], Awaitable[PeerRun]]:
    async def run(folder: Path, urls: Sequence[str]) -> PeerRun:
        async with _stdio(argv(folder)) as (client, processes):
            reads = [await read(client, url) for url in urls]
            every = {pid for root in processes for pid in family(root)}
            return PeerRun(reads, cpu_s(list(every)))

    return run


async def _fetch(client: Client, url: str) -> Read:
    read = await call(client, "fetch", {"url": url, "max_length": 100_000})
    return Read(read.ok and _FAILED not in read.text, read.text)


async def _snapshot(client: Client, url: str) -> Read:
    """Go there, and look: the snapshot is what a model reads of a page."""
    gone = await call(client, "browser_navigate", {"url": url})
    if not gone.ok:
        return gone
    shown = await call(client, "browser_snapshot", {})
    return Read(shown.ok, f"{gone.text}\n{shown.text}")


def _playwright(folder: Path) -> Sequence[str]:
    program = str(folder / "node_modules" / "@playwright" / "mcp" / "cli.js")
    return ("node", program, "--headless", "--isolated", "--no-sandbox", "--executable-path", chromium())


def _mcp_server_fetch(folder: Path) -> Sequence[str]:
    return (str(folder / "bin" / "mcp-server-fetch"), "--ignore-robots-txt", "--allow-private-ips")


PEERS: tuple[Peer, ...] = (
    Peer("playwright-mcp", node=("@playwright/mcp@0.0.83",), read=_server(_playwright, _snapshot)),
    Peer("crawl4ai", python=("crawl4ai==0.9.5",), read=_library("crawl4ai_worker.py")),
    Peer("mcp-server-fetch", python=("mcp-server-fetch==2026.10.24",), read=_server(_mcp_server_fetch, _fetch)),
    Peer(
        "crawlee",
        python=("crawlee[playwright,beautifulsoup,adaptive-crawler]==1.11.0",),
        read=_library("crawlee_worker.py"),
    ),
)
