"""What a page may take of the machine, and what its browser may see of it: real Chromium, as `weft up` holds it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import pytest
from msgspec import json
from playwright.async_api import Download

from actors.fetchers.logins import Login
from actors.fetchers.playwright import browser_sandbox, faults, launcher, memory
from actors.fetchers.playwright.browser_sandbox import BrowserSandbox
from actors.fetchers.playwright.captures import file_of
from actors.fetchers.playwright.stability import FOR_FETCH
from actors.fetchers.playwright.tab import new_tab
from protocol.faults import Code, Fault, FaultError
from tests.integration.playwright.browsing import Browsing, browsing, page
from tests.support.scale import one_in, sized

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="what is known of processes is Linux's"),
    pytest.mark.full,
]

PAGE_BYTES = sized(300_000_000, 700_000_000)
BODY_BYTES = 3_000_000
WAIT_S = 240.0

ENDLESS = {
    "buffers": "setInterval(() => { for (let i = 0; i < 9; i++) a.push(new Uint8Array(1e7).fill(1)) })",
    "arrays": "for (;;) a.push(new Array(1e6).fill(1.5))",
    "wasm": "setInterval(() => { a.push(new WebAssembly.Memory({initial: 999}));"
    "new Uint8Array(a.at(-1).buffer).fill(1) })",
    "workers": "const u = URL.createObjectURL(new Blob(['const a=[]; for(;;) a.push(new Uint8Array(1e7).fill(1))']));"
    "for (let i = 0; i < 4; i++) a.push(new Worker(u));"
    "setInterval(() => document.body.append('.'), 5)",
    "blobs": "setInterval(() => { for (let i = 0; i < 20; i++) a.push(new Blob([new Uint8Array(1e7).fill(a.length)]));"
    "document.body.append('.') })",
    "canvas": "setInterval(() => { const c = document.createElement('canvas'); c.width = c.height = 4000;"
    "a.push(c); const x = c.getContext('2d'); x.fillRect(0, 0, 4000, 4000); x.getImageData(0, 0, 1, 1);"
    "document.body.append(c) })",
}


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with browsing(browser_page_max_bytes=PAGE_BYTES, fetch_max_bytes=BODY_BYTES) as running:
        yield running


@pytest.fixture
def folder() -> Generator[Path]:
    """Return a folder that every user may enter: what is kept there, no mode of a file keeps."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("name", one_in(3, ENDLESS))
def test_a_page_that_takes_memory_without_end_is_ended_and_no_other(web: Browsing, name: str) -> None:
    neighbour = web.portal.start_task_soon(web.fetching, "/slow?ms=2500", dict[str, Any]())

    with pytest.raises(FaultError) as caught:
        web.fetch(page(f"<h1>A page</h1><script>const a = []; {ENDLESS[name]}</script>"))

    assert caught.value.fault.code is Code.PAGE_CRASHED
    assert f"more than {PAGE_BYTES // 1_000_000} MB of memory" in caught.value.fault.message
    assert neighbour.result(WAIT_S).status == 200
    watch = web.browser.process.watch if web.browser.process else None
    assert watch is not None
    assert watch.largest < PAGE_BYTES + 300_000_000


FLOODING = {
    "lines": "for (;;) console.log('x')",
    "requests": "setInterval(() => { for (let i = 0; i < 500; i++) fetch('/article?' + i).catch(() => 0) })",
    "long lines in frames": "for (let i = 0; i < 3; i++) { const f = document.createElement('iframe');"
    "f.srcdoc = '<script>for (;;) console.log(`x`.repeat(1e6))</scr' + 'ipt>'; document.body.append(f) }",
    "lines of workers": "const u = URL.createObjectURL(new Blob(['for (;;) console.log(`x`.repeat(1e5))']));"
    "for (let i = 0; i < 3; i++) new Worker(u)",
    "errors": "setInterval(() => { for (let i = 0; i < 500; i++) Promise.reject(new Error('x'.repeat(1e4))) })",
    "workers": "const u = URL.createObjectURL(new Blob(['close()']));"
    "setInterval(() => { for (let i = 0; i < 50; i++) new Worker(u) })",
    "sockets": "setInterval(() => { for (let i = 0; i < 50; i++) new WebSocket(`ws://${location.host}/nothing`) })",
    "frames": "setInterval(() => { for (let i = 0; i < 50; i++) { const f = document.createElement('iframe');"
    "document.body.append(f); f.remove() } })",
    "windows": "setInterval(() => { for (let i = 0; i < 50; i++) open('about:blank') })",
}


@pytest.mark.parametrize("name", one_in(3, FLOODING))
def test_a_page_that_floods_the_browser_with_events_is_ended_and_no_other(web: Browsing, name: str) -> None:
    web.fetch("/article")
    process = web.browser.process
    neighbour = web.portal.start_task_soon(web.fetching, "/slow?ms=2500", dict[str, Any]())

    fault = web.portal.call(ended, web, page(f"<script>setTimeout(() => {{ {FLOODING[name]} }}, 50)</script>"))

    assert fault == faults.FLOODED
    assert neighbour.result(WAIT_S).status == 200
    assert web.browser.process is process
    assert web.fetch("/article").status == 200


async def ended(web: Browsing, path: str) -> Fault:
    """Show a page until it is ended, and return what is told of it."""
    async with web.browser.context(Login()) as context, new_tab(context) as one:
        with suppress(FaultError):
            await one.go(web.site.url(path), time.monotonic() + WAIT_S)
        with anyio.fail_after(WAIT_S):
            while not one.page.is_closed():
                await anyio.sleep(0.02)
        with pytest.raises(FaultError) as caught:
            await one.settle(FOR_FETCH, time.monotonic() + WAIT_S)
        return caught.value.fault


def test_a_page_with_much_to_say_is_no_flood(web: Browsing) -> None:
    talking = "for (let i = 0; i < 200; i++) console.log('line', i, { i })"

    found = web.fetch(page(f"<h1>A page</h1><p>Words.</p><script>{talking}</script>"), include_console=True)

    assert found.console[-1].text.startswith("line 199")


@pytest.mark.parametrize(
    "path",
    one_in(
        2,
        [
            f"/bomb/gzip?mib={sized(200, 10_240)}",
            f"/bomb/br?mib={sized(200, 10_240)}",
            "/endless",
            "/endless?type=text/plain",
            f"/bomb/gzip?mib={sized(200, 10_240)}&type=application/json",
        ],
    ),
)
def test_a_body_without_end_ends_at_the_limit(web: Browsing, path: str) -> None:
    with pytest.raises(FaultError) as caught:
        web.fetch(path)

    assert caught.value.fault.code is Code.CONTENT_TOO_LARGE
    assert str(BODY_BYTES) in caught.value.fault.message


def processes(web: Browsing) -> list[int]:
    """Return the processes of the browser."""
    assert web.browser.process is not None
    assert web.browser.process.watch is not None
    todo, found = [web.browser.process.watch.root], list[int]()
    while todo:
        found.append(todo.pop())
        todo += memory.children(found[-1], "")
    return found


@pytest.mark.skipif(os.getuid() != 0, reason="only root becomes another user")
def test_no_process_of_the_browser_is_roots_or_may_become_it(web: Browsing) -> None:
    web.fetch("/article")
    states = [state.split("\n") for state in map(_status, processes(web)) if state]
    users = {line for state in states for line in state if line.startswith(("Uid:", "Gid:", "NoNewPrivs:", "Groups:"))}
    ours = "\t".join([str(launcher.BROWSER)] * 4)

    assert len(states) > 3
    assert {line.rstrip() for line in users} == {f"Uid:\t{ours}", f"Gid:\t{ours}", "NoNewPrivs:\t1", "Groups:"}


def _status(pid: int) -> str:
    """Return what the kernel says of a process, "" where it has ended meanwhile."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/status").read_text("ascii")
    return ""


PROBE = """
import json, os, socket, sys
def attempt(what):
    try:
        what()
    except OSError as error:
        return type(error).__name__
    return "done"
def connect(port):
    with socket.socket() as stream:
        stream.connect(("127.0.0.1", port))
secret, allowed, closed, parent = sys.argv[1:5]
print(json.dumps({
    "read": attempt(lambda: open(secret).read()),
    "list": attempt(lambda: os.listdir(os.path.dirname(secret))),
    "passwords": attempt(lambda: open("/etc/shadow").read()),
    "write": attempt(lambda: open(secret + "2", "w")),
    "own folder": attempt(lambda: open("mine", "w")),
    "environment": attempt(lambda: open(f"/proc/{parent}/environ").read()),
    "signal": attempt(lambda: os.kill(int(parent), 0)),
    "proxy": attempt(lambda: connect(int(allowed))),
    "others": attempt(lambda: connect(int(closed))),
    "datagrams": attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)),
}))
"""


def test_what_runs_as_the_browser_does_sees_no_data_and_reaches_the_proxy_alone(web: Browsing, folder: Path) -> None:
    secret, home = folder / "data" / "api-key", folder / "home"
    for place in (secret.parent, home):
        place.mkdir()
    secret.write_text("hush")
    sandbox = browser_sandbox.of_this_machine("auto")
    assert isinstance(sandbox, BrowserSandbox)
    web.fetch("/article")
    port, closed = web.browser.proxy.port, urlsplit(web.site.url("/")).port
    order = launcher.arguments(sandbox.layers, str(home), os.path.realpath("/usr/bin/python3"), port)

    probed = subprocess.run(
        [*order, "-c", PROBE, str(secret), str(port), str(closed), str(os.getpid())],
        capture_output=True, timeout=WAIT_S, check=True,
    )  # fmt: skip

    refused = {"read", "list", "passwords", "write", "environment", "signal", "others"}
    assert json.decode(probed.stdout) == {
        **dict.fromkeys(refused, "PermissionError"),
        **dict.fromkeys(("own folder", "proxy"), "done"),
        "datagrams": "OSError",
    }


def test_a_program_in_somebodys_home_runs_as_another_user_too(web: Browsing, folder: Path) -> None:
    web.fetch("/article")
    assert web.browser.process is not None
    installed, private = web.browser.process.executable, folder / "home" / "chrome-linux"
    private.parent.mkdir(mode=0o700)
    shutil.copytree(installed.parent, private, ignore=shutil.ignore_patterns("chromium"))

    with browsing(browser_executable=str(private / installed.name)) as other:
        assert other.fetch("/article").status == 200


async def test_a_link_in_the_place_of_a_download_is_not_followed(tmp_path: Path) -> None:
    secret, file = tmp_path / "vault-key", tmp_path / "download"
    secret.write_text("hush")
    file.symlink_to(secret)

    @dataclass
    class Written:
        at: Path

        async def path(self) -> Path:
            return self.at

    linked, written = [await file_of(cast("Download", Written(at)), 1_000, WAIT_S) for at in (file, secret)]

    assert (linked, written) == (None, b"hush")
