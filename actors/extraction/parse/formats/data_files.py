"""Reads rows and records of data: JSON, shown with its lists of records as tables, lines of JSON, separated values."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from io import StringIO
from itertools import islice
from typing import cast

import msgspec

from actors.extraction.parse.formats import document, xml_data
from actors.extraction.parse.formats.document import MAX_CHARS, MAX_TITLE_CHARS, ParsedDocument, bounded, fenced
from actors.extraction.parse.formats.xml_data import Feed, FeedEntry, WriteMarkup, plain_markup
from actors.extraction.parse.text import one_line
from protocol.confidence import Source
from protocol.documents import ExtractedTable
from protocol.page import PageFields

_TITLES = ("title", "name", "headline")
_DESCRIPTIONS = ("description", "summary", "abstract")
_MAX_TABLES = 10
_MAX_DEPTH = 3
_MAX_SEEN = 1_000
_FEED_VERSION = "https://jsonfeed.org/version/"
_MAX_DEPTH_INDENTED = 40
_BRACKET = re.compile(r"[\[\]{}]")

_DELIMITERS = ",;\t|"
_SAMPLED_LINES = 20
_MIN_LINES = 2


def read_json(text: str, url: str, write: WriteMarkup = plain_markup) -> ParsedDocument | None:
    """Read JSON; None where it is none. `write` writes the entries of a feed."""
    try:
        data: object = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None
    top = _mapping(data)
    if str(top.get("version", "")).startswith(_FEED_VERSION):
        return xml_data.feed_document(_feed(top), url, write)
    named = _first(top, _TITLES) or _first(_mapping(top.get("info")), _TITLES)  # OpenAPI says it there
    pretty = _pretty(text)
    markdown, left_out = fenced(pretty, "json")
    return ParsedDocument(
        markdown=markdown,
        text=pretty[: len(pretty) - left_out],
        source=Source.API_RESPONSE,
        title=one_line(named, MAX_TITLE_CHARS),
        tables=tuple(islice(_tables(data), _MAX_TABLES)),
        fields=PageFields(description=one_line(_first(top, _DESCRIPTIONS), 4 * MAX_TITLE_CHARS)),
        left_out=left_out,
    )


def read_json_lines(text: str, url: str) -> ParsedDocument | None:
    """Read lines of JSON; None where a line is none. The last may have been cut."""
    del url
    lines = [line.strip("\x1e \t\r") for line in text.split("\n")]
    lines = [line for line in lines if line]
    values: list[object] = []
    for number, line in enumerate(islice(lines, document.MAX_ROWS)):
        try:
            values.append(msgspec.json.decode(line))
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            if number == 0 or number < len(lines) - 1:
                return None
    if not values:
        return None
    markdown, left_out = fenced("\n".join(lines), "json")
    made = document.table_of_records(values)
    return ParsedDocument(
        markdown=markdown,
        text=text[: max(len(text) - left_out, 0)].strip(),
        source=Source.API_RESPONSE,
        tables=(made,) if made else (),
        left_out=left_out,
    )


def read_csv(text: str, url: str) -> ParsedDocument | None:
    """Read a table; None where it is none."""
    del url
    try:
        reader = csv.reader(StringIO(text.replace("\x00", ""), newline=""), delimiter=_delimiter(text))
        lines = [line for line in islice(reader, document.MAX_ROWS + 1) if any(cell.strip() for cell in line)]
    except csv.Error:
        return None
    if len(lines) < _MIN_LINES:
        return None
    table = document.table_of(lines[0], lines[1:])
    kept, left_out = bounded(text.strip())
    return ParsedDocument(
        markdown=document.table_markdown(table),
        text=kept,
        source=Source.STRUCTURED_DATA,
        tables=(table,),
        left_out=left_out,
    )


def _pretty(text: str) -> str:
    """Indent JSON, unless it is too long to be shown whole or so deep that the indents outweigh it."""
    if len(text) > MAX_CHARS:
        return text
    depth = deepest = 0
    for bracket in _BRACKET.finditer(text):
        depth += 1 if bracket[0] in "[{" else -1
        deepest = max(deepest, depth)
    return msgspec.json.format(text, indent=2) if deepest <= _MAX_DEPTH_INDENTED else text


def _tables(data: object) -> Iterator[ExtractedTable]:
    """Find the lists of like records near the top."""
    waiting = deque([("", data)])
    for _ in range(_MAX_SEEN):
        if not waiting:
            return
        path, value = waiting.popleft()
        if isinstance(value, list):
            if made := document.table_of_records(cast("list[object]", value), path):
                yield made
        elif path.count(".") < _MAX_DEPTH:
            waiting.extend((f"{path}.{key}" if path else key, inner) for key, inner in _mapping(value).items())


def _feed(top: Mapping[str, object]) -> Feed:
    items = top.get("items")
    return Feed(
        title=_first(top, ("title",)),
        description=_first(top, ("description",)),
        language=_first(top, ("language",)),
        link=_first(top, ("home_page_url",)),
        entries=tuple(_entry(_mapping(item)) for item in islice(_list(items), xml_data.MAX_ENTRIES)),
    )


def _entry(item: Mapping[str, object]) -> FeedEntry:
    people = [_mapping(one) for one in (*_list(item.get("authors")), item.get("author"))]
    return FeedEntry(
        title=escape(_first(item, ("title",)), quote=False),
        link=_first(item, ("url", "external_url")),
        summary=escape(_first(item, ("summary", "content_text")), quote=False) or _first(item, ("content_html",)),
        published=_first(item, ("date_published", "date_modified")),
        author=next((name for one in people if (name := _first(one, ("name",)))), ""),
    )


def _first(mapping: Mapping[str, object], keys: Iterable[str]) -> str:
    return next((value for key in keys if isinstance(value := mapping.get(key), str)), "")


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _delimiter(text: str) -> str:
    """Choose what cuts the first lines into the most parts, and all of them into as many."""
    lines = [line[:10_000] for line in islice(StringIO(text), _SAMPLED_LINES) if line.strip()]
    return max(
        _DELIMITERS,
        key=lambda mark: (min((line.count(mark) for line in lines), default=0), lines[0].count(mark) if lines else 0),
    )
