"""Calls the scripts of `scripts/view/` in the documents of a tab and its frames, and remembers ids beyond them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar, cast
from urllib.parse import urldefrag
from weakref import WeakKeyDictionary

import anyio
import msgspec
import rjsmin  # pyright: ignore[reportMissingTypeStubs] - has no types
from msgspec import Struct
from playwright.async_api import ElementHandle, Error, Frame

from actors.fetchers.playwright.devtools import (
    FRAME_WORLD_NAME,
    CrashedError,
    HungError,
    IsolatedWorld,
    Way,
    cdp_of_frame,
    element_at,
    script,
)
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.elements import HealedElement
from protocol.faults import Code, FaultError, fault

ID_SEPARATOR = "."
"""Separates in an id a frame and what is in it."""

PARTS = (
    "begin",
    *(
        "words",
        "digest",
        "tree",
        "kinds",
        "values",
        "places",
        "names",
        "ids",
        "closed",
        "numbers",
        "messages",
        "inputs",
        "watching",
        "news",
        "heal",
    ),
    *("markers", "shown", "gather", "snapshot", "content", "facts", "observe"),
    *("rows", "texts", "shapes", "colours", "context", "ranking", "semantic", "projections", "answer"),
)
"""The scripts of `scripts/view/` in the order in which they run; the extension has them as well."""

_FRAMED = re.compile(r"f(\d{1,9})_(\d{1,9})")
_TRIES = 3
"""How often another document may take the place of one during a call."""

_FRAME_S = 2.0

FRAMES_S = 4.0
"""How long all the frames of a page may take; the rest is left out."""

_MAX_PAGES = 6
_MAX_IDS = 1_500
"""Ids of one page; the oldest are forgotten first."""

_MAX_LISTINGS = 4

T = TypeVar("T")

ElementSignature = tuple[str, dict[str, str]]
"""An id, and the features by which its element is recognized in another document."""


class Seeds(Struct, frozen=True):
    """What a document takes over from those before it in its tab: the next free number, and what the page had."""

    next: int
    entries: tuple[ElementSignature, ...]


class _ScriptResult(Struct, frozen=True):
    """The result of `scripts/view/answer.js`; `strange` is the address of a document that has not been seeded.

    In a document that is `bare` the scripts have not run yet. `next` is the number that is free in this one.
    """

    bare: bool = False
    strange: str = ""
    failed: bool = False
    result: Any = None
    next: int = 1


class TabDocument(Struct, frozen=True):
    """The document of a tab, or of one of its frames: `prefix` is what ids in it begin with.

    `number` is that of its frame, 0 for the tab's own and where it is not known.
    """

    tab: Tab
    frame: Frame
    world: IsolatedWorld
    prefix: str = ""
    number: int = 0

    async def call(self, function: str, kind: type[T], **args: Any) -> T:
        """Call a function of the scripts; a new document is first seeded with the signatures of its page.

        Raises:
            FaultError: BROWSER_PAGE_HUNG where it does not respond; EXECUTION_ERROR; PAGE_CRASHED.
        """
        for _ in range(_TRIES):
            response = await self._run(_calling(function, args))
            if response is not None and response.bare:
                response = await self._run(f"{program()}\n{_calling(function, args)}")
            if response is None:
                break
            if response.result is not None:
                self.memory.reserve(response.next)
                return msgspec.convert(response.result, kind)
            if response.failed:
                raise FaultError(fault(Code.EXECUTION_ERROR, "The page does not let itself be looked at."))
            args = {**args, "seeds": self.memory.seeds(response.strange)}
        raise FaultError(fault(Code.BROWSER_PAGE_HUNG))

    async def watch_from_start(self) -> None:
        """Have later documents of the tab watched from their beginning, for messages that are gone when one looks."""
        if self.memory.watches:
            return
        self.memory.watches = True
        source = f"{program()}\nweft.view().watch();"
        with suppress(Error):
            await self.world.install(source)

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

    async def inner(self, name: str, way: Way, element: int = 0) -> TabDocument | None:
        """Return the document in a frame of this one, by the number of its element if that has one.

        None for one that cannot be evaluated in.
        """
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
            number = self.memory.number_frame(self.number, element) if element else 0
            return TabDocument(self.tab, frame, world, f"{self.prefix}{name}{ID_SEPARATOR}", number)
        return None

    async def _world(self, frame: Frame, way: Way) -> IsolatedWorld | None:
        """Open a world of ours in a frame: in a process of its own, or in that of the document around it."""
        own = await cdp_of_frame(self.tab.page.context, frame)
        if own is not None:
            tree = await own.send("Page.getFrameTree")
            return IsolatedWorld(own, str(tree["frameTree"]["frame"]["id"]), FRAME_WORLD_NAME)
        cdp, context = self.world.cdp, await self.world.context()
        called = {"expression": _calling("at", {"way": way}), "contextId": context}
        response = await cdp.send("Runtime.evaluate", called)
        if "objectId" not in response["result"]:
            return None
        node = (await cdp.send("DOM.describeNode", {"objectId": response["result"]["objectId"]}))["node"]
        return IsolatedWorld(cdp, str(node["frameId"]), FRAME_WORLD_NAME) if "frameId" in node else None

    async def _run(self, expression: str) -> _ScriptResult | None:
        if not self.prefix:
            return await self.tab.run(expression, _ScriptResult)
        try:
            return await self.world.evaluate(expression, _ScriptResult, _FRAME_S)
        except (Error, CrashedError, HungError):
            self.memory.drop_world(self.frame)
            return None


@cache
def program() -> str:
    """Return the scripts: they run once in each document, and stay there."""
    return "\n".join(map(page_code, PARTS))


def page_code(part: str) -> str:
    """Return a script of `PARTS` as it runs in pages, here and in the extension: without comments and indentation."""
    return minified(script(f"view/{part}"))


def minified(text: str) -> str:
    """Return a script without comments and indentation; its names and its strings stay as they are."""
    minify = cast("Callable[[str], str]", rjsmin.jsmin)  # pyright: ignore[reportUnknownMemberType] - has no types
    return minify(text)


def main_document(tab: Tab) -> TabDocument:
    """Return the document of a tab."""
    return TabDocument(tab, tab.page.main_frame, tab.world)


def _calling(function: str, args: dict[str, Any]) -> str:
    call = f"weft.answer({msgspec.json.encode(function).decode()}, {msgspec.json.encode(args).decode()})"
    return f'Object.hasOwn(globalThis, "weft") ? {call} : {{ bare: true }}'


# -- what outlives a document ------------------------------------------------------------------------------------------


class ElementListing(Struct, frozen=True):
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
    _numbered: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    healed: tuple[str, HealedElement] | None = None
    """The id of an element that was gone, and what was taken for it last, until somebody has reported it."""

    watches: bool = False
    """Whether later documents are watched from their beginning."""

    _count: int = 0
    _next: int = 1

    def seeds(self, url: str) -> Seeds:
        """Return what a new document of a page begins with."""
        return Seeds(next=self._next, entries=tuple(self._pages.get(urldefrag(url).url, {}).items()))

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

    def reserve(self, number: int) -> None:
        """Begin the numbers of the next document with this one: no other has it in this tab."""
        self._next = max(self._next, number)

    def number_frame(self, outer: int, element: int) -> int:
        """Return the number of a frame, by that of the frame around it and that of its element there."""
        return self._numbered.setdefault((outer, element), len(self._numbered) + 1)

    def id_parts(self, element_id: str) -> Sequence[str]:
        """Split an id into those of the frames around an element, and its own; `f2_5` is number 5 in frame 2."""
        framed = _FRAMED.fullmatch(element_id)
        if framed is None:
            return element_id.split(ID_SEPARATOR)
        around = {number: key for key, number in self._numbered.items()}
        parts, number = [str(int(framed[2]))], int(framed[1])
        while number and number in around:
            number, element = around[number]
            parts.insert(0, str(element))
        return parts if number == 0 else (element_id,)

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
