"""Tries every address and every way with one real fetcher, in a namespace where every connect is seen.

`python -m tests.ssrf.inside TIER FILE [NETWORK...]` writes what it found; where it may fetch from the named networks, a
few addresses are enough.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar, cast
from urllib.parse import quote

import anyio
import msgspec

from actors.settings import Settings
from bus import Bus, telemetry
from protocol.faults import FaultError
from protocol.pages import Fetched, FetchPage
from tests.site.scripted import ARTICLE
from tests.ssrf.corpus import attacks, corpus
from tests.ssrf.findings import Findings, Trial, Way
from tests.ssrf.internet import NAME_PORT, NAME_SERVER, PUBLIC_ADDRESSES, REBINDING_NAMES, Internet, internet
from tests.ssrf.ways import CODES, EMBEDDINGS, LEADING, WAYS, aimed
from tests.support.scale import is_full, sized
from tests.support.shelf import Shelf
from tests.support.wire import Asked, Wire, wire

T = TypeVar("T")


class Fetcher(Protocol):
    """An actor that gets pages."""

    def open(self) -> AbstractAsyncContextManager[None]:
        """Hold what it needs."""
        ...

    async def fetch(self, request: FetchPage) -> Fetched:
        """Get one page."""
        ...


AT_ONCE = {"intelligence": 16, "lightweight": 6, "playwright": 6}
FIRST_OWN_PORT = 32_768
"""From here on the kernel gives ports away, to us too; nothing of the corpus is there."""

FIRST_PORT_OF_WAYS = 20_000
"""Each way has a port, by which it is known who went it."""

WAYS_OF_A_PAGE = 16
ROUNDS_OF_WAYS = {"lightweight": 2, "playwright": 1}
MOST_ROUNDS_OF_WAYS = 5
LEAST_LEADING = {"lightweight": 20, "playwright": 80}
"""Ways that lead to a public address, at least, so that a tier that follows none is no success: the light tier has 38
on a quiet machine.

The light tier cuts a page short that gets no turn of the processor for long: what led in one round leads.
"""
EMBEDDED_AT_ONCE = 110
FRAMES_AT_ONCE = 15
CONTROLS_OF_A_KIND = sized(6, 1_000)
LED_TO = sized(1, 3)
LIGHT_SETTLE_MS = 2_000
LIMIT_S = 40.0

FORBIDDEN = ("127.0.0.1", "[::1]", "169.254.169.254", "localhost", "private.example")
OPEN = "site.example"
SITES = ("http://site.example", "https://site.example")
REBINDING = "rebinding"
REBOUND = (
    "<img src=/a.png><iframe src=/f></iframe><script>for (let i = 0; i < 9; i++) { fetch(`/a${i}`).catch(() => 0);"
    "setTimeout(() => fetch(`/b${i}`).catch(() => 0), 30 * i) } new WebSocket(`ws://${location.host}/s`)</script>"
)
PROSE = f"<title>Loom</title><main><p>{ARTICLE}</p></main>"


@dataclass
class Trying:
    """One fetcher, and the internet that it sees."""

    tier: str
    fetcher: Fetcher
    world: Internet
    wire: Wire
    seconds: dict[str, float] = field(default_factory=dict[str, float])

    async def all(self) -> Findings:
        """Try everything."""
        tried = [(kind, one.url) for kind, addresses in attacks(self.tier).items() for one in addresses]
        honest = [("control", one.url) for one in corpus().honest]
        by_redirect = [(kind, redirect(url, place)) for place, (kind, url) in enumerate(tried)]
        pages_act = self.tier == "lightweight" or (self.tier == "playwright" and is_full())
        return Findings(
            tier=self.tier,
            seconds=self.seconds,
            direct=await self._each("direct", tried),
            redirected=await self._each("redirected", by_redirect),
            honest=await self._each("honest", honest),
            embedded=await self._embedded([url for _, url in tried]) if pages_act else (),
            ways=await self._ways() if pages_act else (),
            leading=await self._leading() if pages_act else (),
        )

    async def some(self) -> Findings:
        """Try a few addresses of each kind, to see that who reaches them is seen."""
        tried = [(kind, one.url) for kind, found in attacks(self.tier).items() for one in found[:CONTROLS_OF_A_KIND]]
        direct = await self._each("direct", tried)
        return Findings(tier=self.tier, seconds=self.seconds, direct=direct, redirected=(), honest=(), embedded=())

    async def _each(self, name: str, asked: Sequence[tuple[str, str]]) -> tuple[Trial, ...]:
        """Ask for each address, some at once; who asks for what reaches a forbidden one is asked again alone."""
        began = time.monotonic()
        found: list[Trial] = []
        for some in batched(asked, AT_ONCE[self.tier]):
            together = await self._together(some)
            if together[0].leaks and len(some) > 1:
                together = [(await self._together((one,)))[0] for one in some]
            found += together
        self.seconds[name] = round(time.monotonic() - began, 1)
        return tuple(found)

    async def _together(self, some: Sequence[tuple[str, str]]) -> list[Trial]:
        self.world.names.forget()
        self.wire.take()
        outcomes: dict[int, tuple[str, str]] = {}

        async def one(place: int, url: str) -> None:
            outcomes[place] = await self._outcome(url)

        async with anyio.create_task_group() as tasks:
            for place, (_, url) in enumerate(some):
                tasks.start_soon(one, place, url)
        leaks = forbidden(await anyio.to_thread.run_sync(self.wire.take))
        return [
            Trial(kind=kind, url=url, code=outcomes[place][0], leaks=leaks, title=outcomes[place][1])
            for place, (kind, url) in enumerate(some)
        ]

    async def _outcome(self, url: str) -> tuple[str, str]:
        """Return the fault that an address met, or none with the title of the page."""
        try:
            with anyio.fail_after(LIMIT_S):
                page: Fetched = await self.fetcher.fetch(FetchPage(url=url))
        except FaultError as error:
            return error.fault.code.value, ""
        return "", page.document.content.title or ""

    async def _embedded(self, urls: Sequence[str]) -> tuple[Trial, ...]:
        """Have pages ask for all addresses, in each of the ordinary ways."""
        began = time.monotonic()
        found: list[Trial] = []
        for kind, code in EMBEDDINGS.items():
            size = FRAMES_AT_ONCE if (kind, self.tier) == ("frame", "lightweight") else EMBEDDED_AT_ONCE
            for place, some in enumerate(batched(urls, size)):
                key = f"{kind} {place}"
                asked = json.dumps([*some, f"http://{OPEN}:8080/marker?{quote(key)}"]).replace("<", "\\u003c")
                script = f"<script>for (const u of {asked}) try {{ {code} }} catch {{}}</script>"
                self.world.pages[key] = PROSE + script
                ((trial),) = await self._together(((kind, f"{SITES[0]}/page?k={quote(key)}"),))
                reached = any(quote(key) in one for one in self.world.asked)
                found.append(msgspec.structs.replace(trial, title="reached" if reached else trial.title))
        found += await self._rebinding()
        self.seconds["embedded"] = round(time.monotonic() - began, 1)
        return tuple(found)

    async def _rebinding(self) -> list[Trial]:
        """Have a page ask its own host, whose address is another by then."""
        self.world.pages[REBINDING] = PROSE + REBOUND
        return [
            (await self._together(((REBINDING, f"http://{name}/page?k={REBINDING}"),)))[0] for name in REBINDING_NAMES
        ]

    async def _ways(self) -> tuple[Way, ...]:
        """Have pages go all ways at all forbidden hosts, and at one that is open."""
        began = time.monotonic()
        urls: list[str] = []
        for place, some in enumerate(batched(enumerate(WAYS.items()), WAYS_OF_A_PAGE)):
            self.world.pages[f"ways{place}"] = PROSE + "".join(
                aimed(way, host, FIRST_PORT_OF_WAYS + number)
                for number, (_, way) in some
                for host in (OPEN, *FORBIDDEN)
            )
            urls += [f"{site}/page?k=ways{place}" for site in SITES]
        heard: list[Asked] = []
        self.wire.take()
        for number in range(MOST_ROUNDS_OF_WAYS):
            if number >= ROUNDS_OF_WAYS[self.tier] and leading(heard) >= LEAST_LEADING[self.tier]:
                break
            for few in batched(urls, AT_ONCE[self.tier]):
                async with anyio.create_task_group() as tasks:
                    for url in few:
                        tasks.start_soon(self._outcome, url)
                heard += await anyio.to_thread.run_sync(self.wire.take)
        self.seconds["ways"] = round(time.monotonic() - began, 1)
        return ways_of(heard)

    async def _leading(self) -> tuple[Trial, ...]:
        """Have pages go to forbidden hosts themselves."""
        asked: list[tuple[str, str]] = []
        for name, lead in LEADING.items():
            for host in FORBIDDEN[:LED_TO]:
                key = f"{name} {host}"
                self.world.pages[key] = aimed(lead, host, 8080)
                asked.append((name, f"{SITES[0]}/page?k={quote(key)}"))
        return await self._each("leading", asked)


def batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """Return items in groups."""
    left = iter(items)
    while group := tuple(islice(left, size)):
        yield group


def redirect(url: str, place: int) -> str:
    """Return a public address that redirects to another."""
    return f"http://{OPEN}/to?status={CODES[place % len(CODES)]}&url={quote(url, safe='')}"


def ways_of(heard: Iterable[Asked]) -> tuple[Way, ...]:
    """Find who was reached by each way."""
    asked = tuple(heard)
    return tuple(way(name, FIRST_PORT_OF_WAYS + number, asked) for number, name in enumerate(WAYS))


def leading(heard: Iterable[Asked]) -> int:
    """Count the ways that have led to a public address."""
    return sum(one.leads for one in ways_of(heard))


def way(name: str, port: int, heard: Iterable[Asked]) -> Way:
    """Find who was reached by one way; what has no port of the ways is told with the first."""
    of_ways = range(FIRST_PORT_OF_WAYS, FIRST_PORT_OF_WAYS + len(WAYS))
    mine = [one for one in heard if one.port == port or (port == of_ways[0] and one.port not in of_ways)]
    leads = any(one.port == port and one.address in PUBLIC_ADDRESSES for one in mine)
    return Way(name=name, leaks=forbidden(mine), leads=leads)


def forbidden(heard: Iterable[Asked]) -> tuple[str, ...]:
    """Return what was asked of others than the public addresses, the name server and ourselves."""
    return tuple(
        sorted(
            {
                f"{one.kind} {one.address} {one.port}"
                for one in heard
                if one.address not in PUBLIC_ADDRESSES
                and (one.address, one.port) != (NAME_SERVER, NAME_PORT)
                and one.port < FIRST_OWN_PORT
            }
        )
    )


@asynccontextmanager
async def trying(tier: str, world: Internet, heard: Wire, networks: Sequence[str]) -> AsyncGenerator[Trying]:
    """Open a fetcher."""
    settings = Settings(
        allow_private=tuple(networks),
        fetch_ca_file=world.ca_file,
        fetch_host_rate=0,
        fetch_host_at_once=0,
        fetch_cache_bytes=0,
        fetch_shared_cache_bytes=0,
        browser_block="never",
        light_settle_ms=LIGHT_SETTLE_MS,
    )
    actor = getattr(import_module(f"actors.fetchers.{tier}.actor"), tier.capitalize())
    fetcher = cast("Fetcher", actor(bus=cast("Bus", Shelf()), settings=settings))
    async with fetcher.open():
        yield Trying(tier, fetcher, world, heard)


async def main(tier: str, file: str, networks: Sequence[str]) -> None:
    """Try one tier."""
    with internet() as world, wire("lo") as heard:
        async with trying(tier, world, heard, networks) as trial:
            findings = await (trial.some() if networks else trial.all())
    await anyio.Path(file).write_bytes(msgspec.json.encode(findings))


if __name__ == "__main__":
    telemetry.configure("error", "json")
    anyio.run(main, sys.argv[1], str(Path(sys.argv[2])), sys.argv[3:])
