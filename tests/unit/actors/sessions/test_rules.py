"""How a login stands, row by row."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from actors.sessions import rules
from protocol.faults import Code
from protocol.pages import PageBrowsed
from protocol.sessions import Cookie, OriginStorage, SavedSession, SessionHealth, SessionState, SessionStatus

HOUR, DAY = 3_600_000, 24 * 3_600_000
NOW = 1_800_000_000_000
WALL = "https://www.example.com/account"


def cookie(name: str = "session_id", in_ms: int | None = None, domain: str = "example.com") -> Cookie:
    return Cookie(name=name, value="v", domain=domain, expires=None if in_ms is None else (NOW + in_ms) / 1000)


def saved(*cookies: Cookie, used_ago: int = 0, **more: object) -> SavedSession:
    one = SavedSession(
        profile="p",
        domain="example.com",
        state=SessionState(cookies=cookies),
        created=NOW - 90 * DAY,
        used=NOW - used_ago,
    )
    return replace(one, **more)


@pytest.mark.parametrize(
    ("login", "health"),
    [
        (None, SessionHealth.NOT_FOUND),
        (SavedSession(profile="p", domain="example.com"), SessionHealth.NOT_FOUND),
        (saved(), SessionHealth.HEALTHY),
        (saved(cookie()), SessionHealth.HEALTHY),
        (saved(cookie(in_ms=DAY)), SessionHealth.HEALTHY),
        (saved(cookie(in_ms=DAY - 1)), SessionHealth.EXPIRING_SOON),
        (saved(cookie(), cookie("token", HOUR)), SessionHealth.EXPIRING_SOON),
        (saved(cookie("theme", HOUR)), SessionHealth.HEALTHY),
        (saved(cookie("csrf_token", HOUR)), SessionHealth.HEALTHY),
        (saved(cookie("_ga", HOUR)), SessionHealth.HEALTHY),
        (saved(cookie("sid", HOUR, "www.example.com")), SessionHealth.EXPIRING_SOON),
        (saved(cookie("sid", HOUR, "tracker.test")), SessionHealth.HEALTHY),
        (saved(cookie(in_ms=-1)), SessionHealth.EXPIRED),
        (saved(cookie(in_ms=0)), SessionHealth.EXPIRED),
        (saved(cookie(in_ms=-1), cookie("token", 2 * DAY)), SessionHealth.HEALTHY),
        (saved(cookie("theme", -1)), SessionHealth.HEALTHY),
        (saved(cookie(), expired=NOW - HOUR), SessionHealth.EXPIRED),
        (saved(cookie(), used_ago=30 * DAY), SessionHealth.STALE),
        (saved(cookie(), used_ago=30 * DAY - 1), SessionHealth.HEALTHY),
        (saved(used_ago=31 * DAY), SessionHealth.STALE),
        (saved(cookie(in_ms=HOUR), used_ago=31 * DAY), SessionHealth.EXPIRING_SOON),
        (saved(cookie(in_ms=-1), used_ago=31 * DAY), SessionHealth.EXPIRED),
    ],
)
def test_how_a_login_stands(login: SavedSession | None, health: SessionHealth) -> None:
    assert rules.health(login, NOW) is health


@pytest.mark.parametrize(
    ("name", "so"),
    [
        ("PHPSESSID", True),
        ("JSESSIONID", True),
        ("ASP.NET_SessionId", True),
        ("connect.sid", True),
        ("sid", True),
        ("SID", True),
        ("__Host-session", True),
        ("access_token", True),
        ("remember_me", True),
        ("wordpress_logged_in_0a1b", True),
        ("user_session", True),
        ("li_at", True),
        ("c_user", True),
        (".AspNet.ApplicationCookie.Auth", True),
        ("XSRF-TOKEN", False),
        ("csrftoken", False),
        ("_ga", False),
        ("__cf_bm", False),
        ("cf_clearance", False),
        ("OptanonConsent", False),
        ("theme", False),
        ("lang", False),
        ("cart", False),
        ("bm_sv", False),
        ("AWSALB", False),
        ("visitor_token", False),
    ],
)
def test_which_cookies_look_like_a_login(name: str, *, so: bool) -> None:
    assert rules.looks_like_login(name) is so


def test_the_status_tells_names_and_times_and_no_value() -> None:
    login = saved(cookie(in_ms=2 * DAY), cookie("token", 3 * DAY), cookie("theme"), address=WALL, verified=NOW)

    status = rules.status(login, NOW)

    assert status == SessionStatus(
        domain="example.com",
        profile="p",
        health=SessionHealth.HEALTHY,
        cookies=3,
        auth_cookies=("session_id", "token"),
        expires=NOW + 2 * DAY,
        address=WALL,
        created=login.created,
        used=NOW,
        verified=NOW,
    )


def test_a_wall_marks_the_login_and_the_same_page_without_it_clears_the_mark() -> None:
    marked = rules.after_browse(saved(), _seen(code=Code.AUTH_SESSION_EXPIRED), NOW)
    again = rules.after_browse(marked, _seen(code=Code.AUTH_SESSION_EXPIRED), NOW + 5)
    elsewhere = rules.after_browse(marked, _seen("https://www.example.com/"), NOW + 9)
    cleared = rules.after_browse(marked, _seen(), NOW + 9)

    assert (marked.expired, marked.wall, again) == (NOW, WALL, marked)
    assert elsewhere == replace(marked, origin="https://www.example.com")
    assert (cleared.expired, cleared.wall, cleared.verified) == (0, "", NOW + 9)


def test_the_page_that_shows_whether_one_is_logged_in_clears_the_mark_too() -> None:
    marked = saved(expired=NOW, wall="https://www.example.com/other", address=f"{WALL}?tab=1")

    assert rules.after_browse(marked, _seen(), NOW).expired == 0


@pytest.mark.parametrize("code", [Code.NETWORK_TIMEOUT, Code.HTTP_NOT_FOUND, Code.INTERNAL_CANCELLED])
def test_a_page_that_was_not_got_says_nothing(code: Code) -> None:
    marked = saved(expired=NOW, wall=WALL)

    assert rules.after_browse(marked, _seen(code=code), NOW) == marked


@pytest.mark.parametrize(
    ("login", "url"),
    [
        (saved(address="https://example.com/me", wall=WALL), ["https://example.com/me"]),
        (saved(wall=WALL, origin="http://example.com:8080"), [WALL]),
        (saved(origin="http://example.com:8080"), ["http://example.com:8080/"]),
        (saved(origin="http://elsewhere.test"), ["https://example.com/", "http://example.com/"]),
        (saved(), ["https://example.com/", "http://example.com/"]),
        (saved(replace(cookie(), secure=True)), ["https://example.com/"]),
    ],
)
def test_what_is_visited_to_renew_a_login(login: SavedSession, url: list[str]) -> None:
    assert list(rules.to_visit(login)) == url


def test_a_state_belongs_to_the_sites_of_its_cookies_and_origins() -> None:
    state = SessionState(
        cookies=(cookie(domain="www.example.com"),), origins=(OriginStorage(origin="https://app.other.test:8443"),)
    )

    assert [rules.belongs(state, domain) for domain in ("example.com", "other.test", "ample.com")] == [
        True,
        True,
        False,
    ]


def _seen(url: str = WALL, code: Code | None = None) -> PageBrowsed:
    return PageBrowsed(url=url, duration_ms=1, code=code, profile="p")
