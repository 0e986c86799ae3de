"""What a browse would do is told before it is done: its tiers in their order, their cost, and what is in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from msgspec import UNSET, structs

from actors.navigator.attempts import Accepted
from actors.navigator.choice import SUFFICED, Estimate, estimate
from actors.navigator.history import Evidence, Lessons, learned
from actors.navigator.hosts import KnownHosts
from actors.navigator.memory import NoKnowledge, TierMemory
from actors.navigator.preview import NOT_RUNNING, PreviewService
from bus import TransportError
from bus.stats import Replica
from protocol.browse import BrowseOptions
from protocol.domains import (
    CostRange,
    DomainKnowledge,
    Foreseen,
    ForeseePage,
    LatencyRange,
    LatencySource,
    PaceOutlook,
    Preview,
    RobotsOutlook,
)
from protocol.faults import Code, FaultError, fault
from protocol.pages import BrowsePage
from protocol.replicas import Absence
from protocol.tiers import TIERS, HostKind, RenderTier, TierHistory
from tests.unit.actors.gateway_data import endpoint, replica
from tests.unit.actors.page_data import URL, accepted, attempt, fetched, rejected, verdict

CHEAP, LIGHT, BROWSER = RenderTier.INTELLIGENCE, RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT
ENOUGH, MORE = Evidence.ENOUGH, Evidence.NEEDS_MORE
STATIC: Lessons = {CHEAP: ENOUGH}
NEEDS_BROWSER: Lessons = {CHEAP: MORE, LIGHT: MORE, BROWSER: ENOUGH}
FREE = PaceOutlook(limited=True, wait_ms=0, pages_per_minute=300, burst=20, at_once=16)
UNREAD = RobotsOutlook(known=False, obeyed=False)
QUIET = Foreseen(robots=UNREAD, pace=FREE)


def fetcher(tier: RenderTier) -> Replica:
    return replica(f"fetchers.{tier}", structs.replace(endpoint(), subject=f"web.fetch.{tier}"))


ALL = tuple(fetcher(tier) for tier in TIERS)


@dataclass
class Bus:
    """Knows who lives and what is foreseen; whatever else is asked is noted, and nobody answers it."""

    foreseen: Foreseen | None = QUIET
    live: tuple[Replica, ...] | Exception = ALL
    absences: dict[str, Absence] = field(default_factory=dict[str, Absence])
    asked: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])

    async def call(self, call: Any, args: Any, *, timeout_ms: int | None = None, wait_ms: int = 0) -> Any:
        self.asked.append((call.pattern, args))
        answer = self.foreseen if call.pattern == "web.foresee" else self.absences.get(call.pattern)
        if answer is None:
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE))
        return answer

    async def replicas(self, wait_ms: int = 200, *, enough: Any = None) -> tuple[Replica, ...]:
        if isinstance(self.live, Exception):
            raise self.live
        return self.live


@dataclass
class Remembers:
    """A memory that knows one history of every host."""

    history: TierHistory | None = None
    kind: HostKind | None = None
    now_ms: int = 0

    def estimate(self, url: str, allowed: Sequence[RenderTier], *, any_page: bool = False) -> Estimate:
        return estimate(self.history, self.kind, allowed, self.now_ms, percent=10)


def after(*visits: Lessons, took_ms: int = 0) -> TierHistory | None:
    history = None
    for visit in visits:
        history = learned(history, visit, 0, took_ms)
    return history


async def preview(bus: Bus, memory: Any = None, obey_robots: bool = False, **options: Any) -> Preview:  # noqa: FBT001, FBT002 - as BrowsePage has it
    page = BrowsePage(url=URL, options=BrowseOptions(**options), obey_robots=obey_robots)
    with anyio.fail_after(90):
        return await PreviewService(bus, memory or NoKnowledge()).preview(page)


async def domain(bus: Bus, host: str, memory: Any = None, *, visits: bool = False) -> DomainKnowledge:
    with anyio.fail_after(90):
        return await PreviewService(bus, memory or NoKnowledge()).domain(host, visits=visits)


# -- what would be done --------------------------------------------------------------------------------------------


async def test_a_host_that_nobody_knows_is_climbed_from_the_bottom() -> None:
    bus = Bus()

    told = await preview(bus)

    assert [(tier.tier, tier.cost_units, tier.available) for tier in told.tiers] == [
        (CHEAP, 1, True),
        (LIGHT, 5, True),
        (BROWSER, 25, True),
    ]
    assert [(tier.latency.from_ms, tier.latency.to_ms) for tier in told.tiers] == [
        (50, 200),
        (200, 500),
        (2_000, 5_000),
    ]
    assert {tier.latency.source for tier in told.tiers} == {LatencySource.CONTRACT}
    assert told.tiers[0].reason == "first: nothing is known of the site"
    assert (told.cost.least, told.cost.most, told.left_out, told.obstacles) == (1, 31, (), ())
    assert told.latency == LatencyRange(from_ms=50, to_ms=5_700, source=LatencySource.CONTRACT)
    assert (told.cached, told.robots, told.pace) == (False, UNREAD, FREE)


async def test_nothing_is_fetched_for_it() -> None:
    bus = Bus()

    await preview(bus, obey_robots=True, session_profile="work")

    assert bus.asked == [("web.foresee", ForeseePage(url=URL, session="work", obey_robots=True))]


async def test_history_says_where_to_begin_and_how_long_it_takes() -> None:
    memory = Remembers(after(*[NEEDS_BROWSER] * 3, took_ms=1_000))

    told = await preview(Bus(), memory)

    (only,) = told.tiers
    assert (only.tier, only.reason) == (BROWSER, "first: earlier visits of the site needed more")
    assert only.latency == LatencyRange(from_ms=500, to_ms=2_000, source=LatencySource.HISTORY)
    assert [(one.tier, one.reason) for one in told.left_out] == [
        (CHEAP, "earlier visits of the site needed more"),
        (LIGHT, "earlier visits of the site needed more"),
    ]
    assert told.cost == CostRange(least=25, most=25, expected=25.0)
    assert told.latency.source is LatencySource.HISTORY


@pytest.mark.parametrize(
    ("options", "tiers", "left_out"),
    [
        ({"max_cost_tier": LIGHT}, [CHEAP, LIGHT], {BROWSER: "it costs more than maxCostTier allows"}),
        ({"force_tier": LIGHT}, [LIGHT], dict.fromkeys((CHEAP, BROWSER), "forceTier names another")),
        ({"scroll_to_load": True}, [LIGHT, BROWSER], {CHEAP: "it runs no scripts, which the options need"}),
        ({"max_latency_ms": 300}, [CHEAP, LIGHT], {BROWSER: "it does not fit into maxLatencyMs"}),
    ],
)
async def test_the_options_say_which_tiers_there_are(
    options: dict[str, Any], tiers: list[RenderTier], left_out: dict[RenderTier, str]
) -> None:
    told = await preview(Bus(), **options)

    assert [tier.tier for tier in told.tiers] == tiers
    assert {one.tier: one.reason for one in told.left_out} == left_out


async def test_options_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(FaultError) as caught:
        await preview(Bus(), force_tier=BROWSER, max_cost_tier=CHEAP)

    assert caught.value.fault.field == "options.forceTier"


async def test_a_stored_answer_costs_one_tier_and_no_time() -> None:
    told = await preview(Bus(Foreseen(cached=True, robots=UNREAD, pace=FREE)))

    assert (told.cached, told.latency.source, told.latency.to_ms) == (True, LatencySource.CACHE, 50)
    assert told.cost == CostRange(least=1, most=1, expected=1.0)


async def test_a_browser_has_no_use_for_a_stored_answer() -> None:
    told = await preview(Bus(Foreseen(cached=True, robots=UNREAD, pace=FREE)), force_tier=BROWSER)

    assert (told.cached, told.cost.least) == (False, 25)


# -- what stands in the way ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("foreseen", "obstacles"),
    [
        (Foreseen(refused=fault(Code.SECURITY_URL_BLOCKED)), [(Code.SECURITY_URL_BLOCKED, UNSET)]),
        (
            Foreseen(robots=RobotsOutlook(known=True, obeyed=True, allows=False), pace=FREE),
            [(Code.BLOCKED_BY_ROBOTS, UNSET)],
        ),
        (Foreseen(robots=RobotsOutlook(known=True, obeyed=False, allows=False), pace=FREE), []),
        (Foreseen(robots=RobotsOutlook(known=True, obeyed=True, allows=True), pace=FREE), []),
        (
            Foreseen(
                robots=UNREAD,
                pace=PaceOutlook(limited=True, wait_ms=4_000, pages_per_minute=300, burst=20, at_once=16),
            ),
            [(Code.RATE_LIMIT_EXCEEDED, 4_000)],
        ),
    ],
)
async def test_an_obstacle_is_told_by_the_code_of_its_fault(foreseen: Foreseen, obstacles: list[Any]) -> None:
    told = await preview(Bus(foreseen))

    assert [(one.code, one.retry_after_ms) for one in told.obstacles] == obstacles


async def test_a_tier_that_does_not_run_says_why() -> None:
    why = {"actor.absent.fetchers-playwright": Absence(reason="No Chromium was found.", cure="Install one.")}
    bus = Bus(live=ALL[:1], absences=why)

    told = await preview(bus)

    assert [(tier.available, tier.absence) for tier in told.tiers] == [
        (True, UNSET),
        (False, NOT_RUNNING),
        (False, "No Chromium was found. Install one."),
    ]
    assert told.obstacles == ()


async def test_without_any_tier_there_is_no_page() -> None:
    told = await preview(Bus(live=()))

    assert [one.code for one in told.obstacles] == [Code.CONFIG_TIER_NOT_DEPLOYED]


async def test_what_nobody_can_say_is_left_open() -> None:
    told = await preview(Bus(foreseen=None, live=TransportError("gone")))

    assert (told.cached, told.robots, told.pace) == (UNSET, UNSET, UNSET)
    assert all(tier.available for tier in told.tiers)


# -- what is known of a domain -------------------------------------------------------------------------------------


async def test_of_a_domain_that_nobody_visited_nothing_is_known() -> None:
    told = await domain(Bus(), "Example.COM")

    assert told == DomainKnowledge(
        domain="example.com",
        known=False,
        start_tier=CHEAP,
        start_reason="nothing is known of the site",
        robots=UNREAD,
        pace=FREE,
    )


async def test_what_visits_have_taught_is_told_by_tier() -> None:
    memory = Remembers(after(*[NEEDS_BROWSER] * 3, took_ms=1_000))
    told = await domain(Bus(), "example.com", memory, visits=True)

    assert (told.known, told.start_tier, told.updated_at) == (True, BROWSER, 0)
    assert [(one.tier, bool(one.enough), bool(one.refused), one.typical_ms) for one in told.tiers] == [
        (CHEAP, False, True, UNSET),
        (LIGHT, False, True, UNSET),
        (BROWSER, True, False, 1_000),
    ]


async def test_when_and_how_often_others_visited_is_not_everybodys_to_know() -> None:
    memory = Remembers(after(*[NEEDS_BROWSER] * 3, took_ms=1_000))
    told, whole = await domain(Bus(), "example.com", memory), await domain(Bus(), "example.com", memory, visits=True)

    untold = {"enough": UNSET, "refused": UNSET, "last_worked_at": UNSET}
    tiers = tuple(structs.replace(one, **untold) for one in whole.tiers)
    assert told == structs.replace(whole, tiers=tiers, updated_at=UNSET)


async def test_where_the_cheapest_tier_was_enough_it_says_so() -> None:
    memory = Remembers(after(*[STATIC] * 3), now_ms=86_400_000)

    told, looked = await domain(Bus(), "example.com", memory), await preview(Bus(), memory)

    assert (told.start_tier, told.start_reason) == (CHEAP, SUFFICED)
    assert looked.tiers[0].reason == f"first: {SUFFICED}"


async def test_the_kind_of_a_host_is_told() -> None:
    told = await domain(Bus(), "static.example", Remembers(kind=HostKind.STATIC))

    assert (told.known, told.kind) == (False, HostKind.STATIC)


@pytest.mark.parametrize("host", ["-", "a b", "ftp://example.com", ""])
async def test_what_is_no_host_is_refused(host: str) -> None:
    with pytest.raises(FaultError) as caught:
        await domain(Bus(), host)

    assert (caught.value.fault.code, caught.value.fault.field) == (Code.VALIDATION_INVALID_REQUEST, "domain")


# -- the memory ----------------------------------------------------------------------------------------------------


def test_a_look_ahead_takes_nobody_s_turn_to_probe() -> None:
    memory = TierMemory(_NoBus(), KnownHosts(), 10, clock=lambda: 1_000)
    for _ in range(3):
        memory.record(URL, (attempt(CHEAP, rejected(Code.CONTENT_REQUIRES_JS)), attempt(LIGHT, accepted(LIGHT))))
    begun = [memory.estimate(URL, TIERS).start for _ in range(5)]

    assert len(set(begun)) == 1
    assert memory.start(URL, TIERS).tier is begun[0].tier


def test_the_time_that_a_tier_took_is_remembered_with_its_last_success() -> None:
    memory = TierMemory(_NoBus(), KnownHosts(), 10, clock=lambda: 1_000)
    for took_ms in (100, 200):
        memory.record(URL, (attempt(CHEAP, accepted(), took_ms),))

    known = memory.known(URL)
    assert known is not None
    assert (known.tiers[CHEAP].took_ms, known.tiers[CHEAP].worked_ms) == (130, 1_000)


def test_what_came_out_of_the_cache_says_nothing_of_the_time() -> None:
    memory = TierMemory(_NoBus(), KnownHosts(), 10, clock=lambda: 1_000)
    memory.record(URL, (attempt(CHEAP, Accepted(fetched(from_cache=True), verdict()), 3),))

    known = memory.known(URL)
    assert known is not None
    assert known.tiers[CHEAP].took_ms == 0


class _NoBus:
    async def table(self, bucket: Any) -> Any:
        raise AssertionError(bucket)
