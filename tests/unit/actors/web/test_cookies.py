"""Cookies stay with their session, and there are not too many of them."""

from __future__ import annotations

import httpx2
import pytest

from actors.web.cookies import Jar, refusing_jar
from protocol.sessions import Cookie


def answer(*cookies: str, url: str = "http://www.site.co.uk/") -> httpx2.Response:
    headers = [("Set-Cookie", cookie) for cookie in cookies]
    return httpx2.Response(200, headers=headers, request=httpx2.Request("GET", url))


def test_a_jar_forgets_its_oldest_cookie() -> None:
    jar = Jar()
    jar.extract_cookies(answer(*(f"c{number}={number}" for number in range(310))))

    assert (len(jar), jar.get("c0"), jar.get("c309")) == (300, None, "309")


def test_no_cookie_for_a_whole_country() -> None:
    jar = Jar()
    jar.extract_cookies(answer("wide=1; Domain=co.uk", "own=1; Domain=site.co.uk"))

    assert dict(jar) == {"own": "1"}


def test_what_is_exported_can_be_loaded() -> None:
    jar = Jar()
    jar.extract_cookies(answer("own=1; HttpOnly; SameSite=Lax; Path=/a", "wide=2; Domain=site.co.uk; Max-Age=60"))
    other = Jar()
    other.load(jar.export())

    assert other.export() == jar.export()
    assert [(c.name, c.domain, c.host_only, c.http_only, c.same_site) for c in jar.export()] == [
        ("own", "www.site.co.uk", True, True, "Lax"),
        ("wide", "site.co.uk", False, False, None),
    ]
    assert [cookie.name for cookie in other.export("http://site.co.uk/")] == ["wide"]


def test_the_refusing_jar_takes_none() -> None:
    cookies = httpx2.Cookies(refusing_jar())
    cookies.extract_cookies(answer("a=1"))

    assert dict(cookies) == {}


@pytest.mark.parametrize(
    ("path", "url", "sent"),
    [
        ("/", "https://example.com/a", True),
        ("/a", "https://example.com/a", True),
        ("/a", "https://example.com/a/b", True),
        ("/a/", "https://example.com/a/b", True),
        ("/a", "https://example.com/ab", False),
    ],
)
def test_a_cookie_of_a_path_goes_below_it_alone(path: str, url: str, *, sent: bool) -> None:
    jar = Jar()
    jar.load([Cookie(name="a", value="1", domain="example.com", path=path)])

    assert bool(jar.export(url)) is sent


def test_of_too_many_cookies_the_oldest_are_forgotten() -> None:
    jar = Jar()
    jar.load(Cookie(name=f"c{number}", value="", domain="example.com") for number in range(310))
    jar.load([Cookie(name="new", value="", domain="example.com")])

    names = [cookie.name for cookie in jar.export()]
    assert (len(names), names[0], names[-1]) == (300, "c11", "new")
