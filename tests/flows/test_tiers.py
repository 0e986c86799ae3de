"""The ladder on real applications: each page comes whole from the cheapest tier that can, and the trace says why."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from msgspec import UNSET
from rapidfuzz.distance import Indel

from protocol.browse import BrowseResult, TierAttempt
from protocol.faults import Category, Code
from protocol.tiers import RenderTier
from tests.flows.system import System, refused
from tests.requirements import requirement
from tests.site import Site
from tests.site.apps import BROWSER_PAGES, FRAMEWORK_PAGES
from tests.support.scale import one_in

pytestmark = [pytest.mark.nats, pytest.mark.browser, pytest.mark.slow]

INTELLIGENCE, LIGHT, BROWSER = RenderTier.INTELLIGENCE, RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT

PARAGRAPHS = (
    "<h1>Looms</h1>" + "<p>A loom holds threads under tension, so that others can be woven through them.</p>" * 9
)

EQUAL = 0.98
"""How alike two texts are, word for word, that say the same."""


def alike(one: BrowseResult, other: BrowseResult) -> float:
    return Indel.normalized_similarity(one.content.text.split(), other.content.text.split())


def tiers(result: BrowseResult) -> tuple[TierAttempt, ...]:
    assert result.decision_trace is not UNSET
    return result.decision_trace.tiers


@requirement("000.7.tier-order")
@pytest.mark.parametrize("path", one_in(5, [*FRAMEWORK_PAGES.values(), *BROWSER_PAGES.values()]))
def test_the_ladder_says_what_a_browser_says(weft: System, site: Site, path: str) -> None:
    found = weft.page(site.url(path), includeDecisionTrace=True, freshnessRequirement="realtime")
    in_browser = weft.page(site.url(path), forceTier="playwright", freshnessRequirement="realtime")

    assert alike(found, in_browser) >= EQUAL, [(one.tier, one.failure_reason) for one in tiers(found)]


def test_a_page_without_scripts_costs_no_engine(weft: System, site: Site) -> None:
    assert weft.page(site.url("/article")).metadata.tier is INTELLIGENCE


def test_an_application_needs_no_browser(weft: System, site: Site) -> None:
    found = weft.page(site.url(FRAMEWORK_PAGES["react"]), includeDecisionTrace=True)

    assert [(one.tier, one.success) for one in tiers(found)] == [(INTELLIGENCE, False), (LIGHT, True)]


def test_a_short_page_that_has_settled_needs_no_browser(weft: System, site: Site) -> None:
    found = weft.page(site.url(FRAMEWORK_PAGES["react-router-deep"]), includeDecisionTrace=True)

    details = tiers(found)[-1].validation_details
    assert details is not UNSET
    assert (found.metadata.tiers_attempted, details.meets_min_length) == ((INTELLIGENCE, LIGHT), False)


def test_what_the_light_engine_cannot_show_goes_on_to_a_browser(weft: System, site: Site) -> None:
    found = weft.page(site.url(BROWSER_PAGES["webgl"]), includeDecisionTrace=True)

    assert [(one.tier, one.success) for one in tiers(found)][1:] == [(LIGHT, False), (BROWSER, True)]
    assert tiers(found)[1].failure_reason


@pytest.mark.full
@pytest.mark.parametrize(
    ("tier", "code"),
    [
        (LIGHT, Code.BROWSER_PAGE_HUNG),
        pytest.param(BROWSER, Code.PAGE_CRASHED, id="playwright: what floods it with events is ended"),
    ],
)
def test_a_page_that_never_ends_is_ended_whichever_tier_shows_it(
    weft: System, site: Site, tier: RenderTier, code: Code
) -> None:
    url = site.url(f"/asked?{urlencode({'body': '<h1>Again</h1><script>while (true) alert(1)</script>'})}")

    error = refused(weft.browse(url, forceTier=tier.value))
    assert (error.code, error.category) == (code, Category.BROWSER)


@pytest.mark.parametrize("tier", [LIGHT, BROWSER])
def test_a_page_that_leads_elsewhere_after_a_while_is_followed_at_once(
    weft: System, site: Site, tier: RenderTier
) -> None:
    leading = "<meta http-equiv=refresh content='4; url=/article'><p>Wait.</p><script>0</script>"
    url = site.url(f"/asked?{urlencode({'body': leading})}")

    assert weft.page(url, forceTier=tier.value).metadata.final_url == site.url("/article")


@pytest.mark.parametrize("body", ["", "<script>0</script>"], ids=["static", "scripted"])
@pytest.mark.parametrize("tier", [LIGHT, BROWSER])
def test_a_page_without_the_awaited_element_says_so(weft: System, site: Site, tier: RenderTier, body: str) -> None:
    url = site.url(f"/asked?{urlencode({'body': f'<main id=here>{PARAGRAPHS}</main>{body}'})}")
    limits = {"maxCostTier": tier.value, "maxLatencyMs": 8_000}

    assert weft.page(url, waitForSelector="#here", **limits).metadata.tier is LIGHT
    error = refused(weft.browse(url, waitForSelector="#never", **limits))
    assert (error.code, error.field) == (Code.ELEMENT_NOT_FOUND, "options.waitForSelector")
    assert error.recommended_actions[0].action == "do_not_wait_for_selector"
    assert "waitForSelector" not in (error.recommended_actions[0].parameters or {})["options"]


def test_an_invalid_selector_to_wait_for_is_refused(weft: System, site: Site) -> None:
    error = refused(weft.browse(site.url("/article"), waitForSelector="p..["))

    assert (error.code, error.field) == (Code.VALIDATION_INVALID_REQUEST, "options.waitForSelector")


@requirement("000.7.max-cost-tier")
def test_what_the_budget_rules_out_is_said(weft: System, site: Site) -> None:
    answer = weft.browse(site.url(FRAMEWORK_PAGES["react"]), maxCostTier="intelligence")

    error = refused(answer)
    assert (error.code, "rules out the tiers that run scripts" in error.error) == (Code.CONTENT_REQUIRES_JS, True)


@requirement("000.7.max-latency")
def test_a_browser_that_no_longer_fits_is_not_started(weft: System, site: Site) -> None:
    error = refused(weft.browse(site.url(BROWSER_PAGES["webgl"]), maxLatencyMs=1_900))

    assert (error.code, "playwright: Not started" in error.error) == (Code.CONTENT_REQUIRES_JS, True)


def test_the_apis_behind_a_page_are_seen_where_its_scripts_run(weft: System, site: Site) -> None:
    found = weft.page(site.url(FRAMEWORK_PAGES["react"]), includeNetwork=True)

    assert found.discovered_apis is not UNSET
    assert found.network is not UNSET
    assert any("/apps/api/" in api.endpoint for api in found.discovered_apis)
    assert any(one.response_body is not UNSET for one in found.network)
