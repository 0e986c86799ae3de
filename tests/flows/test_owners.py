"""Two keys at one Weft: what belongs to one of them does not exist for the other, unless it is shared."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import msgspec
import pytest

from protocol.faults import Code
from protocol.packets import PROTOCOL_NAME, PROTOCOL_VERSION
from protocol.runs.states import MAX_CONCURRENT_RUNS
from protocol.search import SearchResults
from protocol.tiers import RenderTier
from tests.flows.mcp_clients import connected, text_of
from tests.flows.system import CALL_S, POLL_S, Json, System, refused
from tests.site import Site

pytestmark = pytest.mark.nats

HOST = "127.0.0.1"
BATCH = "batch_extract_pages"
ALL = ["browse", "sessions", "browser", "runs"]
TIERS = [tier.value for tier in RenderTier]


@dataclass(frozen=True)
class Holder:
    """Somebody with a key."""

    id: str
    key: str
    http: httpx2.Client

    def save(self, site: Site, profile: str, value: str = "weaver.1") -> httpx2.Response:
        """Hand a login of the site in."""
        cookie = {"name": "session_id", "value": value, "domain": HOST, "path": "/", "expires": time.time() + 9_000}
        state = {"cookies": [cookie], "origins": []}
        body = {"domain": HOST, "profile": profile, "address": site.url("/account"), "state": state}
        return self.http.post("/api/sessions", json=body)

    def browse(self, url: str, profile: str | None = None, **options: object) -> httpx2.Response:
        """Read a page."""
        more = {} if profile is None else {"sessionProfile": profile}
        return self.http.post("/api/browse", json={"url": url, "options": {**options, **more}}, timeout=CALL_S)

    def listed(self, profile: str) -> list[Json]:
        """List the logins of a profile."""
        answer: list[Json] = self.http.get("/api/sessions", params={"profile": profile}).json()["sessions"]
        return answer

    def share(self, profile: str, key: str, method: str = "POST", **more: str) -> httpx2.Response:
        """Share a login, or no longer."""
        query = {"profile": profile, "with": key, **more}
        return self.http.request(method, f"/api/sessions/{HOST}/share", params=query)

    def run(self, template: str, inputs: Json) -> httpx2.Response:
        """Begin a run and wait for its end."""
        body = {"templateId": template, "inputs": inputs, "options": {"mode": "sync"}}
        return self.http.post("/api/runs", json=body, timeout=CALL_S)


@contextmanager
def holder(weft: System, name: str, scopes: list[str]) -> Generator[Holder]:
    """Make a key for as long as the block lasts."""
    made = weft.http.post("/api/keys", json={"name": name, "scopes": scopes}).json()
    headers = {"Authorization": f"Bearer {made['key']}"}
    with httpx2.Client(base_url=weft.ready.rest, headers=headers, trust_env=False, timeout=CALL_S) as http:
        yield Holder(made["id"], made["key"], http)
    weft.http.delete(f"/api/keys/{made['id']}")


@pytest.fixture(scope="module")
def anna(weft: System) -> Generator[Holder]:
    with holder(weft, "anna", ALL) as one:
        yield one


@pytest.fixture(scope="module")
def bert(weft: System) -> Generator[Holder]:
    with holder(weft, "bert", ALL) as one:
        yield one


def test_the_runs_of_one_key_leave_a_place_to_those_of_another(anna: Holder, bert: Holder, site: Site) -> None:
    inputs = {"urls": [site.url("/slow?ms=60000")]}
    late = {"templateId": BATCH, "inputs": inputs, "options": {"mode": "async"}}
    runs = [anna.http.post("/api/runs", json=late).json()["runId"] for _ in range(MAX_CONCURRENT_RUNS + 1)]

    done = bert.run(BATCH, {"urls": [site.url("/article")]}).json()
    there = [anna.http.get(f"/api/runs/{one}").json()["status"] for one in runs]
    for one in runs:
        anna.http.post(f"/api/runs/{one}/cancel")

    assert done["status"] == "succeeded", done
    assert there.count("running") == MAX_CONCURRENT_RUNS - 1


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
def test_a_login_is_its_owners_alone_in_every_tier(anna: Holder, bert: Holder, site: Site, tier: str) -> None:
    url, profile = site.url("/account"), f"mine-{tier}"
    saved = anna.save(site, profile).json()
    first = anna.browse(url, profile, forceTier=tier, freshnessRequirement="realtime")
    other = bert.browse(url, profile, forceTier=tier, freshnessRequirement="realtime")
    missing = refused(other)

    assert (saved["owner"], first.status_code, first.json()["title"]) == (f"key-{anna.id}", 200, "Your account")
    assert (missing.code, missing.field) == (Code.AUTH_MISSING_SESSION, "options.sessionProfile")
    assert bert.listed(profile) == []
    assert bert.http.delete(f"/api/sessions/{HOST}", params={"profile": profile}).status_code == 404
    assert bert.share(profile, "bert").status_code == 404


def test_nobody_writes_over_the_login_of_another(anna: Holder, bert: Holder, weft: System, site: Site) -> None:
    for who, value in ((anna, "anna.1"), (bert, "bert.1")):
        assert who.save(site, "fixed", value).status_code == 200
    page = anna.browse(site.url("/account"), "fixed", freshnessRequirement="realtime").json()
    forgotten = bert.http.delete(f"/api/sessions/{HOST}", params={"profile": "fixed"}).json()

    assert "anna" in page["content"]["markdown"]
    assert "bert" not in page["content"]["markdown"]
    assert (forgotten["health"], [one["owner"] for one in anna.listed("fixed")]) == ("not_found", [f"key-{anna.id}"])
    assert weft.http.get("/api/sessions", params={"profile": "fixed"}).json()["sessions"] == []


def test_a_login_is_shared_by_grant_and_no_longer(anna: Holder, bert: Holder, site: Site) -> None:
    url = site.url("/account")
    anna.save(site, "ours", "ours.1")
    shared = anna.share("ours", "bert", readOnly="true").json()
    (seen,) = bert.listed("ours")
    page = bert.browse(url, "ours", freshnessRequirement="realtime")
    by_bert = bert.browse(url, "ours", freshnessRequirement="realtime")
    refused_of = [
        bert.http.delete(f"/api/sessions/{HOST}", params={"profile": "ours"}).status_code,
        bert.http.post(f"/api/sessions/{HOST}/refresh", params={"profile": "ours"}).status_code,
        bert.share("ours", "bert").status_code,
    ]
    cookie = site.last("/account").headers.get("cookie", "")
    ended = anna.share("ours", "bert", "DELETE").json()

    assert shared["grants"] == [{"key": f"key-{bert.id}", "readOnly": True}]
    assert (seen["owner"], seen["readOnly"], "grants" in seen) == (f"key-{anna.id}", True, False)
    assert (page.json()["title"], by_bert.json()["title"]) == ("Your account", "Your account")
    assert (refused_of, cookie) == ([404, 404, 404], "session_id=ours.1"), "nothing that bert's page changed was saved"
    assert "grants" not in ended
    assert refused(bert.browse(url, "ours")).code is Code.AUTH_MISSING_SESSION


def test_with_a_key_go_its_logins(bert: Holder, weft: System, site: Site) -> None:
    with holder(weft, "carla", ALL) as carla:
        carla.save(site, "hers")
        carla.share("hers", "bert")
        owners = [one["owner"] for one in bert.listed("hers")]
    until = time.monotonic() + CALL_S
    while bert.listed("hers") and time.monotonic() < until:
        time.sleep(0.02)

    assert (owners, bert.listed("hers")) == ([f"key-{carla.id}"], [])


def test_a_grant_names_a_key_that_there_is(anna: Holder, site: Site) -> None:
    anna.save(site, "lonely")
    error = refused(anna.share("lonely", "nobody-knows"))

    assert (error.code, error.field) == (Code.VALIDATION_INVALID_REQUEST, "with")


@pytest.mark.parametrize("change", ["forget", "import", "refresh"])
def test_what_was_read_with_a_login_before_is_answered_to_nobody(
    anna: Holder, bert: Holder, site: Site, change: str
) -> None:
    url, profile = site.url(f"/fresh?age=600&for={change}"), f"cached-{change}"
    anna.save(site, profile)
    anna.share(profile, "bert")
    first = anna.browse(url, profile).json()
    kept = bert.browse(url, profile).json()
    path, named = f"/api/sessions/{HOST}", {"profile": profile}
    if change == "refresh":
        assert anna.http.post(f"{path}/refresh", params=named, timeout=CALL_S).status_code == 200
    else:
        anna.http.delete(path, params=named)
        anna.save(site, profile, "weaver.1") if change == "import" else None
    again = [who.browse(url, profile) for who in (anna, bert)]

    assert (first["metadata"]["fromCache"], kept["metadata"]["fromCache"]) == (False, True)
    if change == "refresh":
        assert [one.json()["metadata"]["fromCache"] for one in again] == [False, True]
    elif change == "import":
        assert (again[0].json()["metadata"]["fromCache"], refused(again[1]).code) == (False, Code.AUTH_MISSING_SESSION)
    else:
        assert [refused(one).code for one in again] == [Code.AUTH_MISSING_SESSION] * 2


@pytest.mark.slow
def test_a_run_saves_a_login_for_its_caller_and_in_nobodys_name_else(anna: Holder, bert: Holder, site: Site) -> None:
    bert.save(site, "by-run", "bert.1")
    inputs: Json = {
        "startUrl": site.url("/login"),
        "credentials": {"username": "anna", "password": "loom"},
        "profile": "by-run",
    }
    anna.run("login_keep_session", inputs)

    assert [one["owner"] for one in bert.listed("by-run")] == [f"key-{bert.id}"]
    assert bert.browse(site.url("/account"), "by-run").status_code == 200


@pytest.mark.browser
@pytest.mark.slow
async def test_a_browser_session_begins_with_the_login_of_its_caller(
    weft: System, anna: Holder, bert: Holder, site: Site
) -> None:
    anna.save(site, "driven", "anna.1")
    words: list[str] = []
    for who in (anna, bert):
        async with connected(weft, key=who.key) as client:
            begun = await client.call_tool("create_session", {"url": site.url("/account"), "profile": "driven"})
            session = msgspec.convert(begun.structured_content, dict[str, Any])["sessionId"]
            words.append(text_of(await client.call_tool("get_page_content", {"sessionId": session})))
            await client.call_tool("close_session", {"sessionId": session})

    assert ["Hello, anna" in one for one in words] == [True, False]
    assert "Log in" in words[1]
    assert [one["owner"] for one in anna.listed("driven")] == [f"key-{anna.id}"]


def test_a_key_reaches_by_packet_what_rest_gives_it_and_no_more(weft: System) -> None:
    packet: Json = {
        "protocol": {"name": PROTOCOL_NAME, "version": PROTOCOL_VERSION},
        "type": "request",
        "id": "a1",
        "created_at": "2026-01-01T12:00:00Z",
        "conversation": {"id": "loom", "turn": 0},
        "sender": {"role": "agent"},
        "input": {"task": {"name": "session.list", "args": {}}},
    }
    with holder(weft, "operator", ["operate"]) as operator:
        codes = [operator.http.get("/api/sessions").status_code]
        codes.append(operator.http.post("/api/llmcp", json=packet).status_code)

    assert codes == [403, 403]


@pytest.mark.parametrize(
    ("scopes", "template", "missing"),
    [
        (["runs"], "batch_extract_pages", "browse"),
        (["runs", "browse"], "multi_tab_compare", "browser"),
    ],
)
def test_a_run_needs_the_scopes_of_its_steps(
    weft: System, site: Site, scopes: list[str], template: str, missing: str
) -> None:
    with holder(weft, f"runs-{missing}", scopes) as runs:
        answer = runs.run(template, {"urls": [site.url("/article"), site.url("/")]})
        error = refused(answer)

    assert (answer.status_code, error.code, f"scope {missing}" in error.error) == (
        403,
        Code.AUTH_INSUFFICIENT_SCOPE,
        True,
    )


def test_the_command_line_shares_and_shares_no_longer(weft: System, bert: Holder, site: Site) -> None:
    weft.keep_login("typed")
    shared = weft.run("sessions", "share", HOST, "--profile", "typed", "--with", "bert", "--read-only", "--json")
    listed = weft.run("sessions", "list", "--profile", "typed")
    seen = bert.listed("typed")
    ended = weft.run("sessions", "unshare", HOST, "--profile", "typed", "--with", "bert")

    assert shared.returncode == ended.returncode == 0, shared.stderr + ended.stderr
    assert f"key-{bert.id} (read only)" in listed.stdout
    assert ([one["owner"] for one in seen], bert.listed("typed")) == (["owner"], [])


def searched(who: Holder, query: str) -> SearchResults:
    """Search what was captured, kept and read; nothing where there is nothing to search in."""
    answer = who.http.post("/api/search", json={"query": query, "engine": "local"}).json()
    nothing: Json = {"query": query, "engine": "local", "hits": []}
    return msgspec.convert(answer.get("result", {}).get("payload", nothing), SearchResults)


def test_what_was_read_is_found_by_whoever_has_read_it(anna: Holder, bert: Holder, site: Site) -> None:
    query, url = "warp of a loom", site.url("/article")
    assert anna.browse(url).status_code == 200
    anna.save(site, "reader")
    assert anna.browse(site.url("/account"), "reader").status_code == 200
    until = time.monotonic() + CALL_S
    while not (mine := searched(anna, query)).hits:
        assert time.monotonic() < until
        time.sleep(POLL_S)

    assert [hit.url for hit in mine.hits] == [url]
    assert "not the web" in mine.note
    assert searched(bert, query).hits == ()
    assert site.url("/account") not in [hit.url for hit in searched(anna, "your account weaver").hits]
