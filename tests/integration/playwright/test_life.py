"""The life of the browser: started when it is needed, replaced when it is worn or broken, and never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec import structs

from actors.fetchers.logins import Login
from actors.fetchers.playwright import browser, memory
from actors.fetchers.playwright.browser import MAX_TABS, MAX_TABS_OF_SESSION
from protocol.faults import Code, FaultError
from protocol.pages import Fetched
from tests.integration.playwright.browsing import Browsing, browsing, page
from tests.site.scripted import ARTICLE
from tests.support.scale import first, one_in, sized

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

PROSE = f"<p>{ARTICLE}</p>"
DEEPER = "e = e.appendChild(document.createElement('div'))"
CRASH = f"{PROSE}<script>let e = document.body; for (let i = 0; i < 20000; i++) {DEEPER}; e.append('End.')</script>"
"""Markup so deep that the engine's layout runs out of stack."""

WAIT_S = 90.0


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with browsing() as running:
        yield running


def tree(pid: int) -> list[int]:
    """Find everything that descends from a process."""
    found: list[int] = []
    todo = [pid]
    while todo:
        below = list(memory.children(todo.pop(), ""))
        found += below
        todo += below
    return found


def until(happened: Callable[[], object]) -> None:
    """Wait for something to happen."""
    end = time.monotonic() + WAIT_S
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


def alive(pids: Iterable[int]) -> list[int]:
    """Return those that live; what nobody has buried yet is dead."""
    return [pid for pid in pids if Path(f"/proc/{pid}").exists() and memory.command(pid)]


def fetching(web: Browsing, url: str) -> Future[Fetched]:
    """Begin a fetch, and return once the site was asked."""
    before = web.site.hits["/slow"]
    future: Future[Fetched] = web.portal.start_task_soon(web.fetching, url, dict[str, Any]())
    until(lambda: web.site.hits["/slow"] > before)
    return future


def code_of(future: Future[Fetched]) -> Code:
    with pytest.raises(FaultError) as caught:
        future.result(WAIT_S)
    return caught.value.fault.code


def folders() -> list[Path]:
    """Return the folders of this process's browsers."""
    return list(Path(tempfile.gettempdir()).glob(f"weft-browser-{os.getpid()}-*"))


def process(web: Browsing, mark: str) -> int:
    """Find the process of this one's browser with a mark in its command line; a Weft beside it has its own."""
    drivers = [pid for pid in memory.children(os.getpid(), "") if "playwright/driver" in memory.command(pid)]
    own = [*drivers, *(pid for driver in drivers for pid in tree(driver))]
    (found,) = [pid for pid in own if mark in (line := memory.command(pid)) and "--type=" not in line]
    return found


def test_nothing_is_started_before_it_is_needed() -> None:
    before = set(tree(os.getpid()))
    with browsing():
        assert set(tree(os.getpid())) <= before


@pytest.mark.full
def test_a_page_that_crashes_harms_no_other(web: Browsing) -> None:
    neighbour = fetching(web, "/slow?ms=1500")
    crashed: Future[Fetched] = web.portal.start_task_soon(web.fetching, page(CRASH), dict[str, Any]())

    assert code_of(crashed) is Code.PAGE_CRASHED
    assert neighbour.result(WAIT_S).status == 200
    assert web.fetch("/article").status == 200


ENDLESS = {
    "dialogs": "while (true) alert('again')",
    "loop": "while (true);",
    "flood in pieces": "setInterval(() => { for (let i = 0; i < 2e4; i++) document.body.append(new Image()) }, 1)",
    "loop in a frame": r"document.body.insertAdjacentHTML('beforeend', `<iframe srcdoc='<script>for(;;);<\/script>'>`)",
    "flood": "while (true) document.body.append(document.createElement('p'))",
    "layout": "for (;;) { document.body.style.width = Math.random() * 500 + 'px'; document.body.offsetWidth }",
    "dialogs by a timer": "setInterval(() => confirm('again'), 1)",
    "writing": "while (true) document.write('<p>again</p>')",
    "questions": "addEventListener('beforeunload', () => { for (;;); }); setTimeout(() => location.reload(), 50)",
}


@pytest.mark.parametrize("name", one_in(5, ENDLESS))
def test_a_page_that_never_ends_has_hung_and_is_not_empty(web: Browsing, name: str) -> None:
    with pytest.raises(FaultError) as caught:
        web.fetch(page(f"<h1>A page</h1><script>{ENDLESS[name]}</script>"))

    assert caught.value.fault.code in (Code.BROWSER_PAGE_HUNG, Code.PAGE_CRASHED)
    assert web.fetch("/article").status == 200


@pytest.mark.parametrize(
    "again", one_in(2, ["<script>location.reload()</script>", "<meta http-equiv=refresh content=0>"])
)
def test_a_page_that_leads_on_without_end_is_told_as_such(web: Browsing, again: str) -> None:
    with pytest.raises(FaultError) as caught:
        web.fetch(page(f"<h1>A page</h1>{PROSE}{again}"))

    assert caught.value.fault.code is Code.HTTP_TOO_MANY_REDIRECTS


@pytest.mark.parametrize("mark", first(1, ["--remote-debugging-pipe", "playwright/driver"]))
def test_a_browser_that_dies_is_replaced(web: Browsing, mark: str) -> None:
    web.fetch("/article")
    under_way = fetching(web, "/slow?ms=20000")
    os.kill(process(web, mark), signal.SIGKILL)

    assert code_of(under_way) is Code.PAGE_CRASHED
    assert web.fetch("/article").status == 200


@pytest.mark.full
def test_a_worn_browser_is_replaced_without_cutting_anything(web: Browsing) -> None:
    web.fetch("/article")
    under_way = fetching(web, "/slow?ms=8000")
    old = process(web, "--remote-debugging-pipe")
    chromium = web.browser.process
    assert chromium is not None
    chromium.limits = structs.replace(chromium.limits, worn=1)

    assert web.fetch("/article").status == 200
    assert alive([old]) == [old]
    assert under_way.result(WAIT_S).status == 200
    until(lambda: not alive([old]))


def test_memory_is_looked_at(web: Browsing) -> None:
    web.fetch("/article")
    until(lambda: web.browser.process is not None and web.browser.process.bytes_used > 10_000_000)


def test_there_are_only_so_many_tabs(web: Browsing, monkeypatch: pytest.MonkeyPatch) -> None:
    most = sized(MAX_TABS_OF_SESSION + 4, MAX_TABS)
    monkeypatch.setattr(browser, "MAX_TABS", most)

    async def fill() -> tuple[Code, Code, int]:
        async with AsyncExitStack() as stack:
            first = await stack.enter_async_context(web.browser.context(Login()))
            for _ in range(MAX_TABS_OF_SESSION):
                await first.page()
            with pytest.raises(FaultError) as of_session:
                await first.page()
            others = [await stack.enter_async_context(web.browser.context(Login())) for _ in range(2)]
            for number in range(most - MAX_TABS_OF_SESSION):
                await others[number % 2].page()
            with pytest.raises(FaultError) as overall:
                await others[0].page()
            return of_session.value.fault.code, overall.value.fault.code, web.browser.tabs

    assert web.portal.call(fill) == (Code.INTERNAL_BUSY, Code.INTERNAL_BUSY, most)
    until(lambda: web.browser.tabs == 0)


def test_windows_that_a_page_opens_are_closed(web: Browsing) -> None:
    found = web.fetch(page(f"{PROSE}<script>for (let i = 0; i < 9; i++) open('/article')</script>"))

    assert found.status == 200
    until(lambda: web.browser.tabs == 0)


def test_a_caller_in_a_hurry_does_not_keep_the_browser_from_starting() -> None:
    with browsing() as web:

        async def hurry() -> None:
            with anyio.move_on_after(0.05), suppress(FaultError):
                await web.fetching("/article", {})

        web.portal.call(hurry)
        until(lambda: web.browser.process is not None and web.browser.process.raw is not None)


def test_nothing_is_left_behind() -> None:
    before, held = set(tree(os.getpid())), folders()
    with browsing() as web:
        web.fetch("/article")
        ours = set(tree(os.getpid())) - before
        assert alive(ours)
    until(lambda: not alive(ours))

    assert len(folders()) == len(held)


@pytest.mark.full
def test_a_browser_that_does_not_start_ends_the_fetch_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)

    with browsing(browser_executable=str(broken)) as web:
        assert (
            code_of(web.portal.start_task_soon(web.fetching, "/article", dict[str, Any]())) is Code.BROWSER_UNAVAILABLE
        )
    with browsing() as web:
        monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(broken))
        assert (
            code_of(web.portal.start_task_soon(web.fetching, "/article", dict[str, Any]())) is Code.BROWSER_UNAVAILABLE
        )
        monkeypatch.delenv("PLAYWRIGHT_NODEJS_PATH")
        assert web.fetch("/article").status == 200


def test_an_authority_of_the_operator_is_trusted_and_half_a_page_is_none() -> None:
    with browsing(trusting=True) as web:
        assert web.fetch(web.site.https_url("/article")).document.content.title == "How a loom is warped"
        with pytest.raises(FaultError) as half:
            web.fetch(web.site.https_url("/encoded/br?half=1"))
        assert half.value.fault.code is Code.NETWORK_CONNECTION_FAILED


PROGRAM = """
import sys, anyio
from tests.integration.playwright.browsing import browsing
with browsing() as web:
    web.fetch("/article")
    print("ready", flush=True)
    web.fetch("/slow?ms=30000")
"""


def test_a_replica_that_is_killed_leaves_no_orphans() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as replica:
        assert replica.stdout is not None
        while replica.stdout.readline() not in (b"ready\n", b""):
            pass
        ours = tree(replica.pid)
        assert len(alive(ours)) >= 3
        replica.kill()
    until(lambda: not alive(ours))
