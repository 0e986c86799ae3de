"""Reads where a Markdown document can be cut, and which headings it has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

_FENCE = re.compile(r"(`{3,}|~{3,})[^`]*$")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+([^\n]*)")
_SPECIAL = re.compile(r"[\\`*~\[#]")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
# No link begins at an escaped bracket: looking on from there would cost the square of a text that is full of them.
_IMAGE = re.compile(r"(?<!\\)!\[((?:[^\[\]\\]|\\.)*)\]\((?:[^()\\\s]|\\.|\([^()]*\))*\)")
_LINK = re.compile(r"(?<!\\)\[((?:[^\[\]\\]|\\.)*)\]\((?:<[^<>]*>|(?:[^()\\\s]|\\.|\([^()]*\))*)\)")
_MARKS = re.compile(r"(?<!\\)(?:\*{1,3}|`+|~~)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


class Cut(IntEnum):
    """How well a document can be cut at a place; the smaller, the better."""

    BLOCK = 0
    ITEM = 1
    ROW = 2
    LINE = 3


@dataclass(frozen=True, slots=True)
class Section:
    """A heading: where it begins, its level from 1 to 6, and its plain text."""

    start: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Outline:
    """The places where lines of a document begin, by how well it can be cut there, and its headings.

    `fences` are the places of lines within blocks of code, with the line that closes each.
    """

    cuts: tuple[list[int], list[int], list[int], list[int]]
    sections: list[Section]
    fences: dict[int, str]


def read(document: str) -> Outline:
    """Read a document line by line, once."""
    cuts: tuple[list[int], list[int], list[int], list[int]] = ([], [], [], [])
    sections = list[Section]()
    fences = dict[int, str]()
    fence = ""
    after_blank = True
    place = 0
    for line in document.split("\n"):
        text = line.strip(" >\t\r")
        first = text[:1]
        if fence:
            cuts[Cut.LINE].append(place)
            fences[place] = fence
            if text.startswith(fence) and not text.strip(fence[0]):
                fence = ""
        elif first:
            heading = _HEADING.match(line) if first == "#" else None
            if heading is not None:
                sections.append(Section(place, len(heading[1]), plain(_closed(heading[2]))))
            whole = heading is not None or (after_blank and line[0] not in " \t")
            cuts[Cut.BLOCK if whole else _kind(text)].append(place)
            opening = _FENCE.match(text) if first in "`~" else None
            fence = opening[1] if opening is not None else ""
        after_blank = not first
        place += len(line) + 1
    return Outline(cuts, sections, fences)


def plain(markdown: str) -> str:
    """Return the words of some Markdown."""
    if _SPECIAL.search(markdown) is not None:
        markdown = _LINK.sub(r"\1", _IMAGE.sub(r"\1", markdown))
        markdown = _ESCAPED.sub(r"\1", _MARKS.sub("", markdown))
    return " ".join(markdown.split())


def _closed(heading: str) -> str:
    # A heading may end as it begins: "## One ##".
    words = heading.rstrip()
    bare = words.rstrip("#")
    return bare if bare[-1:] in ("", " ", "\t") else words


def _kind(text: str) -> Cut:
    if text[0] == "|":
        return Cut.ROW
    return Cut.ITEM if _ITEM.match(text) is not None else Cut.LINE
