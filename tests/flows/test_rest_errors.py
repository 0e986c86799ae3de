"""Pages over REST that are not to be had: the error that each one is answered with, and what to do about it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import httpx2
import pytest
from msgspec import UNSET
from prometheus_client.parser import text_string_to_metric_families

from protocol.actions import Action
from protocol.browse import StructuredError
from protocol.faults import KINDS, Category, Code, FaultContext
from tests.flows.system import CALL_S, POLL_S, RAPID_S, System, refused, silent_site, weft_up
from tests.requirements import requirement
from tests.site import Site, site_in_thread
from tests.site.stand_ins import LOOKALIKES, STAND_INS
from tests.support.scale import one_in

pytestmark = pytest.mark.nats

MAX_RISE_KB = 100_000
FETCHER = "fetchers.intelligence"


@dataclass(frozen=True)
class Miss:
    """A request that fails, and how: `status` is ours, `site` is that of the web site."""

    path: str
    status: int
    code: Code
    site: int | None = None
    options: Mapping[str, object] = field(default_factory=dict[str, object])


MISSES = (
    Miss("/redirect/loop", 502, Code.HTTP_TOO_MANY_REDIRECTS),
    Miss("/redirect/20", 502, Code.HTTP_TOO_MANY_REDIRECTS),
    Miss("/redirect/private", 403, Code.SECURITY_ADDRESS_BLOCKED),
    Miss("/redirect/private?to=http://169.254.169.254/latest/meta-data", 403, Code.SECURITY_ADDRESS_BLOCKED),
    Miss("/redirect/private?to=file:///etc/passwd", 403, Code.SECURITY_URL_BLOCKED),
    Miss("/redirect/private?to=/", 502, Code.SITE_STRUCTURE_CHANGED, 200),
    Miss("/slow?ms=60000", 504, Code.NETWORK_TIMEOUT, options={"maxLatencyMs": 300}),
    Miss("/drip", 504, Code.NETWORK_TIMEOUT, options={"maxLatencyMs": 300}),
    Miss("/huge", 502, Code.CONTENT_TOO_LARGE),
    Miss("/huge?length=1", 502, Code.CONTENT_TOO_LARGE),
    Miss("/status/400", 502, Code.HTTP_CLIENT_ERROR, 400),
    Miss("/status/401", 502, Code.AUTH_MISSING_SESSION, 401),
    Miss("/status/407", 502, Code.HTTP_PROXY_REFUSED, 407),
    Miss("/status/402", 502, Code.CONTENT_PAYWALLED, 402),
    Miss("/status/403", 502, Code.HTTP_FORBIDDEN, 403),
    Miss("/status/404", 502, Code.HTTP_NOT_FOUND, 404),
    Miss("/status/410", 502, Code.HTTP_NOT_FOUND, 410),
    Miss("/status/304", 502, Code.HTTP_SERVER_ERROR, 304),
    Miss("/status/429", 429, Code.RATE_LIMIT_EXCEEDED, 429),
    Miss("/status/451", 502, Code.BLOCKED_GEO_RESTRICTED, 451),
    Miss("/status/500", 502, Code.HTTP_SERVER_ERROR, 500),
    Miss("/status/502", 502, Code.HTTP_BAD_GATEWAY, 502),
    Miss("/status/503", 502, Code.HTTP_SERVICE_UNAVAILABLE, 503),
    Miss("/status/504", 502, Code.HTTP_BAD_GATEWAY, 504),
    Miss("/soft404", 502, Code.HTTP_NOT_FOUND, 200),
    Miss("/reset", 502, Code.NETWORK_CONNECTION_FAILED),
    Miss("/cut", 502, Code.NETWORK_CONNECTION_FAILED),
    Miss("/hangup", 502, Code.NETWORK_CONNECTION_FAILED),
    Miss("/garbage", 502, Code.NETWORK_CONNECTION_FAILED),
    Miss("/broken-gzip", 502, Code.NETWORK_CONNECTION_FAILED),
    Miss("/challenge", 502, Code.BLOCKED_BOT_DETECTION, 403),
    Miss("/challenge?status=200", 502, Code.BLOCKED_BOT_DETECTION, 200),
    Miss("/spa", 502, Code.CONTENT_REQUIRES_JS, 200, {"maxCostTier": "intelligence"}),
    Miss("/spa", 502, Code.CONTENT_EMPTY, 200),
    Miss("/pdf", 502, Code.CONTENT_UNSUPPORTED_TYPE),
)

REACHED: Mapping[Category, Miss] = {
    Category.NETWORK: Miss("/reset", 502, Code.NETWORK_CONNECTION_FAILED),
    Category.HTTP: Miss("/status/404", 502, Code.HTTP_NOT_FOUND),
    Category.AUTH: Miss("/status/401", 502, Code.AUTH_MISSING_SESSION),
    Category.RATE_LIMIT: Miss("/status/429", 429, Code.RATE_LIMIT_EXCEEDED),
    Category.CONTENT: Miss("/spa", 502, Code.CONTENT_EMPTY),
    Category.VALIDATION: Miss("/article", 400, Code.VALIDATION_INVALID_REQUEST, options={"maxLatencyMs": 0}),
    Category.SECURITY: Miss("/redirect/private", 403, Code.SECURITY_ADDRESS_BLOCKED),
    Category.SITE_CHANGE: Miss("/redirect/private?to=/", 502, Code.SITE_STRUCTURE_CHANGED),
    Category.BLOCKED: Miss("/challenge", 502, Code.BLOCKED_BOT_DETECTION),
}
"""A request for each category of 000 §3 but those that take a system that is not whole: internal, browser, config."""


def ask(weft: System, site: Site, miss: Miss) -> tuple[httpx2.Response, StructuredError]:
    """Make the request; what is quick for us must not wait for the site."""
    answer = weft.browse(site.url(miss.path), RAPID_S, **miss.options)
    return answer, refused(answer)


@pytest.mark.browser
def test_an_answer_that_cannot_be_unpacked_is_told_as_such(weft: System, site: Site) -> None:
    _, error = ask(weft, site, Miss("/broken-gzip", 502, Code.NETWORK_CONNECTION_FAILED))

    assert error.error == "The site's compressed answer ends early, or cannot be unpacked"


@pytest.mark.parametrize(
    ("method", "path", "field", "said"),
    [
        ("GET", "/api/runs?after=nothing", "after", "not the id of a run; take that of the last run of the list"),
        ("GET", "/api/texts/nothing", "id", "There is no such text."),
        ("GET", "/api/texts/art_AAAAAAAAAAAAAAAAAAAAAA", "id", "There is no such text."),
        ("DELETE", "/api/keys/nothing", None, "id: there is no key 'nothing'; `weft keys list`"),
    ],
)
def test_an_id_that_is_none_is_told_with_where_to_take_one(
    weft: System, method: str, path: str, field: str | None, said: str
) -> None:
    error = weft.http.request(method, path).json()

    assert (error.get("field"), said in error["error"]) == (field, True), error
    assert "artifacts of the run" not in str(error)


@requirement("000.3.structured-error")
@requirement("000.3.codes")
@pytest.mark.parametrize("miss", one_in(3, MISSES), ids=lambda miss: f"{miss.path} {dict(miss.options) or ''}")
@pytest.mark.slow
def test_a_page_that_is_not_to_be_had_says_why(weft: System, site: Site, miss: Miss) -> None:
    answer, error = ask(weft, site, miss)

    kind = KINDS[miss.code]
    site_status = UNSET if miss.site is None else miss.site
    assert (answer.status_code, error.code, error.category) == (miss.status, miss.code, kind.category)
    again = error.recommended_actions[0].tool_to_use == "browse"
    assert (error.retryable, error.http_status, error.field) == (again, site_status, UNSET)
    assert error.recommended_actions[-1].action == "report_to_user"
    assert isinstance(error.context, FaultContext)
    assert (error.context.url, error.context.domain) == (site.url(miss.path), "127.0.0.1")


@requirement("000.3.categories")
@pytest.mark.parametrize("category", REACHED)
def test_each_category_is_reached(weft: System, site: Site, category: Category) -> None:
    miss = REACHED[category]
    answer, error = ask(weft, site, miss)

    assert (answer.status_code, error.category, error.code) == (miss.status, category, miss.code)


@requirement("000.3.categories")
@pytest.mark.slow
def test_a_tier_that_is_not_there_says_why(site: Site, tmp_path: Path) -> None:
    actors = "gateway,navigator,verifier,fetchers.intelligence,fetchers.playwright"
    with weft_up(tmp_path, "--actors", actors, WEFT_BROWSER_EXECUTABLE="/nowhere/chromium") as bare:
        climbed = bare.browse(site.url("/spa"))
        in_browser = bare.browse(site.url("/article"), forceTier="playwright")
        in_light = bare.browse(site.url("/article"), forceTier="lightweight")

    browser, light = refused(in_browser), refused(in_light)
    assert (in_browser.status_code, browser.category, browser.code) == (
        503,
        Category.BROWSER,
        Code.BROWSER_UNAVAILABLE,
    )
    assert "WEFT_BROWSER_EXECUTABLE" in browser.error
    assert (in_light.status_code, light.category, light.code) == (
        501,
        Category.CONFIG,
        Code.CONFIG_TIER_NOT_DEPLOYED,
    )
    assert refused(climbed).code is Code.CONTENT_REQUIRES_JS
    assert "lightweight: No live replica of this tier; playwright: " in refused(climbed).error
    assert "WEFT_BROWSER_EXECUTABLE" in refused(climbed).error


@requirement("000.3.categories")
@pytest.mark.slow
def test_a_system_that_is_not_whole_is_an_internal_error(site: Site, tmp_path: Path) -> None:
    with weft_up(tmp_path, "--actors", "gateway") as alone:
        answer = alone.browse(site.url("/article"))
        readiness = alone.http.get("/readyz")

    error = refused(answer)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert (error.category, error.code, error.retryable) == (Category.INTERNAL, Code.INTERNAL_UNAVAILABLE, True)
    assert (readiness.status_code, refused(readiness).code) == (503, Code.INTERNAL_UNAVAILABLE)


@requirement("000.3.rate-limit-delay")
@pytest.mark.parametrize(("after", "seconds"), [("7", 7), ("120", 120)])
def test_a_rate_limit_hands_on_the_delay_of_the_site(weft: System, site: Site, after: str, seconds: int) -> None:
    answer, error = ask(weft, site, Miss(f"/status/429?after={after}", 429, Code.RATE_LIMIT_EXCEEDED))

    wait, slower, _ = error.recommended_actions
    assert answer.headers["retry-after"] == str(seconds)
    assert (wait.action, wait.priority, wait.suggested_delay_ms) == ("wait_and_retry", 1, seconds * 1_000)
    assert (slower.action, slower.priority) == ("reduce_frequency", 2)


def test_an_overloaded_site_hands_on_its_delay(weft: System, site: Site) -> None:
    _, error = ask(weft, site, Miss("/status/503?after=30", 502, Code.HTTP_SERVICE_UNAVAILABLE))

    assert error.recommended_actions[0].suggested_delay_ms == 30_000


@requirement("000.3.recovery")
@requirement("000.3.actions")
@pytest.mark.parametrize("path", ["/challenge", "/challenge?status=200", "/spa"])
def test_what_needs_a_browser_says_how_to_ask_for_one(weft: System, site: Site, path: str) -> None:
    error = refused(weft.browse(site.url(path), maxCostTier="intelligence"))

    (browser,) = (action for action in error.recommended_actions if action.action == "use_browser_tier")
    assert browser == Action(
        action="use_browser_tier",
        description=browser.description,
        priority=browser.priority,
        tool_to_use="browse",
        parameters={"url": site.url(path), "options": {"forceTier": "playwright", "attempt": ["use_browser_tier"]}},
        request="POST /api/browse",
    )
    assert [action.priority for action in error.recommended_actions] == list(
        range(1, len(error.recommended_actions) + 1)
    )


@requirement("000.7.max-cost-tier")
def test_a_cheaper_limit_is_told_as_the_reason(weft: System, site: Site) -> None:
    _, error = ask(weft, site, Miss("/spa", 502, Code.CONTENT_REQUIRES_JS, options={"maxCostTier": "intelligence"}))

    assert "maxCostTier intelligence rules out the tiers that run scripts" in error.error


def test_a_login_page_in_place_of_the_page_is_one(weft: System, site: Site) -> None:
    miss = Miss("/redirect/private?to=/login", 502, Code.AUTH_MISSING_SESSION, 200)
    answer, error = ask(weft, site, miss)

    assert (answer.status_code, error.code, error.http_status) == (miss.status, miss.code, miss.site)


@pytest.mark.parametrize("name", STAND_INS)
def test_what_stands_in_the_place_of_a_page_is_refused_as_what_it_is(weft: System, site: Site, name: str) -> None:
    error = refused(weft.browse(site.url(f"/stand-in/{name}"), RAPID_S))

    assert (error.code, error.http_status) == (STAND_INS[name][0], 200)


@pytest.mark.parametrize("name", LOOKALIKES)
def test_what_only_looks_like_it_is_a_page(weft: System, site: Site, name: str) -> None:
    page = weft.page(site.url(f"/lookalike/{name}"))

    assert page.content.markdown


def test_a_doubtful_page_is_none_where_its_host_gives_the_same_to_any_address(weft: System) -> None:
    with site_in_thread() as everywhere, site_in_thread() as once:
        url = everywhere.url("/vague/everywhere/page")
        refusals = [refused(weft.browse(url, freshnessRequirement="realtime")).code for _ in range(2)]
        page = weft.page(once.url("/vague/once/page"))
        probes = [[path for path in one.hits if "/vague/" in path and "page" not in path] for one in (everywhere, once)]
        times = [one.hits[path] for one, paths in zip((everywhere, once), probes, strict=True) for path in paths]

    assert (refusals, "much is new" in page.content.markdown) == ([Code.HTTP_NOT_FOUND] * 2, True)
    assert times == [1, 1]  # each host was asked once for an address that cannot exist


def test_a_login_page_that_was_asked_for_is_a_page(weft: System, site: Site) -> None:
    assert weft.page(site.url("/login")).title == "Sign in"


@pytest.mark.parametrize(
    ("url", "status", "code"),
    [
        ("http://name.invalid/", 502, Code.NETWORK_DNS_FAILED),
        ("http://10.0.0.1/", 403, Code.SECURITY_ADDRESS_BLOCKED),
        ("http://[::1]/", 403, Code.SECURITY_ADDRESS_BLOCKED),
        ("http://169.254.169.254/latest/meta-data", 403, Code.SECURITY_ADDRESS_BLOCKED),
    ],
)
def test_a_host_that_is_not_reached(weft: System, url: str, status: int, code: Code) -> None:
    answer = weft.browse(url, RAPID_S)

    assert (answer.status_code, refused(answer).code) == (status, code)


def test_a_certificate_that_nobody_vouches_for_is_refused(weft: System, site: Site) -> None:
    answer = weft.browse(f"https://127.0.0.1:{site.tls_port}/article", RAPID_S)

    assert (answer.status_code, refused(answer).code) == (502, Code.NETWORK_TLS_FAILED)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("coding", ["gzip", "br"])
@pytest.mark.slow
def test_a_bomb_does_no_harm(weft: System, site: Site, coding: str) -> None:
    fetcher = Path(f"/proc/{weft.replica(FETCHER)['pid']}")
    (fetcher / "clear_refs").write_text("5", encoding="ascii")  # 5: the peak begins anew
    before_kb = _peak_rss_kb(fetcher)

    answer = weft.browse(site.url(f"/bomb/{coding}"), RAPID_S)

    assert (answer.status_code, refused(answer).code) == (502, Code.CONTENT_TOO_LARGE)
    assert _peak_rss_kb(fetcher) - before_kb < MAX_RISE_KB
    assert fetcher.name == str(weft.replica(FETCHER)["pid"])
    assert weft.page(site.url("/article")).title == "How a loom is warped"


@pytest.mark.slow
async def test_a_client_that_leaves_ends_the_work(weft: System) -> None:
    headers = {"Authorization": f"Bearer {weft.key}"}
    busy: dict[str, int] = {}
    with anyio.fail_after(CALL_S):
        async with (
            silent_site() as silence,
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=CALL_S) as http,
        ):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_ask_for, http, weft, silence.url)
                await silence.asked.wait()
                busy = await _in_flight(http, weft)
                tasks.cancel_scope.cancel()
            await silence.left.wait()
            while await _in_flight(http, weft):
                await anyio.sleep(POLL_S)

    assert busy == {"gateway": 1, "navigator": 1, FETCHER: 1}


async def _ask_for(http: httpx2.AsyncClient, weft: System, url: str) -> None:
    await http.post(f"{weft.ready.rest}/api/browse", json={"url": url})


async def _in_flight(http: httpx2.AsyncClient, weft: System) -> dict[str, int]:
    """Read from the metrics which actors are at work."""
    answer = await http.get(f"{weft.ready.rest}/metrics")
    samples = (sample for family in text_string_to_metric_families(answer.text) for sample in family.samples)
    rows = ((row.labels["actor"], int(row.value)) for row in samples if row.name == "weft_in_flight")
    return {actor: count for actor, count in rows if count}


def _peak_rss_kb(process: Path) -> int:
    lines = (process / "status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
