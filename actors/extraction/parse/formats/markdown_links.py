"""Makes the links and pictures of Markdown absolute, and lists the links; code stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial
from itertools import groupby

from markdown_it import MarkdownIt

from actors.extraction.parse.addresses import absolute
from actors.extraction.parse.formats.document import MAX_WORDS_CHARS
from actors.extraction.parse.text import one_line
from protocol.documents import ExtractedLink

_TARGET = r"<[^<>\n]{1,2000}>|(?:[^\s()<>\\]|\([^\s()<>\\]{0,2000}\)){1,2000}"
_CODE = r"(?<![`\\])(?P<ticks>`{1,8})(?!`)[\s\S]{1,2000}?(?<!`)(?P=ticks)(?!`)"
_PLACE = re.compile(
    rf"{_CODE}|(?P<before>(?<!\\)\]\([ \t]*|^ {{0,3}}\[(?!\^)[^\[\]\n]{{1,300}}\]:[ \t]*)"
    rf"(?P<target>{_TARGET})(?=[\s)]|\Z)",
    re.MULTILINE,
)
"""Code, which is passed over, or where a link leads: in brackets behind its words, or behind the label that it is
defined for."""

_IMAGE = r"!\[([^\[\]\n]{0,300})\]\([^()\n]{0,2000}\)"
_PICTURE = re.compile(_IMAGE)
_LINK = re.compile(rf"(?<!!)\[(?P<words>(?:[^\[\]\n]|{_IMAGE}){{1,300}})\]\((?P<url>[^\s()<>]{{1,2000}})")
_CODE_WITH_LINK = re.compile(_CODE)
_SCHEMES = ("http://", "https://")
_ESCAPES = str.maketrans({"(": "%28", ")": "%29", " ": "%20", "<": "%3C", ">": "%3E"})


def with_absolute_links(markdown: str, base: str) -> tuple[str, Iterator[ExtractedLink]]:
    """Return Markdown with its links joined to the address of its page, and those that it has in the order of it.

    A link to a part of the same page stays as it is.
    """
    if not any(mark in markdown for mark in ("](", "]:")):
        return markdown, iter(())
    parts = [
        (part if is_code else _PLACE.sub(partial(_joined, base), part), is_code) for part, is_code in _parts(markdown)
    ]
    return "\n".join(part for part, _ in parts), _links(part for part, is_code in parts if not is_code)


def _parts(markdown: str) -> Iterator[tuple[str, bool]]:
    """Return the lines of code blocks, fenced and indented, and those between them by turns."""
    blocks = _parser().parse(markdown)
    code = {line for one in blocks if one.type in ("fence", "code_block") and one.map for line in range(*one.map)}
    for is_code, lines in groupby(enumerate(markdown.split("\n")), key=lambda numbered: numbered[0] in code):
        yield "\n".join(line for _, line in lines), is_code


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


def _joined(base: str, place: re.Match[str]) -> str:
    target = place["target"]
    if target is None or target.strip("<>").startswith("#"):
        return place[0]
    href = absolute(base, target.strip("<>"))
    return f"{place['before']}{href.translate(_ESCAPES)}" if href.startswith(_SCHEMES) else place[0]


def _links(parts: Iterator[str]) -> Iterator[ExtractedLink]:
    for part in parts:
        for link in _LINK.finditer(_CODE_WITH_LINK.sub(_without_link, part)):
            if link["url"].startswith(_SCHEMES):
                words = _PICTURE.sub(r"\1", link["words"])
                yield ExtractedLink(url=link["url"], text=one_line(words, MAX_WORDS_CHARS))


def _without_link(code: re.Match[str]) -> str:
    return "" if "](" in code[0] else code[0]
