"""Finds the elements that rules of a page's style sheets speak of, and those that they keep out of sight."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from msgspec import Struct
from turbohtml import Element, SelectorSyntaxError

from actors.extraction.parse.styles import StyleHiding, style_hiding

_HIDES = tuple(
    re.compile(pattern)
    for pattern in (
        rb"display\s*:\s*none",
        rb"visibility\s*:\s*hidden",
        rb"opacity\s*:\s*0(?![.\d])",
        rb"font-size\s*:\s*[01](?![.\d])",
        rb"text-indent\s*:\s*-",
        rb"left\s*:\s*-\d{3}",
        rb"top\s*:\s*-\d{3}",
        rb"clip(?:-path)?\s*:\s*(?:rect|inset|circle|polygon)",
        rb"color\s*:\s*(?:transparent|rgba)",
        rb"height\s*:\s*[01](?![.\d])",
    )
)
"""Each begins with a literal, so that the search runs at the speed of `bytes.find`."""

_SHOWS = tuple(
    re.compile(pattern)
    for pattern in (rb"display\s*:\s*+(?!none)", rb"visibility\s*:\s*visible", rb"opacity\s*:\s*(?:1|0?\.[1-9])")
)
_SHOWN_INLINE = re.compile(r"display\s*:\s*+(?!none)|visibility\s*:\s*visible|opacity\s*:\s*(?:1|0?\.[1-9])")
_INKS = (re.compile(rb"color\s*:"), re.compile(rb"background\s*:"))
_MAX_INKS = 100_000
"""Bytes of style sheets up to which their colours are read; in more, the colours of texts cost 5 ms."""

_WINDOW = 4_000
"""Bytes looked at around a declaration for its rule."""

_MAX_SHEET = 2_000_000
"""Characters of style sheets that are read of one page: ten times what one of a hundred pages has."""

_MAX_PLACES = 20_000
"""Declarations of one page that are looked at; each costs up to 20 µs."""

_MAX_TRIALS = 200_000
"""How often a selector is tried on an element of one page; each costs from .3 µs to 6 µs, by the depth."""

_SCREEN = 1280.0
"""The width of the screen, in pixels, that media queries are answered for."""

_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
_MEDIA = re.compile(rb"@media([^{;@]{0,300})\{")
_CLOSED_TWICE = re.compile(rb"\}\s*\}")
_WIDTH = re.compile(rb"(min|max)-(?:device-)?width\s*:\s*(\d{1,5}(?:\.\d{1,5})?)\s*(px|r?em)?")
_COMBINATOR = re.compile(rb"[\s>+~]+")
_NAME = re.compile(rb"[.#]([\w\x80-\xff-]+)")
_ODD = re.compile(rb"[:\\@%{};<&]|\.no-?js")
"""Selectors that depend on a state, or on there being no scripts."""

_WEIGHTS = ((re.compile(rb"#"), 100), (re.compile(rb"[.\[]"), 10), (re.compile(rb"(?:^|[\s>+~])[a-z]"), 1))
_IMPORTANT = 10_000


class _StyleRule(Struct, frozen=True, dict=True):
    """One selector of one rule; `place` is where it stands in the sheet."""

    selector: bytes
    body: str
    place: int

    @cached_property
    def rank(self) -> tuple[int, int]:
        """Its specificity, then its place: of two rules that fit an element, the larger one counts."""
        weight = sum(len(pattern.findall(self.selector)) * value for pattern, value in _WEIGHTS)
        return (weight + (_IMPORTANT if "!" in self.body else 0), self.place)

    @cached_property
    def subject(self) -> list[bytes]:
        """The classes and ids of the element itself that it speaks of."""
        return _NAME.findall(_COMBINATOR.split(self.selector)[-1])


def unseen(root: Element, sheet: StyleSheet) -> dict[Element, StyleHiding]:
    """Return the elements that a plain rule of a style sheet hides, those within them, too."""
    named = _NamedElements(root)
    hiding = {
        rule.selector: rule for rule in sheet.rules(_HIDES, lambda: named.names, named) if style_hiding(rule.body)
    }
    hidden = {element: rule for rule in hiding.values() for element in named.select(rule)}
    folded = {element for element, rule in hidden.items() if style_hiding(rule.body) is StyleHiding.FOLDED}
    names = frozenset(name for element in folded for name in _names(element))
    showing = {rule.selector: rule for rule in sheet.rules(_SHOWS, lambda: names, named)} if names else {}
    for rule in showing.values():
        for element in folded.intersection(named.select(rule)):
            if rule.rank > hidden[element].rank:
                del hidden[element]
                folded.remove(element)
    for element in folded:
        if _shown_inline(element, hidden[element]):
            del hidden[element]
    return {element: how for element, rule in hidden.items() if (how := style_hiding(rule.body))}


def _shown_inline(element: Element, rule: _StyleRule) -> bool:
    style = element.attr("style")
    return style is not None and rule.rank[0] < _IMPORTANT and _SHOWN_INLINE.search(style) is not None


def _names(element: Element) -> list[bytes]:
    return f"{element.attr('class') or ''} {element.attr('id') or ''}".encode("utf-8", "replace").split()


class _NamedElements:
    """The elements of a page by their classes and ids: most pages ask for few of the names, or for none."""

    def __init__(self, root: Element) -> None:
        self._root = root
        self._trials = 0
        self._known = dict[bytes, list[Element]]()

    @cached_property
    def _alike(self) -> dict[str, list[Element]]:
        alike = dict[str, list[Element]]()
        for attribute in ("class", "id"):
            for element in self._root.select(f"[{attribute}]"):
                alike.setdefault(element.attr(attribute) or "", []).append(element)
        return alike

    @cached_property
    def names(self) -> frozenset[bytes]:
        """All of them."""
        return frozenset(" ".join(self._alike).encode("utf-8", "replace").split())

    def _called(self, name: bytes) -> list[Element]:
        if name not in self._known:
            written = name.decode("utf-8", "replace")
            self._known[name] = [
                element
                for value, those in self._alike.items()
                if written in value and name in value.encode("utf-8", "replace").split()
                for element in those
            ]
        return self._known[name]

    def select(self, rule: _StyleRule) -> list[Element]:
        """Return the elements that a selector fits; none, once the page has had its trials."""
        among = min((self._called(name) for name in rule.subject), key=len, default=None)
        self._trials += 1_000 if among is None else len(among)
        if self._trials > _MAX_TRIALS:
            return []
        if among is not None and rule.selector[1:] == rule.subject[0]:
            return among
        selector = rule.selector.decode("utf-8", "replace")
        try:
            return self._root.select(selector) if among is None else [each for each in among if each.matches(selector)]
        except SelectorSyntaxError:
            return []


class StyleSheet:
    """The style sheets of a page as one."""

    def __init__(self, root: Element) -> None:
        sheets = [style.text for style in root.iter_elements("style") if _is_used(style)]
        text = "\n".join(sheets)[:_MAX_SHEET]
        text = _COMMENT.sub(" ", text) if "/*" in text else text
        self._bytes = text.encode("utf-8", "replace")
        self._lower = self._bytes.lower()

    def rules(
        self, triggers: Iterable[re.Pattern[bytes]], subjects: Callable[[], frozenset[bytes]], named: _NamedElements
    ) -> Iterator[_StyleRule]:
        """Return the rules that hold a declaration and may fit an element with one of the names, in their order."""
        end = 0
        places = sorted({match.start() for each in triggers for match in each.finditer(self._lower)})
        for place in places[:_MAX_PLACES]:
            if place < end:
                continue
            start = self._bytes.rfind(b"{", max(0, place - _WINDOW), place)
            end = self._bytes.find(b"}", place, place + _WINDOW)
            if start < 0 or end < 0:
                continue
            selectors = self._selectors(start)
            names = _NAME.findall(selectors)
            if names and subjects().isdisjoint(names):
                continue
            if self._counts(start):
                yield from self._split(selectors, start, end, named.names)

    @property
    def is_small(self) -> bool:
        """Whether its colours may be read."""
        return len(self._lower) <= _MAX_INKS

    def colored(self, root: Element) -> Iterator[tuple[Element, str]]:
        """Return the elements that a rule gives a colour or a ground, with its declarations; the last counts."""
        named = _NamedElements(root)
        for rule in self.rules(_INKS, lambda: named.names, named):
            for element in named.select(rule):
                yield element, rule.body

    def _split(self, selectors: bytes, start: int, end: int, names: frozenset[bytes]) -> Iterator[_StyleRule]:
        body = self._bytes[start + 1 : end].decode("utf-8", "replace")
        for selector in selectors.split(b","):
            plain = selector.strip()
            if plain and names.issuperset(_NAME.findall(plain)) and not _ODD.search(plain):
                yield _StyleRule(plain, body, start)

    def _selectors(self, start: int) -> bytes:
        low = max(0, start - _WINDOW)
        low = max(low, self._bytes.rfind(b"}", low, start) + 1)
        low = max(low, self._bytes.rfind(b"{", low, start) + 1)
        low = max(low, self._bytes.rfind(b";", low, start) + 1)
        return self._bytes[low:start]

    @cached_property
    def _media(self) -> list[re.Match[bytes]]:
        return list(_MEDIA.finditer(self._lower))

    @cached_property
    def _media_starts(self) -> list[int]:
        return [match.start() for match in self._media]

    @cached_property
    def _media_ends(self) -> list[int]:
        return [match.end() for match in _CLOSED_TWICE.finditer(self._lower)]

    def _counts(self, place: int) -> bool:
        # Whether what stands there is in no media query, or in one that holds for a screen.
        index = bisect_right(self._media_starts, place) - 1
        if index < 0:
            return True
        closed = bisect_right(self._media_ends, self._media_starts[index])
        outside = closed < len(self._media_ends) and place >= self._media_ends[closed]
        return outside or _holds(self._media[index][1])


def _is_used(style: Element) -> bool:
    parent = style.parent
    unscripted = isinstance(parent, Element) and parent.tag == "noscript"
    return not unscripted and _holds((style.attr("media") or "").lower().encode("utf-8", "replace"))


def _holds(queries: bytes) -> bool:
    return any(_holds_alone(query) for query in queries.split(b","))


def _holds_alone(query: bytes) -> bool:
    if any(word in query for word in (b"print", b"speech", b"reduce", b"dark")):
        return False
    for bound, number, unit in _WIDTH.findall(query):
        width = float(number) * (16 if unit.endswith(b"em") else 1)
        if (width > _SCREEN) if bound == b"min" else (width < _SCREEN):
            return False
    return True
