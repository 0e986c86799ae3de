"""Makes looks at pages that there are not."""

from __future__ import annotations

from typing import Any

from actors.fetchers.playwright.view.spots import Look, Signs, Spot
from protocol.browsers.pageinfo import ElementKind


def spot(name: str, label: str = "", kind: str = "button", region: str = "main", **more: Any) -> Spot:
    """Make something to act on."""
    return Spot(id=name, type=ElementKind(kind), label=label, region=region, **more)


def look(*spots: Spot, url: str = "https://shop.example/", title: str = "", **signs: Any) -> Look:
    """Make a look at a page with these elements."""
    return Look(
        page="p",
        url=url,
        title=title,
        ready="complete",
        elements=spots,
        total=len(spots),
        cut=False,
        signs=Signs(**signs),
        width=1_280,
        height=800,
        frames=(),
        fresh=(),
    )
