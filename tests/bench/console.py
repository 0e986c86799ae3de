"""The console in a real Chromium: its first paint and bytes, a table of 100,000 runs, and a tap of 500 packets/s."""

from __future__ import annotations

import statistics
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from msgspec import Struct
from playwright.async_api import Browser, Page, async_playwright

from bus.clock import now_ms
from bus.seal import Seal, new_key
from bus.stores import JournalLog
from protocol.runs.events import LedgerLine, RunCreated, state_topic
from protocol.runs.states import Mode
from protocol.subject_kinds import Event
from protocol.subjects import LEDGER
from tests.bench.processes import pss_mb
from tests.bench.servers import Server, bus_at, nats_server
from tests.bench.table import Row
from tests.support.extension import CHROMIUM
from tests.support.system import RunningWeft, running_weft

LOADS = 5
RUNS, WRITERS = 100_000, 64
LISTED_S = 300
SCROLL_MS, JUMPS = 6_000, 40
PER_S, TAP_S, BURST = 500, 20, 10
SETTLE_S = 15
OWNER = "owner"

_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
_LOADED = """[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .reduce((sum, one) => sum + one.encodedBodySize, 0)"""
_FRAMES = """async ([name, ms, jumps]) => {
  const box = document.querySelector(name), end = box.scrollHeight - box.clientHeight;
  const frames = (place) => new Promise((done) => {
    let count = 0, began = 0;
    const turn = (now) => {
      began ||= now;
      if (now - began >= ms) return done((1_000 * count) / (now - began));
      box.scrollTop = place((now - began) / ms) * end;
      count += 1;
      return requestAnimationFrame(turn);
    };
    requestAnimationFrame(turn);
  });
  const down = await frames((share) => share);
  return [down, await frames((share) => (Math.floor(share * jumps) * 0.618) % 1)];
}"""
_EMPTY = f'<div id="box" style="height:640px;overflow-y:auto"><div style="height:{RUNS * 42}px"></div></div>'
_PLAIN = f"""{_EMPTY}<script>
const box = document.querySelector('#box');
box.firstElementChild.style.position = 'relative';
const rows = Array.from({{ length: 32 }}, () => {{
  const row = box.firstElementChild.appendChild(document.createElement('div'));
  row.style = 'position:absolute;width:100%;height:42px;display:grid;grid-template-columns:repeat(5,1fr)';
  row.append(...Array.from({{ length: 5 }}, () => document.createElement('span')));
  return row;
}});
box.onscroll = () => requestAnimationFrame(() => rows.forEach((row, place) => {{
  const index = Math.floor(box.scrollTop / 42) - 8 + place;
  row.style.top = `${{index * 42}}px`;
  for (const cell of row.children) cell.textContent = `batch_extract_pages ${{index}}`;
}}));
</script>"""
"""A table of text alone, whose rows are written anew by hand."""

_FIGURES = """Object.fromEntries([...document.querySelectorAll('.figure')].map((one) => [
  one.querySelector('dt').textContent, Number(one.querySelector('dd').firstChild.textContent.replaceAll(',', ''))]))"""


class Passed(Struct, frozen=True):
    """A packet of the usual size."""

    number: int
    words: str = "w" * 1_000


PASSED = Event("events.bench.tapped", Passed)


@dataclass
class Usage:
    """The most that a tab has used, in MB: the heap of its scripts, and the memory of its process."""

    heap_mb: float = 0.0
    pss_mb: float = 0.0


@dataclass(frozen=True)
class Tap:
    """What came of a tap: packets that were sent, those that the page has not counted, and how many came a second."""

    sent: int
    lost: int
    per_s: float
    usage: Usage


async def measure() -> list[Row]:
    """Run this benchmark."""
    key = new_key()
    with TemporaryDirectory(prefix="weft-bench-") as folder:
        arguments = ("--actors", "gateway,keeper", "--nats")
        async with (
            nats_server() as server,
            running_weft(Path(folder), (*arguments, server.url), WEFT_VAULT_KEY=key, WEFT_LOG_LEVEL="error") as weft,
            _chromium() as browser,
        ):
            rows = await _loaded(browser, weft)
            await _write_runs(server, key)
            await _until_listed(weft)
            rows += await _scrolled(browser, weft)
            rows += _tapped(await _tap(browser, server, weft))
    return rows


@asynccontextmanager
async def _chromium() -> AsyncGenerator[Browser]:
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


@asynccontextmanager
async def _tab(browser: Browser, url: str, key: str = "") -> AsyncGenerator[Page]:
    """Open a page in a tab that has nothing cached; with a key it is logged in."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    if key:
        await context.add_init_script(f"sessionStorage.setItem('weft-key', '{key}')")
    page = await context.new_page()
    await page.goto(url)
    yield page
    await context.close()


async def _loaded(browser: Browser, weft: RunningWeft) -> list[Row]:
    paints, others, sizes = list[float](), list[float](), list[int]()
    for _ in range(LOADS):
        async with _tab(browser, weft.ready.rest) as page:
            await page.get_by_label("Key").wait_for()
            paints.append(await _painted_ms(page))
            sizes.append(await page.evaluate(_LOADED))
        async with _tab(browser, f"{weft.ready.rest}/readyz") as page:
            others.append(await _painted_ms(page))
    p50, bare, size_kb = statistics.median(paints), statistics.median(others), max(sizes) / 1024
    return [
        Row("console: first paint, nothing cached, p50", f"{p50:.0f} ms", f"a line of JSON {bare:.0f} ms", p50 / 1_000,
            1.0, "<=", "s"),
        Row("console: all that is loaded, packed", f"{size_kb:.1f} KB", "-", size_kb, 120, "<=", "KB"),
    ]  # fmt: skip


async def _painted_ms(page: Page) -> float:
    painted: float = await (await page.wait_for_function(_PAINT)).json_value()
    return painted


async def _write_runs(server: Server, key: str) -> None:
    """Write runs into the ledger as a runner does; there is none here, so that they stay in the queue."""
    async with bus_at(server.url, "runner") as bus:
        bus.seal = Seal.of(key)
        ledger, numbers = await bus.journal(LEDGER), iter(range(RUNS))
        async with anyio.create_task_group() as tasks:
            for _ in range(WRITERS):
                tasks.start_soon(_write, ledger, numbers)


async def _write(ledger: JournalLog[LedgerLine], numbers: Iterator[int]) -> None:
    for number in numbers:
        run_id = f"run_{number:022d}"
        line = RunCreated(
            run_id=run_id,
            at=now_ms(),
            caller=OWNER,
            local=True,
            template_id="batch_extract_pages",
            version="1.0.0",
            inputs={"urls": [f"https://example.com/{number}"]},
            steps=("read",),
            timeout_ms=60_000,
            mode=Mode.ASYNC,
        )
        await ledger.append(state_topic(run_id), line)


async def _until_listed(weft: RunningWeft) -> None:
    async with weft.client() as client:
        with anyio.fail_after(LISTED_S):
            while (await client.get("/api/runs?limit=1")).json().get("total") != RUNS:
                await anyio.sleep(0.5)


async def _scrolled(browser: Browser, weft: RunningWeft) -> list[Row]:
    """Scroll the table, then a plain one and an empty page in the same way: from top to bottom, and by jumps."""
    async with _tab(browser, f"{weft.ready.rest}/#/runs?order=createdAt.asc", weft.key) as page:
        await page.get_by_role("heading", name=f"{RUNS:,} runs").wait_for()
        ours = await page.evaluate(_FRAMES, [".virtual-body", SCROLL_MS, JUMPS])
        await page.locator(".virtual-body").evaluate("(box) => { box.scrollTop = box.scrollHeight; }")
        await page.locator(f'a[href="#/runs/run_{RUNS - 1:022d}"]').wait_for()
        plain, empty = [await _frames(page, content) for content in (_PLAIN, _EMPTY)]
    return [
        Row(f"console: {RUNS:,} runs scrolled {how}: frames/s", f"{mine:.0f}/s",
            f"plain table {text:.0f}/s, empty page {bare:.0f}/s", mine, 50, ">=", "/s")
        for how, mine, text, bare in zip(("down", "by jumps"), ours, plain, empty, strict=True)
    ]  # fmt: skip


async def _frames(page: Page, content: str) -> list[float]:
    await page.goto("about:blank")
    await page.set_content(content)
    frames: list[float] = await page.evaluate(_FRAMES, ["#box", SCROLL_MS, JUMPS])
    return frames


async def _tap(browser: Browser, server: Server, weft: RunningWeft) -> Tap:
    """Pass packets at an even rate, once the page has seen the first ones, and count what it has not told of."""
    url = f"{weft.ready.rest}/#/bus/tap?subject={PASSED.pattern}"
    async with _tab(browser, url, weft.key) as page, bus_at(server.url, "teller") as bus:
        await page.get_by_role("heading", name="Live tap").wait_for()
        with anyio.fail_after(SETTLE_S):
            while not (await page.evaluate(_FIGURES))["Passed"]:
                await bus.tell(PASSED, Passed(0))
                await anyio.sleep(0.2)
        await anyio.sleep(1)
        before, sent = await page.evaluate(_FIGURES), PER_S * TAP_S
        async with _watched(browser, page) as usage:
            began = anyio.current_time()
            for number in range(0, sent, BURST):
                await anyio.sleep_until(began + number / PER_S)
                for one in range(number, number + BURST):
                    await bus.tell(PASSED, Passed(one))
            took_s = anyio.current_time() - began
            after = await _settled(page, before["Passed"] + sent)
    return Tap(sent, sent - int(after["Passed"] - before["Passed"]), sent / took_s, usage)


async def _settled(page: Page, all_of_them: float) -> dict[str, float]:
    """Return the figures of the page when it has counted everything, or comes to no more."""
    figures: dict[str, float] = {}
    with anyio.move_on_after(SETTLE_S):
        while figures.get("Passed") != all_of_them:
            await anyio.sleep(0.2)
            figures = await page.evaluate(_FIGURES)
    return figures


@asynccontextmanager
async def _watched(browser: Browser, page: Page) -> AsyncGenerator[Usage]:
    """Return what a tab uses at most while the block lasts."""
    usage = Usage()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_watch, browser, page, usage)
        yield usage
        tasks.cancel_scope.cancel()


async def _watch(browser: Browser, page: Page, usage: Usage) -> None:
    """Look once a second at what the tab uses: its process is the largest of those that draw pages."""
    machine: Any = await browser.new_browser_cdp_session()
    tab: Any = await page.context.new_cdp_session(page)
    await tab.send("Performance.enable")
    while True:
        metrics = await tab.send("Performance.getMetrics")
        heap = next(one["value"] for one in metrics["metrics"] if one["name"] == "JSHeapUsedSize")
        listed = await machine.send("SystemInfo.getProcessInfo")
        drawing = [pss_mb(one["id"]) for one in listed["processInfo"] if one["type"] == "renderer"]
        usage.heap_mb, usage.pss_mb = max(usage.heap_mb, heap / 1e6), max(usage.pss_mb, *drawing)
        await anyio.sleep(1)


def _tapped(tap: Tap) -> list[Row]:
    return [
        Row(f"console: tap of {PER_S} packets/s for {TAP_S} s: lost", f"{tap.lost} of {tap.sent:,}",
            f"{tap.per_s:.0f}/s were sent", tap.lost, 0, "<=", ""),
        Row("console: most memory of that tab's process (PSS)", f"{tap.usage.pss_mb:.0f} MB",
            f"heap of its scripts {tap.usage.heap_mb:.0f} MB", tap.usage.pss_mb, 200, "<=", "MB"),
    ]  # fmt: skip
