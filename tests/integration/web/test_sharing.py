"""What is asked at the same time is asked once, and what one replica got the others have."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from actors.settings import Settings
from actors.web.cache_store import SHARED_BYTES, MemoryStore
from actors.web.client import Politeness, WebClient
from actors.web.cookies import Jar
from actors.web.exchange import WebRequest, WebResponse
from protocol.browse import Freshness
from protocol.faults import Code, FaultError
from protocol.web import KeptAnswer
from tests.integration.web.replicas import replicas
from tests.site import Site, serve_site
from tests.site.answers import Answer, Ask, Reply
from tests.site.rehearsed import ARRANGED

SETTINGS = Settings(allow_private=("127.0.0.0/8",))
PATH = "/rehearsed/shared"
SLOW = "/slow?ms=200"


async def get(client: WebClient, url: str, cookies: Jar | None = None, **options: object) -> WebResponse:
    request = WebRequest(url, **options)  # type: ignore[arg-type]  # a test's shorthand
    return await client.fetch(request, Jar() if cookies is None else cookies, 5_000)


async def ask_at_once(site: Site, client: WebClient, *requests: WebRequest) -> list[WebResponse]:
    found: list[WebResponse] = []

    async def one(request: WebRequest) -> None:
        found.append(await client.fetch(request, Jar(), 5_000))

    async with anyio.create_task_group() as tasks:
        for request in requests:
            tasks.start_soon(one, request)
    return found


async def test_the_same_at_once_is_asked_once() -> None:
    with anyio.fail_after(90):
        async with serve_site() as site, WebClient(SETTINGS) as client:
            found = await ask_at_once(site, client, *[WebRequest(site.url(SLOW))] * 10)

            assert site.hits["/slow"] == 1
            assert {(one.status, len(one.body), one.from_cache) for one in found} == {(200, len(found[0].body), False)}


async def test_what_differs_is_asked_apart() -> None:
    with anyio.fail_after(90):
        async with serve_site() as site, WebClient(SETTINGS) as client:
            url = site.url(SLOW)
            await ask_at_once(
                site,
                client,
                WebRequest(url),
                WebRequest(url, partition="a"),
                WebRequest(url, freshness=Freshness.REALTIME),
                WebRequest(url, headers=(("Accept", "text/markdown"),)),
                WebRequest(url, method="POST"),
                WebRequest(url, method="POST"),
            )

            assert site.hits["/slow"] == 6


async def test_who_goes_away_takes_nobody_along() -> None:
    with anyio.fail_after(90):
        async with serve_site() as site, WebClient(SETTINGS) as client:
            found: list[WebResponse] = []

            async def one() -> None:
                found.append(await get(client, site.url(SLOW)))

            async with anyio.create_task_group() as tasks:
                impatient = anyio.CancelScope()

                async def goes() -> None:
                    with impatient:
                        await get(client, site.url(SLOW))

                tasks.start_soon(goes)
                await anyio.wait_all_tasks_blocked()
                for _ in range(3):
                    tasks.start_soon(one)
                while not site.hits["/slow"]:
                    await anyio.sleep(0.005)
                impatient.cancel()

            assert [one.status for one in found] == [200] * 3
            assert site.hits["/slow"] == 2


async def test_who_has_less_time_leaves_the_others_theirs() -> None:
    with anyio.fail_after(90):
        async with serve_site() as site, WebClient(SETTINGS) as client:
            codes: list[Code | int] = []

            async def one(timeout_ms: int) -> None:
                try:
                    codes.append((await client.fetch(WebRequest(site.url(SLOW)), Jar(), timeout_ms)).status)
                except FaultError as error:
                    codes.append(error.fault.code)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(one, 50)
                await anyio.wait_all_tasks_blocked()
                tasks.start_soon(one, 5_000)

            assert codes == [Code.NETWORK_TIMEOUT, 200]


async def test_a_fault_is_everybodys() -> None:
    with anyio.fail_after(90):
        async with serve_site() as site, WebClient(SETTINGS) as client:
            codes: list[Code] = []

            async def one() -> None:
                with pytest.raises(FaultError) as caught:
                    await get(client, site.url("/redirect/loop"))
                codes.append(caught.value.fault.code)

            async with anyio.create_task_group() as tasks:
                for _ in range(4):
                    tasks.start_soon(one)

            assert codes == [Code.HTTP_TOO_MANY_REDIRECTS] * 4
            assert site.hits["/redirect/loop"] == 1


async def test_everybody_gets_the_cookies() -> None:
    ARRANGED[PATH] = [lambda ask: Reply(200, b"set", (("Set-Cookie", "a=1; Path=/"),), after_ms=100)]
    with anyio.fail_after(90):
        async with serve_site() as site, WebClient(SETTINGS) as client:
            jars = [Jar(), Jar(), Jar()]
            async with anyio.create_task_group() as tasks:
                for jar in jars:
                    tasks.start_soon(get, client, site.url(PATH), jar)

            assert site.hits[PATH] == 1
            assert [[(cookie.name, cookie.value) for cookie in jar.export()] for jar in jars] == [[("a", "1")]] * 3


def answering(body: bytes, **fields: str) -> None:
    """Have the site answer, and confirm what it answered."""
    headers = tuple((name.replace("_", "-"), value) for name, value in fields.items())

    def answer(ask: Ask) -> Answer:
        if "ETag" in fields and ask.headers.get("if-none-match") == fields["ETag"]:
            return Reply(304, headers=headers)
        return Reply(200, body, headers)

    ARRANGED[PATH] = [answer]


class HeldStore(MemoryStore):
    """Stores nothing before it is `released`, or nothing at all where it `breaks`."""

    def __init__(self, *, breaks: bool = False) -> None:
        super().__init__(1_000_000)
        self.released = anyio.Event()
        self.breaks = breaks

    async def put(self, key: str, variants: tuple[KeptAnswer, ...], revision: int) -> int:
        await self.released.wait()
        if self.breaks:
            raise RuntimeError
        return await super().put(key, variants, revision)


@pytest.mark.parametrize(("breaks", "asked"), [(False, 1), (True, 2)])
async def test_a_page_is_had_ahead_of_being_stored_which_who_asks_again_waits_for(breaks: bool, asked: int) -> None:  # noqa: FBT001 - a parameter of pytest
    answering(b"page", Cache_Control="max-age=60")
    store, done = HeldStore(breaks=breaks), list[object]()
    with anyio.fail_after(90):
        async with serve_site() as site, WebClient(SETTINGS, politeness=Politeness(store=store)) as client:
            request = WebRequest(site.url(PATH))

            async def again() -> None:
                done.append((await client.fetch(request, Jar(), 5_000)).body)

            async def stored() -> None:
                await client.stored()
                done.append("stored")

            first = await client.fetch(request, Jar(), 5_000, ahead=True)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(again)
                tasks.start_soon(stored)
                await anyio.wait_all_tasks_blocked()

                assert not done
                store.released.set()

            assert (first.body, sorted(map(str, done))) == (b"page", ["b'page'", "stored"])
            assert site.hits[PATH] == asked


@pytest.mark.nats
async def test_what_one_got_the_others_have(tmp_path: Path) -> None:
    answering(b"x" * 100_000, Cache_Control="max-age=60")
    async with replicas(tmp_path, 3) as web:
        found = [await get(client, web.url(PATH)) for client in web.clients]

        assert [(one.from_cache, len(one.body)) for one in found] == [
            (False, 100_000),
            (True, 100_000),
            (True, 100_000),
        ]
        assert found[1].received_at == found[2].received_at
        assert web.site.hits[PATH] == 1


@pytest.mark.nats
async def test_what_one_had_confirmed_is_confirmed_for_all(tmp_path: Path) -> None:
    answering(b"page", Cache_Control="max-age=0, stale-if-error=5", ETag='"one"')
    async with replicas(tmp_path, 2) as web:
        one, other = web.clients
        await get(one, web.url(PATH))
        found = await get(other, web.url(PATH))

        assert (found.from_cache, found.body, web.site.hits[PATH]) == (True, b"page", 2)


@pytest.mark.nats
async def test_what_one_changed_is_got_anew_by_all(tmp_path: Path) -> None:
    answering(b"page", Cache_Control="max-age=60")
    async with replicas(tmp_path, 2) as web:
        one, other = web.clients
        await get(one, web.url(PATH), partition="me")
        await get(other, web.url(PATH), partition="me", method="POST")
        found = await get(one, web.url(PATH), partition="me")

        assert (found.from_cache, web.site.hits[PATH]) == (False, 3)


@pytest.mark.nats
async def test_a_session_shares_with_itself_alone(tmp_path: Path) -> None:
    answering(b"page", Cache_Control="private, max-age=60")
    async with replicas(tmp_path, 2) as web:
        one, other = web.clients
        found = [
            (await get(client, web.url(PATH), partition=partition)).from_cache
            for client, partition in ((one, "a"), (other, "b"), (other, "a"), (one, ""))
        ]

        assert found == [False, False, True, False]


@pytest.mark.nats
async def test_a_large_page_stays_where_it_came(tmp_path: Path) -> None:
    answering(b"x" * (SHARED_BYTES + 1), Cache_Control="max-age=60")
    async with replicas(tmp_path, 2) as web:
        one, other = web.clients
        found = [(await get(client, web.url(PATH))).from_cache for client in (one, one, other, other, one)]

        assert found == [False, True, False, True, False]


@pytest.mark.nats
async def test_nothing_of_a_page_lies_in_the_open(tmp_path: Path) -> None:
    answering(b"the secret of the loom", Cache_Control="max-age=60")
    async with replicas(tmp_path, 1) as web:
        await get(web.clients[0], web.url(PATH), partition="me")
        await get(web.clients[0], web.url(PATH), partition="me")
        kept = [path.read_bytes() for path in (tmp_path / "jetstream").rglob("*") if path.is_file()]

    assert any(b"http-cache" in one for one in kept)
    assert not any(word in one for one in kept for word in (b"secret of the loom", b"rehearsed/shared"))


@pytest.mark.nats
@pytest.mark.slow
async def test_while_the_bus_is_away_pages_are_got_all_the_same(tmp_path: Path) -> None:
    answering(b"page", Cache_Control="max-age=60")
    async with replicas(tmp_path, 1) as web:
        (client,) = web.clients
        await get(client, web.url(PATH))
        await web.bus.kill()
        away = await get(client, web.url(PATH))
        await web.bus.start()
        with anyio.fail_after(90):
            while not (await get(client, web.url(PATH))).from_cache:
                await anyio.sleep(0.05)

    assert (away.status, away.from_cache) == (200, False)
