"""Writes values as the writer of pages writes them in Markdown, and reads lines, links and headings out of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

from actors.extraction.parse.text import clean
from protocol.documents import ExtractedLink, ExtractedTable
from protocol.page import Heading

_SPECIAL = re.compile(r"[\\`*\[\]~]|(?<![^\W_])_|_(?![^\W_])|<(?!\s)|&(?=#?\w{1,31};)")
_START = re.compile(r"(?=[-+#=>])|\d{1,9}(?=[.)](?:\s|$))")
_MARKUP = re.compile(
    r"<(?:[a-zA-Z][a-zA-Z0-9]*|/[a-zA-Z]+)(?:\s[^<>]*)?/?>|&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-z]{2,8});"
)
_BLOCK = re.compile(r"\n{1,}")


def is_html(text: str) -> bool:
    """Return whether a text has elements or entities of HTML."""
    return ("<" in text or "&" in text) and _MARKUP.search(text) is not None


def one_line(text: str) -> str:
    """Return a text as it stands in a line."""
    if text.isascii() and text.isprintable():  # as most texts are: there is nothing to clean
        return text.strip() if "  " not in text else " ".join(text.split())
    return " ".join(clean(text).split())


def escaped(text: str, *, starts: bool) -> str:
    """Return a line as the writer writes it, so that it stays text; `starts`: it begins a block."""
    if _SPECIAL.search(text):
        text = _SPECIAL.sub(r"\\\g<0>", text)
    return _START.sub(r"\g<0>\\", text, count=1) if starts and _START.match(text) else text


def unescaped(markdown: str) -> str:
    """Return Markdown with its escaped signs as they are."""
    return _ESCAPE.sub(r"\1", markdown)


_IN_TARGET = re.compile(r"\]\(<?[^()\s<>]*")
_NOT_IN_TARGET = re.compile(r"[\s()<>\\\"|]")


def in_target(written: str) -> bool:
    """Return whether what is written next stands in the address of a link."""
    start = written.rfind("](")
    return start >= 0 and _IN_TARGET.fullmatch(written, start) is not None


def target(text: str) -> str:
    """Return a piece of an address as it stands in a link: nothing in it ends the link."""
    return _NOT_IN_TARGET.sub(lambda match: quote(match[0]), text)


def paragraphs(text: str) -> str:
    """Write each line of a plain text as a paragraph."""
    return "\n\n".join(escaped(line, starts=True) for part in _BLOCK.split(text) if (line := one_line(part)))


_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_LEAD = re.compile(r"(?:\s*(?:[-*+]|\d{1,9}[.)]|>|#{1,6}|:)(?:\s+|$))*\s*")
_ROW = re.compile(r"\s*\|.*\|\s*")
_RULE = re.compile(r"\s*(?:\|[\s:|-]+\||\*\s\*\s\*|---+)\s*")
_TABLE_RULE = re.compile(r"\s*\|(?:\s*:?-{3,}:?\s*\|)+\s*")
_IMAGE = re.compile(r"!\[(?:\\.|[^\]\\])*\]\((?:<[^>]*>|[^)\s]*)\)")
_LINK = re.compile(r"\[((?:\\.|[^\]\\]|!\[(?:\\.|[^\]\\])*\]\([^)\s]*\))*)\]\((?:<([^>]*)>|([^)\s]*))\)")
_EMPHASIS = re.compile(r"(?<!\\)(?:\*{1,3}|~~|(`+))")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKED = re.compile(r"[\[!\\*~`]")
_CELL = re.compile(r"(?<!\\)\|")
_HEADING = re.compile(r"(#{1,6}) (.*)")
_MAX_LINKS = 200


def plain_lines(markdown: str) -> str:
    """Return the words of Markdown, a line for every block and every cell."""
    return "\n".join(_plain_lines(markdown))


def _plain_lines(markdown: str) -> Iterator[str]:
    fenced = False
    for line in markdown.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced:
            yield line
        elif _RULE.fullmatch(line):
            continue
        elif _ROW.fullmatch(line):
            yield from filter(None, (_words(cell) for cell in _CELL.split(line)))
        elif words := _words(line[len(_lead(line)) :]):
            yield words


def _lead(line: str) -> str:
    match = _LEAD.match(line)
    return match[0] if match else ""


def _words(text: str) -> str:
    if _MARKED.search(text) is None:
        return " ".join(text.split())
    text = _LINK.sub(r"\1", _IMAGE.sub("", text))
    return " ".join(_ESCAPE.sub(r"\1", _EMPHASIS.sub("", text)).split())


def links(markdown: str) -> tuple[ExtractedLink, ...]:
    """Return the links of Markdown, each address once, with the words of their lines."""
    candidates: dict[str, ExtractedLink] = {}
    for line in markdown.split("\n"):
        for match in _LINK.finditer(line):
            url = _ESCAPE.sub(r"\1", match[2] or match[3] or "")
            text = _words(match[1]) or _alternative(match[1])
            if url and text and url not in candidates and len(candidates) < _MAX_LINKS:
                around = _words(line[len(_lead(line)) :])
                candidates[url] = ExtractedLink(url=url, text=text, context=around if around != text else "")
    return tuple(candidates.values())


def _alternative(text: str) -> str:
    match = re.match(r"!\[((?:\\.|[^\]\\])*)\]", text)
    return _words(match[1]) if match else ""


def outline(markdown: str) -> tuple[Heading, ...]:
    """Return the headings of Markdown."""
    headings: list[Heading] = []
    fenced = False
    for line in markdown.split("\n"):
        fenced ^= _FENCE.match(line) is not None
        match = None if fenced else _HEADING.fullmatch(line)
        if match and (text := _words(match[2])):
            heading = Heading(level=len(match[1]), text=text)
            if not headings or headings[-1] != heading:
                headings.append(heading)
    return tuple(headings)


def tables(markdown: str) -> tuple[ExtractedTable, ...]:
    """Return the tables of Markdown."""
    candidates: list[ExtractedTable] = []
    rows: list[tuple[str, ...]] = []
    fenced = False
    for line in (*markdown.split("\n"), ""):
        fenced ^= _FENCE.match(line) is not None
        if not fenced and _ROW.fullmatch(line):
            rows.append(() if _TABLE_RULE.fullmatch(line) else tuple(map(_words, _CELL.split(line.strip())[1:-1])))
        elif rows:
            if len(rows) > 1 and not rows[1]:
                candidates.append(ExtractedTable(headers=rows[0], rows=tuple(rows[2:])))
            rows = []
    return tuple(candidates)
