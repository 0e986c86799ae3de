"""The advice of errors: each action a whole call that differs from what was tried, and always an end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import msgspec
import pytest

from actors.gateway.mcp.toolbox import TOOLS
from actors.gateway.mending import mended
from actors.gateway.recovery import MAX_CALLS, FailedCall, flat_arguments, reachable, recovered
from actors.gateway.rest.browse import BrowseRequest
from protocol.actions import Action
from protocol.browse import BrowseOptions, Freshness, contradiction
from protocol.faults import KINDS, Code, Fault, fault, rate_limited
from protocol.tiers import RenderTier
from protocol.tools.web import BrowseArguments
from tests.requirements import requirement

URL = "http://loom.test:8080/cloth?token=hunter2#warp"
SELF_SUFFICIENT = {"browse", "refresh_session"}
PLAIN, LIGHT, BROWSER = RenderTier
OPTIONS = (
    BrowseOptions(),
    BrowseOptions(force_tier=PLAIN),
    BrowseOptions(force_tier=LIGHT, include_html=True),
    BrowseOptions(force_tier=BROWSER, query="warp"),
    BrowseOptions(max_cost_tier=PLAIN, max_latency_ms=5),
    BrowseOptions(max_cost_tier=LIGHT, session_profile="me"),
    BrowseOptions(force_tier=BROWSER, max_cost_tier=PLAIN),
    BrowseOptions(wait_for_selector="#late", max_cost_tier=PLAIN),
    BrowseOptions(session_profile="me", freshness_requirement=Freshness.REALTIME, dismiss_overlays=True),
)


def advice(options: BrowseOptions, failure: Fault, profiles: tuple[str, ...] = ()) -> Fault:
    """Return a failure of the best tier that was allowed, as a client gets it."""
    tier = options.force_tier or options.max_cost_tier
    return recovered(FailedCall(URL, options, failure.at(url=URL, tier=tier), profiles))


def names(failure: Fault) -> list[str]:
    return [action.action for action in failure.actions]


def options_of(action: Action) -> BrowseOptions:
    """Read the options of the next call, as both surfaces take it."""
    parameters = action.parameters or {}
    body = msgspec.json.decode(msgspec.json.encode(parameters), type=BrowseRequest)
    arguments = msgspec.convert(flat_arguments(parameters), BrowseArguments)
    shared = {name: getattr(arguments, name) for name in BrowseOptions.__struct_fields__}
    assert (arguments.url, BrowseOptions(**shared)) == (body.url, body.options)
    return body.options


def followed(options: BrowseOptions, code: Code) -> Iterator[tuple[BrowseOptions, Fault]]:
    """Follow the first action blindly, where every call fails with the same code and every renewal succeeds."""
    while True:
        told = advice(options, fault(code), ("me", "you"))
        yield options, told
        if not told.retryable:
            return
        action = next(one for one in told.actions if one.tool_to_use == "browse")
        options = options_of(action)


@pytest.mark.parametrize("code", Code)
def test_whoever_follows_the_first_action_comes_to_an_end(code: Code) -> None:
    for options in OPTIONS:
        if options.force_tier is PLAIN and code is Code.BROWSER_PAGE_HUNG:
            continue  # what runs no scripts does not hang in one
        walk = list(followed(options, code))
        calls = [msgspec.structs.replace(each, attempt=()) for each, _ in walk]
        delays = [told.actions[0].suggested_delay_ms or 0 for _, told in walk[:-1]]

        assert len(walk) <= MAX_CALLS
        assert "report_to_user" in names(walk[-1][1])
        for number, (before, after) in enumerate(pairwise(calls)):
            renewed = walk[number][1].actions[0].tool_to_use == "refresh_session"
            waited = delays[number] > max([0, *delays[:number]]) or code is Code.AUTH_SESSION_EXPIRED
            assert before != after or waited or renewed, (options, calls, delays)
            assert after not in calls[:number] or waited
            assert contradiction(after) is None


@pytest.mark.parametrize("code", Code)
def test_every_tool_of_an_action_is_one_and_takes_the_parameters(code: Code) -> None:
    tools = {action.tool_to_use for action in KINDS[code].actions} - {None}
    assert tools <= set(TOOLS)
    for options, attempt in product(OPTIONS, ((), ("retry",), ("use_browser_tier", "read_without_scripts"))):
        told = advice(msgspec.structs.replace(options, attempt=attempt), fault(code), ("you",))
        for action in told.actions:
            if action.parameters is not None and action.tool_to_use is not None:
                msgspec.convert(flat_arguments(action.parameters), TOOLS[str(action.tool_to_use)].arguments)
        assert told.retryable == (told.actions[0].tool_to_use in SELF_SUFFICIENT)
        assert [action.priority for action in told.actions] == list(range(1, len(told.actions) + 1))


@pytest.mark.parametrize(
    ("options", "failure", "wanted"),
    [
        # the loops and the contradictions that were seen
        ({}, fault(Code.BLOCKED_BOT_DETECTION), ["report_to_user"]),
        ({"force_tier": LIGHT}, fault(Code.CONTENT_REQUIRES_JS), ["use_browser_tier", "report_to_user"]),
        ({"max_cost_tier": PLAIN}, fault(Code.CONTENT_REQUIRES_JS), ["use_lightweight_tier", "use_browser_tier"]),
        ({"max_latency_ms": 5}, fault(Code.NETWORK_TIMEOUT), ["allow_more_time", "retry", "report_to_user"]),
        ({"attempt": ("allow_more_time", "retry")}, fault(Code.NETWORK_TIMEOUT), ["report_to_user"]),
        ({"session_profile": "me"}, fault(Code.AUTH_SESSION_EXPIRED), ["refresh_session", "retry", "log_in"]),
        (
            {"session_profile": "me", "attempt": ("refresh_session",)},
            fault(Code.AUTH_SESSION_EXPIRED),
            ["log_in", "report_to_user"],
        ),
        ({}, fault(Code.AUTH_MISSING_SESSION), ["use_saved_session", "log_in", "report_to_user"]),
        ({"force_tier": BROWSER}, fault(Code.BROWSER_PAGE_HUNG), ["read_without_scripts", "report_to_user"]),
        ({"force_tier": BROWSER}, fault(Code.BROWSER_UNAVAILABLE), ["use_any_tier", "ask_operator"]),
        (
            {"force_tier": BROWSER, "attempt": ("use_browser_tier",)},
            fault(Code.BROWSER_UNAVAILABLE),
            ["report_to_user"],
        ),
        ({}, fault(Code.HTTP_NOT_FOUND), ["check_url", "report_to_user"]),
        ({"attempt": ("wait_and_retry",) * 3}, rate_limited("Slow", 1_000), ["report_to_user", "reduce_frequency"]),
    ],
)
def test_the_advice_climbs_and_never_leads_back(options: dict[str, Any], failure: Fault, wanted: list[str]) -> None:
    profiles = ("work",) if failure.code is Code.AUTH_MISSING_SESSION else ()

    assert names(advice(BrowseOptions(**options), failure, profiles))[: len(wanted)] == wanted


def test_a_call_is_whole_and_its_contradictions_are_resolved() -> None:
    options = BrowseOptions(max_cost_tier=PLAIN, include_html=True, max_latency_ms=800)

    browser = advice(options, fault(Code.BLOCKED_BOT_DETECTION)).actions[0]

    assert (browser.tool_to_use, browser.request) == ("browse", "POST /api/browse")
    assert msgspec.json.decode(msgspec.json.encode(browser.parameters)) == {
        "url": URL,
        "options": {"forceTier": "playwright", "includeHtml": True, "attempt": ["use_browser_tier"]},
    }
    asked = BrowseOptions(max_cost_tier=PLAIN, force_tier=LIGHT)
    (fixed, *_) = advice(asked, fault(Code.VALIDATION_INVALID_REQUEST, field="options.forceTier")).actions
    assert (options_of(fixed).force_tier, options_of(fixed).max_cost_tier) == (LIGHT, BROWSER)


def test_delays_grow_and_outlive_what_heals_after_seconds() -> None:
    first = advice(BrowseOptions(), fault(Code.HTTP_SERVICE_UNAVAILABLE)).actions[0]
    second = advice(BrowseOptions(attempt=("retry",)), fault(Code.HTTP_SERVICE_UNAVAILABLE)).actions[0]
    asked = fault(Code.HTTP_SERVICE_UNAVAILABLE, actions=rate_limited("Later", 30_000).actions)
    waits = [advice(BrowseOptions(attempt=("wait_and_retry",) * n), rate_limited("Slow", None)) for n in range(3)]

    assert (first.suggested_delay_ms, second.suggested_delay_ms) == (1_000, 4_000)
    assert advice(BrowseOptions(), asked).actions[0].suggested_delay_ms == 30_000
    assert [wait.actions[0].suggested_delay_ms for wait in waits] == [60_000, 120_000, 240_000]


@requirement("000.3.recovery")
def test_the_network_is_tried_three_times_after_one_to_five_seconds() -> None:
    walk = list(followed(BrowseOptions(), Code.NETWORK_CONNECTION_FAILED))

    assert [told.actions[0].suggested_delay_ms for _, told in walk[:-1]] == [1_000, 3_000, 5_000]


def test_a_change_that_an_error_names_becomes_the_whole_call() -> None:
    meant = Action(
        action="use_address",
        description="Did you mean this?",
        tool_to_use="browse",
        parameters={"url": "http://x.test/"},
    )
    told = advice(BrowseOptions(include_html=True), fault(Code.VALIDATION_INVALID_REQUEST, actions=(meant,)))

    assert told.retryable
    assert (told.actions[0].parameters or {})["url"] == "http://x.test/"
    assert options_of(told.actions[0]).include_html


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"url": URL, "options": {"forceTier": "Playwrite"}}, {"forceTier": "playwright"}),
        ({"url": URL, "options": {"forceTier": "netscape"}}, {}),
        ({"url": URL, "options": {"maxLatencyMS": "5000", "maxPages": 99}}, {"maxLatencyMs": 5_000, "maxPages": 50}),
        ({"url": URL, "forceTier": "lightweight"}, {"forceTier": "lightweight"}),
        ({"url": URL, "options": "fast", "nope": 1}, {}),
        ({"url": URL, "options": {"include": ["tabels"]}}, {"include": ("tables",)}),
    ],
)
def test_a_request_that_breaks_the_contract_is_mended(given: Any, wanted: Any) -> None:
    assert mended(BrowseRequest, given) == {"url": URL, "options": wanted}


@pytest.mark.parametrize(
    "given", [{}, [], {"url": 7}, {"url": URL, "options": {"sessionProfile": "../other"}}, {"options": {}}]
)
def test_what_would_be_another_request_is_not_mended(given: Any) -> None:
    assert mended(BrowseRequest, given) is None


def test_who_may_not_log_in_by_credentials_is_told_how_a_login_is_saved() -> None:
    told = advice(BrowseOptions(), fault(Code.AUTH_MISSING_SESSION))

    assert reachable(told, local=True) == told
    here, there = told.actions[0], reachable(told, local=False).actions[0]
    assert (here.tool_to_use, there.action, there.tool_to_use, there.request) == (
        "run_task_template",
        "log_in",
        None,
        None,
    )
    assert "weft sessions import" in there.description
