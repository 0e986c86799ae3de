"""The way from the home page."""

from __future__ import annotations

import pytest

from actors.extraction.select.navigation import breadcrumb
from protocol.page import Crumb
from tests.support.whole_page import parsed

HOME = "https://site.example/"
WAY = (Crumb(name="Home", url=HOME), Crumb(name="Looms & reeds", url=f"{HOME}looms"), Crumb(name="Jacquard"))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "BreadcrumbList",'
            ' "itemListElement": [{"@type": "ListItem", "position": 3, "name": "Jacquard"},'
            ' {"@type": "ListItem", "position": 2, "item": {"@id": "/looms", "name": "Looms &amp; reeds"}},'
            ' {"@type": "ListItem", "position": 1, "name": "Home", "item": "https://site.example/"}]}</script>',
            id="linked data",
        ),
        pytest.param(
            "<ol itemscope itemtype=https://schema.org/BreadcrumbList>"
            "<li itemprop=itemListElement itemscope itemtype=https://schema.org/ListItem><a itemprop=item href=/>"
            "<span itemprop=name>Home</span></a><meta itemprop=position content=1></li>"
            "<li itemprop=itemListElement itemscope itemtype=https://schema.org/ListItem><a itemprop=item href=/looms>"
            "<span itemprop=name>Looms &amp; reeds</span></a><meta itemprop=position content=2></li>"
            "<li itemprop=itemListElement itemscope itemtype=https://schema.org/ListItem>"
            "<span itemprop=name>Jacquard</span><meta itemprop=position content=3></li></ol>",
            id="microdata",
        ),
        pytest.param(
            "<nav aria-label=Breadcrumb><ol><li><a href=/>Home</a> ›</li><li>/ "
            "<a href=/looms>Looms &amp; reeds</a></li>"
            "<li aria-current=page>Jacquard</li></ol></nav>",
            id="a list",
        ),
        pytest.param(
            "<div class=site-breadcrumbs><a href=/>Home</a> » <a href=/looms>Looms &amp; reeds</a> » Jacquard</div>",
            id="links and a text",
        ),
    ],
)
def test_the_way_is_told_or_shown(body: str) -> None:
    assert breadcrumb(parsed(body)) == WAY


@pytest.mark.parametrize(
    "body",
    [
        "<p>No way</p>",
        "<div class=breadcrumb></div>",
        "<div class=breadcrumb>Home</div>",
        f"<div class=breadcrumb>{'<a href=/x>x</a>' * 100}</div>",
        '<script type="application/ld+json">{"@type": "BreadcrumbList", "itemListElement": "x"}</script>',
    ],
)
def test_no_way(body: str) -> None:
    assert breadcrumb(parsed(body)) == ()
