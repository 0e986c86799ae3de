"""Matches addresses of pages with templates: literally, or by the kinds of their slots, in linear time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, unquote_plus, urlsplit

from msgspec import Struct

from actors.normalized_urls import normalized
from actors.patterns.slots import UUID_CHARS, fits, kind_of
from actors.patterns.templates import AddressSlot, address_parts, pieces_of
from protocol.faults import FaultError

MAX_URL_CHARS: Final = 2_000
MAX_SEGMENTS: Final = 16
MAX_PARAMETERS: Final = 12
MAX_SLOTS: Final = 2
"""Slots within one segment."""

_STEPS: Final = frozenset({".", ".."})
_ROUTES: Final = ("/", "!/")


PageKey = tuple[str, int, tuple[str, ...], int]


class PageAddress(Struct, frozen=True):
    """The address of a page, its pieces decoded: `route` are the segments of a route in the fragment."""

    origin: str
    segments: tuple[str, ...]
    query: Mapping[str, str]
    route: tuple[str, ...] = ()

    @property
    def key(self) -> PageKey:
        """Return what templates that match have in common with it."""
        return self.origin, len(self.segments), tuple(sorted(self.query)), len(self.route)

    @property
    def texts(self) -> tuple[str, ...]:
        """Return all its pieces: segments, values in the order of their names, and those of the route."""
        return (*self.segments, *(self.query[name] for name in sorted(self.query)), *self.route)


@lru_cache(256)  # a visit looks its page up several times
def page_parts(url: str) -> PageAddress | None:
    """Take the address of a page apart, without marks of campaigns; None for what no pattern stands for."""
    if len(url) > MAX_URL_CHARS:
        return None
    try:
        parts = urlsplit(normalized(url))
        segments = _segments(parts.path)
        pairs = [pair.partition("=") for pair in parts.query.split("&") if pair]
        query = {
            _whole(unquote_plus(name, errors="strict")): unquote_plus(value, errors="strict")
            for name, _, value in pairs
        }
        fragment = url.partition("#")[2]
        route = _segments(fragment) if fragment.startswith(_ROUTES) else ()
    except (ValueError, FaultError):
        return None
    if len(query) != len(pairs) or len(query) > MAX_PARAMETERS or len(segments) + len(route) > MAX_SEGMENTS:
        return None
    if not _STEPS.isdisjoint((*segments, *route)):
        return None
    return PageAddress(f"{parts.scheme}://{parts.netloc}", segments, query, route)


def match(template: str, url: str) -> dict[str, str] | None:
    """Return what stands in the slots of a template in the address of a page; None where it is none of its pages."""
    page = page_parts(url)
    return compiled(template).values(page) if page is not None else None


class _Segment(Struct, frozen=True):
    """A segment or a value with two slots at most: what stands before, between and behind them."""

    before: str
    slots: tuple[AddressSlot, ...] = ()
    between: str = ""
    behind: str = ""

    def take(self, text: str, values: dict[str, str]) -> bool:
        if not self.slots:
            return text == self.before
        start, end = len(self.before), len(text) - len(self.behind)
        if end <= start or not text.startswith(self.before) or not text.endswith(self.behind):
            return False
        middle = text[start:end]
        if len(self.slots) == 1:
            return _accept(self.slots[0], middle, values)
        first, separator, second = self._split(middle)
        return bool(separator) and _accept(self.slots[0], first, values) and _accept(self.slots[1], second, values)

    def _split(self, text: str) -> tuple[str, str, str]:
        kinds = [kind_of(slot.name) for slot in self.slots]
        if kinds[1] == "uuid":  # holds hyphens itself
            place = max(len(text) - UUID_CHARS - len(self.between), 0)
            rest = text[place:]
            is_split = rest.startswith(self.between)
            return (text[:place], self.between, rest.removeprefix(self.between)) if is_split else ("", "", "")
        return text.partition(self.between) if kinds[0] in _CLOSED else text.rpartition(self.between)


class CompiledTemplate(Struct, frozen=True):
    """The template of a kind of pages, ready to be matched; `query` in the order of its names."""

    origin: str
    segments: tuple[_Segment, ...] = ()
    query: tuple[tuple[str, _Segment], ...] = ()
    route: tuple[_Segment, ...] = ()

    @property
    def key(self) -> PageKey:
        """Return what tells apart which addresses need not be tried."""
        return self.origin, len(self.segments), tuple(name for name, _ in self.query), len(self.route)

    @property
    def literals(self) -> dict[int, str]:
        """Return the texts that stand for themselves, by their places in `PageAddress.texts`."""
        return {place: one.before for place, one in enumerate(self.every) if not one.slots}

    @property
    def worth(self) -> tuple[int, int]:
        """Return how much it says of an address: of two templates that match, the greater is meant."""
        slots = [slot for one in self.every for slot in one.slots]
        return len(self.literals), -sum(kind_of(slot.name) in _OPEN and not slot.fixed for slot in slots)

    @property
    def every(self) -> tuple[_Segment, ...]:
        """Return its segments, values and those of the route, in the order of `PageAddress.texts`."""
        return (*self.segments, *(value for _, value in self.query), *self.route)

    def values(self, page: PageAddress) -> dict[str, str] | None:
        """Return what stands in the slots; None for another page."""
        values: dict[str, str] = {}
        if (
            page.origin == self.origin
            and self.origin
            and _take_all(self.segments, page.segments, values)
            and len(page.query) == len(self.query)
            and all(name in page.query and value.take(page.query[name], values) for name, value in self.query)
            and _take_all(self.route, page.route, values)
        ):
            return values
        return None


_CLOSED: Final = frozenset({"number", "hex"})
_OPEN: Final = frozenset({"slug", "name", "text"})
_NO_PAGES: Final = CompiledTemplate("")


@lru_cache(maxsize=8192)
def compiled(template: str) -> CompiledTemplate:
    """Return a template ready to be matched; one that matches nothing for what is no template of pages."""
    try:
        origin, path, query, fragment = address_parts(template)
        pairs = [pair.partition("=") for pair in (query or "").split("&") if pair]
        pages = CompiledTemplate(
            origin,
            tuple(map(_segment, _raw_segments(path))),
            tuple(sorted(((_literal(name), _segment(value)) for name, _, value in pairs), key=lambda one: one[0])),
            tuple(map(_segment, _raw_segments(fragment))),
        )
    except ValueError:
        return _NO_PAGES
    names = [slot.name for one in pages.every for slot in one.slots]
    return pages if len(set(names)) == len(names) else _NO_PAGES


def _segment(template: str) -> _Segment:
    pieces = pieces_of(template)
    slots = tuple(piece for piece in pieces if isinstance(piece, AddressSlot))
    if not all(slot.is_plain for slot in slots):
        raise ValueError("a slot that only requests have")
    texts = ["", "", ""]
    place = 0
    for number, piece in enumerate(pieces):
        match piece:
            case str():
                texts[place] = unquote(piece)
            case AddressSlot() if place < MAX_SLOTS and (
                number == 0 or isinstance(pieces[number - 1], str) or place == 0
            ):
                place += 1
            case _:
                raise ValueError("slots that cannot be told apart")
    if len(slots) == MAX_SLOTS and not texts[1]:
        raise ValueError("slots that cannot be told apart")
    return (
        _Segment(texts[0], slots, texts[1], texts[2])
        if len(slots) == MAX_SLOTS
        else _Segment(texts[0], slots, "", texts[1])
    )


def _literal(name: str) -> str:
    pieces = pieces_of(name)
    if not all(isinstance(piece, str) for piece in pieces):
        raise ValueError("a slot in the name of a parameter")
    return unquote_plus("".join(str(piece) for piece in pieces))


def _accept(slot: AddressSlot, value: str, values: dict[str, str]) -> bool:
    values[slot.name] = value
    return value == slot.fixed if slot.fixed else fits(slot.name, value)


def _take_all(templates: Sequence[_Segment], texts: Sequence[str], values: dict[str, str]) -> bool:
    return len(templates) == len(texts) and all(
        one.take(text, values) for one, text in zip(templates, texts, strict=True)
    )


def _segments(path: str) -> tuple[str, ...]:
    return tuple(unquote(one, errors="strict") for one in _raw_segments(path))


def _raw_segments(path: str) -> tuple[str, ...]:
    inner = path.removeprefix("/").removesuffix("/")
    return tuple(inner.split("/")) if inner else ()


def _whole(name: str) -> str:
    if not name:
        raise ValueError("a parameter without a name")
    return name
