"""A host with doubtful pages is asked once a day for one that cannot exist, and never about a login's pages."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from actors.navigator.beyond import KEPT_MS, SharedEvidence, absent_address
from actors.navigator.browse_run import BrowseRun
from actors.navigator.memory import NoKnowledge
from actors.navigator.sketches import BRIEF, SAME_TEXT, same_text, similarity, sketch_of
from bus import Bus
from bus.memory import Broker
from bus.stores import KeyTable
from protocol.browse import BrowseOptions
from protocol.faults import Code, FaultError, fault
from protocol.pages import Browsed, BrowsePage, Fetched, FetchPage, PageClaim, Verdict
from protocol.subject_kinds import Bucket, Call, Event
from protocol.subjects import ABSENT_PAGES, HOST_TEXTS
from protocol.tiers import RenderTier
from tests.unit.actors.page_data import evidence, fetched, verdict

A = TypeVar("A")
R = TypeVar("R")

TEST_S = 240.0
HOST = "https://shop.example"
SORRY = "Sorry, this cannot be shown. Go back to the start, or search for something else. Weavers' Shop, since 1801."
OTHER = "A loom holds the warp threads in place, while the weft is woven through them from side to side."


@dataclass
class Shop:
    """A host whose pages are all doubtful, and how it is asked; `absent` is what it shows at addresses it has not."""

    tables: Bus
    absent: Fetched | Code = field(default_factory=lambda: shown(SORRY, status=404))
    pages: dict[str, str] = field(default_factory=dict[str, str])
    fetches: list[FetchPage] = field(default_factory=list[FetchPage])
    claims: list[PageClaim] = field(default_factory=list[PageClaim])
    tier: RenderTier = RenderTier.INTELLIGENCE

    async def table(self, bucket: Bucket[A]) -> KeyTable[A]:
        return await self.tables.table(bucket)

    async def tell(self, event: Event[A], args: A) -> None:
        del event, args

    async def call(self, call: Call[A, R], args: A, *, timeout_ms: int | None = None, wait_ms: int = 0) -> R:
        del call, timeout_ms, wait_ms
        await anyio.sleep(0.01)
        match args:
            case FetchPage(url=url):
                self.fetches.append(args)
                return cast("R", self._page(url))
            case PageClaim():
                self.claims.append(args)
                judgement: Any = doubtful(args)
                return cast("R", judgement)
            case _:
                raise NotImplementedError

    def _page(self, url: str) -> Fetched:
        if url in self.pages:
            return shown(self.pages[url], tier=self.tier)
        if isinstance(self.absent, Code):
            raise FaultError(fault(self.absent))
        return self.absent

    @property
    def probes(self) -> list[FetchPage]:
        return [fetch for fetch in self.fetches if fetch.url not in self.pages]


def shown(text: str, tier: RenderTier = RenderTier.INTELLIGENCE, **fields: Any) -> Fetched:
    return fetched(tier, evidence=evidence(len(text), visible=text), **fields)


def doubtful(claim: PageClaim) -> Verdict:
    if claim.absent_alike is not None and claim.absent_alike >= SAME_TEXT:
        return verdict(Code.HTTP_NOT_FOUND, reason="As for an address that cannot exist")
    return structs.replace(verdict(), doubtful=True, probability=0.6)


@dataclass
class Clock:
    now_ms: int = 1_000_000

    def __call__(self) -> int:
        return self.now_ms


@dataclass
class Browsing:
    """Browses of a shop by navigators that share what they know."""

    shop: Shop
    clock: Clock = field(default_factory=Clock)
    probe: bool = True

    async def browse(self, path: str, **options: Any) -> Browsed:
        page = BrowsePage(url=HOST + path, options=BrowseOptions(**options))
        known = SharedEvidence(self.shop, self.probe, self.clock)
        return await BrowseRun(self.shop, page, 0, NoKnowledge(), known).run()


@asynccontextmanager
async def browsing(**pages: str) -> AsyncGenerator[Browsing]:
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            transport = broker.connect("navigator")
            bus = Bus(transport, "navigator", "r")
            async with bus.running():
                yield Browsing(Shop(bus, pages={f"{HOST}/{name}": text for name, text in pages.items()}))
            await transport.close()


async def test_a_page_like_what_the_host_answers_to_an_absent_address_is_none() -> None:
    async with browsing(a=SORRY, b=OTHER) as one:
        with pytest.raises(FaultError) as caught:
            await one.browse("/a")
        found = await one.browse("/b")

    assert caught.value.fault.code is Code.HTTP_NOT_FOUND
    assert found.confidence.overall.score < 0.6
    assert [claim.absent_alike for claim in one.shop.claims] == [None, 1.0, None, 0.0]


async def test_a_host_is_asked_once_for_all_its_doubtful_pages_and_politely() -> None:
    async with browsing(a=SORRY, b=OTHER, c=OTHER) as one:
        async with anyio.create_task_group() as tasks:
            for path in ("/b", "/c"):
                tasks.start_soon(one.browse, path)
        await one.browse("/b")

        (probe,) = one.shop.probes
        assert (probe.obey_robots, probe.single_shot, probe.session) == (True, True, None)
        assert sum(claim.absent_alike is not None for claim in one.shop.claims) == 3


async def test_a_day_later_it_is_asked_again() -> None:
    async with browsing(b=OTHER) as one:
        await one.browse("/b")
        one.clock.now_ms += KEPT_MS
        await one.browse("/b")

        assert len(one.shop.probes) == 2


async def test_a_host_that_does_not_answer_is_not_asked_again() -> None:
    async with browsing(b=OTHER) as one:
        one.shop.absent = Code.BLOCKED_BY_ROBOTS
        await one.browse("/b")
        await one.browse("/b")

        assert len(one.shop.probes) == 1
        assert {claim.absent_alike for claim in one.shop.claims} == {None}


async def test_off_by_setting_nothing_is_asked() -> None:
    async with browsing(b=OTHER) as one:
        one.probe = False

        await one.browse("/b")

        assert one.shop.probes == []


async def test_nothing_is_asked_or_kept_of_pages_behind_a_login() -> None:
    async with browsing(b=OTHER) as one:
        await one.browse("/b", session_profile="work")

        assert one.shop.probes == []
        tables = await one.shop.table(ABSENT_PAGES), await one.shop.table(HOST_TEXTS)
        assert [await table.names() for table in tables] == [[], []]


async def test_where_scripts_draw_the_page_nothing_is_asked() -> None:
    async with browsing(b=OTHER) as one:
        one.shop.tier = RenderTier.LIGHTWEIGHT

        await one.browse("/b", force_tier=RenderTier.LIGHTWEIGHT)

        assert one.shop.probes == []


async def test_without_the_time_for_it_nothing_is_asked() -> None:
    async with browsing(b=OTHER) as one:
        found = await one.browse("/b", max_latency_ms=60)

        assert (found.page.evidence.visible, one.shop.probes) == (OTHER, [])


async def test_the_same_text_at_another_address_counts_and_at_the_same_one_does_not() -> None:
    async with browsing(**{"a": OTHER, "a/": OTHER, "A/index.html": OTHER, "b?x=1": OTHER, "c": SORRY[::-1]}) as one:
        for path in ("/a", "/a/", "/A/index.html", "/b?x=1", "/c"):
            await one.browse(path)

        asked_again = one.shop.claims[1::2]
        assert [claim.same_text_elsewhere for claim in asked_again] == [False, False, False, True, False]
        kept = await (await one.shop.table(HOST_TEXTS)).get("shop.example")
        assert kept is not None
        assert "loom" not in str(kept.value)


@pytest.mark.parametrize(
    ("url", "absent"),
    [
        ("https://shop.example", "https://shop.example/t0k"),
        ("https://shop.example/a/b.html?q=1#f", "https://shop.example/a/t0k.html"),
        ("https://shop.example/a/b/", "https://shop.example/a/t0k"),
        ("https://shop.example:81/v1.0.12/notes", "https://shop.example:81/v1.0.12/t0k"),
    ],
)
def test_an_absent_address_lies_beside_the_page(url: str, absent: str) -> None:
    assert absent_address(url, "t0k") == absent


# Texts, by a few hashes of each.


@given(st.text(min_size=1), st.text())
def test_a_text_is_like_itself_and_likeness_has_no_direction(one: str, other: str) -> None:
    mine, its = sketch_of(one), sketch_of(other)

    assert not mine or similarity(mine, mine) == similarity(mine[:BRIEF], mine) == 1.0
    assert similarity(mine, its) == similarity(its, mine)
    assert 0.0 <= similarity(mine, its) <= 1.0


def test_numbers_make_no_other_text_and_other_words_do() -> None:
    assert same_text("Request 17 failed at 10:41.", "  request 912 FAILED at 08:03. ")
    assert not same_text(SORRY, OTHER)
    assert not same_text("", "")


def test_what_two_texts_share_is_estimated() -> None:
    words = [f"word{chr(97 + number % 26)}{chr(97 + number // 26)} is here" for number in range(400)]

    halves = similarity(sketch_of(" ".join(words[:300])), sketch_of(" ".join(words[100:])))

    assert abs(halves - 0.5) < 0.2
