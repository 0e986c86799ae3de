"""Remembers the ids of a page beyond its document, so that they last when it is loaded again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urldefrag
from weakref import WeakKeyDictionary

from playwright.async_api import Frame

from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.world import World

_MAX_PAGES = 6
_MAX_IDS = 1_500
"""Ids of one page; what was noted first goes first."""

_MAX_LISTINGS = 4

Noted = tuple[str, dict[str, str]]


@dataclass(frozen=True)
class Listing:
    """The elements of a page in the order in which they are told; `page` tells documents apart."""

    page: str
    url: str
    visible_only: bool
    ids: tuple[str, ...]


@dataclass
class Memory:
    """What is known of the pages of one tab: signatures by id, and the listings that go on by cursors."""

    _pages: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict[str, dict[str, dict[str, str]]])
    _listings: dict[str, Listing] = field(default_factory=dict[str, Listing])
    _worlds: WeakKeyDictionary[Frame, World] = field(default_factory=WeakKeyDictionary[Frame, World])
    _heard: tuple[str, frozenset[int]] = ("", frozenset())
    _count: int = 0

    def of(self, url: str) -> Sequence[Noted]:
        """Return what was noted of a page."""
        return tuple(self._pages.get(urldefrag(url).url, {}).items())

    def note(self, url: str, fresh: Iterable[Noted]) -> None:
        """Note ids with what they stand for."""
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

    def keep(self, listing: Listing) -> str:
        """Keep a listing for those who go on with it; gives its name."""
        for name, kept in self._listings.items():
            if kept is listing:
                return name
        self._count += 1
        name = f"{listing.page}-{self._count}"
        self._listings[name] = listing
        for old in list(self._listings)[:-_MAX_LISTINGS]:
            del self._listings[old]
        return name

    def listing(self, name: str) -> Listing | None:
        """Return a listing that is still kept."""
        return self._listings.get(name)

    def unheard(self, page: str, nodes: Iterable[int]) -> tuple[int, ...]:
        """Return those nodes of a document that are not noted yet."""
        noted = self._heard[1] if self._heard[0] == page else frozenset[int]()
        return tuple(dict.fromkeys(node for node in nodes if node not in noted))

    def note_heard(self, page: str, nodes: Iterable[int]) -> None:
        """Note nodes of a document as those that hear clicks."""
        noted = self._heard[1] if self._heard[0] == page else frozenset[int]()
        self._heard = (page, noted | frozenset(nodes))

    def world(self, frame: Frame) -> World | None:
        """Return the world that was opened in a frame, if any."""
        return self._worlds.get(frame)

    def keep_world(self, frame: Frame, world: World) -> None:
        """Keep a world for the next look."""
        self._worlds[frame] = world

    def drop_world(self, frame: Frame) -> None:
        """Forget a world that does not answer: its frame may have gone to another process."""
        self._worlds.pop(frame, None)


_MEMORIES: WeakKeyDictionary[Tab, Memory] = WeakKeyDictionary()
"""What is remembered of the pages of a tab, for as long as it is open."""


def memory(tab: Tab) -> Memory:
    """Return what is remembered of a tab."""
    return _MEMORIES.setdefault(tab, Memory())
