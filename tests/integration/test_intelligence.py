"""WebClient and the actor against a site that behaves well and badly."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import cast

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from actors.fetchers.extractor import Extractor
from actors.fetchers.intelligence.actor import Intelligence
from actors.settings import Settings
from actors.web.client import WebClient
from actors.web.cookies import Jar
from actors.web.exchange import WebRequest, WebResponse
from bus import Bus
from protocol.browse import Freshness
from protocol.confidence import Source
from protocol.faults import Code, FaultContext, FaultError
from protocol.pages import Fetched, FetchPage
from protocol.tiers import RenderTier
from tests.site import Site, serve_site
from tests.site.answers import text
from tests.site.rehearsed import ARRANGED

MIB = 1 << 20
TIMEOUT_MS = 10_000


def client_settings(**changes: object) -> Settings:
    """Return settings of a client that may reach the site."""
    given: dict[str, object] = {
        "fetch_max_bytes": 5_000_000,
        "fetch_max_redirects": 5,
        "fetch_connect_timeout_ms": 2_000,
        "fetch_user_agent": "Weft/test",
        "fetch_cache_bytes": 32_000_000,
        "allow_private": ("127.0.0.0/8",),
    }
    return Settings(**(given | changes))  # type: ignore[arg-type]  # a test's shorthand


@asynccontextmanager
async def web(settings: Settings | None = None) -> AsyncGenerator[tuple[Site, WebClient]]:
    """Run the site and a client."""
    with anyio.fail_after(90):
        async with serve_site() as site, WebClient(settings or client_settings()) as client:
            yield site, client


@asynccontextmanager
async def actor() -> AsyncGenerator[tuple[Site, Callable[[FetchPage], Awaitable[Fetched]]]]:
    """Run the site and the actor, without a bus: this actor asks nobody."""
    settings = Settings(allow_private=("127.0.0.0/8",))
    with anyio.fail_after(90):
        async with serve_site() as site:
            intelligence = Intelligence(bus=cast("Bus", None), settings=settings)
            async with intelligence.open():
                yield site, intelligence.fetch


async def get(
    client: WebClient, url: str, timeout_ms: int = TIMEOUT_MS, cookies: Jar | None = None, **options: object
) -> WebResponse:
    """Fetch with options of WebRequest."""
    request = WebRequest(url, **options)  # type: ignore[arg-type]  # a test's shorthand
    return await client.fetch(request, Jar() if cookies is None else cookies, timeout_ms)


async def code_of(client: WebClient, url: str, timeout_ms: int = TIMEOUT_MS) -> Code:
    """Fetch what fails, and give the code of its fault."""
    with pytest.raises(FaultError) as caught:
        await get(client, url, timeout_ms)
    return caught.value.fault.code


async def test_an_article_comes_whole() -> None:
    async with web() as (site, client):
        response = await get(client, site.url("/article"))

        assert (response.status, response.url, response.content_type, response.from_cache, response.retry_count) == (
            200,
            site.url("/article"),
            "text/html; charset=utf-8",
            False,
            0,
        )
        assert b"How a loom is warped" in response.body


async def test_the_client_is_honest_and_sends_no_trace() -> None:
    async with web() as (site, client):
        await get(client, site.url("/article"))

        headers = site.last("/article").headers
        assert headers == {
            "host": f"127.0.0.1:{site.port}",
            "user-agent": "Weft/test",
            "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.9,*/*;q=0.8",
            "accept-language": "en,*;q=0.5",
            "accept-encoding": headers["accept-encoding"],
            "connection": "keep-alive",
        }


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed(status: int) -> None:
    async with web() as (site, client):
        response = await get(client, site.url(f"/redirect/3?status={status}#part"))

        assert (response.url, [exchange.status for exchange in response.exchanges]) == (
            site.url("/article#part"),
            [status, status, status, 200],
        )


@pytest.mark.parametrize("path", ["/redirect/loop", "/redirect/6"])
async def test_redirects_end(path: str) -> None:
    async with web() as (site, client):
        assert await code_of(client, site.url(path)) is Code.HTTP_TOO_MANY_REDIRECTS


async def test_a_loop_is_seen_at_once() -> None:
    async with web() as (site, client):
        await code_of(client, site.url("/redirect/loop"))

        assert site.hits == {"/redirect/loop": 1}


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("http://10.0.0.1/", Code.SECURITY_ADDRESS_BLOCKED),
        ("http://169.254.169.254/latest/meta-data", Code.SECURITY_ADDRESS_BLOCKED),
        ("//[::1]/", Code.SECURITY_ADDRESS_BLOCKED),
        ("http://2130706433/", Code.SECURITY_URL_BLOCKED),
        ("http:\\\\127.0.0.1", Code.SECURITY_URL_BLOCKED),
        ("gopher://127.0.0.1/", Code.SECURITY_URL_BLOCKED),
        ("file:///etc/passwd", Code.SECURITY_URL_BLOCKED),
        ("http://user:pw@127.0.0.1/", Code.SECURITY_URL_BLOCKED),
        ("http://127.0.0.1:22/", Code.SECURITY_URL_BLOCKED),
    ],
)
async def test_redirects_pass_the_same_gate(target: str, code: Code) -> None:
    async with web() as (site, client):
        assert await code_of(client, site.url(f"/redirect/private?to={target}")) is code


async def test_the_site_is_private_unless_it_is_allowed() -> None:
    async with web(client_settings(allow_private=())) as (site, client):
        assert await code_of(client, site.url("/article")) is Code.SECURITY_ADDRESS_BLOCKED
        assert await code_of(client, f"http://localhost:{site.port}/article") is Code.SECURITY_ADDRESS_BLOCKED
        assert site.hits == {}


async def test_localhost_is_reached_where_its_network_is_allowed() -> None:
    async with web() as (site, client):
        response = await get(client, f"http://localhost:{site.port}/article")

        assert (response.status, site.last("/article").headers["host"]) == (200, f"localhost:{site.port}")


async def test_a_slow_site_is_a_timeout() -> None:
    async with web() as (site, client):
        assert await code_of(client, site.url("/slow?ms=5000"), 200) is Code.NETWORK_TIMEOUT
        assert await code_of(client, site.url("/drip"), 200) is Code.NETWORK_TIMEOUT


@pytest.mark.parametrize("path", ["/reset", "/cut", "/hangup", "/garbage", "/broken-gzip"])
async def test_a_broken_connection_is_one_fault(path: str) -> None:
    async with web() as (site, client):
        assert await code_of(client, site.url(path)) is Code.NETWORK_CONNECTION_FAILED


async def test_nobody_listens() -> None:
    async with web() as (_, client):
        assert await code_of(client, "http://127.0.0.1:1025/") is Code.NETWORK_CONNECTION_FAILED


async def test_a_name_without_an_address() -> None:
    async with web() as (_, client):
        assert await code_of(client, "http://nothing.invalid/") is Code.NETWORK_DNS_FAILED


async def test_a_certificate_that_nobody_trusts() -> None:
    async with web() as (site, client):
        assert await code_of(client, site.https_url("/article")) is Code.NETWORK_TLS_FAILED
        assert await code_of(client, f"https://127.0.0.1:{site.port}/article") is Code.NETWORK_TLS_FAILED


@pytest.mark.slow
async def test_a_certificate_of_an_authority_that_is_trusted() -> None:
    with anyio.fail_after(90):
        async with serve_site() as site, WebClient(client_settings(fetch_ca_file=site.ca_file)) as client:
            response = await get(client, site.https_url("/article"))

            assert (response.status, site.last("/article").headers["host"]) == (200, f"localhost:{site.tls_port}")

            paths = [
                f"/broken/half/{coding}?frame={frame}" for coding in ("br", "zstd") for frame in ("length", "endless")
            ]
            codes = {path: await code_of(client, site.https_url(path)) for path in paths}
            assert codes == dict.fromkeys(paths, Code.NETWORK_CONNECTION_FAILED)


@asynccontextmanager
async def damaging(port: int, after: int) -> AsyncGenerator[int]:
    """Pass on what is sent to a port and back, and damage what comes back after so many bytes; gives a port."""
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:

        async def pass_on(near: SocketStream) -> None:
            async with near, await anyio.connect_tcp("127.0.0.1", port) as far, anyio.create_task_group() as both:
                both.start_soon(back, far, near)
                async for data in near:
                    await far.send(data)
                both.cancel_scope.cancel()

        async def back(far: SocketStream, near: SocketStream) -> None:
            passed = 0
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for data in far:
                    passed += len(data)
                    await near.send(data if passed < after else bytes(byte ^ 0xFF for byte in data))

        tasks.start_soon(listener.serve, pass_on)
        yield listener.extra(SocketAttribute.local_port)  # noqa: S610 - no Django here
        tasks.cancel_scope.cancel()


async def test_a_connection_that_is_damaged_under_tls_has_broken_off() -> None:
    with anyio.fail_after(90):
        async with (
            serve_site() as site,
            damaging(site.tls_port, 100_000) as port,
            WebClient(client_settings(fetch_ca_file=site.ca_file)) as client,
        ):
            code = await code_of(client, f"https://localhost:{port}/huge?size=3000000")

        assert code is Code.NETWORK_CONNECTION_FAILED


@pytest.mark.parametrize("path", ["/huge?size=6000000", "/huge?size=6000000&length=1"])
async def test_a_huge_page_is_refused(path: str) -> None:
    async with web() as (site, client):
        assert await code_of(client, site.url(path)) is Code.CONTENT_TOO_LARGE


@pytest.mark.slow
@pytest.mark.parametrize("coding", ["gzip", "br"])
async def test_a_bomb_costs_no_more_than_the_limit(coding: str) -> None:
    async with web(client_settings(fetch_max_bytes=20_000_000)) as (site, client):
        await get(client, site.url("/article"))  # what is loaded once
        tracemalloc.start()
        try:
            code = await code_of(client, site.url(f"/bomb/{coding}?mib=10240"), 20_000)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

        assert code is Code.CONTENT_TOO_LARGE
        assert peak < 64 * MIB, f"{peak / MIB:.0f} MiB"


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate"])
async def test_codings_are_decoded(coding: str) -> None:
    async with web() as (site, client):
        plain, packed = await get(client, site.url("/article")), await get(client, site.url(f"/encoded/{coding}"))

        assert packed.body == plain.body


@pytest.mark.parametrize("status", [401, 403, 404, 410, 429, 451, 500, 502, 503])
async def test_a_status_is_an_answer(status: int) -> None:
    async with web() as (site, client):
        response = await get(client, site.url(f"/status/{status}"))

        assert response.status == status
        assert response.headers.get("retry-after") == ("120" if status in (429, 503) else None)


async def test_a_fresh_page_comes_from_the_cache() -> None:
    async with web() as (site, client):
        first = await get(client, site.url("/fresh?age=60"))
        again = await get(client, site.url("/fresh?age=60#elsewhere"))

        assert (first.from_cache, again.from_cache, again.body == first.body, site.hits["/fresh"]) == (
            False,
            True,
            True,
            1,
        )


async def test_a_stale_page_is_asked_for_conditionally() -> None:
    async with web() as (site, client):
        first = await get(client, site.url("/fresh?age=0"))
        again = await get(client, site.url("/fresh?age=0"))

        assert (again.from_cache, again.status, again.body == first.body) == (True, 200, True)
        assert site.last("/fresh").headers["if-none-match"] == '"weft-1"'


async def test_realtime_asks_the_site_and_takes_its_304() -> None:
    async with web() as (site, client):
        await get(client, site.url("/fresh?age=60"))
        again = await get(client, site.url("/fresh?age=60"), freshness=Freshness.REALTIME)

        assert (again.from_cache, site.hits["/fresh"]) == (True, 2)
        assert site.last("/fresh").headers["cache-control"] == "no-cache"


async def test_cached_takes_what_is_stale() -> None:
    async with web() as (site, client):
        await get(client, site.url("/fresh?age=0"))
        again = await get(client, site.url("/fresh?age=0"), freshness=Freshness.CACHED)

        assert (again.from_cache, site.hits["/fresh"]) == (True, 1)


async def test_a_session_never_sees_the_pages_of_another() -> None:
    async with web() as (site, client):
        answers = [
            (await get(client, site.url("/fresh?age=60"), partition=session)).from_cache
            for session in ("", "a", "b", "a", "b", "")
        ]

        assert answers == [False, False, False, True, True, True]


async def test_no_cache_keeps_nothing() -> None:
    async with web(client_settings(fetch_cache_bytes=0)) as (site, client):
        await get(client, site.url("/fresh?age=60"))
        again = await get(client, site.url("/fresh?age=60"))

        assert (again.from_cache, site.hits["/fresh"]) == (False, 2)


async def test_cookies_belong_to_their_session() -> None:
    async with web() as (site, client):
        jar = Jar()
        await get(client, site.url("/cookies/set?value=one"), cookies=jar)
        await get(client, site.url("/cookies/set?value=two"))
        seen = [
            (await get(client, site.url("/cookies/echo"), cookies=cookies)).body.decode() for cookies in (jar, Jar())
        ]

        assert seen == ["kept=one", "none"]


async def test_a_cookie_lives_through_the_redirects_of_its_fetch() -> None:
    async with web() as (site, client):
        bodies = [
            (await get(client, site.url("/redirect/cookie"))).body,
            (await get(client, site.url("/cookies"))).body,
        ]

        assert bodies == [b"chain=1", b"none"]


async def test_cookies_do_not_go_to_another_host() -> None:
    async with web() as (site, client):
        jar = Jar()
        await get(client, site.url("/cookies/set"), cookies=jar)
        target = f"http://localhost:{site.port}/cookies"
        answer = await get(client, site.url(f"/redirect/private?to={target}"), cookies=jar)

        assert (answer.url, answer.body) == (target, b"none")


async def test_what_is_recorded_holds_no_secret() -> None:
    async with web() as (site, client):
        jar = Jar()
        await get(client, site.url("/cookies/set?value=hush"), cookies=jar)
        again = await get(client, site.url("/json?token=hush&page=2"), cookies=jar, record_body=True)

        (exchange,) = again.exchanges
        assert exchange.url == site.url("/json?token=[redacted]&page=2")
        assert exchange.request_headers["cookie"] == "[redacted]"
        assert exchange.response_body == {"title": "Threads", "items": [1, 2, {"token": "abc"}]}
        assert (exchange.status, exchange.status_text, exchange.method, exchange.content_type) == (
            200,
            "OK",
            "GET",
            "application/json",
        )


async def test_a_broken_get_is_sent_once_more() -> None:
    async with web() as (site, client):
        await code_of(client, site.url("/hangup"))

        assert site.hits["/hangup"] == 2


async def test_rebinding_reaches_only_the_address_that_was_checked() -> None:
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])

    async def rebinding(host: str, port: int) -> list[str]:
        del host, port
        return next(answers)

    with anyio.fail_after(90):
        async with serve_site() as site, WebClient(client_settings(), resolve=rebinding) as client:
            first = await get(client, f"http://rebind.example:{site.port}/article")
            await get(client, f"http://rebind.example:{site.port}/json")

            assert (first.status, next(answers)) == (200, ["10.0.0.1"])


async def test_many_at_once_share_one_client() -> None:
    async with web() as (site, client):
        statuses: list[int] = []

        async def one() -> None:
            statuses.append((await get(client, site.url("/slow?ms=50"))).status)

        async with anyio.create_task_group() as tasks:
            for _ in range(32):
                tasks.start_soon(one)

        assert statuses == [200] * 32


@pytest.mark.parametrize(
    ("path", "status", "source", "challenge"),
    [
        ("/article", 200, Source.SELECTOR_MATCH, ()),
        ("/status/404", 404, Source.HEURISTIC, ()),
        (
            "/challenge?status=200",
            200,
            Source.FALLBACK,
            ("cf-chl", "challenge-platform", "cloudflare", "just a moment"),
        ),
        ("/json", 200, Source.API_RESPONSE, ()),
    ],
)
async def test_the_actor_answers_with_the_page(
    path: str, status: int, source: Source, challenge: tuple[str, ...]
) -> None:
    async with actor() as (site, fetch):
        page = await fetch(FetchPage(url=site.url(path)))

        assert (page.tier, page.status, page.final_url) == (RenderTier.INTELLIGENCE, status, site.url(path))
        assert (page.content.source, page.evidence.challenge, page.network) == (source, challenge, ())


@pytest.mark.slow
async def test_the_actor_says_where_a_fault_happened() -> None:
    async with actor() as (site, fetch):
        with pytest.raises(FaultError) as caught:
            await fetch(FetchPage(url=site.url("/pdf")))

        found = caught.value.fault
        assert (found.code, found.context) == (
            Code.CONTENT_UNSUPPORTED_TYPE,
            FaultContext(url=site.url("/pdf"), domain="127.0.0.1", tier="intelligence"),
        )


@pytest.mark.slow
async def test_the_site_is_late_before_the_call_is() -> None:
    async with actor() as (site, fetch):
        with anyio.fail_after(2), pytest.raises(FaultError) as caught:  # the call's own time is what is tried
            await fetch(FetchPage(url=site.url("/slow?ms=20000")))

        assert caught.value.fault.code is Code.NETWORK_TIMEOUT


async def test_what_a_site_asks_to_wait_is_passed_on() -> None:
    async with actor() as (site, fetch):
        page = await fetch(FetchPage(url=site.url("/status/429?after=7"), include_network=True))

        assert (page.retry_after_ms, [exchange.status for exchange in page.network]) == (7_000, [429])


async def test_what_a_site_confirms_is_extracted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    extracted: list[str] = []
    run = Extractor.run

    async def counting(self: Extractor, function: object, source: bytes, *args: object, **options: object) -> object:
        extracted.append(str(args[1]))
        return await run(self, function, source, *args, **options)  # type: ignore[arg-type]  # as it came

    monkeypatch.setattr(Extractor, "run", counting)
    async with actor() as (site, fetch):
        first = await fetch(FetchPage(url=site.url("/fresh?age=0")))
        again = await fetch(FetchPage(url=site.url("/fresh?age=0")))

        assert (first.from_cache, again.from_cache, site.hits["/fresh"], len(extracted)) == (False, True, 2, 1)
        assert again.document.content.markdown == first.document.content.markdown
        assert again.fetched_at > first.fetched_at
        captured_at = again.document.content.captured_at
        assert isinstance(captured_at, datetime)
        assert int(captured_at.timestamp() * 1000) == again.fetched_at


async def test_a_page_is_as_old_as_it_is() -> None:
    async with actor() as (site, fetch):
        first = await fetch(FetchPage(url=site.url("/fresh?age=60")))
        again = await fetch(FetchPage(url=site.url("/fresh?age=60")))

        assert (again.from_cache, site.hits["/fresh"]) == (True, 1)
        assert again.fetched_at == first.fetched_at
        assert again.document.content.captured_at == first.document.content.captured_at


async def test_robots_txt_is_obeyed_where_it_is_asked_for() -> None:
    ARRANGED["/robots.txt"] = [lambda _: text("User-agent: *\nDisallow: /article", "text/plain")]
    try:
        async with actor() as (site, fetch):
            with pytest.raises(FaultError) as caught:
                await fetch(FetchPage(url=site.url("/article"), obey_robots=True))
            page = await fetch(FetchPage(url=site.url("/article")))
    finally:
        del ARRANGED["/robots.txt"]

    assert (caught.value.fault.code, page.status) == (Code.BLOCKED_BY_ROBOTS, 200)
