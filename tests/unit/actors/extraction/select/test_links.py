"""Links of the content, and links around the site."""

from __future__ import annotations

import pytest

from actors.extraction.select.links import MAX_LINKS, links
from protocol.documents import ExtractedLink
from tests.support.whole_page import parsed, whole


def read(body: str) -> tuple[list[ExtractedLink], list[ExtractedLink]]:
    page = parsed(body)
    return links(page, whole(page, "main"))


def test_links_of_the_content_stand_apart_from_navigation() -> None:
    content, navigation = read(
        "<nav><a href=/>Home</a> <a href=/a>About</a></nav>"
        "<main><p>See <a href=../b?utm_source=x#c>the <b>loom</b></a> for more.</p>"
        "<p><a href=/alone>Alone</a></p></main>"
        "<footer><a href=/a>About us</a> <a href=/alone>again</a></footer>"
    )

    assert content == [
        ExtractedLink(url="https://site.example/b?utm_source=x#c", text="the loom", context="See the loom for more."),
        ExtractedLink(url="https://site.example/alone", text="Alone"),
    ]
    assert navigation == [
        ExtractedLink(url="https://site.example/", text="Home"),
        ExtractedLink(url="https://site.example/a", text="About"),
    ]


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("<a href='HTTP://other.example/x'>x</a>", "http://other.example/x"),
        ("<a href='mailto:a@b.example'>x</a>", "mailto:a@b.example"),
        ("<a href='tel:+3212'>x</a>", "tel:+3212"),
        ("<a href=' /a\n/b c '>x</a>", "https://site.example/a/b%20c"),
        ("<a href='//other.example'>x</a>", "//other.example"),
        ("<a href='?page=2'>x</a>", "https://site.example/dir/page.html?page=2"),
        ("<a href='/a/../b'>x</a>", "https://site.example/b"),
    ],
)
def test_addresses_are_absolute(link: str, expected: str) -> None:
    content, _ = read(f"<main>{link}</main>")

    assert [found.url.removeprefix("https:") if expected.startswith("//") else found.url for found in content] == [
        expected
    ]


@pytest.mark.parametrize(
    "link",
    [
        "<a>x</a>",
        "<a href=''>x</a>",
        "<a href='#top'>x</a>",
        "<a href='javascript:go()'>x</a>",
        "<a href='data:text/html,x'>x</a>",
        "<a href='ftp://site.example/x'>x</a>",
        "<a href='http://[bad'>x</a>",
        "<a href=/x></a>",
        "<a href=/x><script>x</script></a>",
        "<p hidden><a href=/x>x</a></p>",
        f"<a href=/{'x' * 3_000}>x</a>",
    ],
)
def test_what_is_no_link(link: str) -> None:
    assert read(f"<main>{link}</main>") == ([], [])


def test_a_picture_is_a_link_by_its_name() -> None:
    content, _ = read("<main><a href=/x><img src=a.png alt=Loom></a><a href=/y aria-label=Yarn><svg></svg></a></main>")

    assert [(link.url[-2:], link.text) for link in content] == [("/x", "Loom"), ("/y", "Yarn")]


def test_a_long_text_around_a_link_is_cut_to_the_words_beside_it() -> None:
    content, _ = read(f"<main><p>{'before ' * 200}<a href=/x>here</a> {'after ' * 200}</p></main>")

    (link,) = content
    assert len(link.context) <= 200
    assert "before here after" in link.context


@pytest.mark.slow
def test_many_links_are_bounded() -> None:
    body = "".join(f"<a href=/{number}>{number}</a>" for number in range(100_000))

    content, navigation = read(f"<main>{body}</main>{body}")

    assert (len(content), len(navigation)) == (MAX_LINKS, MAX_LINKS)
