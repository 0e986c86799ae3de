"""What a page is answered, by a network without a network."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest

from actors.fetchers.lightweight.cookie_sync import SyncedCookies
from actors.fetchers.lightweight.network import MAX_BYTES, MAX_DOCUMENTS, MAX_FRAMES, MAX_REQUESTS, Network
from actors.fetchers.lightweight.origins import Frames
from actors.fetchers.lightweight.rendering import RequestTerms
from actors.web.cookies import Jar
from actors.web.exchange import WebRequest, WebResponse
from protocol.faults import Code, FaultError, fault
from protocol.sessions import Cookie

HOME = "http://home.example/"
MAIN, CHILD = "main", "child"


def response(url: str, body: bytes = b"x", status: int = 200, **headers: str) -> WebResponse:
    """Answer; header names have `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    kind = named.get("content-type", "")
    return WebResponse(status, url, httpx2.Headers(named), body, kind, from_cache=False, retry_count=0, exchanges=())


@dataclass
class FakeWeb:
    """Answers by a function, and remembers who asked with which cookies."""

    answer: Callable[[WebRequest], WebResponse]
    asked: list[tuple[WebRequest, str]] = field(default_factory=list[tuple[WebRequest, str]])

    async def fetch(self, request: WebRequest, cookies: Jar, timeout_ms: int, *, ahead: bool = False) -> WebResponse:
        sent = httpx2.Request("GET", request.url)
        cookies.set_cookie_header(sent)
        self.asked.append((request, sent.headers.get("cookie", "")))
        await anyio.lowlevel.checkpoint()
        return self.answer(request)


@dataclass
class FakeEngine:
    """Remembers what it was told."""

    fulfilled: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    failed: list[str] = field(default_factory=list[str])
    cookies: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def call(self, method: str, params: dict[str, Any] | None = None, *, session: str | None = None) -> Any:
        if method == "Network.setCookies" and params:
            self.cookies += params["cookies"]
        return {"cookies": self.cookies}

    async def post(self, method: str, params: dict[str, Any] | None = None, *, session: str | None = None) -> None:
        name = str((params or {})["requestId"])
        if method == "Fetch.fulfillRequest":
            self.fulfilled[name] = params or {}
        else:
            self.failed.append(name)


@dataclass
class World:
    """A page of HOME with a network."""

    network: Network
    engine: FakeEngine
    web: FakeWeb
    frames: Frames
    count: int = 0

    async def ask(self, url: str, kind: str = "XHR", frame: str = MAIN, **request: Any) -> str:
        """Ask for something, and wait until it is answered or refused."""
        self.count += 1
        name = f"r{self.count}"
        asked: dict[str, Any] = {"url": url, "method": "GET", "headers": {}, **request}
        params: dict[str, Any] = {
            "requestId": name,
            "frameId": frame,
            "resourceType": kind,
            "networkId": name,
            "request": asked,
        }
        self.network.paused(params, "")
        while self.network.in_flight:
            await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()
        return name

    def body(self, name: str) -> bytes:
        """Return what a request was answered."""
        return base64.b64decode(self.engine.fulfilled[name]["body"])

    def shows(self, frame: str, url: str) -> None:
        """Have a frame hold a document."""
        self.frames.handed(url, url)
        self.frames.navigated({"frame": {"id": frame, "loaderId": url, "url": url}})


@asynccontextmanager
async def world(answer: Callable[[WebRequest], WebResponse], jar: Jar | None = None) -> AsyncGenerator[World]:
    with anyio.fail_after(90):
        async with anyio.create_task_group() as tasks:
            cookies = Jar() if jar is None else jar
            frames, engine, web = Frames(MAIN), FakeEngine(), FakeWeb(answer)
            network = Network(
                engine=engine,
                session="s",
                tasks=tasks,
                web=web,
                frames=frames,
                jar=cookies,
                cookies=SyncedCookies(cookies, "home.example", "c"),
                first=response(HOME, b"home", content_type="text/html"),
                terms=RequestTerms(),
            )
            here = World(network, engine, web, frames)
            here.shows(MAIN, HOME)
            yield here


def plain(request: WebRequest) -> WebResponse:
    return response(request.url, content_type="text/plain")


def jar_of(*domains: str) -> Jar:
    jar = Jar()
    jar.load(Cookie(name="id", value=domain.partition(".")[0], domain=domain) for domain in domains)
    return jar


async def test_the_first_document_is_there_already() -> None:
    async with world(plain) as here:
        name = await here.ask(HOME, "Document")

        assert here.body(name) == b"home"
        assert here.web.asked == []


@pytest.mark.parametrize("kind", ["Image", "Font", "Media"])
async def test_what_nobody_looks_at_is_empty(kind: str) -> None:
    async with world(plain) as here:
        assert here.body(await here.ask("http://home.example/a.png", kind)) == b""
        assert here.web.asked == []


@pytest.mark.parametrize("kind", ["Ping", "WebSocket", "Other", ""])
async def test_what_is_not_known_is_refused(kind: str) -> None:
    async with world(plain) as here:
        assert await here.ask("http://home.example/a", kind) in here.engine.failed


async def test_nothing_is_answered_by_a_redirect() -> None:
    def moved(request: WebRequest) -> WebResponse:
        if request.url.endswith("/end"):
            return response(request.url, b"end", content_type="text/html")
        return response(request.url, b"", 302, location="/end")

    async with world(moved) as here:
        for kind in ("XHR", "Script", "Stylesheet"):
            name = await here.ask("http://home.example/start", kind)
            assert (here.engine.fulfilled[name]["responseCode"], here.body(name)) == (200, b"end")
        here.frames.attached({"frameId": CHILD, "parentFrameId": MAIN})
        first = await here.ask("http://home.example/start", "Document", CHILD)
        second = await here.ask("http://home.example/end", "Document", CHILD)

        assert here.body(first) == b'<script>location.replace("http://home.example/end")</script>'
        assert here.body(second) == b"end"
        assert [request.url for request, _ in here.web.asked[-2:]] == [
            "http://home.example/start",
            "http://home.example/end",
        ]


async def test_a_window_that_was_opened_gets_nothing() -> None:
    async with world(plain) as here:
        name = await here.ask("http://home.example/pop", "Document", "popup")

        assert here.body(name) == b""
        assert here.web.asked == []


async def test_cookies_go_to_the_own_site_alone() -> None:
    async with world(plain, jar_of("home.example", "other.example")) as here:
        await here.ask("http://home.example/a")
        await here.ask("http://other.example/a.js", "Script")
        await here.ask("http://other.example/a")

        assert [cookie for _, cookie in here.web.asked] == ["id=home", "", ""]


async def test_a_foreign_frame_gets_no_cookies_of_the_page() -> None:
    async with world(plain, jar_of("home.example")) as here:
        here.frames.attached({"frameId": CHILD, "parentFrameId": MAIN})
        here.shows(CHILD, "http://other.example/frame")
        await here.ask("http://home.example/a.js", "Script", CHILD)
        await here.ask("http://home.example/told", "XHR", CHILD)
        await here.ask("http://home.example/page", "Document", CHILD)

        assert [cookie for _, cookie in here.web.asked] == ["", "", ""]
        assert ("Origin", "http://other.example") in here.web.asked[1][0].headers


async def test_a_frame_within_a_foreign_frame_is_foreign() -> None:
    async with world(plain, jar_of("home.example")) as here:
        here.frames.attached({"frameId": CHILD, "parentFrameId": MAIN})
        here.shows(CHILD, "http://other.example/frame")
        here.frames.attached({"frameId": "inner", "parentFrameId": CHILD})
        here.shows("inner", "http://home.example/inner")
        await here.ask("http://home.example/told", "XHR", "inner")

        assert here.web.asked[0][1] == ""


async def test_until_a_document_is_there_its_frame_is_what_it_was() -> None:
    """A page that sends its frame to another site, and asks in that moment, asks as itself."""
    async with world(plain, jar_of("home.example")) as here:
        here.shows(MAIN, "http://evil.example/")
        here.frames.handed("loader", HOME)
        name = await here.ask("http://home.example/secret")

        assert name in here.engine.failed
        assert here.web.asked[0][1] == ""


async def test_too_large_a_body_is_not_sent_without() -> None:
    async with world(plain) as here:
        name = await here.ask("http://home.example/up", method="POST", hasPostData=True)

        assert name in here.engine.failed
        assert (here.network.counters.oversized, here.web.asked) == (1, [])


async def test_bytes_arrive_as_they_were() -> None:
    async with world(plain) as here:
        entries = [{"bytes": base64.b64encode(bytes(range(256))).decode()}]
        await here.ask("http://home.example/up", method="POST", hasPostData=True, postDataEntries=entries)

        assert here.web.asked[0][0].body == bytes(range(256))


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "get", "X"])
async def test_a_method_of_no_page_is_refused(method: str) -> None:
    async with world(plain) as here:
        assert await here.ask("http://home.example/", method=method) in here.engine.failed
        assert here.web.asked == []


async def test_what_streams_is_refused() -> None:
    async with world(plain) as here:
        assert await here.ask("http://home.example/", headers={"Accept": "text/event-stream"}) in here.engine.failed


async def test_json_becomes_a_module() -> None:
    async with world(lambda request: response(request.url, b"{}", content_type="application/json")) as here:
        own = await here.ask("http://home.example/a.json", "Script")
        foreign = await here.ask("http://other.example/a.json", "Script")

        assert here.body(own) == b"export default {}"
        assert foreign in here.engine.failed


@pytest.mark.slow
async def test_requests_have_an_end() -> None:
    async with world(plain) as here:
        for number in range(MAX_REQUESTS):
            await here.ask(f"http://home.example/{number}")
        name = await here.ask("http://home.example/last")

        assert here.network.counters.limit == "too_many_requests"
        assert name in here.engine.failed


async def test_documents_have_an_end() -> None:
    async with world(plain) as here:
        for number in range(MAX_DOCUMENTS + 1):
            await here.ask(f"http://home.example/{number}", "Document")

        assert here.network.counters.limit == "nav_loop"


async def test_frames_beyond_some_are_empty() -> None:
    async with world(lambda request: response(request.url, content_type="text/html")) as here:
        bodies: list[bytes] = []
        for number in range(MAX_FRAMES + 1):
            here.frames.attached({"frameId": f"f{number}", "parentFrameId": MAIN})
            bodies.append(here.body(await here.ask(f"http://home.example/{number}", "Document", f"f{number}")))

        assert bodies == [b"x"] * MAX_FRAMES + [b""]
        assert here.network.counters.limit == ""


async def test_bytes_have_an_end() -> None:
    async with world(lambda request: response(request.url, b"x" * (MAX_BYTES // 2 + 1))) as here:
        first = await here.ask("http://home.example/1")
        second = await here.ask("http://home.example/2")

        assert first in here.engine.fulfilled
        assert second in here.engine.failed
        assert here.network.counters.limit == "too_large"


async def test_a_document_that_fails_leaves_the_page_as_it_is() -> None:
    def broken(request: WebRequest) -> WebResponse:
        raise FaultError(fault(Code.NETWORK_CONNECTION_FAILED))

    async with world(broken) as here:
        here.frames.attached({"frameId": CHILD, "parentFrameId": MAIN})
        main = await here.ask("http://home.example/away", "Document")
        child = await here.ask("http://home.example/frame", "Document", CHILD)

        assert main not in here.engine.failed + list(here.engine.fulfilled)
        assert here.body(child) == b""


async def test_what_is_under_way_is_given_up() -> None:
    async with world(plain) as here:
        stuck = anyio.Event()

        async def forever(request: WebRequest, cookies: Jar, timeout_ms: int, *, ahead: bool = False) -> WebResponse:
            stuck.set()
            await anyio.sleep_forever()
            raise AssertionError

        here.web.fetch = forever  # type: ignore[method-assign]  # a site that never answers
        request: dict[str, Any] = {"url": "http://home.example/a", "method": "GET", "headers": {}}
        here.network.paused({"requestId": "a", "frameId": MAIN, "resourceType": "XHR", "request": request}, "")
        await stuck.wait()
        await here.network.give_up()
        await anyio.wait_all_tasks_blocked()

        assert here.engine.failed == ["a"]
        assert here.network.in_flight == 0
