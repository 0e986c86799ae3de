"""The policy tries the cheapest tier first, stays within the budget and gives only pages that may be given."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from actors.navigator.attempts import (
    REACTIONS,
    Absent,
    Accepted,
    Attempt,
    Failed,
    Outcome,
    Reaction,
    Rejected,
    Skipped,
    Superseded,
    TooSlow,
    consistent,
    judged,
    reason,
)
from actors.navigator.escalation_policy import (
    Budget,
    FailBrowse,
    ReturnPage,
    SkipTier,
    Step,
    TryTier,
    WaitForTier,
    budget,
    next_step,
)
from protocol.browse import BrowseOptions
from protocol.faults import Code, Fault, FaultError, fault, rate_limited
from protocol.page import PageKind
from protocol.tiers import TIERS, RenderTier
from tests.requirements import requirement
from tests.unit.actors.page_data import accepted, attempt, evidence, fetched, rejected, verdict

CHEAP, MIDDLE, BROWSER = RenderTier.INTELLIGENCE, RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT
GONE = "No live replica of this tier"
SHELL = rejected(Code.CONTENT_REQUIRES_JS, reason="The page has no text until its scripts run")


def failed(code: Code, message: str = "It broke.") -> Failed:
    return Failed(fault(code, message))


def end(*outcomes: Outcome, limits: Budget = Budget(), elapsed_ms: int = 0) -> Step:  # noqa: B008 - frozen
    """Decide after the allowed tiers came to these outcomes."""
    attempts = [attempt(tier, outcome) for tier, outcome in zip(limits.tiers, outcomes, strict=False)]
    return next_step(limits, attempts, elapsed_ms)


def probable(outcome: Rejected, probability: float) -> Rejected:
    return structs.replace(outcome, verdict=structs.replace(outcome.verdict, probability=probability))


def told(step: Step) -> Fault:
    assert isinstance(step, FailBrowse)
    return step.fault


# -- the budget


def test_options_become_a_budget() -> None:
    options = BrowseOptions(max_latency_ms=700, max_cost_tier=MIDDLE, force_tier=MIDDLE)

    assert budget(options) == Budget(max_cost_tier=MIDDLE, force_tier=MIDDLE, max_latency_ms=700)


def test_a_forced_tier_above_the_highest_is_refused() -> None:
    options = BrowseOptions(force_tier=BROWSER, max_cost_tier=MIDDLE)

    with pytest.raises(FaultError) as caught:
        budget(options)

    message = "options.forceTier: playwright costs more than maxCostTier lightweight allows"
    assert caught.value.fault == fault(Code.VALIDATION_INVALID_REQUEST, message, field="options.forceTier")


# -- climbing


@requirement("000.7.tier-order")
@pytest.mark.parametrize(
    ("outcomes", "tier"), [((), CHEAP), ((SHELL,), MIDDLE), ((SHELL, SHELL), BROWSER), ((Absent(), SHELL), BROWSER)]
)
def test_the_cheapest_tier_that_is_left_comes_next(outcomes: tuple[Outcome, ...], tier: RenderTier) -> None:
    assert end(*outcomes) == TryTier(tier)


@requirement("000.7.max-cost-tier")
def test_no_tier_above_the_highest_allowed_is_tried() -> None:
    step = end(SHELL, SHELL, limits=Budget(max_cost_tier=MIDDLE))

    assert told(step).code is Code.CONTENT_REQUIRES_JS


def test_an_accepted_page_is_the_answer() -> None:
    good = accepted(MIDDLE)

    assert end(SHELL, good) == ReturnPage(good.page)


@pytest.mark.parametrize("code", [code for code in Code if REACTIONS[code] is Reaction.ESCALATE])
def test_a_better_tier_may_do_better(code: Code) -> None:
    assert (end(rejected(code)), end(failed(code))) == (TryTier(MIDDLE), TryTier(MIDDLE))


@pytest.mark.parametrize("code", [code for code in Code if REACTIONS[code] is not Reaction.ESCALATE])
def test_a_final_failure_ends_the_ladder_at_once(code: Code) -> None:
    assert (told(end(rejected(code))).code, told(end(failed(code))).code) == (code, code)


def test_every_code_has_a_reaction() -> None:
    assert set(REACTIONS) == set(Code)


def test_a_verdict_without_a_code_accepts() -> None:
    page, good, bad = fetched(), verdict(), verdict(Code.CONTENT_EMPTY)

    outcomes = [judged(page, good), judged(page, bad)]

    assert outcomes == [Accepted(page, good), Rejected(page, bad, Code.CONTENT_EMPTY)]


def test_a_page_without_the_awaited_element_is_refused_unless_something_stands_in_its_place() -> None:
    page = structs.replace(fetched(), evidence=evidence(lacks_awaited=True))
    verdicts = (verdict(), verdict(Code.CONTENT_TOO_SHORT, usable=True), verdict(Code.HTTP_NOT_FOUND))
    outcomes = [judged(page, one) for one in verdicts]

    assert [one.code for one in outcomes if isinstance(one, Rejected)] == [
        Code.ELEMENT_NOT_FOUND,
        Code.ELEMENT_NOT_FOUND,
        Code.HTTP_NOT_FOUND,
    ]
    assert not any(one.verdict.usable for one in outcomes)
    limits = budget(BrowseOptions(wait_for_selector="#late"))
    assert told(end(*outcomes[:2], limits=limits)).field == "options.waitForSelector"


@pytest.mark.parametrize(
    ("status", "code"),
    [(403, Code.HTTP_FORBIDDEN), (500, Code.HTTP_SERVER_ERROR), (502, Code.HTTP_BAD_GATEWAY), (200, None)],
)
def test_a_delay_that_a_site_names_is_waited_for_whatever_the_status(status: int, code: Code | None) -> None:
    refused = rejected(code or Code.HTTP_FORBIDDEN)
    page = structs.replace(refused.page, status=status, retry_after_ms=7_000)

    step = end(structs.replace(refused, page=page))

    if code is None:
        assert step == TryTier(MIDDLE)
    else:
        first = told(step).actions[0]
        assert (told(step).code, first.action, first.suggested_delay_ms) == (code, "wait_and_retry", 7_000)


# -- time


@requirement("000.7.max-latency")
@pytest.mark.parametrize(
    ("outcomes", "elapsed_ms", "step"),
    [
        ((), 1_000, TryTier(CHEAP)),
        ((Absent(),), 1_000, TryTier(MIDDLE)),
        ((SHELL,), 800, TryTier(MIDDLE)),
        ((SHELL,), 801, SkipTier(Attempt(MIDDLE, TooSlow(199)))),
        ((SHELL,), 5_000, SkipTier(Attempt(MIDDLE, TooSlow(0)))),
        ((SHELL, Absent()), 0, SkipTier(Attempt(BROWSER, TooSlow(1_000)))),
    ],
)
def test_a_tier_that_no_longer_fits_is_not_started(outcomes: tuple[Outcome, ...], elapsed_ms: int, step: Step) -> None:
    assert end(*outcomes, limits=Budget(max_latency_ms=1_000), elapsed_ms=elapsed_ms) == step


# -- nobody there


@pytest.mark.parametrize(
    "outcomes", [(SHELL, Absent(), Absent()), (failed(Code.NETWORK_TLS_FAILED), Absent(), Absent())]
)
def test_before_a_page_fails_for_want_of_scripts_the_tiers_that_run_them_get_time_to_come_back(
    outcomes: tuple[Outcome, ...],
) -> None:
    assert end(*outcomes) == WaitForTier(MIDDLE)
    assert isinstance(end(outcomes[0], Absent(waited=True), Absent()), FailBrowse)
    assert isinstance(end(outcomes[0], Absent(why="no engine"), Absent(why="no browser")), FailBrowse)


def test_when_nothing_answers_the_cheapest_gets_time_to_come_back() -> None:
    assert end(Absent(), Absent(), Absent()) == WaitForTier(CHEAP)


def test_after_waiting_the_others_are_asked_again() -> None:
    assert end(Absent(waited=True)) == TryTier(MIDDLE)


@pytest.mark.parametrize(
    ("forced", "failure"),
    [
        (None, fault(Code.INTERNAL_UNAVAILABLE, f"No fetcher is running (intelligence: {GONE}; lightweight: {GONE})")),
        (CHEAP, fault(Code.CONFIG_TIER_NOT_DEPLOYED, f"forceTier intelligence: {GONE}")),
        (MIDDLE, fault(Code.CONFIG_TIER_NOT_DEPLOYED, f"forceTier lightweight: {GONE}")),
        (BROWSER, fault(Code.BROWSER_UNAVAILABLE, f"forceTier playwright: {GONE}")),
    ],
)
def test_when_waiting_was_in_vain(forced: RenderTier | None, failure: Fault) -> None:
    limits = Budget(max_cost_tier=MIDDLE, force_tier=forced)

    assert end(Absent(waited=True), Absent(), limits=limits) == FailBrowse(failure)


def test_nobody_waits_for_a_tier_that_says_it_cannot_work() -> None:
    limits = Budget(force_tier=BROWSER)

    step = end(Absent(why="No Chromium was found. Install it."), limits=limits)

    message = "forceTier playwright: No Chromium was found. Install it"
    assert step == FailBrowse(fault(Code.BROWSER_UNAVAILABLE, message))


# -- where experience says to begin

KNOWN = Budget(start=MIDDLE, why="this site mostly needs scripts")
OVER = Skipped("this site mostly needs scripts")


def test_what_is_below_the_start_is_passed_over_with_its_reason() -> None:
    assert end(limits=KNOWN) == SkipTier(Attempt(CHEAP, OVER))
    assert end(OVER, limits=KNOWN) == TryTier(MIDDLE)
    assert end(OVER, SHELL, limits=KNOWN) == TryTier(BROWSER)


def test_a_passed_over_tier_is_tried_where_nothing_above_it_saw_the_page() -> None:
    crashed = failed(Code.PAGE_CRASHED)

    assert end(OVER, Absent(), crashed, limits=KNOWN) == TryTier(CHEAP)
    assert end(OVER, crashed, failed(Code.NETWORK_TIMEOUT), limits=KNOWN) == TryTier(CHEAP)


def test_a_passed_over_tier_is_not_tried_after_the_page_was_seen() -> None:
    empty = rejected(Code.CONTENT_EMPTY)

    assert told(end(OVER, empty, Absent(), limits=KNOWN)).code is Code.CONTENT_EMPTY


def test_a_start_at_the_cheapest_changes_nothing() -> None:
    assert end(limits=Budget(start=CHEAP)) == TryTier(CHEAP)


def test_an_overtaken_tier_says_nothing_about_the_page() -> None:
    assert end(Superseded(), SHELL) == TryTier(BROWSER)


@pytest.mark.parametrize("options", [{"wait_for_selector": "main"}, {"scroll_to_load": True}])
def test_what_needs_scripts_is_asked_of_tiers_that_run_them(options: dict[str, object]) -> None:
    assert budget(BrowseOptions(**options)).tiers == (MIDDLE, BROWSER)  # type: ignore[arg-type]  # a table of options


def test_what_needs_scripts_is_refused_where_none_may_run() -> None:
    with pytest.raises(FaultError) as caught:
        budget(BrowseOptions(wait_for_selector="main", max_cost_tier=CHEAP))

    assert caught.value.fault.field == "options.waitForSelector"


@pytest.mark.parametrize(
    ("limit_ms", "tiers"), [(30_000, (CHEAP, MIDDLE, BROWSER)), (1_000, (CHEAP, MIDDLE)), (10, (CHEAP,))]
)
def test_a_tier_that_cannot_fit_is_not_affordable(limit_ms: int, tiers: tuple[RenderTier, ...]) -> None:
    assert Budget(max_latency_ms=limit_ms).affordable == tiers


# -- the end


def test_of_pages_that_are_as_probable_the_one_with_the_most_text_is_the_answer() -> None:
    short = rejected(Code.CONTENT_TOO_SHORT, usable=True, length=300)
    longer = rejected(Code.CONTENT_REQUIRES_JS, MIDDLE, usable=True, length=700)

    assert end(short, longer, failed(Code.NETWORK_TIMEOUT)) == ReturnPage(longer.page)


def test_the_page_that_is_most_probably_the_right_one_is_the_answer_however_short() -> None:
    short = probable(rejected(Code.CONTENT_REQUIRES_JS, usable=True, length=300), 0.6)
    longer = probable(rejected(Code.CONTENT_REQUIRES_JS, MIDDLE, usable=True, length=7_000), 0.5)

    assert end(short, longer, failed(Code.NETWORK_TIMEOUT)) == ReturnPage(short.page)


def test_a_tier_that_broke_down_is_not_taken_for_a_page_without_text() -> None:
    died = failed(Code.PAGE_CRASHED, "The engine died.")

    assert told(end(SHELL, died, Absent())) == fault(
        Code.PAGE_CRASHED, "The engine died. playwright: No live replica of this tier"
    )
    assert told(end(SHELL, died, rejected(Code.CONTENT_REQUIRES_JS, BROWSER))).code is Code.CONTENT_REQUIRES_JS


def test_what_a_tier_itself_doubts_does_not_end_the_browse() -> None:
    gone = rejected(Code.HTTP_NOT_FOUND, MIDDLE)
    doubted = structs.replace(gone.page, evidence=evidence(escalate=("context_refused",)))

    attempts = [attempt(CHEAP, SHELL), attempt(MIDDLE, Rejected(doubted, gone.verdict, gone.code))]
    assert next_step(Budget(), attempts, 0) == TryTier(BROWSER)


@pytest.mark.parametrize("code", [Code.CONTENT_EMPTY, Code.CONTENT_TOO_SHORT])
def test_a_page_that_hangs_in_a_browser_is_not_told_by_the_little_that_was_sent(code: Code) -> None:
    hung = failed(Code.BROWSER_PAGE_HUNG)

    assert told(end(rejected(code), hung, hung)).code is Code.BROWSER_PAGE_HUNG


# -- one page, several tiers

WALL = "Please verify that you are human. Ray 1234, 10:41. Then the page that you asked for is shown."


@pytest.mark.parametrize(
    ("kind", "texts", "same"),
    [
        (PageKind.CHALLENGE, (WALL, WALL.replace("1234", "77")), True),
        (PageKind.CHALLENGE, (WALL, "Looms: how the warp is lifted, and what the weft does meanwhile."), False),
        (PageKind.CHALLENGE, ("", ""), False),
        (PageKind.EMPTY_SHELL, (WALL, WALL), False),
        (None, (WALL, WALL), False),
    ],
)
def test_a_browser_turns_no_refusal_into_a_success(
    kind: PageKind | None, texts: tuple[str, str], *, same: bool
) -> None:
    refused = rejected(Code.BLOCKED_BOT_DETECTION, reason="A challenge", evidence=evidence(90, visible=texts[0]))
    refused = structs.replace(refused, verdict=structs.replace(refused.verdict, kind=kind))
    shown = structs.replace(accepted(BROWSER), page=fetched(BROWSER, evidence=evidence(90, visible=texts[1])))

    attempts = consistent([attempt(CHEAP, refused), attempt(BROWSER, shown)])

    outcome = attempts[-1].outcome
    assert (outcome == shown) is not same
    if same:
        assert isinstance(outcome, Rejected)
        assert (outcome.code, outcome.verdict.usable) == (Code.BLOCKED_BOT_DETECTION, False)
        assert told(next_step(Budget(force_tier=BROWSER), attempts, 0)).code is Code.BLOCKED_BOT_DETECTION
        assert reason(outcome) == "The same as in the tier intelligence: A challenge"


def test_of_equal_pages_the_better_tier_gives_the_answer() -> None:
    first, second = (rejected(Code.CONTENT_TOO_SHORT, tier, usable=True) for tier in (CHEAP, MIDDLE))

    assert end(first, second, Absent()) == ReturnPage(second.page)


def test_a_limit_that_is_met_late_leaves_the_usable_page() -> None:
    short = rejected(Code.CONTENT_TOO_SHORT, usable=True)

    assert end(short, rejected(Code.RATE_LIMIT_EXCEEDED, MIDDLE, status=429)) == ReturnPage(short.page)


def test_what_a_better_tier_finds_out_outweighs_a_usable_page() -> None:
    short = rejected(Code.CONTENT_TOO_SHORT, usable=True)
    gone = rejected(Code.HTTP_NOT_FOUND, MIDDLE, reason="The page says that it does not exist")

    failure = fault(Code.HTTP_NOT_FOUND, "The page says that it does not exist", http_status=200)
    assert end(short, gone) == FailBrowse(failure, MIDDLE)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ((rejected(Code.BLOCKED_BOT_DETECTION), failed(Code.INTERNAL_ERROR), Absent()), Code.BLOCKED_BOT_DETECTION),
        ((rejected(Code.HTTP_FORBIDDEN), failed(Code.NETWORK_TIMEOUT), Absent()), Code.HTTP_FORBIDDEN),
        ((SHELL, failed(Code.NETWORK_TIMEOUT), failed(Code.INTERNAL_BUSY)), Code.NETWORK_TIMEOUT),
        ((failed(Code.NETWORK_TLS_FAILED), rejected(Code.CONTENT_EMPTY), Absent()), Code.CONTENT_EMPTY),
        ((failed(Code.INTERNAL_ERROR), failed(Code.INTERNAL_BUSY), Absent()), Code.INTERNAL_BUSY),
    ],
)
def test_the_failure_that_says_most_is_told(outcomes: tuple[Outcome, ...], code: Code) -> None:
    assert told(end(*outcomes)).code is code


@pytest.mark.parametrize(
    ("outcomes", "limits", "message"),
    [
        ((SHELL, Absent(waited=True), Absent()), Budget(), "No tier that runs scripts is deployed"),
        ((SHELL,), Budget(max_cost_tier=CHEAP), "maxCostTier intelligence rules out the tiers that run scripts"),
        ((SHELL,), Budget(force_tier=CHEAP), "forceTier intelligence rules out the tiers that run scripts"),
        (
            (SHELL, Absent(), TooSlow(90)),
            Budget(),
            "lightweight: No live replica of this tier; playwright: Not started: only 90 ms of maxLatencyMs were left",
        ),
    ],
)
def test_a_page_that_needs_scripts_says_why_none_ran(
    outcomes: tuple[Outcome, ...], limits: Budget, message: str
) -> None:
    whole = f"The page has no text until its scripts run. {message}"

    failure = fault(Code.CONTENT_REQUIRES_JS, whole, http_status=200)
    assert end(*outcomes, limits=limits) == FailBrowse(failure, CHEAP)


def test_a_failure_keeps_what_the_tier_said() -> None:
    refused = fault(Code.SECURITY_ADDRESS_BLOCKED, "10.0.0.1 lies in a private network", field="url")

    assert end(Failed(refused)) == FailBrowse(refused, CHEAP)


@requirement("000.3.rate-limit-delay")
def test_the_delay_that_a_site_asked_for_is_passed_on() -> None:
    limited = rate_limited("Slow down", 7_000)

    steps = [
        end(rejected(code, status=429, retry_after_ms=7_000, reason="Slow down"))
        for code in (Code.RATE_LIMIT_EXCEEDED, Code.BLOCKED_RATE_LIMITED, Code.HTTP_SERVICE_UNAVAILABLE)
    ]

    others = [
        fault(code, "Slow down", http_status=429, actions=limited.actions)
        for code in (Code.BLOCKED_RATE_LIMITED, Code.HTTP_SERVICE_UNAVAILABLE)
    ]
    assert steps == [FailBrowse(one, CHEAP) for one in (limited, *others)]


# -- whatever happens


def outcomes_of(tier: RenderTier) -> st.SearchStrategy[Outcome]:
    codes = st.sampled_from(Code)
    return st.one_of(
        st.just(accepted(tier)),
        st.builds(
            probable,
            st.builds(rejected, codes, st.just(tier), usable=st.booleans(), length=st.integers(0, 2_000)),
            st.floats(0, 1),
        ),
        st.builds(failed, codes),
        st.just(Absent()),
    )


budgets = st.builds(
    Budget, max_cost_tier=st.sampled_from(TIERS), force_tier=st.none(), max_latency_ms=st.integers(1, 5_000)
) | st.builds(Budget, force_tier=st.sampled_from(TIERS), max_latency_ms=st.integers(1, 5_000))


def browse_by_policy(
    limits: Budget, outcomes: dict[RenderTier, Outcome], tick_ms: int, *, is_back: bool
) -> tuple[list[Attempt], list[Step]]:
    """Play the actor's part, each try taking `tick_ms`, until the policy ends; who is waited for may be back."""
    attempts: list[Attempt] = []
    steps: list[Step] = []
    elapsed_ms = 0
    while not steps or not isinstance(steps[-1], ReturnPage | FailBrowse):
        step = next_step(limits, attempts, elapsed_ms)
        steps.append(step)
        assert len(steps) <= 2 * len(TIERS) + 2
        match step:
            case TryTier(tier=tier):
                attempts.append(attempt(tier, outcomes[tier]))
                elapsed_ms += tick_ms
            case SkipTier(attempt=skipped):
                attempts.append(skipped)
            case WaitForTier(tier=tier):
                back = accepted(tier) if is_back else Absent(waited=True)
                attempts = [*(one for one in attempts if not one.may_return), attempt(tier, back)]
            case ReturnPage() | FailBrowse():
                pass
    return attempts, steps


def answerable(attempts: Sequence[Attempt]) -> list[Accepted | Rejected]:
    return [
        one.outcome
        for one in attempts
        if isinstance(one.outcome, Accepted) or (isinstance(one.outcome, Rejected) and one.outcome.verdict.usable)
    ]


@given(
    limits=budgets,
    outcomes=st.fixed_dictionaries({tier: outcomes_of(tier) for tier in TIERS}),
    back=st.booleans(),
    tick_ms=st.integers(0, 2_000),
)
def test_the_ladder_ends_within_the_budget_and_answers_only_what_is_usable(
    *, limits: Budget, outcomes: dict[RenderTier, Outcome], back: bool, tick_ms: int
) -> None:
    attempts, steps = browse_by_policy(limits, outcomes, tick_ms, is_back=back)

    seen = [one.tier for one in attempts]
    waits = [place for place, step in enumerate(steps) if isinstance(step, WaitForTier)]
    since = steps[waits[-1] + 1 :] if waits else steps
    tries = [step.tier for step in since if isinstance(step, TryTier)]
    assert len(waits) <= 1
    assert len(set(seen)) == len(seen)
    assert len(set(tries)) == len(tries)
    assert seen == sorted(seen, key=lambda tier: tier.rank)
    assert set(seen) <= set(limits.tiers)
    assert all(tier.rank <= limits.max_cost_tier.rank for tier in seen)
    last = steps[-1]
    given = [one for one in answerable(attempts) if isinstance(last, ReturnPage) and last.page is one.page]
    assert isinstance(last, FailBrowse) or len(given) == 1
    if given and isinstance(given[0], Rejected):
        assert given[0].verdict.probability == max(one.verdict.probability for one in answerable(attempts))


@given(limits=budgets, elapsed_ms=st.integers(0, 10_000), tier=st.sampled_from(TIERS))
def test_after_the_first_tier_only_what_fits_is_tried(limits: Budget, elapsed_ms: int, tier: RenderTier) -> None:
    step = next_step(limits, [attempt(tier, SHELL)], elapsed_ms)

    assert not isinstance(step, TryTier) or elapsed_ms + step.tier.expected_ms <= limits.max_latency_ms
