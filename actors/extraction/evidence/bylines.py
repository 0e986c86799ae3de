"""Finds who signed a page: what is called an author, a line that begins with "By", a name beside the date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from turbohtml import Element

from actors.extraction.evidence.author import is_label, looks_personal, people, stands_before_name
from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.evidence.dates import day
from actors.extraction.evidence.text_runs import HolderNames, TextRuns, texts_containing
from actors.extraction.parse.text import collapsed
from actors.extraction.parse.tree import Page
from protocol.confidence import Source

MAX_CLAIMS = 24
MAX_ELEMENTS = 60
MAX_CHARS = 240
_BORDER = " | "
"""Stands between the runs of text of one element."""

_MAX_STRINGS = 12
_MAX_LINES = 48
_MAX_NAME = 60

_SAID = "[rel~=author], [itemprop~=author], [itemprop~=creator], [data-author], byline, address, cite"
_KINDS = re.compile(
    r"author|byline|autor|user-?name|writer|auteur|contributor|redakt|creator|poster|vcard|\bfn\b|\bname\b|hnuser"
)
_CALLED = (
    "author",
    "byline",
    "autor",
    "username",
    "user-name",
    "writer",
    "auteur",
    "contributor",
    "redakt",
    "creator",
    "poster",
    "vcard",
    "hnuser",
)
_LINKED = (
    "/author",
    "/autor",
    "/by/",
    "/profil",
    "/user",
    "/people/",
    "/team/",
    "/staff/",
    "/contributor",
    "/member/",
    "/members/",
    "/u/",
)
_HREF = re.compile(r"/(author|autor|autoren|by|profile?|user|people|team|staff|contributor|member|u)s?/", re.IGNORECASE)
_REGIONS = (
    ("remark", re.compile(r"comment|reply|response|disqus")),
    ("post", re.compile(r"post|message|topic|thread|question|op\b")),
    (
        "other",
        re.compile(
            r"related|recommend|sidebar|widget|teaser|card|popular|latest|recent|more-|carousel|testimonial|quote"
        ),
    ),
    ("bio", re.compile(r"bio|about|box|profile")),
)
_CREDITS = re.compile(r"meta|byline|credit|info|header|hero|dateline|attribution|details")
_ZONES = frozenset({"footer", "aside", "nav", "header", "article", "main", "li", "figure", "figcaption"})
_NO_NAMES = frozenset(
    {"h1", "h2", "h3", "nav", "footer", "button", "label", "figcaption", "pre", "table", "select", "form"}
)
"""Elements in which a mere name is that of something else."""

_BOX = 4
"""Elements farther out than this are no box about the author."""

_WEIGHTS = {
    "near": 4,
    "above": 2,
    "around": 1,
    "by": 2,
    "rel": 1,
    "personal": 1,
    "is-author": 1,
    "itemprop": 1,
    "first": 2,
    "is-byline": 2,
    "called": 1,
    "href-author": 1,
    "remark": -3,
    "other": -2,
    "in-figure": -2,
    "in-nav": -2,
}
"""What a name is worth by where it stands: only decides which are claimed first, and which not at all."""


def author_claims(view: TextRuns, called: list[Element]) -> list[Claim]:
    """Return the authors that a page shows, those near a title first."""
    entries = [*_of_called(view, called), *_of_lines(view)]
    entries.sort(key=lambda entry: -entry[0])
    return [claim for _, claim in entries[:MAX_CLAIMS]]


def called_authors(page: Page) -> list[Element]:
    """Return the elements that are marked or named as an author's."""
    named = page.root.select("[class]")
    links = page.root.select("a[href]")
    authors = page.root.select(_SAID)
    authors += [named[at] for at in texts_containing([element.attr("class") or "" for element in named], _CALLED)]
    authors += [links[at] for at in texts_containing([link.attr("href") or "" for link in links], _LINKED)]
    return list(dict.fromkeys(authors))


def _of_called(view: TextRuns, called: list[Element]) -> Iterator[tuple[int, Claim]]:
    first = ["first"]
    inside = sorted((view.begins[element], at) for at, element in enumerate(called) if element in view.begins)
    for index, at in inside[:MAX_ELEMENTS]:
        element = called[at]
        if element.tag in ("meta", "link", "body", "html", "form", "input", "img"):
            continue
        value = collapsed(element.attr("content") or "", MAX_CHARS) or _text(element)
        who = people(value) if value else ()
        if not who:
            continue
        holders = view.around(element)
        words = ["called", view.distance(index), *_of_element(element, holders[0].called), *_context(holders), *first]
        words += ["by"] if is_label(value) or _labelled(view, index) else []
        first = []
        yield _entry(value, words, who)


def _text(element: Element) -> str:
    """Return the first runs of text in an element."""
    lines: list[str] = []
    length = 0
    for line in element.stripped_strings:
        lines.append(" ".join(line.split()))
        length += len(line)
        if length > MAX_CHARS or len(lines) > _MAX_STRINGS:
            break
    if len(lines) > 1 and is_label(lines[0], whole=True):
        lines[:2] = [f"{lines[0]} {lines[1]}"]
    return collapsed(_BORDER.join(lines), MAX_CHARS)


def _labelled(view: TextRuns, index: int) -> bool:
    return 0 < index <= len(view.texts) and is_label(view.texts[index - 1][:_MAX_NAME], whole=True)


def _is_maker(view: TextRuns, index: int) -> bool:
    """Return whether a name is that of who made, sold or keeps something, as what stands before it says."""
    before = view.texts[index - 1] if index else ""
    return len(before) < _MAX_NAME and stands_before_name(before) and not is_label(before, whole=True)


def _of_element(element: Element, called: str) -> Iterator[str]:
    yield from (f"is-{kind.replace('-', '')}" for kind in _KINDS.findall(called))
    if match := _HREF.search(element.attr("href") or ""):
        yield f"href-{match[1].lower()}"
    if "author" in (element.attr("rel") or ""):
        yield "rel"
    if element.attr("itemprop"):
        yield "itemprop"
    if element.tag in ("a", "address", "h2", "h3", "h4", "span", "p"):
        yield f"tag-{element.tag}"


def _of_lines(view: TextRuns) -> Iterator[tuple[int, Claim]]:
    """Read the runs of text about a title: what begins with "By", what is a name beside a date."""
    count = 0
    close = view.close()
    for index, data in enumerate(view.texts):
        labelled = is_label(data) and len(data) < 2 * MAX_CHARS
        if not labelled and (index not in close or _is_maker(view, index)):
            continue
        value, words = _line(view, index, " ".join(data.split()), labelled=labelled)
        who = people(value) if value else ()
        holders = view.around(view.nodes[index]) if who else []
        if not view.seen(holders) or (not labelled and any(holder.tag in _NO_NAMES for holder in holders)):
            continue
        yield _entry(value, [*words, view.distance(index), *_context(holders)], who)
        count += 1
        if count > _MAX_LINES:
            return


def _line(view: TextRuns, index: int, data: str, *, labelled: bool) -> tuple[str, list[str]]:
    if labelled:
        alone = is_label(data, whole=True)
        following = " ".join(view.texts[index + 1].split()) if alone and index + 1 < len(view.texts) else ""
        value = f"{data} {following}".strip()
        return (value if len(value) < MAX_CHARS else "", ["line", "by", "split" if alone else "whole"])
    if len(data) < _MAX_NAME and looks_personal(data):
        beside = any(day(text) for text in view.texts[max(0, index - 2) : index + 3] if len(text) < _MAX_NAME)
        return data, ["name", *(["dated"] if beside else [])]
    if len(data) < 2 * MAX_CHARS and day(data):
        return data, ["mixed"]
    return "", []


def _context(holders: list[HolderNames]) -> Iterator[str]:
    for depth, holder in enumerate(holders):
        if depth < _BOX:
            yield from _box(holder.called, inner=depth == 0)
        yield from _region(holder.called)
        if holder.tag in _ZONES:
            yield f"in-{holder.tag}"


@lru_cache(1024)
def _box(called: str, *, inner: bool) -> tuple[str, ...]:
    inside = ("in-called",) if not inner and _KINDS.search(called) else ()
    return (*inside, *(("credits",) if _CREDITS.search(called) else ()))


@lru_cache(1024)
def _region(called: str) -> tuple[str, ...]:
    return tuple(word for word, pattern in _REGIONS if pattern.search(called))


def _entry(value: str, words: list[str], who: tuple[str, ...]) -> tuple[int, Claim]:
    words += ["personal"] if looks_personal(who[0]) else []
    kept = tuple(dict.fromkeys(words))
    place = ClaimPlace(PlaceKind(f"byline {kept[0]}"), " ".join(kept[1:]))
    claim = Claim(PageField.AUTHOR, value, place, Source.HEURISTIC)
    return sum(_WEIGHTS.get(word, 0) for word in kept), claim
