"""No page gets a packet out of the engine, whichever way it asks."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from actors.fetchers.lightweight import engine_process
from actors.fetchers.lightweight.cdp import CdpConnection, ClosedError, connect
from actors.fetchers.lightweight.engine_process import OPTIONS, listens
from tests.integration.lightweight.pages import Answer, always, engine, listening, needs_engine, opened
from tests.support.scale import one_in

pytestmark = needs_engine

PAGE = "/page"
END = "/end"
AFTER = "<script>setTimeout(() => fetch('/end?' + document.title), 150)</script>"
"""Ends a page: by then a request that any of it makes has been made."""


@dataclass(frozen=True)
class Way:
    """A way for a page to ask for something; `asks` are the paths that Python is asked for."""

    html: str
    asks: frozenset[str] = frozenset()
    files: dict[str, Answer] = field(default_factory=dict[str, Answer])
    title: str = ""


def script(code: str) -> str:
    return f"<script>{code}</script>"


def javascript(code: str) -> Answer:
    return Answer(code, "text/javascript")


def way(html: str, *asks: str, title: str = "", **files: Answer) -> Way:
    return Way(html, frozenset(asks), {f"/{name}": answer for name, answer in files.items()}, title)


WORKER = "<script>new Worker('/worker'{}).onmessage = e => document.title = e.data</script>"
POPUP = Answer("popup")

INTERCEPTED = {
    "document": way(""),
    "iframe": way("<iframe src='/frame'></iframe>", "/frame", frame=Answer("in")),
    "iframe of another name": way("<iframe src='http://probe.invalid:{port}/frame'></iframe>", "/frame"),
    "nested iframe": way(
        "<iframe src='/frame'></iframe>", "/frame", "/inner", frame=Answer("<iframe src='/inner'></iframe>")
    ),
    "srcdoc": way("<iframe srcdoc='<script src=/a></script>'></iframe>", "/a"),
    "data frame": way("<iframe src='data:text/html,<script src=http://127.0.0.1:{port}/a></script>'></iframe>", "/a"),
    "classic script": way("<script src='/a'></script>", "/a"),
    "script of an address": way("<script src='//127.0.0.1:{port}/a'></script>", "/a"),
    "script of another name": way("<script src='//localhost:{port}/a'></script>", "/a"),
    "document.write": way(script("document.write('<script src=/a></' + 'script>')"), "/a"),
    "dynamic script": way(
        script("document.head.append(Object.assign(document.createElement('script'), {{src: '/a'}}))"), "/a"
    ),
    "module": way("<script type=module src='/a'></script>", "/a", "/b", a=javascript("import '/b'")),
    "import map": way(
        '<script type=importmap>{{"imports": {{"x": "/a"}}}}</script><script type=module>import "x"</script>', "/a"
    ),
    "import()": way(script("import('/a').catch(() => 0)"), "/a"),
    "modulepreload": way("<link rel=modulepreload href='/a'>", "/a"),
    "preload of a script": way("<link rel=preload as=script href='/a'>", "/a"),
    "fetch": way(script("fetch('/a')"), "/a"),
    "fetch keepalive": way(script("fetch('http://127.0.0.1:{port}/a', {{keepalive: true}})"), "/a"),
    "XHR": way(script("const x = new XMLHttpRequest(); x.open('GET', '/a'); x.send()"), "/a"),
    "XHR sync": way(script("const x = new XMLHttpRequest(); x.open('GET', '/a', false); x.send()"), "/a"),
    "EventSource": way(script("new EventSource('/a')"), "/a"),
    "worker": way(WORKER.format(""), "/worker", title="up", worker=javascript("postMessage('up')")),
    "module worker": way(
        WORKER.format(", {{type: 'module'}}"),
        *("/worker", "/a"),
        title="up",
        worker=javascript("import '/a'; postMessage('up')"),
        a=javascript(""),
    ),
    "importScripts": way(
        WORKER.format(""),
        "/worker",
        "/a",
        title="up",
        worker=javascript("importScripts('/a'); postMessage('up')"),
        a=javascript(""),
    ),
    "fetch in a worker": way(
        WORKER.format(""),
        "/worker",
        "/a",
        worker=javascript("fetch('/a').then(() => postMessage('up'))"),
        title="up",
    ),
    "blob worker": way(
        script("new Worker(URL.createObjectURL(new Blob(['fetch(\"http://127.0.0.1:{port}/a\")'])))"), "/a"
    ),
    "shared worker": way(script("new SharedWorker('/worker')"), "/worker", "/a", worker=javascript("fetch('/a')")),
    "stylesheet": way("<link rel=stylesheet href='/a'>", "/a"),
    "form": way("<form action='/a' target=_blank></form>" + script("document.forms[0].submit()"), "/a?"),
    "form of the frame": way(
        "<form action='/a' method=post></form>" + script("document.forms[0].submit()"), "/a", a=Answer(AFTER)
    ),
    "location": way(script("location = '/a'"), "/a", a=Answer(AFTER)),
    "meta refresh": way("<meta http-equiv=refresh content='0;url=/a'>", "/a", a=Answer(AFTER)),
    "file": way(
        "<iframe src='file:///etc/passwd'></iframe>" + script("fetch('file:///etc/hosts')"), "/etc/passwd", "/etc/hosts"
    ),
    "other schemes": way(
        script(
            "for (const s of ['ftp', 'gopher', 'smb', 'ldap']) fetch(s + '://127.0.0.1:{port}/' + s).catch(() => 0)"
        ),
        *("/ftp", "/gopher", "/smb", "/ldap"),
    ),
    "window.open": way(script("open('/a')"), "/a", a=POPUP),
}

LEFT_OUT = {
    "image": way("<img src='/a'>" + script("new Image().src = '/b'")),
    "picture": way("<picture><source srcset='/a'><img src='/b'></picture>"),
    "beacon": way(script("document.title = navigator.sendBeacon('/a', 'x')"), title="true"),
    "ping": way("<a href='#x' ping='/a' id=a>x</a>" + script("a.click()")),
    "prefetch": way("<link rel=prefetch href='/a'><link rel=prerender href='/b'>"),
    "dns-prefetch": way(
        "<link rel=dns-prefetch href='//127.0.0.1:{port}'><link rel=preconnect href='//127.0.0.1:{port}'>"
    ),
    "speculation rules": way('<script type=speculationrules>{{"prefetch": [{{"urls": ["/a"]}}]}}</script>'),
    "manifest, icon": way("<link rel=manifest href='/a'><link rel=icon href='/b'>"),
    "media": way(
        "<video src='/a' poster='/b'></video><audio src='/c'></audio><object data='/d'></object><embed src='/e'>"
    ),
    "CSS": way(
        "<style>@import '/a'; @font-face {{font-family: x; src: url(/b)}} p {{font: 9px x;background: url(/c)}}</style>"
    ),
    "CSP report": way(
        "<meta http-equiv=Content-Security-Policy content=\"img-src 'none'; report-uri /a\"><img src='/b'>"
    ),
    "peers": way(
        script(
            "document.title = [typeof RTCPeerConnection, typeof WebTransport, typeof caches, "
            "typeof navigator.serviceWorker]"
        ),
        title="undefined,undefined,undefined,undefined",
    ),
    "WebSocket": way(
        script("const w = new WebSocket('ws://127.0.0.1:{port}/'); w.onclose = e => document.title = e.code"),
        title="1006",
    ),
    "WebSocket by name": way(
        script("const w = new WebSocket('ws://localhost:{port}/'); w.onclose = e => document.title = e.code"),
        title="1006",
    ),
    "WebSocket in a worker": way(
        WORKER.format(""),
        "/worker",
        title="1006",
        worker=javascript("const w = new WebSocket('ws://127.0.0.1:{port}/'); w.onclose = e => postMessage(e.code)"),
    ),
    "redirected script": way("<script src='/a'></script>", "/a", a=Answer(status=302, headers={"Location": "/to"})),
    "redirected fetch": way(
        script("fetch('/a').catch(() => document.title = 'failed')"),
        "/a",
        title="failed",
        a=Answer(status=307, headers={"Location": "http://localhost:{port}/to"}),
    ),
    "redirected frame": way("<iframe src='/a'></iframe>", "/a", a=Answer(status=301, headers={"Location": "/to"})),
}


async def run(connection: CdpConnection, subject: Way, port: int) -> tuple[set[str], str]:
    """Load the page; give the paths that it asked for, and the title that it had in the end."""
    ended = anyio.Event()
    title = ""
    files = {PAGE: Answer(subject.html.format(port=port) + AFTER), **subject.files}

    def answers(url: str, _: str) -> Answer | None:
        nonlocal title
        path = "/" + url.split("://", 1)[-1].partition("/")[2]
        if path.startswith(END):
            title = path.partition("?")[2]
            ended.set()
        found = files.get(path)
        if found is None or isinstance(found.body, bytes):
            return found
        headers = {name: value.format(port=port) for name, value in found.headers.items()}
        return Answer(found.body.replace("{port}", str(port)), found.type, found.status, headers)

    async with opened(connection, answers) as page:
        await page.goto(f"http://127.0.0.1:{port}{PAGE}")
        with anyio.fail_after(90):
            await ended.wait()
        paths = {"/" + url.split("://", 1)[-1].partition("/")[2] for url in page.urls()}
        return {path for path in paths if path != PAGE and not path.startswith(END)}, title


@pytest.mark.parametrize("name", one_in(4, [*INTERCEPTED, *LEFT_OUT]))
async def test_every_request_is_pythons_or_nobodys(name: str) -> None:
    subject = {**INTERCEPTED, **LEFT_OUT}[name]
    async with listening() as listener, engine(1) as light, light.page("") as place:
        asked, title = await run(place.connection, subject, listener.port)

        assert (asked, title, listener.connects) == (set(subject.asks), subject.title, 0)


async def test_a_redirect_that_python_hands_on_by_mistake_leads_nowhere() -> None:
    async with listening() as listener, engine(1) as light, light.page("") as place:
        moved = Answer(status=302, headers={"Location": f"http://127.0.0.1:{listener.port}/to"})
        async with opened(place.connection, always(moved)) as page:
            await page.goto("http://example.invalid/")
            await page.until("document.body && document.body.textContent.includes('failed')")

        assert listener.connects == 0


@pytest.mark.parametrize("name", ["WebSocket", "WebSocket in a worker", "redirected script", "redirected frame"])
async def test_without_walls_these_would_connect(name: str) -> None:
    with anyio.fail_after(90):
        async with listening() as listener, unwalled() as socket, connect(socket) as connection:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run_ignoring, connection, INTERCEPTED.get(name) or LEFT_OUT[name], listener.port)
                await listener.came.wait()
                tasks.cancel_scope.cancel()

            assert listener.connects > 0


async def run_ignoring(connection: CdpConnection, subject: Way, port: int) -> None:
    with suppress(ClosedError):
        await run(connection, subject, port)


@asynccontextmanager
async def unwalled() -> AsyncGenerator[Path]:
    """Run the engine as it comes, to prove that the listener would notice."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        environment = {"LIGHTPANDA_DISABLE_TELEMETRY": "true", "HOME": folder}
        program = str(engine_process.find_program())
        with subprocess.Popen(  # noqa: ASYNC220 - for a control
            [program, "serve", "--unix-socket", str(path), *OPTIONS], env=environment, stderr=subprocess.DEVNULL
        ) as process:
            try:
                while not listens(path):
                    await anyio.sleep(0.01)
                yield path
            finally:
                process.kill()
