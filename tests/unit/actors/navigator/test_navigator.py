"""The navigator asks tiers and verifier in turn, answers with what came of it, and always says that it ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from msgspec import structs

from actors.actor import grant_of, handlers
from actors.navigator import Navigator
from actors.policy_file import watched_policy
from actors.settings import Settings
from actors.verifier import Verifier
from bus import Bus, TransportError
from protocol import subjects
from protocol.browse import MAX_LATENCY_MS, BrowseOptions, Freshness
from protocol.confidence import FieldConfidence, overall
from protocol.faults import Code, FaultError, fault
from protocol.pages import Browsed, BrowsePage, FetchPage, PageBrowsed, PageEvidence
from tests.requirements import requirement
from tests.unit.actors.fake_fetchers import (
    BROWSER,
    CHEAP,
    GONE,
    MIDDLE,
    NEEDS_JS,
    browse,
    bus,
    context,
    fault_of,
)
from tests.unit.actors.page_data import URL, claim, document, fetched, verdict


async def test_the_cheapest_tier_gives_the_answer() -> None:
    page = fetched()
    fake = bus(intelligence=page, playwright=fetched(BROWSER))

    browsed = await browse(fake)

    whole = overall(page.title, page.content, 1.0)
    confidence = FieldConfidence(title=page.title, content=page.content, overall=whole)
    assert browsed == Browsed(
        url=URL,
        page=page,
        confidence=confidence,
        duration_ms=browsed.duration_ms,
        trace=browsed.trace,
        tiers_tried=(CHEAP,),
    )
    assert fake.asked == ["web.fetch.intelligence", "verify.page"]


async def test_the_options_reach_the_fetcher() -> None:
    fake = bus(lightweight=fetched(MIDDLE))
    options = BrowseOptions(
        force_tier=MIDDLE,
        freshness_requirement=Freshness.REALTIME,
        session_profile="work",
        include_html=True,
        include_network=True,
        include_console=True,
    )

    await browse(fake, options)

    order = FetchPage(
        url=URL,
        freshness=Freshness.REALTIME,
        session="work",
        include_html=True,
        include_network=True,
        include_console=True,
    )
    assert fake.calls[0] == ("web.fetch.lightweight", order)


async def test_the_verifier_gets_the_evidence_and_the_opening() -> None:
    title, words = "T" * 600, "w" * 9_000
    page = fetched(document=document(title, words), retry_after_ms=70)
    fake = bus(intelligence=page)

    await browse(fake)

    expected = claim(title="T" * 500, markdown="w" * 3_500, evidence=page.evidence, retry_after_ms=70)
    assert fake.calls[1] == ("verify.page", expected)


@pytest.mark.parametrize(
    ("status", "seen", "code"),
    [
        (404, {}, Code.HTTP_NOT_FOUND),
        (200, {"markup": False, "visible": "Words of a table. " * 40}, None),
    ],
)
async def test_what_is_certain_is_decided_without_the_verifier(
    status: int, seen: dict[str, Any], code: Code | None
) -> None:
    fake = bus([], intelligence=fetched(status=status, evidence=PageEvidence(content_length=2_000, **seen)))

    failure = None if code is None else await fault_of(fake)
    browsed = await browse(fake) if code is None else None

    assert set(fake.asked) == {"web.fetch.intelligence"}
    assert (failure and failure.code) == code
    assert browsed is None or browsed.page.tier is CHEAP


@requirement("000.3.recovery")
async def test_a_page_that_needs_scripts_climbs_to_the_browser() -> None:
    fake = bus([NEEDS_JS, verdict()], intelligence=fetched(), playwright=fetched(BROWSER))

    browsed = await browse(fake)

    assert [(one.tier, one.success, one.failure_reason or None) for one in browsed.trace.tiers][:2] == [
        (CHEAP, False, "No text until the scripts run"),
        (MIDDLE, False, "No live replica of this tier"),
    ]
    assert browsed.trace.summary.total_tiers_attempted == 2
    assert browsed.page.tier is BROWSER
    assert fake.told == [
        PageBrowsed(url=URL, duration_ms=fake.told[0].duration_ms, tier=BROWSER, tiers_tried=(CHEAP, BROWSER))
    ]


async def test_without_a_browser_the_page_that_needs_one_fails_and_says_so() -> None:
    fake = bus([NEEDS_JS], intelligence=fetched())

    failure = await fault_of(fake)

    message = "No text until the scripts run. No tier that runs scripts is deployed"
    assert failure == fault(Code.CONTENT_REQUIRES_JS, message, http_status=200, context=context(CHEAP, 1))


async def test_a_usable_page_is_given_with_low_confidence() -> None:
    short = verdict(Code.CONTENT_TOO_SHORT, usable=True, length=300)
    fake = bus([short], intelligence=fetched())

    browsed = await browse(fake)

    assert (browsed.page.tier, browsed.confidence.content.score) == (CHEAP, 0.59)


async def test_a_tier_that_does_not_fit_is_not_asked_and_the_trace_says_so() -> None:
    short = verdict(Code.CONTENT_TOO_SHORT, usable=True, length=300)
    fake = bus([short], intelligence=fetched(), lightweight=fetched(MIDDLE), playwright=fetched(BROWSER))

    browsed = await browse(fake, BrowseOptions(max_latency_ms=199))

    assert fake.asked == ["web.fetch.intelligence", "verify.page"]
    assert [(one.tier, one.success) for one in browsed.trace.tiers] == [
        (CHEAP, True),
        (MIDDLE, False),
        (BROWSER, False),
    ]
    assert all(str(one.failure_reason).startswith("Not started: only ") for one in browsed.trace.tiers[1:])


@requirement("000.3.structured-error")
async def test_a_fault_says_where_it_happened() -> None:
    refused = fault(Code.HTTP_TOO_MANY_REDIRECTS, "Redirects in a circle")
    gone = verdict(Code.HTTP_NOT_FOUND, reason="The page does not exist (404)")
    fake = bus([gone], intelligence=refused, lightweight=fetched(MIDDLE, status=404))

    failure = await fault_of(fake)

    assert failure == fault(
        Code.HTTP_NOT_FOUND, "The page does not exist (404)", http_status=404, context=context(MIDDLE, 2)
    )
    assert [(one.code, one.tier, one.tiers_tried) for one in fake.told] == [
        (Code.HTTP_NOT_FOUND, None, (CHEAP, MIDDLE))
    ]


@requirement("000.3.force-tier")
async def test_a_forced_tier_is_the_only_one() -> None:
    fake = bus([NEEDS_JS], intelligence=fetched(), lightweight=fetched(MIDDLE), playwright=fetched(BROWSER))

    failure = await fault_of(fake, BrowseOptions(force_tier=MIDDLE))

    assert failure.context == context(MIDDLE, 1)
    assert fake.asked == ["web.fetch.lightweight", "verify.page"]


async def test_options_that_contradict_each_other_are_refused_before_anything_is_asked() -> None:
    fake = bus(intelligence=fetched())

    failure = await fault_of(fake, BrowseOptions(force_tier=BROWSER, max_cost_tier=CHEAP))

    assert (failure.code, failure.field) == (Code.VALIDATION_INVALID_REQUEST, "options.forceTier")
    assert fake.asked == []
    assert [one.code for one in fake.told] == [Code.VALIDATION_INVALID_REQUEST]


async def test_an_actor_that_is_being_restarted_gets_time_to_come_back() -> None:
    fake = bus(intelligence=[GONE, fetched()])

    browsed = await browse(fake)

    asked = [(subject, wait_ms) for subject, (_, wait_ms) in zip(fake.asked, fake.limits, strict=True)]
    assert asked == [
        ("web.fetch.intelligence", 0),
        ("actor.absent.fetchers-intelligence", 0),
        ("web.fetch.lightweight", 0),
        ("actor.absent.fetchers-lightweight", 0),
        ("web.fetch.playwright", 0),
        ("actor.absent.fetchers-playwright", 0),
        ("web.fetch.intelligence", 2_000),
        ("verify.page", 2_000),
    ]
    assert [one.tier for one in browsed.trace.tiers] == [CHEAP]


async def test_when_no_tier_comes_back_nothing_is_available() -> None:
    failure = await fault_of(bus())

    gone = "No live replica of this tier"
    message = f"No fetcher is running (intelligence: {gone}; lightweight: {gone}; playwright: {gone})"
    assert failure == fault(Code.INTERNAL_UNAVAILABLE, message, context=context())


async def test_nobody_waits_longer_than_the_client_does() -> None:
    fake = bus()

    await fault_of(fake, BrowseOptions(max_latency_ms=300))

    assert max(wait_ms for _, wait_ms in fake.limits) <= 300
    assert all(timeout_ms is not None and 1 <= timeout_ms <= 300 for timeout_ms, _ in fake.limits)


async def test_without_a_verifier_no_page_is_an_answer() -> None:
    fake = bus([GONE], intelligence=fetched(), playwright=fetched(BROWSER))

    failure = await fault_of(fake)

    assert failure == structs.replace(GONE, context=context(CHEAP, 1))
    assert fake.asked == ["web.fetch.intelligence", "verify.page"]
    assert fake.limits[1] == (None, 2_000)


@pytest.mark.parametrize("deaf", [FaultError(fault(Code.INTERNAL_DISCONNECTED)), TransportError("closed")])
async def test_a_browse_does_not_fail_because_nobody_can_be_told(deaf: Exception) -> None:
    fake = bus(intelligence=fetched())
    fake.deaf = deaf

    assert (await browse(fake)).page.tier is CHEAP


async def test_a_browse_that_is_cut_off_is_told_too() -> None:
    fake = bus(intelligence=anyio.sleep_forever)

    with anyio.CancelScope() as scope:
        fake.replies["web.fetch.intelligence"] = [cancelling(scope)]
        await browse(fake)

    assert [(one.code, one.url) for one in fake.told] == [(Code.INTERNAL_CANCELLED, URL)]


def cancelling(scope: anyio.CancelScope) -> Callable[[], Awaitable[object]]:
    async def cancel() -> object:
        scope.cancel()
        await anyio.sleep_forever()
        return None

    return cancel


async def test_a_mistake_of_the_program_is_told_as_one() -> None:
    async def break_down() -> object:
        raise ZeroDivisionError

    fake = bus(intelligence=break_down)

    with pytest.raises(ZeroDivisionError):
        await browse(fake)

    assert [one.code for one in fake.told] == [Code.INTERNAL_ERROR]


async def test_the_url_comes_back_as_it_was_given() -> None:
    url = "https://example.com/a?token=secret#part"
    fake = bus(intelligence=fetched())

    browsed = await browse(fake, url=url)

    assert (browsed.url, fake.told[0].url) == (url, "https://example.com/a")


async def test_the_verifier_answers_what_the_rules_say() -> None:
    verifier = Verifier(cast("Bus", bus()), Settings(data_dir=Path("unused")))

    judgement = await verifier.verify(claim(0))

    assert (judgement.code, judgement.usable) == (Code.CONTENT_EMPTY, False)


def test_each_answers_its_subjects() -> None:
    answered = {actor.name: [one.subject for one in handlers(actor)] for actor in (Navigator, Verifier)}

    asked = [subjects.BROWSE, subjects.PREVIEW, subjects.DOMAIN]
    assert answered == {"navigator": asked, "verifier": [subjects.VERIFY_PAGE, subjects.VERIFY_STEP]}
    assert grant_of(Navigator).publish


def test_a_browse_has_all_the_time_a_client_may_give() -> None:
    assert subjects.BROWSE.timeout_ms >= MAX_LATENCY_MS


@pytest.mark.parametrize(
    ("rules", "asked"),
    [
        ('[[sites]]\nhosts = ["*.example.com"]\nmode = "off"\n', False),
        ('[[sites]]\nhosts = ["*.example.com"]\nmode = "observe"\n', True),
        ('[[rules]]\ndecision = "deny"\nhosts = ["example.com"]\nreason = "No."\n', False),
        ('[[rules]]\ndecision = "deny"\nhosts = ["example.com"]\ntools = ["click"]\nreason = "No."\n', True),
    ],
)
async def test_what_the_operator_wants_unread_is_not_asked_for(tmp_path: Path, rules: str, asked: bool) -> None:  # noqa: FBT001 - a parameter of the test
    (tmp_path / "policy.toml").write_text(rules)
    fake = bus(intelligence=fetched())
    navigator = Navigator(bus=cast("Bus", fake), settings=Settings(data_dir=tmp_path))

    async with watched_policy(navigator.settings).open() as navigator.policy:
        if asked:
            assert (await navigator.browse(BrowsePage(url=URL))).page == fetched()
        else:
            with pytest.raises(FaultError) as caught:
                await navigator.browse(BrowsePage(url=URL))
            assert caught.value.fault.code is Code.SECURITY_POLICY_DENIED

    assert ("web.fetch.intelligence" in fake.asked) is asked
