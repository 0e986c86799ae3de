"""The template `batch_extract_pages` with real fetchers: who gets which page, and how often a site is asked."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from urllib.parse import quote

import pytest

from actors.actor import Actor
from actors.runner.templates import batch_extract_pages
from protocol.browsers.operations import SESSION_PREFIX, CreateSession
from protocol.faults import Code, FaultError
from protocol.runs.states import RunStatus
from tests.integration.lightweight.pages import needs_engine
from tests.integration.templates.reading_system import ALL, IN_BROWSER, STATIC, Running, running
from tests.requirements import requirement
from tests.support.scale import first

pytestmark = pytest.mark.full

BATCH = "batch_extract_pages"
SOON_MS = 500
WORDS = "The shuttle carries the weft from one side of the loom to the other. " * 12
SCRIPTED = quote(
    "<!doctype html><html lang=en><head><title>Shell</title></head><body><div id=root></div><script>"
    f"document.getElementById('root').innerHTML = '<main><h1>Drawn</h1><p>{WORDS}</p></main>'</script></body></html>"
)

ASKING = f"/asked?body={quote('<title>Asks</title><main><p>Mind</p></main><script>alert(1); confirm(2)</script>')}"


@requirement("002.12.batch")
async def test_static_pages_cost_no_browser_and_failures_end_no_run() -> None:
    async with running(STATIC) as here:
        site = here.site
        urls = [site.url("/article"), site.url("/status/404"), "not an address", site.url("/table?rows=3")]
        ended = await here.run(BATCH, {"urls": [*urls, site.url("/article")]})
        told = await here.whole(ended)

        assert ended.status is RunStatus.PARTIAL_SUCCESS
        assert told["summary"] == {"total": 5, "succeeded": 3, "failed": 2, "byTier": {"intelligence": 3}}
        assert [item["url"] for item in told["items"][:4]] == urls
        errors = {item["index"]: item["error"] for item in told["items"] if not item["success"]}
        assert [(error["code"], error["errorCode"]) for error in errors.values()] == [
            ("HTTP_NOT_FOUND", "EXECUTION_ERROR"),
            ("VALIDATION_INVALID_REQUEST", "INVALID_PARAMETER"),
        ]
        assert {error["failedStep"] for error in errors.values()} == {"navigate"}
        assert ended.result == told


@requirement("002.6.partial")
@pytest.mark.slow
async def test_a_batch_in_which_nothing_can_be_read_fails_with_its_result() -> None:
    async with running(STATIC) as here:
        ended = await here.run(BATCH, {"urls": [here.site.url("/status/500")]})

        assert (ended.status, ended.step_code) == (RunStatus.FAILED, "EXECUTION_ERROR")
        assert ended.result["items"][0]["error"]["code"] == "HTTP_SERVER_ERROR"


@pytest.mark.browser
@pytest.mark.slow
async def test_only_a_page_of_scripts_costs_a_browser() -> None:
    async with running(IN_BROWSER) as here:
        shell = here.site.url(f"/asked?body={SCRIPTED}")
        told = await here.whole(await here.run(BATCH, {"urls": [here.site.url("/article"), shell]}))

        assert [item["tier"] for item in told["items"]] == ["intelligence", "playwright"]
        assert WORDS[:60] in told["items"][1]["content"]
        assert await here.sessions(0) == ()


@pytest.mark.full
@pytest.mark.browser
@pytest.mark.slow
async def test_in_a_session_of_the_caller_pages_are_read_in_tabs_that_are_closed() -> None:
    async with running(IN_BROWSER) as here:
        session = SESSION_PREFIX + secrets.token_urlsafe(16)
        await here.do(CreateSession(session_id=session))
        before = await here.tabs(session)
        urls = [here.site.url(path) for path in ("/article", "/status/404", "/hangup", "/login", ASKING)]
        ended = await here.run(BATCH, {"urls": urls}, session)
        items = (await here.whole(ended))["items"]
        after = await here.tabs(session)

        assert (before, after, ended.status) == (after, before, RunStatus.PARTIAL_SUCCESS)
        assert [item["success"] for item in items] == [True, False, False, True, True]
        assert (items[0]["tier"], items[0]["title"]) == ("playwright", "How a loom is warped | Weaving Notes")
        assert items[0]["contentSections"][0]["attention"] > 0
        assert items[0]["elementCount"] == len(items[0]["pageInfo"]["elements"]) > 0
        assert items[3]["pageType"] == "login"
        assert (items[1]["error"]["code"], items[1]["error"]["failedStep"]) == ("HTTP_NOT_FOUND", "navigate")


# -- how often a site is asked -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", first(1, ["/hangup", "/garbage"]))
@pytest.mark.parametrize("kinds", [STATIC, pytest.param(ALL, marks=[pytest.mark.browser, needs_engine])])
@pytest.mark.slow
async def test_each_tier_asks_a_site_that_breaks_off_once(kinds: Sequence[type[Actor]], path: str) -> None:
    tiers = 3 if kinds is ALL else 1
    async with running(kinds) as here:
        url = here.site.url(path)
        ended = await here.run(BATCH, {"urls": [url]})
        by_run = here.site.hits[path]
        code = await _code(here, url)
        beside = here.site.hits[path] - by_run

        assert ended.result["items"][0]["error"]["code"] == code == Code.NETWORK_CONNECTION_FAILED
        # Where nobody stands behind it who tries again, each tier does so by itself.
        assert (by_run, beside) == (tiers, 2 * tiers)


@requirement("002.7.tool-errors")
async def test_an_item_that_comes_too_late_is_asked_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_extract_pages, "DEFAULT_LATENCY_MS", SOON_MS)
    async with running(STATIC) as here:
        ended = await here.run(BATCH, {"urls": [here.site.url("/slow?ms=60000"), here.site.url("/hangup")]})
        steps = await here.steps(ended)

        assert [item["error"]["errorCode"] for item in ended.result["items"]] == [
            "NAVIGATION_TIMEOUT",
            "EXECUTION_ERROR",
        ]
        assert [steps[index].tries for index in range(2)] == [2, 1]
        assert (here.site.hits["/slow"], here.site.hits["/hangup"]) == (2, 1)


async def _code(here: Running, url: str) -> Code:
    with pytest.raises(FaultError) as caught:
        await here.browse(url)
    return caught.value.fault.code
