"""Templates of the addresses of pages: what varies among those of a kind becomes a slot."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

import httpx2

from actors.address_shapes import address_shape, names_language
from actors.normalized_urls import normalized
from actors.patterns.matching import PageAddress, compiled, page_parts
from actors.patterns.slots import KINDS, UUID_CHARS, is_number, is_value, kind_in_path, typed
from actors.patterns.templates import AddressSlot, Piece, formatted
from protocol.faults import FaultError

_SEPARATORS: Final = "-_.~,"
_EXTENSION: Final = re.compile(r"\.[A-Za-z]{1,5}[0-9]?")
_LETTERS: Final = re.compile(r"[A-Za-z]{1,12}[-_.:]?(?=[0-9])|[@$~!]+")
_NUMBERED: Final = ("number", "uuid", "hex")
"""What a slug is joined to: `blue-socks-123`, `123-blue-socks`."""

_SEARCHES: Final = frozenset({"q", "query", "s", "search", "term", "keyword", "keywords", "text"})
"""Parameters that say what is searched for, whatever that looks like."""


def page_kind(url: str) -> str:
    """Return what addresses of one kind have in common, before any is known: pages are gathered by it.

    A plain word behind the first segment counts as the name of a page (`/user/alice`), other than in the shapes
    that hosts are remembered by. "" for what is no address of a page.
    """
    page = page_parts(url)
    if page is None:
        return ""
    try:
        shape = address_shape(normalized(url) + _route(page))
    except (httpx2.InvalidURL, FaultError, ValueError):
        return ""
    path, mark, query = shape.partition("?")
    start, slash, rest = path[1:].partition("/")
    path = f"/{{locale}}{slash}{rest}" if names_language(start) else path
    first, _, last = path.rpartition("/")
    if first.strip("/") and "." not in last and not last.startswith("{"):
        path = f"{first}/{{name}}"
    return f"{page.origin}{path}{mark}{query}"


def page_template(urls: Sequence[str]) -> str:
    """Return the template of the pages at these addresses; "" where they are not of one kind.

    What varies becomes a slot (`{number}`, `{slug}`); what was the same in all, but looks like an
    id, a date, a language or a name, one that stands for this value alone (`{number=42}`) until another is seen. One
    address gives a template of that page only.
    """
    pages = [page_parts(url) for url in urls]
    first = pages[0] if pages else None
    if first is None or any(page is None or not _is_alike(first, page) for page in pages):
        return ""
    known = [page for page in pages if page is not None]
    names = _Names()
    alone = len(first.segments) + len(first.route) == 1
    path = [
        names.segment([page.segments[place] for page in known], alone=alone) for place in range(len(first.segments))
    ]
    query = [(name, names.value(name, [page.query[name] for page in known])) for name in sorted(first.query)]
    route = [names.segment([page.route[place] for page in known]) for place in range(len(first.route))]
    if any(one is None for one in (*path, *(value for _, value in query), *route)):
        return ""
    template = f"{first.origin}/{_joined(path)}"
    if query:
        template += "?" + "&".join(f"{_literal(name, '')}={formatted(value or ())}" for name, value in query)
    if route:
        template += f"#{'' if first.route[0] == '!' else '/'}{_joined(route)}"
    return template if all(compiled(template).values(page) is not None for page in known) else ""


def _joined(segments: Sequence[Sequence[Piece] | None]) -> str:
    return "/".join(formatted(one or ()) for one in segments)


@dataclass(eq=False)
class _Names:
    """Names the slots of a template: by their kind, and a number from the second of a kind on."""

    taken: Counter[str] = field(default_factory=Counter[str])

    def segment(self, texts: Sequence[str], *, alone: bool = False) -> tuple[Piece, ...] | None:
        """Return the pieces of a segment that has these texts; None where one of them is no value.

        The only segment of a path may be a slug, but no plain word: those are the sections of a site.
        """
        if kind := typed(texts):
            return (self._slot(kind, texts),)
        same = len(set(texts)) == 1
        split = _split(texts)
        if split is not None:
            return self._joined(*split)
        if same and not KINDS["slug"](texts[0]):
            return (_literal(texts[0]),)
        kind = kind_in_path(texts)
        return (self._slot(kind, texts),) if kind and (kind != "name" or not alone) else None

    def value(self, name: str, texts: Sequence[str]) -> tuple[Piece, ...] | None:
        """Return the pieces of the value of a parameter."""
        kind = typed(texts)
        if not kind and len(set(texts)) == 1 and not (name.lower() in _SEARCHES and is_value(texts[0])):
            return (_literal(texts[0], ""),)
        return (self._slot(kind or "text", texts),) if all(map(is_value, texts)) else None

    def _joined(
        self, before: str, columns: Sequence[Sequence[str]], between: str, behind: str
    ) -> tuple[Piece, ...] | None:
        pieces: list[Piece] = [_literal(before)] if before else []
        for number, column in enumerate(columns):
            kind = kind_in_path(column)
            if not kind:
                return None
            pieces += [_literal(between)] if number else []
            pieces.append(self._slot(kind, column))
        return (*pieces, _literal(behind)) if behind else tuple(pieces)

    def _slot(self, kind: str, texts: Sequence[str]) -> AddressSlot:
        self.taken[kind] += 1
        name = kind if self.taken[kind] == 1 else f"{kind}{self.taken[kind]}"
        return AddressSlot(name, texts[0] if len(set(texts)) == 1 else "")


_Split = tuple[str, list[list[str]], str, str]


def _split(texts: Sequence[str]) -> _Split | None:
    """Split a segment with an id, an extension or a sign before its name: what is before, the values, and the rest."""
    behind = _common_extension(texts)
    stems = [text.removesuffix(behind) for text in texts]
    before = _common_letters(stems)
    inner = [stem.removeprefix(before) for stem in stems]
    for separator in _SEPARATORS:
        for parts in (
            _before_uuid(inner, separator),
            _each(str.rpartition, inner, separator),
            _each(str.partition, inner, separator),
        ):
            columns = [[first for first, _, _ in parts], [second for _, _, second in parts]]
            ids = [typed(column) in _NUMBERED for column in columns]
            if all(map(all, columns)) and any(ids) and not _is_one_value(columns, ids):
                return before, columns, separator, behind
    if (behind or before) and (len(set(inner)) > 1 or typed(inner)) and kind_in_path(inner):
        return before, [inner], "", behind
    return None


def _each(
    split: Callable[[str, str], tuple[str, str, str]], texts: Sequence[str], separator: str
) -> list[tuple[str, str, str]]:
    return [split(text, separator) for text in texts]


def _before_uuid(texts: Sequence[str], separator: str) -> list[tuple[str, str, str]]:
    """Split before an id that has the separator within it."""
    place = -UUID_CHARS - 1
    return [(one[:place], separator, one[place + 1 :] if one[place : place + 1] == separator else "") for one in texts]


def _is_one_value(columns: Sequence[Sequence[str]], ids: Sequence[bool]) -> bool:
    """Return whether a split would only cut a word off a plain word that never varies: `version-2`."""
    words = columns[0 if ids[1] else 1]
    numbers = columns[1 if ids[1] else 0]
    return len(set(words)) == 1 and len(set(numbers)) == 1 and not KINDS["slug"](words[0])


def _common_extension(texts: Sequence[str]) -> str:
    dot = texts[0].rfind(".")
    extension = texts[0][dot:] if dot > 0 else ""
    is_one = _EXTENSION.fullmatch(extension) is not None and all(
        one.endswith(extension) and one != extension for one in texts
    )
    return extension if is_one else ""


def _common_letters(texts: Sequence[str]) -> str:
    """Return the letters or the sign before an id, where all have the same: `tt0111161`, `@alice`."""
    match = _LETTERS.match(texts[0])
    letters = match[0] if match else ""
    rests = [text.removeprefix(letters) for text in texts if text.startswith(letters)]
    if len(rests) < len(texts) or not all(rests):
        return ""
    return letters if not letters[:1].isalpha() or all(map(is_number, rests)) else ""


def _is_alike(one: PageAddress, other: PageAddress | None) -> bool:
    return other is not None and (
        one.origin == other.origin
        and len(one.segments) == len(other.segments)
        and set(one.query) == set(other.query)
        and len(one.route) == len(other.route)
    )


def _route(page: PageAddress) -> str:
    return f"#{'' if page.route[0] == '!' else '/'}{'/'.join(page.route)}" if page.route else ""


def _literal(text: str, also: str = ":@,;$+=") -> str:
    return quote(text, safe=f"!~*'(){also}")
