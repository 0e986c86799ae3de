"""Reads one record of a list (a card, a post, a result) as fields by their roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from turbohtml import Element, Node, Text

from actors.extraction.parse.addresses import on_the_web
from actors.extraction.parse.text import one_line
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.select import roles
from actors.extraction.select.repeats import signature
from actors.extraction.select.words import INLINE, SKIPPED

MAX_CELL_CHARS = 2_000
_MAX_NODES = 1_500
"""Nodes of one record that are read."""

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_STRUCK = frozenset({"del", "s", "strike"})
_CONTROLS = frozenset({"button", "input", "label", "nav"})
_SOURCES = ("data-src", "data-original", "data-lazy-src", "data-srcset", "src", "srcset")
_ICON_PX = 32
_MAX_WAY_CHARS = 200
_MAX_NAME_CHARS = 40
_PART = "\x00"
"""Ends a part of a field: parts that say the same (for wide and for narrow screens) count once."""

_WHOLE_CARD = "h1 a,h2 a,h3 a,h4 a,a h2,a h3,a h4"
"""What stands in an element that holds all of a card, though its class is one of texts."""


class Key(NamedTuple):
    """What a field is known by in every record of a list: a role, or ("" for none) its way down from the record."""

    role: str
    way: str
    word: str = ""


class Record(NamedTuple):
    """The fields of one record, the links in them by the same keys, and its first link and picture."""

    fields: dict[Key, str]
    links: dict[Key, str]
    url: str
    image: str


_AUTHOR, _NAME = Key(roles.AUTHOR, ""), Key(roles.AUTHOR, "name")
"""Who wrote, and the name alone where an element of its own holds it."""


def read(member: Element, page: Page) -> Record:
    """Read the fields of one record; nothing that is hidden, and no control."""
    reader = _Reader(page)
    reader.read(member)
    fields: dict[Key, str] = {}
    for key, pieces in reader.pieces.items():
        lines = dict.fromkeys(one_line(part, MAX_CELL_CHARS) for part in "".join(pieces).split(_PART))
        parts = [line for line in lines if line]
        if not key.role:
            parts = _untold(parts, fields, reader.pieces)
        if text := _said(key.role, parts):
            fields[key] = text
    links = {key: link for key, link in reader.links.items() if key in fields}
    if _NAME in fields:
        fields[_AUTHOR] = fields.pop(_NAME)
    return Record(fields, links, reader.url, reader.image)


def _untold(parts: list[str], fields: dict[Key, str], said: Mapping[Key, object]) -> list[str]:
    """Put prices, dates and ratings among the fields, where nothing else is one; give the other parts."""
    rest: list[str] = []
    for part in parts:
        key = Key(roles.by_text(part), "")
        if key.role and key not in fields and key not in said:
            fields[key] = part
        else:
            rest.append(part)
    return rest


def _said(role: str, parts: list[str]) -> str:
    """Join the parts of a field; of those that a record has once, the first counts, of titles the longest."""
    if role == roles.AUTHOR:
        parts = [part for part in parts if len(part) > 1] or parts  # a letter stands for a picture
    if not parts or role in (roles.AUTHOR, roles.DATE):
        return parts[0] if parts else ""
    if role == roles.TITLE:
        return max(parts, key=len)
    text = one_line(" ".join(parts), MAX_CELL_CHARS)
    return roles.price_in(text) if role in (roles.PRICE, roles.OLD_PRICE) else text


class _Reader:
    """Walks through one record with an explicit stack, and gathers the text of every field."""

    def __init__(self, page: Page) -> None:
        self.pieces: dict[Key, list[str]] = {}
        self.links: dict[Key, str] = {}
        self.url = ""
        self.image = ""
        self._page = page
        self._last: Key | None = None
        self._stack: list[tuple[Node, Key, str]] = []

    def read(self, member: Element) -> None:
        """Walk through the record."""
        self._stack.append((member, Key("", ""), ""))
        for _ in range(_MAX_NODES):
            if not self._stack:
                return
            node, key, link = self._stack.pop()
            if isinstance(node, Text):
                self._say(key, node.data, link)
            elif isinstance(node, Element) and self._is_seen(node):
                self._enter(node, key, link)

    def _is_seen(self, element: Element) -> bool:
        tag = element.tag
        return tag not in SKIPPED and tag not in _CONTROLS and self._page.hidden.get(element) is not Hiding.INVISIBLE

    def _say(self, key: Key, text: str, link: str) -> None:
        said = self.pieces.setdefault(key, [])
        if key != self._last:  # something else stands between
            said.append(" ")
        said.append(text[:MAX_CELL_CHARS])
        self._last = key
        if link and key not in self.links and not text.isspace():
            self.links[key] = link

    def _enter(self, element: Element, key: Key, link: str) -> None:
        tag, classes = element.tag, element.attr("class") or ""
        if tag == "img":
            self.image = self.image or _image(element, self._page.base)
            return
        if tag == "a":
            link = on_the_web(self._page.base, element.attr("href") or "") or link
            self.url = self.url or link
        role = self._role(element, tag, classes, key)
        if role == roles.DATE and (when := element.attr("datetime")) is not None and when[:1].isdigit():
            self._say(Key(role, ""), f"{_PART}{when.strip()}", link)
            return
        if key != _NAME and self._names(element, tag, classes, role, link):
            key = _NAME
            self.pieces.setdefault(key, []).append(_PART)
        elif role and role != key.role:
            key = Key(role, "")
            self.pieces.setdefault(key, []).append(_PART)
        elif not key.role and (classes or tag not in INLINE or tag == "a"):
            key = Key("", f"{key.way}/{signature(tag, classes)}"[-_MAX_WAY_CHARS:], roles.word(classes) or key.word)
        if role == roles.RATING and (label := element.attr("aria-label") or element.attr("title")):
            self._say(key, label, link)
            return
        if tag not in INLINE:
            self._last = None
            if not key.role and key in self.pieces:
                self.pieces[key].append(_PART)
        self._stack.extend([(child, key, link) for child in reversed(element.children)])

    def _names(self, element: Element, tag: str, classes: str, role: str, link: str) -> bool:
        """Return whether an element is the name of who wrote: it is called so, or leads to somebody's page."""
        if role == roles.AUTHOR:
            return (
                roles.is_name(classes)
                or element.attr("itemprop") == "name"
                or (tag == "a" and roles.is_of_person(link))
            )
        return tag == "a" and not role and _NAME not in self.pieces and roles.is_of_person(link) and _is_short(element)

    def _role(self, element: Element, tag: str, classes: str, key: Key) -> str:
        if key.role == roles.TEXT:
            return key.role
        if tag in _HEADINGS and Key(roles.TITLE, "") not in self.pieces:
            return roles.TITLE
        if tag == "time":
            return roles.DATE
        if tag in _STRUCK:
            return roles.OLD_PRICE if key.role == roles.PRICE else key.role
        return _by_attributes(element, classes, key) or key.role


def _by_attributes(element: Element, classes: str, key: Key) -> str:
    found = roles.by_class(classes) if classes else ""
    if not found and not key.role and (itemprop := element.attr("itemprop")):
        found = roles.by_microdata(itemprop)
    if found == roles.TITLE and key.role == roles.AUTHOR:  # the name of a person
        return ""
    return "" if found == roles.TEXT and element.select_one(_WHOLE_CARD) is not None else found


def _is_short(element: Element) -> bool:
    return 1 < len(element.text.strip()) <= _MAX_NAME_CHARS


def _image(element: Element, base: str) -> str:
    for name in ("width", "height"):
        size = (element.attr(name) or "").strip().removesuffix("px")
        if size.isascii() and size.isdigit() and int(size[:6]) < _ICON_PX:
            return ""
    for name in _SOURCES:
        first = (element.attr(name) or "").strip().partition(" ")[0].rstrip(",")
        if first and (address := on_the_web(base, first)):
            return address
    return ""
