"""Replicas that share a bus ask a host together as one would: its rate, its connections, and its wishes to wait."""

from __future__ import annotations

import time
from pathlib import Path

import anyio
import pytest

from actors.web.client import WebClient
from actors.web.cookies import Jar
from actors.web.exchange import WebRequest, WebResponse
from actors.web.host_limiter import Turn
from protocol.faults import Code, FaultError
from tests.integration.web.replicas import Replicas, replicas
from tests.site.answers import Answer, Ask, Reply
from tests.site.rehearsed import ARRANGED

pytestmark = [pytest.mark.nats, pytest.mark.full]

WORKERS = 10
PATH = "/rehearsed/paced"
LATE = (Code.RATE_LIMIT_EXCEEDED, Code.NETWORK_TIMEOUT)
"""What becomes of who waits for a connection until his time is over: a busy machine may hear the clock first."""


class Watch:
    """A site that notes when it was asked, and how many requests were open at once."""

    def __init__(self, after_ms: int = 0) -> None:
        self.times: list[float] = []
        self.after_ms = after_ms

    def __call__(self, ask: Ask) -> Answer:
        """Answer."""
        self.times.append(time.monotonic())
        return Reply(200, b"ok", (("Cache-Control", "no-store"),), after_ms=self.after_ms)

    def most_over(self, rate: float, burst: int) -> float:
        """Return how much more than allowed came in any stretch of time that is long enough to count by, at most."""
        worst = 0.0
        for first, begin in enumerate(self.times):
            for last in range(first, len(self.times)):
                length = self.times[last] - begin
                if length >= 1.0:
                    worst = max(worst, (last - first + 1) / (burst + rate * length) - 1)
        return worst

    def most_open(self) -> int:
        """Return how many requests were open at once at most."""
        lasts = self.after_ms / 1000
        return max(sum(begin - lasts < other <= begin for other in self.times) for begin in self.times)


def arrange(watch: Watch) -> Watch:
    ARRANGED[PATH] = [watch]
    return watch


async def get(web: Replicas, client: WebClient, path: str, timeout_ms: int = 20_000, **options: object) -> WebResponse:
    request = WebRequest(web.url(path), **options)  # type: ignore[arg-type]  # a test's shorthand
    return await client.fetch(request, Jar(), timeout_ms)


async def refusal(web: Replicas, client: WebClient, path: str, timeout_ms: int) -> tuple[Code, int | None, int | None]:
    with pytest.raises(FaultError) as caught:
        await get(web, client, path, timeout_ms)
    found = caught.value.fault
    return found.code, found.retry_after_ms, found.http_status


@pytest.mark.slow
async def test_ten_replicas_ask_no_faster_than_one_may(tmp_path: Path) -> None:
    rate, burst, pages = 20, 5, 12
    watch = arrange(Watch())
    async with replicas(tmp_path, WORKERS, fetch_host_rate=rate * 60, fetch_host_burst=burst) as web:

        async def work(client: WebClient, number: int) -> None:
            for page in range(pages):
                await get(web, client, f"{PATH}?page={number}.{page}")

        async with anyio.create_task_group() as tasks:
            for number, client in enumerate(web.clients):
                tasks.start_soon(work, client, number)
    over = watch.most_over(rate, burst)

    assert len(watch.times) == WORKERS * pages
    assert over <= 0.02


@pytest.mark.slow
async def test_together_they_open_no_more_requests_than_one_may(tmp_path: Path) -> None:
    watch = arrange(Watch(after_ms=40))
    async with replicas(tmp_path, 5, fetch_host_rate=0, fetch_host_at_once=4) as web:

        async def work(client: WebClient, number: int) -> None:
            for page in range(4):
                await get(web, client, f"{PATH}?page={number}.{page}", sub_resource=page % 2 == 1)

        async with anyio.create_task_group() as workers:
            for number, client in enumerate(web.clients):
                for part in range(3):
                    workers.start_soon(work, client, number * 10 + part)

    assert len(watch.times) == 60
    assert watch.most_open() == 4


@pytest.mark.slow
async def test_the_leases_of_a_dead_replica_run_out(tmp_path: Path) -> None:
    arrange(Watch())
    async with replicas(tmp_path, 2, fetch_host_at_once=1) as web:
        dead, alive = web.clients
        await dead_while_asking(web, dead, timeout_ms=500)

        assert (await refusal(web, alive, PATH, 500))[0] in LATE
        assert (await get(web, alive, PATH)).status == 200


@pytest.mark.slow
async def test_a_wish_to_wait_is_heard_by_all(tmp_path: Path) -> None:
    ARRANGED[PATH] = [lambda _: Reply(429, headers=(("Retry-After", "3"),)), lambda _: Reply(200, b"ok")]
    async with replicas(tmp_path, 2) as web:
        first = await get(web, web.clients[0], PATH)
        begin = time.monotonic()
        code, delay_ms, status = await refusal(web, web.clients[1], PATH, 1_000)
        later = await get(web, web.clients[1], PATH)

    assert (first.status, code, status, later.status) == (429, Code.RATE_LIMIT_EXCEEDED, 429, 200)
    assert delay_ms is not None
    assert 1_000 < delay_ms <= 3_000
    assert time.monotonic() - begin >= 1.5


@pytest.mark.slow
async def test_what_fails_again_and_again_is_left_alone_for_longer_and_longer(tmp_path: Path) -> None:
    ARRANGED[PATH] = [failing, failing, failing, Watch()]
    waits: list[float] = []
    statuses: list[int] = []
    async with replicas(tmp_path, 2) as web:
        for turn in range(5):
            begin = time.monotonic()
            statuses.append((await get(web, web.clients[turn % 2], PATH)).status)
            waits.append(time.monotonic() - begin)

    assert statuses == [503, 503, 503, 200, 200]
    assert min(waits[2:4]) > 0.3
    assert waits[3] > 0.9


async def test_what_a_page_loads_is_not_held_up(tmp_path: Path) -> None:
    watch = arrange(Watch())
    async with replicas(tmp_path, 1, fetch_host_rate=1, fetch_host_burst=1) as web:
        await get(web, web.clients[0], PATH)
        for part in range(20):
            await get(web, web.clients[0], f"{PATH}?part={part}", sub_resource=True)
        code, delay_ms, status = await refusal(web, web.clients[0], PATH, 5_000)

    assert len(watch.times) == 21
    assert (code, status) == (Code.RATE_LIMIT_EXCEEDED, None)
    assert delay_ms is not None
    assert 50_000 < delay_ms <= 60_000


async def test_the_own_network_is_not_held_up(tmp_path: Path) -> None:
    watch = arrange(Watch())
    async with replicas(tmp_path, 1, fetch_host_rate=1, fetch_host_burst=1) as web:
        for page in range(20):
            request = WebRequest(web.site.url(f"{PATH}?page={page}"))
            await web.clients[0].fetch(request, Jar(), 5_000)

    assert len(watch.times) == 20


def failing(ask: Ask) -> Answer:
    return Reply(503)


async def dead_while_asking(web: Replicas, client: WebClient, timeout_ms: int) -> None:
    """Have a replica take a lease and never give it back, as one that was killed."""
    pace = client._limiter  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # a replica that dies has no public way
    assert pace is not None
    await pace.enter("localhost", Turn(time.time() + timeout_ms / 1000))


async def test_what_goes_past_the_client_takes_its_turn(tmp_path: Path) -> None:
    arrange(Watch())
    async with replicas(tmp_path, 2, fetch_host_at_once=1) as web:
        one, other = web.clients
        async with one.turn(web.url(PATH), 5_000):
            busy = await refusal(web, other, PATH, 300)
        async with other.turn(web.url(PATH), 5_000):
            pass

    assert busy[0] in LATE
