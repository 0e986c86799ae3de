"""Calls the scripts of `scripts/view/` in the documents of a tab and its frames, and remembers ids beyond them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urldefrag
from weakref import WeakKeyDictionary

import anyio
import msgspec
from msgspec import Struct
from playwright.async_api import ElementHandle, Error, Frame

from actors.fetchers.playwright.devtools import (
    CrashedError,
    HungError,
    IsolatedWorld,
    Way,
    cdp_of_frame,
    element_at,
    script,
)
from actors.fetchers.playwright.tab import Tab
from protocol.faults import Code, FaultError, fault

ID_SEPARATOR = "."
"""Separates in an id a frame and what is in it."""

_PARTS = (
    *("words", "tree", "kinds", "values", "places", "names", "ids"),
    *("markers", "shown", "snapshot", "content", "facts", "observe", "answer"),
)
_TRIES = 3
"""How often another document may take the place of one during a call."""

_FRAME_S = 1.0
_MAX_PAGES = 6
_MAX_IDS = 1_500
"""Ids of one page; the oldest are forgotten first."""

_MAX_LISTINGS = 4

T = TypeVar("T")

ElementSignature = tuple[str, dict[str, str]]
"""An id, and the features by which its element is recognized in another document."""


class _ScriptResult(Struct, frozen=True):
    """The result of `scripts/view/answer.js`; `strange` is the address of a document that has not been seeded."""

    strange: str = ""
    failed: bool = False
    result: Any = None


@dataclass(frozen=True)
class TabDocument:
    """The document of a tab, or of one of its frames; `prefix` is what ids in it begin with."""

    tab: Tab
    frame: Frame
    world: IsolatedWorld
    prefix: str = ""

    async def call(self, function: str, kind: type[T], **args: Any) -> T:
        """Call a function of the scripts; a new document is first seeded with the signatures of its page.

        Raises:
            FaultError: BROWSER_PAGE_HUNG where it does not respond; EXECUTION_ERROR; PAGE_CRASHED.
        """
        for _ in range(_TRIES):
            expression = f"({_program()})({msgspec.json.encode([function, args]).decode()})"
            response = await self._run(expression)
            if response is None:
                break
            if response.result is not None:
                return msgspec.convert(response.result, kind)
            if response.failed:
                raise FaultError(fault(Code.EXECUTION_ERROR, "The page does not let itself be looked at."))
            args = {**args, "seeds": self.memory.signatures(response.strange)}
        raise FaultError(fault(Code.BROWSER_PAGE_HUNG))

    @property
    def memory(self) -> TabMemory:
        """The memory of the tab."""
        return memory_of(self.tab)

    async def element(self, way: Way) -> ElementHandle | None:
        """Return a handle of the element that a way leads to now."""
        try:
            return await element_at(self.frame, way)
        except Error as error:
            if self.prefix:
                return None  # the frame is gone
            raise self.tab.fault(error) from error

    async def inner(self, name: str, way: Way) -> TabDocument | None:
        """Return the document in a frame of this one; None for one that cannot be evaluated in."""
        with anyio.move_on_after(_FRAME_S):
            try:
                handle = await self.element(way)
                frame = await handle.content_frame() if handle is not None else None
                if frame is None:
                    return None
                world = self.memory.world(frame) or await self._world(frame, way)
            except (Error, CrashedError, HungError):
                return None
            if world is None:
                return None
            self.memory.keep_world(frame, world)
            return TabDocument(self.tab, frame, world, f"{self.prefix}{name}{ID_SEPARATOR}")
        return None

    async def _world(self, frame: Frame, way: Way) -> IsolatedWorld | None:
        """Open a world of ours in a frame: in a process of its own, or in that of the document around it."""
        own = await cdp_of_frame(self.tab.page.context, frame)
        if own is not None:
            tree = await own.send("Page.getFrameTree")
            return IsolatedWorld(own, str(tree["frameTree"]["frame"]["id"]))
        expression = f"({_program()})({msgspec.json.encode(['at', {'way': way}]).decode()})"
        cdp, context = self.world.cdp, await self.world.context()
        response = await cdp.send("Runtime.evaluate", {"expression": expression, "contextId": context})
        if "objectId" not in response["result"]:
            return None
        node = (await cdp.send("DOM.describeNode", {"objectId": response["result"]["objectId"]}))["node"]
        return IsolatedWorld(cdp, str(node["frameId"])) if "frameId" in node else None

    async def _run(self, expression: str) -> _ScriptResult | None:
        if not self.prefix:
            return await self.tab.run(expression, _ScriptResult)
        try:
            return await self.world.evaluate(expression, _ScriptResult, _FRAME_S)
        except (Error, CrashedError, HungError):
            self.memory.drop_world(self.frame)
            return None


def main_document(tab: Tab) -> TabDocument:
    """Return the document of a tab."""
    return TabDocument(tab, tab.page.main_frame, tab.world)


def id_parts(element_id: str) -> Sequence[str]:
    """Split an id into those of the frames around an element, and its own."""
    return element_id.split(ID_SEPARATOR)


@cache
def _program() -> str:
    parts = ",\n".join(script(f"view/{name}") for name in _PARTS)
    begin = f"const view = {{}}; for (const part of [{parts}]) part(view);"
    return f"([what, args]) => {{ {begin} return view.answer(what, args); }}"


# -- what outlives a document ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ElementListing:
    """The ids of a page in the order in which they are listed; `page` identifies the document."""

    page: str
    url: str
    visible_only: bool
    ids: tuple[str, ...]


@dataclass
class TabMemory:
    """What is known of the pages of one tab: signatures by id, listings by cursor, and the worlds in its frames."""

    _pages: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict[str, dict[str, dict[str, str]]])
    _listings: dict[str, ElementListing] = field(default_factory=dict[str, ElementListing])
    _worlds: WeakKeyDictionary[Frame, IsolatedWorld] = field(default_factory=WeakKeyDictionary[Frame, IsolatedWorld])
    _clickable: tuple[str, frozenset[int]] = ("", frozenset())
    _count: int = 0

    def signatures(self, url: str) -> Sequence[ElementSignature]:
        """Return the signatures of a page."""
        return tuple(self._pages.get(urldefrag(url).url, {}).items())

    def remember(self, url: str, fresh: Iterable[ElementSignature]) -> None:
        """Add signatures to those of a page."""
        address = urldefrag(url).url
        page = self._pages.pop(address, {})
        for name, signature in fresh:
            page.pop(name, None)
            page[name] = signature
        for name in list(page)[: max(len(page) - _MAX_IDS, 0)]:
            del page[name]
        self._pages[address] = page
        for old in list(self._pages)[:-_MAX_PAGES]:
            del self._pages[old]

    def keep_listing(self, listing: ElementListing) -> str:
        """Keep a listing for the cursors that continue it, and return its name."""
        for name, kept in self._listings.items():
            if kept is listing:
                return name
        self._count += 1
        name = f"{listing.page}-{self._count}"
        self._listings[name] = listing
        for old in list(self._listings)[:-_MAX_LISTINGS]:
            del self._listings[old]
        return name

    def listing(self, name: str) -> ElementListing | None:
        """Return a listing that is still kept."""
        return self._listings.get(name)

    def new_clickable(self, page: str, nodes: Iterable[int]) -> tuple[int, ...]:
        """Return those nodes of a document that are not marked as clickable yet."""
        marked = self._clickable[1] if self._clickable[0] == page else frozenset[int]()
        return tuple(dict.fromkeys(node for node in nodes if node not in marked))

    def mark_clickable(self, page: str, nodes: Iterable[int]) -> None:
        """Mark nodes of a document as those with click listeners."""
        marked = self._clickable[1] if self._clickable[0] == page else frozenset[int]()
        self._clickable = (page, marked | frozenset(nodes))

    def world(self, frame: Frame) -> IsolatedWorld | None:
        """Return the world that was opened in a frame, if any."""
        return self._worlds.get(frame)

    def keep_world(self, frame: Frame, world: IsolatedWorld) -> None:
        """Keep a world for the next call."""
        self._worlds[frame] = world

    def drop_world(self, frame: Frame) -> None:
        """Forget a world that does not respond: its frame may have gone to another process."""
        self._worlds.pop(frame, None)


_MEMORIES: WeakKeyDictionary[Tab, TabMemory] = WeakKeyDictionary()
"""The memory of each tab, for as long as it is open."""


def memory_of(tab: Tab) -> TabMemory:
    """Return the memory of a tab."""
    return _MEMORIES.setdefault(tab, TabMemory())
