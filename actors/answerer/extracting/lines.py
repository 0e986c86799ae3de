"""Reads Markdown line by line, as what a reader sees: texts with their links, headings, items and definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from actors.markdown.structure import plain_words

MAX_CHARS, MAX_LINES, MAX_LINE_CHARS = 1_000_000, 5_000, 8_000
"""How much of one source is looked at: characters, lines, and characters of a line that are looked at together."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"(?:[-*+]\s+)?(#{1,6})\s+(.*)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+(.*)")
_LEAD = re.compile(r"\*\*(?P<label>[^*]{1,60})\*\*(?P<rest>.*)")
_LINK = re.compile(r"\]\(<?([^)\s>]+)")
_RULE = re.compile(r"[-*_\s]{3,}")


class Line(Struct, frozen=True):
    """A line of text: `level` of a heading (0 for none), whether it is an item of a list, what of it leads in bold.

    `defines`: it stands beside the line before, as a definition beside its term. `cells` are those of a row of a table.
    """

    text: str
    links: tuple[str, ...] = ()
    level: int = 0
    item: bool = False
    lead: str = ""
    defines: bool = False
    cells: tuple[str, ...] = ()


def read_lines(markdown: str) -> Iterator[Line]:
    """Return the lines of a document that say something, code left out."""
    fence = ""
    for raw in _raw_lines(markdown[:MAX_CHARS]):
        if opening := _FENCE.match(raw):
            fence = "" if fence and opening[1].startswith(fence) else fence or opening[1][:3]
            continue
        stripped = raw.strip(" \t>")
        if fence or not stripped or _RULE.fullmatch(stripped):
            continue
        line = _read(stripped)
        if line.text or line.cells:
            yield line


def _raw_lines(markdown: str) -> Iterator[str]:
    """Return the first lines of a document, long ones in pieces."""
    for line in markdown.split("\n", MAX_LINES)[:MAX_LINES]:
        yield from (line[at : at + MAX_LINE_CHARS] for at in range(0, len(line) or 1, MAX_LINE_CHARS))


def _read(raw: str) -> Line:
    links = tuple(_LINK.findall(raw)) if "](" in raw else ()
    if raw.startswith("|") and raw.endswith("|"):
        cells = tuple(plain_words(cell) for cell in re.split(r"(?<!\\)\|", raw[1:-1]))
        is_rule = all(set(cell) <= set("-: ") for cell in cells)
        return Line("" if is_rule else " ".join(filter(None, cells)), links, cells=() if is_rule else cells)
    if heading := _HEADING.fullmatch(raw):
        return Line(plain_words(heading[2].rstrip("# ")), links, level=len(heading[1]))
    defines = raw.startswith(": ")
    raw = raw[2:] if defines else raw
    item = _ITEM.fullmatch(raw)
    raw = item[1] if item else raw
    if heading := _HEADING.fullmatch(raw):
        return Line(plain_words(heading[2]), links, level=len(heading[1]), item=True)
    lead = _LEAD.match(raw)
    label = plain_words(lead["label"]) if lead and lead["rest"].strip() else ""
    return Line(plain_words(raw.rstrip("\\")), links, item=item is not None, lead=label, defines=defines)
