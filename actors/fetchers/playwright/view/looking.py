"""Looks at a page and the frames in it: everything to act on."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from actors.fetchers.playwright.pointing import Way
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.documents import Document, main
from actors.fetchers.playwright.view.hearing import hear
from actors.fetchers.playwright.view.spots import Look, Spot, Where, Within
from protocol.browsers.pageinfo import Box
from protocol.faults import FaultError

_MAX_DEPTH = 3
_MAX_FRAMES = 12
_FRAMES_S = 2.0
"""How long all the frames of a page may take; those that are left are not told."""

_PAGE = "page"
"""The region of what is in none."""


class _Stands(Struct, frozen=True):
    """The way to an element, as it is at the moment."""

    way: Way | None


async def look(tab: Tab, *, hidden: bool = False) -> Look:
    """Look at a page, with `hidden` also at what is not shown.

    Raises:
        FaultError: BROWSER_PAGE_HUNG where the page does not answer; PAGE_CRASHED.
    """
    document = main(tab)
    await hear(document)
    seen = await glance(document, hidden=hidden)
    if not seen.frames:
        return seen
    inner = _Inner(hidden, time.monotonic() + _FRAMES_S)
    await inner.gather(document, seen, _MAX_DEPTH)
    return replace(
        seen,
        elements=(*seen.elements, *inner.spots),
        total=seen.total + inner.total,
        cut=seen.cut or inner.cut,
    )


async def glance(document: Document, *, hidden: bool = False) -> Look:
    """Look at one document, without its frames."""
    seen = await document.ask("look", Look, hidden=hidden)
    document.memory.note(seen.url, seen.fresh)
    return seen


async def where(document: Document, element_id: str) -> Where:
    """Look where in a document an element is."""
    found = await document.ask("where", Where, id=element_id)
    document.memory.note(found.url, found.fresh)
    return found


async def stands(document: Document, element_id: str) -> Way | None:
    """Tell the way to an element that was just looked for, without another look."""
    return (await document.ask("stands", _Stands, id=element_id)).way


@dataclass
class _Inner:
    """What is gathered from the frames of a page, until the time is up."""

    hidden: bool
    until_s: float
    spots: list[Spot] = field(default_factory=list[Spot])
    total: int = 0
    frames: int = 0
    cut: bool = False

    async def gather(self, document: Document, seen: Look, depth: int) -> None:
        """Look into the frames of a document, and into theirs."""
        for within in seen.frames:
            if depth == 0 or self.frames >= _MAX_FRAMES or time.monotonic() > self.until_s:
                self.cut = True
                return
            self.frames += 1
            inner = await document.inner(within.id, within.way)
            try:
                found = await glance(inner, hidden=self.hidden) if inner is not None else None
            except FaultError:
                found = None
            if inner is None or found is None:
                continue
            placed = replace(found, frames=tuple(_moved(one, within, seen) for one in found.frames))
            self.spots += [_placed(spot, inner.prefix, within, seen) for spot in found.elements]
            self.total += found.total
            self.cut = self.cut or found.cut
            await self.gather(inner, replace(placed, width=seen.width, height=seen.height), depth - 1)


def _placed(spot: Spot, prefix: str, within: Within, outer: Look) -> Spot:
    """Tell of something in a frame as it stands in the page."""
    box = _shifted(spot.box, within.box)
    states = spot.states if not within.covered or "covered" in spot.states else (*spot.states, "covered")
    region = prefix.rstrip(".").replace(".", "/")
    return replace(
        spot,
        id=f"{prefix}{spot.id}",
        region=region if spot.region == _PAGE else f"{region}/{spot.region}",
        box=box,
        in_view=spot.in_view and within.in_view and box is not None and _shows(box, outer),
        states=states,
    )


def _moved(inner: Within, outer: Within, seen: Look) -> Within:
    box = _shifted(inner.box, outer.box) or inner.box
    return replace(
        inner,
        box=box,
        in_view=inner.in_view and outer.in_view and _shows(box, seen),
        covered=inner.covered or outer.covered,
    )


def _shifted(box: Box | None, by: Box) -> Box | None:
    return replace(box, x=box.x + by.x, y=box.y + by.y) if box is not None else None


def _shows(box: Box, look: Look) -> bool:
    return box.x < look.width and box.y < look.height and box.x + box.width > 0 and box.y + box.height > 0
