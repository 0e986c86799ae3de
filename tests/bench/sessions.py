"""Logins restored: out of the bus into a fetch, and into a context of a real browser (≤ 200 ms each)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable

import msgspec

from actors.fetchers.playwright.browser import Browser
from actors.fetchers.playwright.open_session import restore_session
from actors.settings import Settings
from bus.seal import Seal, new_key
from protocol.browsers.sessions import BrowserRecord
from protocol.sessions import Cookie, OriginStorage, SessionState
from protocol.subjects import SESSIONS
from tests.bench.servers import bus_at, nats_server
from tests.bench.table import Row
from tests.support.logins import holding

ROUNDS = 15
BOUND_MS = 200.0
URL = "https://www.example.com/account"

COOKIES = tuple(Cookie(name=f"c{number}", value="v" * 200, domain="example.com") for number in range(40))
DATABASE = (
    '[{"name":"auth","version":1,"stores":[{"name":"users","autoIncrement":false,"indexes":[],"keyPath":"k",'
    '"records":[{"value":{"k":"u","v":"token"}}]}]}]'
)


def state(origins: int, database: str = "") -> SessionState:
    """Make a login that spreads over some origins, each with 10 KB of storage."""
    entries = {str(number): "x" * 500 for number in range(20)}
    return SessionState(
        cookies=COOKIES,
        origins=tuple(
            OriginStorage(origin=f"https://h{number}.example.com", local_storage=entries, indexed_db=database)
            for number in range(origins)
        ),
    )


async def measure() -> list[Row]:
    """Return the rows of this benchmark."""
    async with Browser(Settings()) as browser:
        return [
            await _out_of_the_bus(),
            await _into_the_browser(browser, "10 origins", state(10)),
            await _into_the_browser(browser, "1 origin with a database", state(1, DATABASE)),
        ]


async def _out_of_the_bus() -> Row:
    kept = state(10)
    async with nats_server() as server, bus_at(server.url, "sessions") as bus:
        await bus.prepare(SESSIONS)
        async with holding(bus, Seal.of(new_key())) as logins:
            async with logins.use("me", URL) as session:
                session.take(kept)

            async def restore() -> None:
                async with logins.use("me", URL) as session:
                    assert len(session.origins) == len(kept.origins)

            size_kb = len(msgspec.json.encode(kept)) // 1_000
            return _row(f"login out of the bus ({size_kb} KB)", await _times_ms(restore))


async def _into_the_browser(browser: Browser, name: str, kept: SessionState) -> Row:
    record = BrowserRecord(session="sess_bench", owner="bench", state=kept)

    async def restore() -> None:
        session = await restore_session(browser, record, 1, None)
        await session.drop()

    await restore()  # starts the browser
    return _row(f"login into the browser ({name})", await _times_ms(restore))


async def _times_ms(restore: Callable[[], Awaitable[None]]) -> list[float]:
    times: list[float] = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        await restore()
        times.append((time.perf_counter() - begun) * 1_000)
    return times


def _row(name: str, times_ms: list[float]) -> Row:
    p50 = statistics.median(times_ms)
    return Row(name, f"{p50:.1f} ms", f"worst {max(times_ms):.1f} ms", p50, BOUND_MS, "<=", "ms")
