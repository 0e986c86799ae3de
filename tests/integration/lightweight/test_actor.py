"""The actor keeps its deadlines, tells what it has seen, and shows a page again that may have suffered from another."""

from __future__ import annotations

import os
import signal

import anyio
import pytest

from actors.fetchers.lightweight import actor
from actors.fetchers.lightweight.actor import Lightweight
from actors.fetchers.page_answer import HUNG
from actors.settings import Settings
from protocol.faults import Code, FaultError
from tests.integration.lightweight.pages import needs_engine
from tests.integration.lightweight.showing import Showing, showing, text_of
from tests.site.scripted import ARTICLE, LATE
from tests.support.scale import first

pytestmark = [needs_engine, pytest.mark.full]


def main(code: str, text: str = ARTICLE) -> str:
    return f"<!doctype html><title>Page</title><main><h1>Page</h1><p id=p>{text}</p></main><script>{code}</script>"


def test_the_actor_is_not_absent_here() -> None:
    assert Lightweight.unavailability(Settings()) is None


@pytest.mark.parametrize(
    ("code", "signal_name"),
    [
        ("document.createElement('canvas').getContext('webgl')", "context_refused"),
        ("new WebSocket('ws://127.0.0.1/')", "web_socket"),
        ("customElements.define('b-b', class extends HTMLButtonElement {}, {extends: 'button'})", "extended_element"),
        ("p.textContent = ''; document.body.append(document.createElement('video'))", "media"),
        ("p.textContent = 'Your browser is not supported.'", "unsupported"),
        ("p.textContent = ''", "thin"),
        ("p.textContent = 'few words'; undefined.x()", "error"),
    ],
)
async def test_what_calls_for_a_browser_is_told(code: str, signal_name: str) -> None:
    async with showing() as here:
        page = await here.page(main(code))

        assert signal_name in page.evidence.escalate


async def test_a_page_that_is_right_calls_for_nothing() -> None:
    async with showing() as here:
        page = await here.page(
            main("fetch('/told').then(r => r.json()).then(d => { p.append(d.method) })", ARTICLE * 2)
        )

        assert page.evidence.escalate == ()


RESTLESS = "setInterval(() => { p.title = Math.random() }, 5);"


@pytest.mark.parametrize("remaining_ms", first(1, [4_000, 1_800, 900, 200]))
@pytest.mark.slow
async def test_a_page_that_never_rests_is_answered_in_time(remaining_ms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async with showing() as here:
        await here.show(here.site.url("/late/timer?ms=0"))
        url = here.at(main(f"{RESTLESS} setInterval(() => fetch('/told?' + Math.random()), 25)"))
        monkeypatch.setattr(actor, "remaining_ms", lambda: remaining_ms)
        page = await here.show(url)
        for _ in range(3):
            if page.evidence.cut_short:
                break  # an engine that gets no processor beside other work looks as if it rested
            page = await here.show(url)

        assert ARTICLE in text_of(page)
        # An engine that gets no processor beside other work counts as one that does not answer, too.
        assert page.evidence.cut_short in ("time", HUNG)
        assert "cut_short" in page.evidence.escalate


async def test_scripts_get_no_longer_than_is_set() -> None:
    async with showing(light_settle_ms=500) as here:
        page = await here.page(main("setInterval(() => { p.title = Math.random(); fetch('/told?' + p.title) }, 5)"))

        assert (ARTICLE in text_of(page), page.evidence.cut_short) == (True, "time")


@pytest.mark.slow
async def test_a_request_that_never_ends_does_not_hold_a_page_with_text() -> None:
    async with showing() as here:
        page = await here.page(main("fetch('/drip?count=1000&ms=100')"))

        assert ARTICLE in text_of(page)
        assert page.evidence.cut_short == ""


@pytest.mark.slow
@pytest.mark.parametrize("code", ["", "fetch('/broken/silence')"])
async def test_a_page_that_waits_in_vain_for_an_answer_is_late(code: str) -> None:
    script = f"<script>{code}</script>" if code else "<script src=/broken/silence></script>"
    async with showing(light_settle_ms=1_000) as here:
        with pytest.raises(FaultError) as caught:
            await here.page(f"<!doctype html><title>Page</title><div id=root></div>{script}")

        assert caught.value.fault.code is Code.NETWORK_TIMEOUT


@pytest.mark.slow
async def test_a_slow_script_of_another_site_holds_up_no_page() -> None:
    async with showing() as here:
        slow = f"<script src='http://localhost:{here.other.port}/drip?count=1000&ms=100'></script>"
        page = await here.page(slow + main("p.append(' ran')"))

        assert text_of(page).endswith("ran")
        assert page.evidence.cut_short == ""


@pytest.mark.slow
async def test_a_page_whose_process_dies_beside_another_is_shown_once_more() -> None:
    async with showing(light_processes=1) as here:
        texts: list[str] = []
        async with anyio.create_task_group() as tasks:
            for number in range(2):
                tasks.start_soon(collect, here, texts, 800 + number)
            while here.site.hits["/late-data/x"] < 2:
                await anyio.sleep(0.01)
            kill(here)

        assert [LATE in text for text in texts] == [True, True]


def kill(here: Showing) -> None:
    """End the process of the engine, as the kernel does, without asking."""
    (pid,) = here.actor._pool.pids  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - nobody else knows it
    os.kill(pid, signal.SIGKILL)


async def collect(here: Showing, texts: list[str], ms: int) -> None:
    texts.append(text_of(await here.show(here.site.url(f"/late/fetch?ms={ms}"))))


async def test_a_page_whose_process_dies_alone_has_crashed() -> None:
    async with showing(light_processes=1) as here:
        codes: list[Code] = []

        async def show() -> None:
            with pytest.raises(FaultError) as caught:
                await here.show(here.site.url("/late/fetch?ms=3000"))
            codes.append(caught.value.fault.code)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(show)
            while not here.site.hits["/late-data/x"]:
                await anyio.sleep(0.01)
            kill(here)

        assert codes == [Code.PAGE_CRASHED]
        assert LATE in text_of(await here.show(here.site.url("/late/fetch?ms=0")))


@pytest.mark.slow
async def test_many_pages_at_once_are_all_right() -> None:
    async with showing() as here:
        texts: list[str] = []
        async with anyio.create_task_group() as tasks:
            for number in range(12):
                tasks.start_soon(collect, here, texts, number)

        assert [LATE in text for text in texts] == [True] * 12
