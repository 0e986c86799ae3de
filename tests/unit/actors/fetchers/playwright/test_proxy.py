"""The proxy: who may use it, where it leads, and that a refusal is no answer."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import anyio
import pytest

from actors.fetchers.playwright.proxy import Proxy
from actors.web import guard
from protocol.faults import Code
from tests.flows.system import silent_site
from tests.site import Site, serve_site


async def nowhere(host: str, port: int) -> Sequence[str]:
    return {"inside.example": ["10.0.0.1"], "site.example": ["127.0.0.1"]}.get(host, [])


@asynccontextmanager
async def proxied(max_bytes: int = 10_000_000) -> AsyncGenerator[tuple[Site, Proxy]]:
    backend = guard.GuardedBackend(guard.networks(["127.0.0.1/32"]), nowhere)
    with anyio.fail_after(90):
        async with serve_site() as site:
            proxy = Proxy(backend, 2_000, max_bytes)
            async with proxy.serving():
                yield site, proxy


async def say(proxy: Proxy, *requests: str, proof: str | None = None) -> bytes:
    """Send requests on one connection and give everything that comes back until it is closed."""
    secret = b64encode(f"{proxy.username}:{proxy.password}".encode()).decode() if proof is None else proof
    credential = f"Proxy-Authorization: Basic {secret}\r\n" if secret else ""
    got = b""
    async with await anyio.connect_tcp("127.0.0.1", urlsplit(proxy.server).port or 0) as stream:
        for request in requests:
            await stream.send(request.replace("\r\n", f"\r\n{credential}", 1).encode())
        with anyio.move_on_after(1.0):
            try:
                while True:
                    got += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                pass
    return got


def get(url: str, *headers: str) -> str:
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"GET {url} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n{lines}\r\n"


async def test_a_page_comes_through() -> None:
    async with proxied() as (site, proxy):
        answer = await say(proxy, get(site.url("/article"), "Proxy-Connection: keep-alive", "X-Own: 1"))

        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"How a loom is warped" in answer
        sent = site.last("/article").headers
        assert (sent["host"], sent["x-own"]) == (f"127.0.0.1:{site.port}", "1")
        assert not {name for name in sent if name.startswith("proxy-")}


async def test_a_connection_serves_request_after_request() -> None:
    async with proxied() as (site, proxy):
        answer = await say(proxy, get(site.url("/json")), get(site.url("/text")), get(site.url("/status/204")))

        assert answer.count(b"HTTP/1.1 200 OK") == 2
        assert b"HTTP/1.1 204" in answer


async def test_a_body_is_passed_on() -> None:
    async with proxied() as (site, proxy):
        url = site.url("/told")
        request = f"POST {url} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nhello"

        assert b'"method": "POST"' in await say(proxy, request)
        assert site.last("/told").headers["content-length"] == "5"


async def test_a_tunnel_carries_what_it_is_given() -> None:
    async with proxied() as (site, proxy):
        connect = f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\nHost: x\r\n\r\n"
        answer = await say(proxy, connect + "GET /json HTTP/1.1\r\nHost: x\r\n\r\n")

        assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK")


@pytest.mark.parametrize("proof", ["", "d2VmdDp3cm9uZw=="])
@pytest.mark.slow
async def test_nobody_else_may_use_it(proof: str) -> None:
    async with proxied() as (site, proxy):
        plain = await say(proxy, get(site.url("/article")), proof=proof)
        tunnel = await say(proxy, f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\nHost: x\r\n\r\n", proof=proof)

        assert (plain.startswith(b"HTTP/1.1 407 "), tunnel.startswith(b"HTTP/1.1 407 "), site.hits) == (True, True, {})


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("10.0.0.1:80", Code.SECURITY_ADDRESS_BLOCKED),
        ("127.0.0.2:80", Code.SECURITY_ADDRESS_BLOCKED),
        ("169.254.169.254:80", Code.SECURITY_ADDRESS_BLOCKED),
        ("[::1]:80", Code.SECURITY_ADDRESS_BLOCKED),
        ("inside.example:80", Code.NETWORK_DNS_FAILED),
        ("127.0.0.1:22", Code.SECURITY_URL_BLOCKED),
        ("gone.example:80", Code.NETWORK_DNS_FAILED),
        ("127.0.0.1:1025", Code.NETWORK_CONNECTION_FAILED),
    ],
)
async def test_a_refusal_is_no_answer_and_has_its_reason(where: str, code: Code) -> None:
    async with proxied() as (_, proxy):
        plain = await say(proxy, get(f"http://{where}/"))
        tunnel = await say(proxy, f"CONNECT {where} HTTP/1.1\r\nHost: x\r\n\r\n")
        refusal = proxy.refusal(f"http://{where}/a?b#c")

        assert (plain, tunnel, refusal and refusal.code) == (b"", b"", code)


async def test_what_connects_again_is_no_longer_refused() -> None:
    async with proxied() as (site, proxy):
        url = f"http://site.example:{site.port}/json"
        await say(proxy, get(url.replace("site", "gone")))
        await say(proxy, get(url))

        assert (proxy.refusal(url), proxy.refusal(url.replace("site", "gone")) is None) == (None, False)


@pytest.mark.parametrize(
    "request_line", ["GET /article HTTP/1.1", "GET https://127.0.0.1/ HTTP/1.1", "GET ftp://127.0.0.1/ HTTP/1.1", "?"]
)
async def test_what_is_no_request_to_a_proxy_gets_nothing(request_line: str) -> None:
    async with proxied() as (site, proxy):
        answer = await say(proxy, f"{request_line}\r\nHost: 127.0.0.1\r\n\r\n")

        assert (answer[:12] in (b"HTTP/1.1 400", b""), site.hits) == (True, {})


async def test_a_browser_that_goes_away_is_not_waited_for() -> None:
    async with proxied() as (site, proxy), silent_site() as silence:
        async with await anyio.connect_tcp("127.0.0.1", urlsplit(proxy.server).port or 0) as stream:
            secret = b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
            await stream.send(get(silence.url, f"Proxy-Authorization: Basic {secret}").encode())
            await silence.asked.wait()
        await silence.left.wait()

        assert site.hits == {}


async def test_what_never_ends_is_cut_off() -> None:
    async with proxied(100_000) as (site, proxy):
        plain = await say(proxy, get(site.url("/huge?size=20000000")))
        tunnel = await say(
            proxy, f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\nHost: x\r\n\r\n" + get("/huge?size=20000000")
        )

        assert max(len(plain), len(tunnel)) < 300_000
