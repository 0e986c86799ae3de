"""The same-origin policy, case by case."""

from __future__ import annotations

import pytest

from actors.fetchers.lightweight import origins


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://weft.example/a?b#c", "http://weft.example"),
        ("http://weft.example:80/", "http://weft.example"),
        ("https://weft.example:443/", "https://weft.example"),
        ("https://weft.example:8443/", "https://weft.example:8443"),
        ("https://WEFT.example/", "https://weft.example"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("http://user:pw@weft.example/", "http://weft.example"),
        ("file:///etc/passwd", "null"),
        ("data:text/html,x", "null"),
        ("about:blank", "null"),
        ("blob:https://weft.example/1", "null"),
        ("http:///", "null"),
        ("http://weft.example:port/", "null"),
        ("", "null"),
    ],
)
def test_the_origin_of_an_address(url: str, origin: str) -> None:
    assert origins.origin(url) == origin


def test_what_is_opaque_is_not_even_its_own() -> None:
    assert origins.same_origin("http://a.example", "http://a.example")
    assert not origins.same_origin("http://a.example", "https://a.example")
    assert not origins.same_origin(origins.OPAQUE, origins.OPAQUE)


@pytest.mark.parametrize(
    ("domain", "own", "within"),
    [
        ("weft.example", "weft.example", True),
        ("api.weft.example", "weft.example", True),
        ("evilweft.example", "weft.example", False),
        ("weft.example", "api.weft.example", False),
        ("", "", False),
    ],
)
def test_the_cookies_of_a_site(domain: str, own: str, *, within: bool) -> None:
    assert origins.of_site(domain, own) is within


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.loom.co.uk/a", "loom.co.uk"),
        ("https://a.github.io/", "a.github.io"),
        ("http://127.0.0.1:8080/", "127.0.0.1"),
        ("http://localhost/", "localhost"),
        ("data:text/html,x", ""),
    ],
)
def test_the_site_of_an_address(url: str, site: str) -> None:
    assert origins.site(url) == site


@pytest.mark.parametrize(
    ("document", "target", "referrer"),
    [
        ("http://a.example/page?q#part", "http://a.example/data", "http://a.example/page?q"),
        ("http://me:pw@a.example/page", "http://a.example/data", "http://a.example/page"),
        ("http://a.example/page?q", "http://b.example/", "http://a.example/"),
        ("https://a.example/page", "http://b.example/", ""),
        ("https://a.example/page", "http://a.example/", ""),
        ("", "http://b.example/", ""),
    ],
)
def test_who_is_named_as_asking(document: str, target: str, referrer: str) -> None:
    assert origins.referrer(document, target) == referrer


def test_a_script_may_not_speak_for_the_client() -> None:
    asked = {"Cookie": "a", "Host": "b", "Sec-Fetch-Mode": "c", "Proxy-Auth": "d", "X-Loom": "e", "Accept": "f"}
    asked |= {"Origin": "g", "User-Agent": "h", "Content-Length": "1", "Authorization": "i"}

    assert origins.sendable(asked) == (("X-Loom", "e"), ("Accept", "f"), ("Authorization", "i"))


FORM = ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
JSON = ("Content-Type", "application/json")


@pytest.mark.parametrize(
    ("method", "headers", "first"),
    [
        ("GET", (), None),
        ("HEAD", (("Accept", "a"), ("Accept-Language", "en"), ("Content-Language", "en")), None),
        ("POST", (FORM,), None),
        ("POST", (JSON,), {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}),
        ("PUT", (), {"Access-Control-Request-Method": "PUT"}),
        (
            "GET",
            (("X-Loom", "1"), ("Authorization", "a")),
            {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization,x-loom"},
        ),
        (
            "GET",
            (("Accept", "a" * 129),),
            {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "accept"},
        ),
    ],
)
def test_what_is_asked_for_first(
    method: str, headers: tuple[tuple[str, str], ...], first: dict[str, str] | None
) -> None:
    found = origins.preflight(method, headers, "http://a.example")

    assert (found and dict(found)) == (first and {"Origin": "http://a.example", **first})


@pytest.mark.parametrize(
    ("status", "answer", "method", "headers", "permitted"),
    [
        (204, {"allow-origin": "*", "allow-methods": "PUT, DELETE"}, "PUT", (), True),
        (200, {"allow-origin": "http://a.example", "allow-methods": "*"}, "PUT", (), True),
        (404, {"allow-origin": "*", "allow-methods": "*"}, "PUT", (), False),
        (200, {"allow-methods": "*"}, "PUT", (), False),
        (200, {"allow-origin": "*"}, "PUT", (), False),
        (200, {"allow-origin": "*", "allow-methods": "put"}, "PUT", (), False),
        (200, {"allow-origin": "*", "allow-headers": "X-LOOM"}, "GET", (("x-loom", "1"),), True),
        (200, {"allow-origin": "*", "allow-headers": "*"}, "GET", (("x-loom", "1"),), True),
        (200, {"allow-origin": "*", "allow-headers": "*"}, "GET", (("authorization", "1"),), False),
        (200, {"allow-origin": "*", "allow-headers": "authorization"}, "GET", (("authorization", "1"),), True),
        (200, {"allow-origin": "*"}, "POST", (JSON,), False),
    ],
)
def test_what_a_preflight_permits(
    status: int, answer: dict[str, str], method: str, headers: tuple[tuple[str, str], ...], *, permitted: bool
) -> None:
    said = {f"access-control-{name}": value for name, value in answer.items()}

    assert origins.permits(status, said, method, headers, "http://a.example") is permitted


@pytest.mark.parametrize(
    ("allowed", "readable"),
    [("*", True), ("http://a.example", True), ("http://b.example", False), ("null", False), ("", False)],
)
def test_who_may_read(allowed: str, *, readable: bool) -> None:
    assert origins.readable({"access-control-allow-origin": allowed}, "http://a.example") is readable


def test_headers_that_the_engine_gets() -> None:
    sent = (
        ("Content-Type", "text/plain"),
        ("Set-Cookie", "a=b"),
        ("Location", "/"),
        ("Content-Encoding", "gzip"),
        ("X-One", "1"),
        ("X-Two", "2"),
    )
    own = origins.shown(sent, foreign=False)
    foreign = origins.shown((*sent, ("Access-Control-Expose-Headers", "X-Two, Set-Cookie")), foreign=True)

    assert own == (("content-type", "text/plain"), ("x-one", "1"), ("x-two", "2"))
    assert foreign == (("content-type", "text/plain"), ("x-two", "2"))
