"""Runs the field: the same pages through Weft and each peer, and one table."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from rich.console import Console
from rich.table import Table
from splintr import Tokenizer

from tests.bench.field.pages import HEALTHY, PAGES, STAND_INS, FieldPage
from tests.bench.field.peers import PEERS, Peer, PeerRun, call
from tests.bench.field.server import field_server
from tests.bench.processes import cpu_s, family
from tests.bench.servers import process
from tests.bench.table import Row
from tests.site.apps import FRAMEWORK_PAGES, build_apps
from tests.support.system import running_weft

WEFT = "Weft"
ENCODING = "o200k_base"
HOST = "127.0.0.1"
_ABSENT = (OSError, subprocess.SubprocessError, TimeoutError)


@dataclass(frozen=True)
class Standing:
    """How one did: of the healthy pages those with every fact; of the others those that were given as a page.

    `tokens` are those of each page that was right, by its name; `cpu_ms` is that of all pages, a page.
    """

    name: str
    tokens: dict[str, int]
    wrong: tuple[str, ...]
    cpu_ms: float

    @property
    def missed(self) -> tuple[str, ...]:
        """The healthy pages that were not right."""
        return tuple(page.name for page in HEALTHY if page.name not in self.tokens)


async def measure() -> list[Row]:
    """Run this benchmark."""
    build_apps()
    standings: list[Standing] = []
    with field_server(HOST) as base, process("tests.site", "0", HOST) as (_, site):
        urls = [_address(page, number, base, site.rstrip("/")) for number, page in enumerate(PAGES)]
        standings.append(_standing(WEFT, await _weft(urls)))
        for peer in PEERS:
            print(f"  {peer.name} ...", file=sys.stderr, flush=True)
            if (run := await _peer(peer, urls)) is not None:
                standings.append(_standing(peer.name, run))
    _show(standings)
    return _rows(standings)


def _address(page: FieldPage, number: int, base: str, site: str) -> str:
    return f"{site}{FRAMEWORK_PAGES[page.app]}" if page.app else f"{base}/page/{number}/"


async def _weft(urls: Sequence[str]) -> PeerRun:
    """Read the pages over MCP, as a model does, with a system that has never seen them."""
    with TemporaryDirectory(prefix="weft-field-") as folder:
        async with running_weft(Path(folder), WEFT_LOG_LEVEL="error") as weft:
            headers, before_s = {"Authorization": f"Bearer {weft.key}"}, cpu_s(family(weft.process.pid))
            async with (
                httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http,
                Client(streamable_http_client(weft.ready.mcp, http_client=http)) as client,
            ):
                reads = [await call(client, "browse", {"url": url}) for url in urls]
            return PeerRun(reads, cpu_s(family(weft.process.pid)) - before_s)


async def _peer(peer: Peer, urls: Sequence[str]) -> PeerRun | None:
    """Install a peer and read the pages with it; where that cannot be done, say why."""
    try:
        peer.install()
        return await peer.read(peer.folder, urls) if peer.read else None
    except _ABSENT as error:
        print(f"  {peer.name} does not run here: {error}", file=sys.stderr, flush=True)
        return None


def _standing(name: str, run: PeerRun) -> Standing:
    reads = dict(zip(PAGES, run.reads, strict=True))
    right = [page for page in HEALTHY if reads[page].ok and all(fact in reads[page].text for fact in page.facts)]
    tokenizer = Tokenizer.from_pretrained(ENCODING)
    tokens = {page.name: len(tokenizer.encode(reads[page].text)) for page in right}
    wrong = tuple(page.name for page in STAND_INS if reads[page].ok)
    return Standing(name, tokens, wrong, run.cpu_s * 1000 / len(PAGES))


def _show(standings: Sequence[Standing]) -> None:
    # The others would say who reads long pages.
    shared = [page.name for page in HEALTHY if all(page.name in one.tokens for one in standings)]
    heads = ("", "right pages", "given as a page and none", f"tokens a page, of {len(shared)} all read", "CPU a page")
    table = Table(*heads, title=f"{len(HEALTHY)} healthy pages, {len(STAND_INS)} that are none", title_justify="left")
    for one in standings:
        of_healthy, of_others = f"{len(one.tokens)} of {len(HEALTHY)}", f"{len(one.wrong)} of {len(STAND_INS)}"
        tokens = sum(one.tokens[name] for name in shared) / max(len(shared), 1)
        table.add_row(one.name, of_healthy, of_others, f"{tokens:.0f}", f"{one.cpu_ms:.0f} ms")
    console = Console(width=150)
    console.print(table)
    for one in standings:
        console.print(
            f"{one.name}: not right: {', '.join(one.missed) or '-'}; given as a page: {', '.join(one.wrong) or '-'}"
        )


def _rows(standings: Sequence[Standing]) -> list[Row]:
    ours, peers = standings[0], standings[1:]
    best = max((len(one.tokens) for one in peers), default=0)
    fewest = min((len(one.wrong) for one in peers), default=len(STAND_INS))
    wrong = len(ours.wrong)
    return [
        Row("right pages, of those that are healthy", f"{len(ours.tokens)}", f"the best peer {best}",
            len(ours.tokens) / len(HEALTHY), 0.94, ">=", "of all"),
        Row("given as a page, of those that are none", f"{wrong}", f"the best peer {fewest}",
            wrong / len(STAND_INS), 0.05, "<=", "of all"),
    ]  # fmt: skip
