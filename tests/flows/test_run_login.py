"""Logging in by a template, as a client at this machine does it: over stdio, and what is done with the login then."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from mcp.client.client import Client
from mcp.types import CallToolResult

from protocol.faults import Code
from protocol.tiers import RenderTier
from tests.flows.mcp_clients import connected, text_of
from tests.flows.runs import Runs, wrong
from tests.flows.system import System, refused, weft_up
from tests.requirements import requirement
from tests.site import Site
from tests.site.members import PASSWORD
from tests.support.otlp import Receiver, receiving

pytestmark = [pytest.mark.nats, pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

LOGIN = "login_keep_session"
LIMIT_S = 240.0
USER = "needle-weaver"
STEPS = ["open_login_page", "find_fields", "fill_credentials", "submit", "verify_login"]


@pytest.fixture(scope="module")
def receiver() -> Generator[Receiver]:
    with receiving() as heard:
        yield heard


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Generator[System]:
    """Run a Weft of its own, whose spans are kept."""
    settings = {
        "WEFT_TIER_LEARNING": "false",
        "WEFT_LOG_LEVEL": "debug",
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint,
    }
    with weft_up(tmp_path_factory.mktemp("login"), **settings) as system:
        yield system


def inputs(site: Site, kind: str = "plain", password: str = PASSWORD, **more: object) -> dict[str, object]:
    """Return the inputs of a login."""
    return {
        "startUrl": site.url(f"/members/{kind}/login"),
        "credentials": {"username": USER, "password": password},
        **more,
    }


async def run(client: Client, template: str, given: dict[str, object], **more: object) -> CallToolResult:
    """Run a template to its end."""
    asked: dict[str, Any] = {"templateId": template, "inputs": given, **more}
    result = await client.call_tool("run_task_template", asked)
    assert isinstance(result, CallToolResult)
    return result


def told(result: CallToolResult) -> dict[str, Any]:
    """Read what a tool answers as data."""
    found: dict[str, Any] = result.structured_content or json.loads(text_of(result))
    return found


def behind(weft: System, site: Site, profile: str, tier: RenderTier) -> str:
    """Browse the page behind the login."""
    page = weft.page(
        site.url("/members/plain/home"),
        sessionProfile=profile,
        forceTier=tier.value,
        freshnessRequirement="realtime",
    )
    return page.content.markdown


@requirement("002.3.templates")
async def test_the_template_is_for_this_machine_alone(traced: System, site: Site) -> None:
    async with connected(traced, "stdio", limit_s=LIMIT_S) as client:
        listed = told(await client.call_tool("list_task_templates", {}))
    async with connected(traced, limit_s=LIMIT_S) as remote:
        over_http = await run(remote, LOGIN, inputs(site))
    over_rest = wrong(Runs(traced).ask(LOGIN, inputs(site)))

    (template,) = (one for one in listed["templates"] if one["templateId"] == LOGIN)
    assert (template["trustLevelSupport"], template["supportsPartialSuccess"]) == (["local"], False)
    assert (template["executionMode"], template["steps"]) == ("sync", STEPS)
    assert template["limits"] == {"maxTimeoutMs": 60_000}
    assert over_http.is_error
    assert "TRUST_LEVEL_NOT_ALLOWED" in text_of(over_http)
    assert over_rest.error_code == Code.TRUST_LEVEL_NOT_ALLOWED


@requirement("000.3.refresh-session")
async def test_a_login_is_good_for_tools_for_runs_and_in_every_tier(traced: System, site: Site) -> None:
    home = site.url("/members/plain/home")
    async with connected(traced, "stdio", limit_s=LIMIT_S) as client:
        done = told(await run(client, LOGIN, inputs(site, profile="mill")))
        session = done["result"]["sessionId"]
        there = await client.call_tool("navigate", {"url": home, "sessionId": session})
        urls = [home, site.url("/members/labels/home")]
        compared = told(await run(client, "multi_tab_compare", {"urls": urls}, sessionId=session))
    tiers = {replica["actor"] for replica in traced.replicas()}
    seen = {tier: behind(traced, site, "mill", tier) for tier in RenderTier if f"fetchers.{tier.value}" in tiers}
    async with connected(traced, "stdio", limit_s=LIMIT_S) as client:
        await run(client, LOGIN, inputs(site, profile="unseen"))
        renewed = await client.call_tool("refresh_session", {"domain": site.url("/"), "profile": "unseen"})

    assert not renewed.is_error, text_of(renewed)
    assert done["status"] == "succeeded"
    assert done["progress"] == {"totalSteps": 5, "doneSteps": 5}
    assert done["result"] == {
        "success": True,
        "sessionId": session,
        "finalUrl": home,
        "title": "The mill",
        "loginState": "authenticated",
        "cookiesSaved": 2,
        "profile": "mill",
    }
    assert (there.is_error, "The mill" in str(there.content)) == (False, True)
    assert [one["title"] for one in compared["result"]["snapshots"]] == ["The mill", "The mill"]
    assert len(seen) >= 2
    assert all(f"Hello, {USER}" in words for words in seen.values()), seen


async def test_a_login_that_the_site_ends_has_expired(traced: System, site: Site) -> None:
    home = site.url("/members/plain/home")
    async with connected(traced, "stdio", limit_s=LIMIT_S) as client:
        await run(client, LOGIN, inputs(site, profile="short"))
        before = behind(traced, site, "short", RenderTier.INTELLIGENCE)
        traced.browse(site.url(f"/members/end?user={USER}"), freshnessRequirement="realtime")
        ended = refused(traced.browse(home, sessionProfile="short", freshnessRequirement="realtime"))
        await run(client, LOGIN, inputs(site, profile="short"))
        after = behind(traced, site, "short", RenderTier.INTELLIGENCE)

    assert ended.code is Code.AUTH_SESSION_EXPIRED
    assert f"Hello, {USER}" in before
    assert f"Hello, {USER}" in after


@requirement("002.12.login")
@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"password": "not it"}, ("verify_login", "EXECUTION_ERROR")),
        ({"fields": {"usernameQuery": "zebra quux"}}, ("find_fields", "TPL_LOGIN_FIELD_NOT_FOUND")),
        ({"startUrl": "http://127.0.0.1:9/"}, ("open_login_page", "INVALID_PARAMETER")),
    ],
    ids=["password", "field", "address"],
)
async def test_a_failure_names_its_step_and_its_code(
    traced: System, site: Site, more: dict[str, Any], where: tuple[str, str]
) -> None:
    async with connected(traced, "stdio", limit_s=LIMIT_S) as client:
        failed = told(await run(client, LOGIN, {**inputs(site), **_given(more)}))

    assert (failed["status"], failed["errorCode"]) == ("failed", "STEP_EXECUTION_FAILED")
    assert failed["details"] == {"runId": failed["runId"], "failedStep": where[0], "stepErrorCode": where[1]}


def _given(more: dict[str, Any]) -> dict[str, Any]:
    if "password" not in more:
        return more
    return {"credentials": {"username": USER, "password": more["password"]}}


async def test_credentials_are_needed_and_not_quoted(traced: System, site: Site) -> None:
    async with connected(traced, "stdio", limit_s=LIMIT_S) as client:
        without = await run(client, LOGIN, {"startUrl": site.url("/members/plain/login")})
        half = await run(client, LOGIN, {**inputs(site), "credentials": {"password": PASSWORD, "usernam": "x"}})

    assert (without.is_error, half.is_error) == (True, True)
    assert "inputs.credentials" in text_of(without)
    assert "INVALID_PARAMETER" in text_of(without) + text_of(half)
    assert PASSWORD not in text_of(half)


async def test_nothing_of_the_credentials_is_kept_logged_or_traced(
    traced: System, site: Site, receiver: Receiver
) -> None:
    async with connected(traced, "stdio", limit_s=LIMIT_S) as client:
        done = told(await run(client, LOGIN, inputs(site, "script")))
        failed = told(await run(client, LOGIN, inputs(site, password="haystack & needle/9")))
    runs = [await _shown(traced, one["runId"]) for one in (done, failed)]

    assert done["status"] == "succeeded"
    files = [path for path in traced.data_dir.rglob("*") if path.is_file()]
    everything = [*(path.read_bytes() for path in [*files, traced.log]), *receiver.bodies, *runs]
    assert any("JOURNAL_ledger" in str(path) for path in files)
    assert receiver.bodies
    for secret in (PASSWORD, "haystack & needle/9"):
        for form in {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}:
            assert not [part for part in everything if form.encode() in part]


async def _shown(weft: System, run_id: str) -> bytes:
    async with connected(weft, "stdio", limit_s=LIMIT_S) as client:
        return str(await client.call_tool("get_task_run", {"runId": run_id})).encode()


def test_the_command_line_logs_in(traced: System, site: Site, tmp_path: Path) -> None:
    given = tmp_path / "login.json"
    given.write_text(json.dumps(inputs(site, profile="typed")))
    done = traced.run("run", LOGIN, "--input", str(given), "--json")

    assert done.returncode == 0, done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    assert f"Hello, {USER}" in behind(traced, site, "typed", RenderTier.INTELLIGENCE)


@pytest.mark.full
def test_a_refused_login_is_resumed_with_the_right_words(traced: System, site: Site, tmp_path: Path) -> None:
    given, right = tmp_path / "login.json", tmp_path / "right.json"
    given.write_text(json.dumps(inputs(site, password="not-it", profile="again")))
    right.write_text(json.dumps({"credentials": inputs(site)["credentials"]}))
    refused = json.loads(traced.run("run", LOGIN, "--input", str(given), "--json").stdout)
    resumed = traced.run("runs", "resume", refused["runId"], "--input", str(right), "--json")

    assert refused["status"] == "failed"
    assert resumed.returncode == 0, resumed.stderr
    after = json.loads(resumed.stdout)
    assert (after["resumedFrom"], after["sessionId"]) == (refused["runId"], refused["sessionId"])
    assert f"Hello, {USER}" in behind(traced, site, "again", RenderTier.INTELLIGENCE)
