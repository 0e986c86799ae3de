"""Reads the headings of the main content."""

from __future__ import annotations

import re
from collections import ChainMap
from itertools import islice

from turbohtml import Element

from actors.extraction.decide.content.content import Content
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.select.words import words
from protocol.page import Heading

MAX_HEADINGS = 500
MAX_CHARS = 300

_HEADINGS = "h1,h2,h3,h4,h5,h6,[role=heading]"
_DEEPEST = 6

_EXTRAS = (
    ".headerlink,.header-anchor,.anchor,.anchorjs-link,.mw-editsection,.heading-link,.hash-link,.permalink,.direct-link,"
    "[aria-hidden=true],button"
)
"""What stands in headings, and is none of their words: links to themselves, and tools for editors."""

_MARKS = re.compile(r"^[#¶§\U0001f517\s]+(?=\w)|[#¶§\U0001f517\s]+$")


def outline(page: Page, content: Content) -> tuple[Heading, ...]:
    """Return the headings of the main content in the order of the page; one that only repeats the last is left out."""
    found: list[Heading] = []
    kept = (heading for heading in page.root.select(_HEADINGS) if heading in content.holders)
    for element in islice(kept, MAX_HEADINGS):
        heading = Heading(level=_level(element), text=_text(element, page))
        if heading.text and heading != (found[-1] if found else None):
            found.append(heading)
    return tuple(found)


def _level(heading: Element) -> int:
    level = heading.tag[1] if len(heading.tag) == len("h1") else (heading.attr("aria-level") or "2").strip()
    return min(max(int(level), 1), _DEEPEST) if level.isascii() and level.isdigit() else 2


def _text(heading: Element, page: Page) -> str:
    extras = heading.select(_EXTRAS)
    hidden = ChainMap(dict.fromkeys(extras, Hiding.INVISIBLE), dict(page.hidden)) if extras else page.hidden
    return _MARKS.sub("", words(heading, hidden, MAX_CHARS)) or _MARKS.sub("", words(heading, page.hidden, MAX_CHARS))
