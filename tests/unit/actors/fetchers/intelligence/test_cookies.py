"""Cookies stay with their session, and there are not too many of them."""

from __future__ import annotations

import httpx2

from actors.fetchers.intelligence.cookies import Jars, refusing_jar


def answer(*cookies: str, url: str = "http://www.site.co.uk/") -> httpx2.Response:
    headers = [("Set-Cookie", cookie) for cookie in cookies]
    return httpx2.Response(200, headers=headers, request=httpx2.Request("GET", url))


def test_the_session_used_longest_ago_is_forgotten() -> None:
    jars = Jars(max_sessions=2)
    for session in ("a", "b", "a", "c"):
        jars.of(session).extract_cookies(answer(f"from={session}"))

    assert [dict(jars.of(session)) for session in ("c", "a", "b")] == [{"from": "c"}, {"from": "a"}, {}]


def test_no_session_keeps_nothing() -> None:
    jars = Jars()
    jars.of(None).extract_cookies(answer("a=1"))

    assert dict(jars.of(None)) == {}


def test_a_jar_forgets_its_oldest_cookie() -> None:
    jar = Jars().of("a")
    jar.extract_cookies(answer(*(f"c{number}={number}" for number in range(310))))

    assert (len(jar), jar.get("c0"), jar.get("c309")) == (300, None, "309")


def test_no_cookie_for_a_whole_country() -> None:
    jar = Jars().of("a")
    jar.extract_cookies(answer("wide=1; Domain=co.uk", "own=1; Domain=site.co.uk"))

    assert dict(jar) == {"own": "1"}


def test_the_refusing_jar_takes_none() -> None:
    cookies = httpx2.Cookies(refusing_jar())
    cookies.extract_cookies(answer("a=1"))

    assert dict(cookies) == {}
