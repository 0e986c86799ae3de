"""Who is asked: 004's resolution row by row, and that nobody is asked who cannot be."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.router.figures import RecentCalls
from actors.router.table import NOT_NEEDED, Kept, OverrideTable, RoutePlan, RouteRequest, RoutingTable
from actors.routing_file import read_routing
from protocol.models import (
    FALLBACK_MODEL,
    ModelCalled,
    ModelName,
    Provider,
    RouteCandidate,
    RouteDecision,
    RouteReason,
)
from protocol.routes import Override
from protocol.routing import model_name
from tests.requirements import requirement

SHIPPED = read_routing()
HAIKU, SONNET = model_name("anthropic/claude-haiku-4-5-20251001"), model_name(f"anthropic/{FALLBACK_MODEL}")
GEMINI, MINI, GPT = map(model_name, ("google/gemini-2.5-pro", "openai/gpt-4o-mini", "openai/gpt-4o"))
OPUS = model_name("anthropic/claude-opus-4-6")
MINE, THEIRS = model_name("openai/mine"), model_name("openai/theirs")
KEYLESS = "no credentials"


def override(pattern: str, name: ModelName, *, manual: bool = False, share: float | None = None) -> Override:
    reason: Literal["optimized", "downgrade_test"] = "optimized" if share is None else "downgrade_test"
    return Override(
        pattern=pattern, name=name, reason=reason, manual=manual, updated_at=0, share=1.0 if share is None else share
    )


def table(*overrides: Override) -> RoutingTable:
    return RoutingTable(SHIPPED, OverrideTable.of(overrides))


def decide(
    tool: str | RouteRequest, *overrides: Override, available: frozenset[Provider] = frozenset(Provider)
) -> RoutePlan:
    request = RouteRequest(tool=tool) if isinstance(tool, str) else tool

    def why_not(name: ModelName) -> str:
        return "" if name.provider in available else KEYLESS

    return table(*overrides).decide(request, why_not, lambda name: RecentCalls().of(request.tool, name))


def chosen(plan: RoutePlan) -> tuple[str, RouteReason]:
    return f"{plan.decision.provider}/{plan.decision.model}", plan.decision.reason


def named(name: ModelName) -> str:
    return f"{name.provider}/{name.model}"


@requirement("004.routing.override")
@pytest.mark.parametrize(
    ("tool", "overrides", "name", "reason"),
    [
        ("browser_click", (), HAIKU, RouteReason.DEFAULT),
        ("browser_scroll_down", (), HAIKU, RouteReason.DEFAULT),
        ("browser_extract_links", (), SONNET, RouteReason.DEFAULT),
        ("browser_multi_act", (), OPUS, RouteReason.DEFAULT),
        ("browser_snapshot", (), GEMINI, RouteReason.DEFAULT),
        ("browser_scroll", (), SONNET, RouteReason.FALLBACK),
        ("web_answer", (), SONNET, RouteReason.FALLBACK),
        ("browser_click", (override("browser_click", MINE),), MINE, RouteReason.OPTIMIZED),
        ("browser_click", (override("browser_*", MINE),), MINE, RouteReason.OPTIMIZED),
        ("browser_tab_new", (override("browser_*", MINE), override("browser_tab_*", GPT)), GPT, RouteReason.OPTIMIZED),
        ("browser_tab_new", (override("browser_tab_*", MINE), override("browser_*", GPT)), MINE, RouteReason.OPTIMIZED),
        ("web_answer", (override("*", MINE),), MINE, RouteReason.OPTIMIZED),
        ("web_answer", (override("web_answers", MINE),), SONNET, RouteReason.FALLBACK),
        # what a person has set is never overridden by what was learned or is tested
        ("a_b", (override("a_*", MINE, manual=True), override("a_b", THEIRS)), MINE, RouteReason.OPTIMIZED),
        ("a_b", (override("a_*", MINE, manual=True), override("a_b", THEIRS, share=1.0)), MINE, RouteReason.OPTIMIZED),
    ],
)
def test_an_override_comes_before_the_default_and_that_before_the_fallback(
    tool: str, overrides: tuple[Override, ...], name: ModelName, reason: RouteReason
) -> None:
    assert chosen(decide(tool, *overrides)) == (named(name), reason)


@requirement("004.decision")
def test_a_share_of_the_calls_goes_to_the_model_under_test() -> None:
    test = override("browser_multi_act", SONNET, share=0.25)

    def drawn(draw: float) -> tuple[str, RouteReason]:
        return chosen(decide(RouteRequest(tool="browser_multi_act", draw=draw), test))

    assert drawn(0.0) == drawn(0.24) == (named(SONNET), RouteReason.DOWNGRADE_TEST)
    assert drawn(0.25) == drawn(0.99) == (named(OPUS), RouteReason.DEFAULT)
    beside = decide(RouteRequest(tool="browser_multi_act", draw=0.5), test, override("browser_multi_act", MINE))
    assert chosen(beside) == (named(MINE), RouteReason.OPTIMIZED)


@pytest.mark.parametrize(
    ("tool", "available", "name"),
    [
        ("browser_click", Provider.OPENAI, "openai/gpt-4o-mini"),  # the row's own
        ("browser_extract_links", Provider.OPENAI, "openai/gpt-4o"),
        ("browser_snapshot", Provider.ANTHROPIC, named(SONNET)),
        ("browser_click", Provider.GOOGLE, "google/gemini-2.5-flash-lite"),  # its class
        ("browser_multi_act", Provider.GOOGLE, "google/gemini-2.5-pro"),
        ("browser_multi_act", Provider.OPENROUTER, "openrouter/anthropic/claude-opus-4.6"),
        ("web_answer", Provider.BEDROCK, "bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    ],
)
@requirement("004.routing.fallback")
def test_another_provider_is_asked_for_a_model_of_its_own_of_the_same_class(
    tool: str, available: Provider, name: str
) -> None:
    assert chosen(decide(tool, available=frozenset({available}))) == (name, RouteReason.FALLBACK)


def test_an_override_whose_provider_has_lost_its_credentials_does_not_count() -> None:
    available = frozenset({Provider.ANTHROPIC, Provider.GOOGLE})

    assert chosen(decide("browser_click", override("browser_click", MINE), available=available)) == (
        named(HAIKU),
        RouteReason.FALLBACK,
    )


@requirement("004.routing.fallback")
def test_without_any_provider_it_is_said_who_would_have_been_asked_and_why_nobody_is() -> None:
    plan = decide("browser_click", available=frozenset())

    assert plan.usable == ()
    assert chosen(plan) == (named(HAIKU), RouteReason.NO_PROVIDERS_AVAILABLE)
    assert {one.why_not for one in plan.decision.candidates} == {KEYLESS}


def test_a_decision_says_of_every_candidate_what_is_known_and_why_it_is_not_asked() -> None:
    recent = RecentCalls()
    for success in (True, False):
        recent.add(
            ModelCalled(
                call_id="c", at=0, tool="browser_click", provider=Provider.OPENAI, model="gpt-4o-mini",
                success=success, latency_ms=1, reason=RouteReason.FALLBACK, cost_usd=0.5 if success else None,
            )
        )  # fmt: skip
    available = {Provider.OPENAI, Provider.GOOGLE}

    plan = table().decide(
        RouteRequest(tool="browser_click"),
        lambda name: "" if name.provider in available else KEYLESS,
        lambda name: recent.of("browser_click", name),
    )

    mini, flash = MINI, model_name("google/gemini-2.5-flash-lite")
    candidates = {one.name: one for one in plan.decision.candidates}
    assert plan.decision == RouteDecision(
        provider=Provider.OPENAI, model="gpt-4o-mini", reason=RouteReason.FALLBACK, candidates=plan.decision.candidates
    )
    assert candidates[HAIKU] == RouteCandidate(name=HAIKU, why_not=KEYLESS)
    assert candidates[mini] == RouteCandidate(name=mini, calls=2, success_rate=0.5, cost_usd=0.5)
    assert candidates[flash] == RouteCandidate(name=flash, why_not=NOT_NEEDED)
    assert plan.usable == (mini, flash)


def test_a_pin_goes_before_everything_and_has_no_substitute() -> None:
    request = RouteRequest(tool="browser_click", pin=GPT, kept=Kept(name=OPUS, reason=RouteReason.DEFAULT, rule=HAIKU))

    assert decide(request, override("browser_click", MINE, manual=True)).usable == (GPT,)
    absent = decide(request, available=frozenset({Provider.ANTHROPIC}))
    assert (absent.usable, absent.decision.reason) == ((), RouteReason.NO_PROVIDERS_AVAILABLE)


def test_a_conversation_keeps_to_its_model_until_the_table_says_otherwise() -> None:
    kept = RouteRequest(tool="browser_click", kept=Kept(name=MINI, reason=RouteReason.FALLBACK, rule=HAIKU), draw=0.0)

    assert chosen(decide(kept)) == (named(MINI), RouteReason.FALLBACK)
    assert chosen(decide(kept, override("browser_click", MINE))) == (named(MINE), RouteReason.OPTIMIZED)
    assert chosen(decide(kept, available=frozenset({Provider.ANTHROPIC}))) == (named(HAIKU), RouteReason.DEFAULT)
    assert chosen(decide(kept, override("browser_click", SONNET, share=1.0)))[0] == named(MINI)


def test_pictures_go_to_a_model_that_sees() -> None:
    plan = decide(RouteRequest(tool="web_answer", images=True), available=frozenset({Provider.OLLAMA}))

    assert chosen(plan) == ("ollama/qwen2.5vl:7b", RouteReason.FALLBACK)


@requirement("004.routing.default")
def test_the_routes_are_listed_as_they_are_tried_and_each_pattern_once() -> None:
    routes = tuple(
        table(
            override("browser_click", MINE),
            override("web_*", GPT, manual=True),
            override("browser_fill", GPT, share=0.5),
        ).routes()
    )

    shown = [(one.tool_pattern, one.model, one.is_override, one.manual) for one in routes]
    assert shown[:2] == [("web_*", GPT.model, True, True), ("browser_click", "mine", True, False)]
    assert shown[-1] == ("*", FALLBACK_MODEL, False, False)
    assert len(shown) == len({pattern for pattern, *_ in shown}) == 17
    assert ("browser_fill", HAIKU.model, False, False) in shown


NAMES = st.builds(
    ModelName, provider=st.sampled_from(Provider), model=st.sampled_from(("gpt-4o", "claude-opus-4-6", "x"))
)
PATTERNS = st.sampled_from(("*", "browser_*", "browser_tab_*", "browser_click", "web_answer", "browser_multi_act"))
OVERRIDES = st.builds(
    override, PATTERNS, NAMES, manual=st.booleans(), share=st.none() | st.floats(min_value=0.0, max_value=1.0)
)
REASONS = st.sampled_from([one for one in RouteReason if one is not RouteReason.NO_PROVIDERS_AVAILABLE])
KEPT = st.builds(Kept, name=NAMES, reason=REASONS, rule=NAMES | st.just(HAIKU))
REQUESTS = st.builds(
    RouteRequest,
    tool=st.sampled_from(("browser_tab_new", "browser_click", "web_answer", "browser_multi_act", "anything")),
    images=st.booleans(),
    pin=st.none() | NAMES,
    kept=st.none() | KEPT,
    draw=st.floats(min_value=0.0, max_value=1.0, exclude_max=True),
)


@requirement("004.routing.fallback")
@given(REQUESTS, st.lists(OVERRIDES, max_size=6), st.frozensets(NAMES), st.frozensets(st.sampled_from(Provider)))
def test_nobody_is_ever_asked_who_cannot_be(
    request: RouteRequest, overrides: list[Override], refused: frozenset[ModelName], available: frozenset[Provider]
) -> None:
    def why_not(name: ModelName) -> str:
        return "" if name.provider in available and name not in refused else KEYLESS

    plan = table(*overrides).decide(request, why_not, lambda name: RecentCalls().of(request.tool, name))

    decided = ModelName(provider=plan.decision.provider, model=plan.decision.model)
    assert [name for name in plan.usable if why_not(name)] == []
    assert len(set(plan.usable)) == len(plan.usable)
    assert (plan.decision.reason is RouteReason.NO_PROVIDERS_AVAILABLE) == (not plan.usable)
    assert not plan.usable or plan.usable[0] == decided
    assert [one.name for one in plan.decision.candidates if not one.why_not] == list(plan.usable[:1])
    if available and request.pin is None and not refused:
        assert plan.usable
    if request.pin is not None:
        assert set(plan.usable) <= {request.pin}
