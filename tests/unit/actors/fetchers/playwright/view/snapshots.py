"""Makes snapshots of pages that do not exist."""

from __future__ import annotations

from typing import Any

from actors.fetchers.playwright.view.elements import PageElement, PageMarkers, PageSnapshot
from protocol.browsers.pageinfo import ElementKind


def element(name: str, label: str = "", kind: str = "button", region: str = "main", **more: Any) -> PageElement:
    """Make an element to act on."""
    return PageElement(id=name, type=ElementKind(kind), label=label, region=region, **more)


def snapshot(
    *elements: PageElement, url: str = "https://shop.example/", title: str = "", **markers: Any
) -> PageSnapshot:
    """Make a snapshot of a page with these elements."""
    return PageSnapshot(
        page="p",
        url=url,
        title=title,
        ready="complete",
        elements=elements,
        total=len(elements),
        cut=False,
        markers=PageMarkers(**markers),
        width=1_280,
        height=800,
        frames=(),
        fresh=(),
    )
