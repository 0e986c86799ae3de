"""Saved logins from outside: handed in, used by every tier, renewed, expired and forgotten."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from msgspec import UNSET

from protocol.faults import Code
from tests.flows.system import Json, System, refused
from tests.site import Site

pytestmark = pytest.mark.nats

HOST = "127.0.0.1"
WITHIN_S = 90.0


def state(value: str = "weaver.1", for_s: float = 200_000) -> Json:
    cookie = {"name": "session_id", "value": value, "domain": HOST, "path": "/", "expires": time.time() + for_s}
    return {"cookies": [cookie], "origins": []}


def save(weft: System, site: Site, profile: str, **more: object) -> Json:
    """Hand a login of the site in."""
    body = {"domain": HOST, "profile": profile, "address": site.url("/account"), "state": state(), **more}
    answer = weft.http.post("/api/sessions", json=body)
    assert answer.status_code == 200, answer.text
    told: Json = answer.json()
    return told


def health(weft: System, profile: str) -> object:
    """Ask how a login stands."""
    return weft.http.get(f"/api/sessions/{HOST}", params={"profile": profile}).json()["health"]


def cookie_of(site: Site) -> str:
    """Return the login that the site was shown last."""
    return site.last("/account").headers.get("cookie", "")


def test_a_login_that_was_handed_in_opens_the_page(weft: System, site: Site) -> None:
    without = refused(weft.browse(site.url("/account")))
    told = save(weft, site, "handed")
    page = weft.page(site.url("/account"), sessionProfile="handed", freshnessRequirement="realtime")
    again = weft.page(site.url("/account"), sessionProfile="handed", freshnessRequirement="realtime")

    assert without.code is Code.AUTH_MISSING_SESSION
    assert (told["domain"], told["profile"], told["health"], told["authCookies"]) == (
        HOST,
        "handed",
        "healthy",
        ["session_id"],
    )
    assert (page.title, again.title) == ("Your account", "Your account")
    assert cookie_of(site) == "session_id=weaver.2"


def test_what_a_site_changes_of_a_login_while_browsing_is_kept(weft: System, site: Site) -> None:
    save(weft, site, "begun")
    weft.page(site.url("/account/login?user=smith"), sessionProfile="begun")

    assert health(weft, "begun") == "healthy"
    assert "Hello, smith" in weft.page(site.url("/account"), sessionProfile="begun").content.markdown


@pytest.mark.parametrize("path", ["/article", "/account"])
def test_a_profile_that_is_not_saved_is_missing_on_public_pages_too(weft: System, site: Site, path: str) -> None:
    save(weft, site, "known")
    error = refused(weft.browse(site.url(path), sessionProfile="unknown"))
    wall = refused(weft.browse(site.url("/account")))
    first = wall.recommended_actions[0]
    body = weft.http.post("/api/browse", json=first.parameters)

    assert (error.code, error.field) == (Code.AUTH_MISSING_SESSION, "options.sessionProfile")
    assert "known" in error.error
    assert (wall.code, wall.retryable, first.action) == (Code.AUTH_MISSING_SESSION, True, "use_saved_session")
    assert body.json()["title"] == "Your account"


def test_a_login_of_another_port_without_tls_is_renewed_there(weft: System, site: Site) -> None:
    save(weft, site, "ported", domain=site.url("/"), address="")
    bare = weft.http.post(f"/api/sessions/{HOST}/refresh", params={"profile": "ported"})

    assert (bare.status_code, bare.json()["health"]) == (200, "healthy")


def test_a_login_is_renewed_and_its_end_is_told(weft: System, site: Site) -> None:
    save(weft, site, "renewed", state=state(for_s=3_600))
    before = health(weft, "renewed")
    answer = weft.http.post(f"/api/sessions/{HOST}/refresh", params={"profile": "renewed"})

    assert (before, answer.status_code, answer.json()["health"]) == ("expiring_soon", 200, "healthy")
    assert answer.json()["verified"] > 0


def test_a_login_that_the_site_no_longer_takes_has_expired(weft: System, site: Site) -> None:
    save(weft, site, "gone")
    weft.browse(site.url("/account/logout"), sessionProfile="gone")
    wall = refused(weft.browse(site.url("/account"), sessionProfile="gone", freshnessRequirement="realtime"))
    until = time.monotonic() + WITHIN_S
    while (found := health(weft, "gone")) != "expired" and time.monotonic() < until:
        time.sleep(0.02)

    assert (wall.code, found) == (Code.AUTH_SESSION_EXPIRED, "expired")
    action = next(action for action in wall.recommended_actions if action.action == "refresh_session")
    assert (action.tool_to_use, action.parameters) == ("refresh_session", {"domain": HOST, "profile": "gone"})
    assert action.request == f"POST /api/sessions/{HOST}/refresh?profile=gone"
    again = refused(weft.http.post(f"/api/sessions/{HOST}/refresh", params={"profile": "gone"}, timeout=90))
    assert (again.code, again.recommended_actions[0].action) == (Code.AUTH_SESSION_EXPIRED, "log_in")
    assert (again.retryable, again.recommended_actions[-1].action) == (False, "report_to_user")


def test_a_login_is_listed_without_its_values_and_forgotten(weft: System, site: Site) -> None:
    save(weft, site, "listed")
    shown = weft.http.get("/api/sessions", params={"profile": "listed"})
    path, named = f"/api/sessions/{HOST}", {"profile": "listed"}
    deleted = weft.http.delete(path, params=named)

    assert [one["profile"] for one in shown.json()["sessions"]] == ["listed"]
    assert "weaver" not in shown.text
    assert (deleted.json()["health"], health(weft, "listed")) == ("not_found", "not_found")
    assert weft.http.delete(path, params=named).status_code == 404
    assert refused(weft.browse(site.url("/account"), sessionProfile="listed")).code is Code.AUTH_MISSING_SESSION


def test_what_is_handed_in_has_to_be_of_use(weft: System) -> None:
    error = refused(weft.http.post("/api/sessions", json={"domain": "example.com", "state": state()}))

    assert (error.code, error.field) == (Code.VALIDATION_INVALID_REQUEST, "state")


def test_nothing_of_a_login_lies_in_the_open(weft: System, site: Site) -> None:
    save(weft, site, "sealed", state=state("needle-in-a-haystack.1"))
    weft.page(site.url("/account"), sessionProfile="sealed")

    files = [path for path in weft.data_dir.rglob("*") if path.is_file()]
    assert any("KV_sessions" in str(path) for path in files)
    assert not [path for path in [*files, weft.log] if b"needle-in-a-haystack" in path.read_bytes()]


@pytest.mark.slow
def test_the_command_line_imports_lists_renews_and_forgets(weft: System, site: Site, tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text(json.dumps(state()))
    named = (HOST, "--profile", "typed")
    imported = weft.run("sessions", "import", str(file), *named, "--address", site.url("/account"))
    listed = weft.run("sessions", "list", "--profile", "typed", "--json")
    renewed = weft.run("sessions", "refresh", *named)
    deleted = weft.run("sessions", "delete", *named)
    again = weft.run("sessions", "delete", *named)

    assert (imported.returncode, imported.stderr) == (0, "")
    assert [(one["domain"], one["health"]) for one in json.loads(listed.stdout)] == [(HOST, "healthy")]
    assert (renewed.returncode, "healthy" in renewed.stdout) == (0, True)
    assert (deleted.returncode, "not_found" in deleted.stdout) == (0, True)
    assert (again.returncode, "[AUTH_MISSING_SESSION]" in again.stderr) == (1, True)


@pytest.mark.browser
@pytest.mark.parametrize("tier", ["lightweight", "playwright"])
@pytest.mark.slow
def test_every_tier_uses_the_same_login(weft: System, site: Site, tier: str) -> None:
    if not any(replica["actor"] == f"fetchers.{tier}" for replica in weft.replicas()):
        pytest.skip(f"no {tier} tier on this machine")
    profile = f"same-{tier}"
    save(weft, site, profile)
    options = {"sessionProfile": profile, "freshnessRequirement": "realtime"}
    first = weft.page(site.url("/account"), forceTier="intelligence", **options)
    second = weft.page(site.url("/account"), forceTier=tier, **options)
    third = weft.page(site.url("/account"), forceTier="intelligence", **options)
    fourth = weft.page(site.url("/account"), forceTier=tier, **options)

    assert {page.title for page in (first, second, third, fourth)} == {"Your account"}
    assert cookie_of(site) == "session_id=weaver.4"
    assert "Visits kept here: 1." in second.content.markdown
    assert "Visits kept here: 2." in fourth.content.markdown
    assert second.metadata.from_cache is False
    assert third.content.html is UNSET
