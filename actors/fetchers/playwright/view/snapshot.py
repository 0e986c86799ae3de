"""Takes a snapshot of a page and its frames: everything to act on, and which elements have click listeners."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import anyio
from msgspec import Struct, ValidationError
from msgspec.structs import replace
from playwright.async_api import Error

from actors.fetchers.playwright.devtools import Way
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.closed_roots import open_closed_roots
from actors.fetchers.playwright.view.documents import FRAMES_S, TabDocument, main_document
from actors.fetchers.playwright.view.elements import ElementLocation, EmbeddedFrame, PageElement, PageNews, PageSnapshot
from protocol.browsers.pageinfo import Box
from protocol.faults import FaultError

_MAX_DEPTH = 3
_MAX_FRAMES = 12

_PAGE = "page"
"""The region of an element that is in none."""


class _CurrentWay(Struct, frozen=True):
    """The way to an element at the moment."""

    way: Way | None


async def take_snapshot(tab: Tab, *, hidden: bool = False) -> PageSnapshot:
    """Take a snapshot of a page, with `hidden` also of what is not shown.

    Raises:
        FaultError: BROWSER_PAGE_HUNG where the page does not respond; PAGE_CRASHED.
    """
    document = main_document(tab)
    await mark_click_listeners(document)
    snapshot = await snapshot_document(document, hidden=hidden)
    if not snapshot.frames:
        return snapshot
    inner = _FrameElements(hidden)
    with anyio.move_on_after(FRAMES_S) as timeout:
        await inner.gather(document, snapshot, _MAX_DEPTH)
    return replace(
        snapshot,
        elements=(*snapshot.elements, *inner.elements),
        total=snapshot.total + inner.total,
        cut=snapshot.cut or inner.cut or timeout.cancelled_caught,
        news=(*snapshot.news, *inner.news),
    )


async def snapshot_document(document: TabDocument, *, hidden: bool = False) -> PageSnapshot:
    """Take a snapshot of one document, without its frames."""
    snapshot = await document.call("snapshot", PageSnapshot, hidden=hidden)
    document.memory.remember(snapshot.url, snapshot.fresh)
    return snapshot


async def locate_in(document: TabDocument, element_id: str) -> ElementLocation:
    """Find an element of a document by its id."""
    location = await document.call("locate", ElementLocation, id=element_id)
    document.memory.remember(location.url, location.fresh)
    return location


async def way_to(document: TabDocument, element_id: str) -> Way | None:
    """Return the way to an element that was just located, without another snapshot."""
    return (await document.call("wayTo", _CurrentWay, id=element_id)).way


@dataclass
class _FrameElements:
    """Gathers the elements in the frames of a page; those that it has are whole whenever it is cancelled."""

    hidden: bool
    elements: list[PageElement] = field(default_factory=list[PageElement])
    news: list[PageNews] = field(default_factory=list[PageNews])
    total: int = 0
    frames: int = 0
    cut: bool = False

    async def gather(self, document: TabDocument, outer: PageSnapshot, depth: int) -> None:
        """Gather from the frames of a document, and from theirs."""
        for frame in outer.frames:
            if depth == 0 or self.frames >= _MAX_FRAMES:
                self.cut = True
                return
            self.frames += 1
            inner = await document.inner(frame.id, frame.way, frame.number)
            try:
                snapshot = await snapshot_document(inner, hidden=self.hidden) if inner is not None else None
            except (FaultError, ValidationError):
                snapshot = None
            if inner is None or snapshot is None:
                continue
            nested = tuple(_nested(one, frame, outer) for one in snapshot.frames)
            self.elements += [_placed(element, inner.prefix, frame, outer) for element in snapshot.elements]
            self.news += snapshot.news
            self.total += snapshot.total
            self.cut = self.cut or snapshot.cut
            placed = replace(snapshot, frames=nested, width=outer.width, height=outer.height)
            await self.gather(inner, placed, depth - 1)


def _placed(element: PageElement, prefix: str, frame: EmbeddedFrame, outer: PageSnapshot) -> PageElement:
    """Convert an element in a frame to the coordinates and ids of the page."""
    box = _shifted(element.box, frame.box)
    states = element.states
    if frame.covered and "covered" not in states:
        states = (*states, "covered")
    region = prefix.rstrip(".").replace(".", "/")
    return replace(
        element,
        id=f"{prefix}{element.id}",
        region=region if element.region == _PAGE else f"{region}/{element.region}",
        box=box,
        in_view=element.in_view and frame.in_view and box is not None and _shows(box, outer),
        states=states,
    )


def _nested(inner: EmbeddedFrame, outer: EmbeddedFrame, page: PageSnapshot) -> EmbeddedFrame:
    box = _shifted(inner.box, outer.box) or inner.box
    return replace(
        inner,
        box=box,
        in_view=inner.in_view and outer.in_view and _shows(box, page),
        covered=inner.covered or outer.covered,
    )


def _shifted(box: Box | None, by: Box) -> Box | None:
    return replace(box, x=box.x + by.x, y=box.y + by.y) if box is not None else None


def _shows(box: Box, page: PageSnapshot) -> bool:
    return box.x < page.width and box.y < page.height and box.x + box.width > 0 and box.y + box.height > 0


_CLICKS = frozenset({"click", "mousedown", "mouseup", "pointerdown", "pointerup"})
_MAX_NODES = 30_000
"""Larger pages are not searched for listeners: what is plainly clickable is recognized without them."""

_MAX_LISTENERS = 200
_LISTENERS_S = 1.0
_GROUP = "weft-clickable"
_MARK = "function (...elements) { for (const element of elements) globalThis.__weftView?.clickable.add(element); }"


class _Size(Struct, frozen=True):
    """How many elements a document has, its identity, and how many may have a shadow tree that is closed."""

    nodes: int
    page: str
    hosts: int = 0


async def mark_click_listeners(document: TabDocument) -> None:
    """Mark the elements with click listeners in our own world, as far as the time goes.

    The listeners of the page's scripts cannot be seen from our world: the browser lists them.
    """
    size = await document.call("size", _Size)
    if size.hosts:
        await open_closed_roots(document)
    if size.nodes > _MAX_NODES:
        return
    with anyio.move_on_after(_LISTENERS_S), suppress(Error):
        nodes = document.memory.new_clickable(size.page, await _listening(document))[:_MAX_LISTENERS]
        if nodes:
            await _mark(document, nodes)
            document.memory.mark_clickable(size.page, nodes)
        await document.world.cdp.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})


async def _listening(document: TabDocument) -> list[int]:
    """List the backend ids of the nodes with click listeners; no script of the page takes part in it."""
    cdp = document.world.cdp
    root = await cdp.send("Runtime.evaluate", {"expression": "document", "objectGroup": _GROUP})
    parameters = {"objectId": root["result"]["objectId"], "depth": -1, "pierce": True}
    listeners = (await cdp.send("DOMDebugger.getEventListeners", parameters))["listeners"]
    return [int(one["backendNodeId"]) for one in listeners if one["type"] in _CLICKS and "backendNodeId" in one]


async def _mark(document: TabDocument, nodes: tuple[int, ...]) -> None:
    """Mark nodes in our own world; those in a frame of another origin are null there, and belong to the frame."""
    cdp, context = document.world.cdp, await document.world.context()
    arguments: list[dict[str, str]] = []

    async def resolve(node: int) -> None:
        with suppress(Error):
            parameters = {"backendNodeId": node, "executionContextId": context, "objectGroup": _GROUP}
            resolved = (await cdp.send("DOM.resolveNode", parameters))["object"]
            if "objectId" in resolved:
                arguments.append({"objectId": resolved["objectId"]})

    async with anyio.create_task_group() as tasks:
        for node in nodes:
            tasks.start_soon(resolve, node)
    call = {"functionDeclaration": _MARK, "executionContextId": context, "arguments": arguments}
    await cdp.send("Runtime.callFunctionOn", call)
