"""A hostile page harms nobody but itself: not its neighbour, not the replica, not the next page."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from anyio.from_thread import start_blocking_portal

from actors.fetchers.lightweight.cdp import ClosedError
from actors.fetchers.lightweight.process_pool import FULL_BYTES, PooledPage, ProcessPool
from actors.fetchers.sandbox import DATA_BYTES
from tests.integration.lightweight.pages import Answer, Page, always, engine, needs_engine, opened
from tests.support.scale import one_in

pytestmark = [needs_engine, pytest.mark.slow]

ENOUGH_SECONDS = 4.0
"""The watchdog takes 2 s, and sometimes 3; a page that is there still is left behind."""

HOSTILE = {
    "a loop": "while (1);",
    "a loop in a timer": "setTimeout(() => {while (1);})",
    "microtasks": "const f = () => Promise.resolve().then(f); f()",
    "a regular expression": "/^(a+)+$/.test('a'.repeat(40) + 'b')",
    "dialogs": "while (1) alert(1)",
    "a loop in a worker": "new Worker(URL.createObjectURL(new Blob(['while (1);'])))",
    "100 workers": "for (let i = 0; i < 100; i++) new Worker(URL.createObjectURL(new Blob(['while (1);'])))",
    "arrays": "const a = []; while (1) a.push(new Array(1000).fill(1))",
    "buffers": "const a = []; while (1) try {a.push(new Uint8Array(1e7).fill(1))} catch {}",
    "shared buffers": "const a = [], b = () => new SharedArrayBuffer(1e7);"
    "while (1) try {a.push(new Uint8Array(b()).fill(1))} catch {}",
    "memories": "const a = []; while (1) try {const m = new WebAssembly.Memory({initial: 1600});"
    "new Uint8Array(m.buffer).fill(1); a.push(m)} catch {}",
    "blobs": "const a = [], x = 'x'.repeat(1e6); while (1) try {a.push(new Blob([x]))} catch {}",
    "texts": "const x = 'x'.repeat(1e6); while (1) document.documentElement.append(document.createTextNode(x))",
    "elements": "const x = '<p>x</p>'.repeat(1e4); while (1) document.body.insertAdjacentHTML('beforeend', x)",
    "a huge array": "new Array(2 ** 32 - 1).fill(0)",
    "states": "for (let i = 0; i < 200000; i++) history.pushState(i, '', '#' + i)",
    "recursion": "const f = () => f(); f()",
}
DEEP = "<div>" * 200_000
"""No answer for 85 s, and closing the connection does not end it."""

RIGHT = "<p>right</p><script>let n = 0; setInterval(() => n++, 10)</script>"
READ = "document.querySelector('p') && document.querySelector('p').textContent"


@pytest.mark.parametrize("name", one_in(8, [*HOSTILE, "depth"]))
async def test_a_hostile_page_harms_only_itself(name: str) -> None:
    html = f"<body><script>{HOSTILE[name]}</script>" if name in HOSTILE else DEEP
    async with engine(1) as light:
        done = anyio.Event()
        fates: dict[str, str] = {}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(be_hostile, light, html, done)
            tasks.start_soon(be_neighbour, light, done, fates)
            tasks.start_soon(watch_memory, light, done, fates)

        assert fates.pop("neighbour") in {"right", "told"}
        assert fates == {"memory": "bounded"}
        await assert_well(light)


async def be_hostile(light: ProcessPool, html: str, done: anyio.Event) -> None:
    try:
        async with light.page("") as place, opened(place.connection, always(Answer(html))) as page:
            await page.goto("http://hostile.example/")
            with anyio.move_on_after(ENOUGH_SECONDS):
                await place.connection.closed.wait()
            place.mark_failed()
    finally:
        done.set()


async def be_neighbour(light: ProcessPool, done: anyio.Event, fates: dict[str, str]) -> None:
    async with light.page("") as place:
        try:
            async with opened(place.connection, always(Answer(RIGHT))) as page:
                fates["neighbour"] = await read_until(page, done)
        except ClosedError:
            fates["neighbour"] = "deserted" if await place.outlived() else "told"


async def read_until(page: Page, done: anyio.Event) -> str:
    await page.goto("http://neighbour.example/")
    await page.until(READ)
    while not done.is_set():
        assert await page.evaluate(READ) == "right"
        await anyio.sleep(0.05)
    return "right"


async def watch_memory(light: ProcessPool, done: anyio.Event, fates: dict[str, str]) -> None:
    fates["memory"] = "bounded"
    while not done.is_set():
        if any(resident(pid) > DATA_BYTES for pid in light.pids):
            fates["memory"] = "unbounded"
        await anyio.sleep(0.02)


async def assert_well(light: ProcessPool) -> None:
    """Another page is right, and what the hostile one took is free again."""
    async with light.page("") as place, opened(place.connection, always(Answer(RIGHT))) as page:
        await page.goto("http://next.example/")
        await page.until(f"({READ}) === 'right'")
        assert sum(resident(pid) for pid in light.pids) < FULL_BYTES / 2


def resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


async def test_a_cancelled_page_leaves_nothing_that_burns() -> None:
    pids: tuple[int, ...] = ()
    async with engine(1) as light:
        async with anyio.create_task_group() as tasks:
            going = anyio.Event()
            tasks.start_soon(hang, light, going)
            await going.wait()
            pids = light.pids
            tasks.cancel_scope.cancel()

        while any(Path(f"/proc/{pid}").exists() for pid in pids):
            await anyio.sleep(0.01)
        await assert_well(light)


async def hang(light: ProcessPool, going: anyio.Event) -> None:
    async with light.page("") as place, opened(place.connection, always(Answer(DEEP))) as page:
        await page.goto("http://hostile.example/")
        while not page.asked:
            await anyio.sleep(0.01)
        going.set()
        with suppress(ClosedError):  # it may have burnt more than it may before it is cancelled
            await page.evaluate("1")


@pytest.mark.parametrize("html", [DEEP, "<script>while (1);</script>"])
async def test_nor_does_one_that_its_caller_leaves_in_peace(html: str) -> None:
    async with engine(1) as light:
        async with light.page("") as place, opened(place.connection, always(Answer(html))) as page:
            await page.goto("http://hostile.example/")
            with anyio.move_on_after(0.5):
                await page.until("document.title === 'never'")
        await gone(place)
        await assert_well(light)


async def test_the_neighbour_of_a_page_that_ended_ill_may_finish_then_the_process_goes() -> None:
    async with engine(1) as light:
        async with light.page("") as neighbour:
            (pid,) = light.pids
            async with light.page("") as ill:
                ill.mark_failed()
            assert neighbour.alive
            async with opened(neighbour.connection, always(Answer(RIGHT))) as page:
                await page.goto("http://neighbour.example/")
                await page.until(f"({READ}) === 'right'")
            assert (neighbour.alone, ill.alone) == (False, False)
        await gone(neighbour)

        assert pid not in light.pids


async def gone(place: PooledPage) -> None:
    while place.alive:
        await anyio.sleep(0.01)


ORPHAN = """
import anyio
from actors.fetchers.lightweight.process_pool import ProcessPool
from actors.settings import Settings

async def main():
    async with ProcessPool(Settings()) as light, light.page(""):
        print(light.pids[0], flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


def test_a_replica_that_is_killed_leaves_no_process() -> None:
    with tempfile.TemporaryDirectory() as place:
        environment = {**os.environ, "TMPDIR": place}
        with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, env=environment) as replica:
            assert replica.stdout
            descriptor = os.pidfd_open(int(replica.stdout.readline()))
            replica.kill()
            with start_blocking_portal() as portal:
                portal.call(ended, descriptor)
    os.close(descriptor)


async def ended(descriptor: int) -> None:
    with anyio.fail_after(90):
        await anyio.wait_readable(descriptor)
