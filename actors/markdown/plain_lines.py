"""Reads Markdown line by line as the plain text of each block, which is quick where `plain_text` parses everything."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from actors.markdown.structure import plain_words, without_images

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*$")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+|$)(.*?)(?:(?:^|[ \t])#+)?[ \t]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)]|:)[ \t]+(?:\[[ xX]\] )?")
_RULER = re.compile(r" {0,3}(?:(?:-[ \t]*){2,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,}|=+[ \t]*)$")
_ADDRESS = re.compile(r" {0,3}\[(?!\^)[^\]]{1,200}\]:[ \t]+\S+")
_NOTE = re.compile(r" {0,3}\[\^[^\]]{1,100}\]:[ \t]+")
_NOTE_MARK = re.compile(r"\[\^[^\]\s]{1,100}\]")
_DELIMITERS = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?::?-+:?[ \t]*)?$")
_CELLS = re.compile(r"(?<!\\)\|")
_INDENTED = ("    ", "\t")
_FIRST = frozenset("#|>`~-*+=_[:0123456789")
"""Without one of these at its beginning a line is text."""

_TAG = re.compile(r"(?<!\\)<(?:/?[A-Za-z][^<>]{0,300}|!--[^<>]{0,1000}--)>")
_AUTOLINK = re.compile(r"(?<!\\)<((?:https?|mailto):[^<>\s]{1,2000})>")
_ENTITY = re.compile(r"(?<!\\)&#?\w{1,31};")


class LineKind(StrEnum):
    """What a line of text stands in."""

    HEADING = "heading"
    PROSE = "prose"
    ITEM = "item"
    ROW = "row"
    CODE = "code"


class PlainLine(Struct, frozen=True, gc=False):
    """The words of a block, of a row, or of a line of code: blanks are single, and no line is empty."""

    kind: LineKind
    text: str


def plain_lines(markdown: str) -> Iterator[PlainLine]:
    """Yield the lines of a document in their order; images, addresses of links and rulers say nothing."""
    reading = _Reading()
    for line in markdown.splitlines():
        yield from reading.feed(line)
    yield from reading.flush()


class _Reading:
    """What is open at a line: a fence, or a block whose lines are collected."""

    def __init__(self) -> None:
        self._fence = ""
        self._lines = list[str]()
        self._kind = LineKind.PROSE
        self._after_blank = True
        self._in_list = False

    def feed(self, line: str) -> Iterator[PlainLine]:
        """Yield what is finished by a further line."""
        text = line.lstrip()
        if self._fence:
            yield from self._code(line)
        elif not text:
            yield from self.flush()
            self._after_blank = True
        elif text[0] not in _FIRST:
            yield from self._text(line, text)
        elif text[0] == ">":
            yield from self.feed(text.lstrip("> \t"))
        else:
            yield from self._marked(line)

    def flush(self) -> Iterator[PlainLine]:
        """Yield the block that was collected."""
        if self._lines:
            yield from _line(self._kind, inline(" ".join(self._lines)))
            self._lines.clear()
        self._kind = LineKind.PROSE

    def _text(self, line: str, text: str) -> Iterator[PlainLine]:
        """Collect a line; it is code where it is indented after a blank one, outside of lists."""
        if self._after_blank and not self._lines and line.startswith(_INDENTED) and not self._in_list:
            yield from _line(LineKind.CODE, line)
            return
        if self._after_blank and not line[0].isspace():
            self._in_list = False
        self._after_blank = False
        ended = line.endswith("  ") or text.endswith("\\")
        self._lines.append(text.removesuffix("\\") if ended else text)
        if ended:
            kind = self._kind
            yield from self.flush()
            self._kind = kind

    def _marked(self, line: str) -> Iterator[PlainLine]:
        """Read a line whose first character may be a mark."""
        if (fence := _FENCE.match(line)) is not None:
            yield from self.flush()
            self._fence = fence[1]
        elif (heading := _HEADING.match(line)) is not None:
            yield from self.flush()
            yield from _line(LineKind.HEADING, inline(heading[1]))
            self._in_list, self._after_blank = False, True
        elif _RULER.match(line) is not None:
            self._kind = LineKind.HEADING if self._lines and line.strip()[0] in "=-" else self._kind
            yield from self.flush()
        elif line.lstrip().startswith("|"):
            yield from self.flush()
            yield from _row(line)
        elif (item := _ITEM.match(line)) is not None and not self._is_code(line):
            yield from self.flush()
            self._kind, self._in_list, self._after_blank = LineKind.ITEM, True, False
            self._lines = [line[item.end() :]]
        elif not _ADDRESS.match(line):
            note = _NOTE.match(line)
            rest = line if note is None else line[note.end() :]
            yield from self._text(rest, rest.lstrip())

    def _is_code(self, line: str) -> bool:
        return self._after_blank and not self._in_list and line.startswith(_INDENTED)

    def _code(self, line: str) -> Iterator[PlainLine]:
        text = line.strip()
        if text.startswith(self._fence) and not text.strip(self._fence[0]):
            self._fence = ""
        else:
            yield from _line(LineKind.CODE, line)


def inline(markdown: str) -> str:
    """Return the words of one block."""
    if "<" in markdown:
        markdown = _TAG.sub("", _AUTOLINK.sub(r"\1", markdown))
    if "[^" in markdown:
        markdown = _NOTE_MARK.sub("", markdown)
    if "![" in markdown:
        markdown = without_images(markdown)
    if "&" in markdown:
        markdown = _ENTITY.sub(lambda match: html.unescape(match[0]), markdown)
    return plain_words(markdown)


def _row(line: str) -> Iterator[PlainLine]:
    if _DELIMITERS.match(line) is None:
        cells = (inline(cell) for cell in _CELLS.split(line))
        yield from _line(LineKind.ROW, " ".join(filter(None, cells)))


def _line(kind: LineKind, text: str) -> Iterator[PlainLine]:
    words = " ".join(text.split())
    if words:
        yield PlainLine(kind, words)
