"""Two spellings of an address are one page; what is another page stays one."""

from __future__ import annotations

import pytest

from actors.normalized_urls import MARKS, normalized


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://Example.COM/Path/", "https://example.com/Path"),
        ("HTTP://example.com:80", "http://example.com"),
        ("https://example.com:443/", "https://example.com"),
        ("https://example.com:8443/", "https://example.com:8443"),
        ("https://example.com/a#part", "https://example.com/a"),
        ("https://example.com/a?b=2&a=1", "https://example.com/a?a=1&b=2"),
        ("https://example.com/a?utm_source=x&UTM_Medium=y&q=1", "https://example.com/a?q=1"),
        ("https://example.com/?fbclid=1&ref=2", "https://example.com"),
        ("https://example.com/a?reference=1&sources=2", "https://example.com/a?reference=1&sources=2"),
        ("https://example.com/a%c3%a9?q=%c3%a9", "https://example.com/a%C3%A9?q=%C3%A9"),
        ("https://bücher.example/", "https://xn--bcher-kva.example"),
        ("https://example.com./a//", "https://example.com/a"),
        ("https://[2001:DB8::1]:8080/x", "https://[2001:db8::1]:8080/x"),
        ("example.com/a b", "https://example.com/a%20b"),
        ("https://example.com/a?x=1&x=1&&y", "https://example.com/a?x=1&x=1&y"),
    ],
)
def test_an_address_has_one_spelling(url: str, expected: str) -> None:
    assert normalized(url) == expected
    assert normalized(expected) == expected


@pytest.mark.parametrize("mark", sorted(MARKS))
def test_where_a_visitor_came_from_is_no_part_of_a_page(mark: str) -> None:
    assert normalized(f"https://example.com/a?{mark}=1&id=2") == "https://example.com/a?id=2"


@pytest.mark.parametrize(
    "url", ["ftp://example.com/a", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd"]
)
def test_only_the_web_is_kept(url: str) -> None:
    with pytest.raises(ValueError, match="http and https"):
        normalized(url)


@pytest.mark.parametrize("url", ["https://example.com/a\nb", "https://example.com/\x1b[31m", "https://exa\tmple.com/"])
def test_no_control_character_is_kept(url: str) -> None:
    with pytest.raises(ValueError, match="control characters"):
        normalized(url)
