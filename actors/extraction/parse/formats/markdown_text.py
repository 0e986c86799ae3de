"""Reads Markdown: what stands before it is read as fields, the rest is content, without what nobody sees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from actors.extraction.parse.addresses import absolute
from actors.extraction.parse.formats.feeds import iso_date
from actors.extraction.parse.formats.found import MAX_TITLE_CHARS, MAX_WORDS_CHARS, Found, bounded
from actors.extraction.parse.formats.markdown_shown import shown
from actors.extraction.parse.text import one_line
from protocol.confidence import Source
from protocol.documents import ExtractedLink
from protocol.page import Heading, PageFields

_FRONT = re.compile(r"\A\ufeff?(---|\+\+\+)[ \t]*\n(.{0,20000}?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_ENTRY = re.compile(r"^([A-Za-z][\w-]{0,40})[ \t]*[:=][ \t]*(.{0,2000}?)[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(\S.{0,500}?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{1,300})\]\(<?([^\s()<>]{1,2000})>?(?:\s[^()\n]{0,300})?\)")
_MAX_LINKS = 200
_MAX_HEADINGS = 500


def read(text: str, url: str) -> Found | None:
    """Read Markdown; any text is."""
    front = _FRONT.match(text)
    entries = {key.lower(): _unquoted(value) for key, value in _ENTRY.findall(front[2])} if front else {}
    cut, left_out = bounded((text[front.end() :] if front else text).strip())
    body, invisible = shown(cut)
    outline = tuple(islice(_outline(body), _MAX_HEADINGS))
    title = one_line(entries.get("title", ""), MAX_TITLE_CHARS)
    first = min(outline, key=lambda heading: heading.level, default=None)
    return Found(
        markdown=body,
        text=body,
        source=Source.STRUCTURED_DATA,
        title=title or (first.text if first else ""),
        title_source=Source.STRUCTURED_DATA if title else Source.HEURISTIC,
        links=tuple(dict.fromkeys(islice(_links(body, url), _MAX_LINKS))),
        fields=PageFields(
            description=one_line(entries.get("description") or entries.get("summary", ""), MAX_TITLE_CHARS * 2),
            authors=tuple(filter(None, (one_line(entries.get("author", ""), MAX_WORDS_CHARS),))),
            published=iso_date(entries.get("date", "")),
            modified=iso_date(entries.get("lastmod") or entries.get("updated", "")),
            language=entries.get("lang") or entries.get("language", ""),
            outline=outline,
        ),
        left_out=left_out,
        kept_back={"invisible texts": invisible} if invisible else {},
    )


def _outline(body: str) -> Iterator[Heading]:
    fence, before = "", ""
    for line in body.split("\n"):
        if mark := _FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif not fence and (heading := _HEADING.match(line)):
            yield Heading(level=len(heading[1]), text=one_line(heading[2], MAX_TITLE_CHARS))
        elif not fence and before.strip() and (under := _UNDERLINE.match(line)):
            yield Heading(level=1 if under[1][0] == "=" else 2, text=one_line(before, MAX_TITLE_CHARS))
        before = line


def _links(body: str, url: str) -> Iterator[ExtractedLink]:
    for found in _LINK.finditer(body):
        href = absolute(url, found[2])
        if href.startswith(("http://", "https://")):
            yield ExtractedLink(url=href, text=one_line(found[1], MAX_WORDS_CHARS))


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
