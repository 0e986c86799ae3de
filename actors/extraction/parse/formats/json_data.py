"""Reads JSON: shown as it is, with its lists of records as tables; a JSON Feed is read as the feed that it is."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import cast

import msgspec

from actors.extraction.parse.formats import feeds, grids
from actors.extraction.parse.formats.feeds import Entry, Feed
from actors.extraction.parse.formats.found import MAX_CHARS, MAX_TITLE_CHARS, Found, fenced
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


def read(text: str, url: str) -> Found | None:
    """Read JSON; None where it is none."""
    try:
        data: object = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None
    top = _mapping(data)
    if str(top.get("version", "")).startswith(_FEED_VERSION):
        return feeds.write(_feed(top), url)
    named = _first(top, _TITLES) or _first(_mapping(top.get("info")), _TITLES)  # OpenAPI says it there
    pretty = _pretty(text)
    markdown, left_out = fenced(pretty, "json")
    return Found(
        markdown=markdown,
        text=pretty[: len(pretty) - left_out],
        source=Source.API_RESPONSE,
        title=one_line(named, MAX_TITLE_CHARS),
        tables=tuple(islice(_tables(data), _MAX_TABLES)),
        fields=PageFields(description=one_line(_first(top, _DESCRIPTIONS), 4 * MAX_TITLE_CHARS)),
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
            if made := grids.of_records(cast("list[object]", value), path):
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
        entries=tuple(_entry(_mapping(item)) for item in islice(_list(items), feeds.MAX_ENTRIES)),
    )


def _entry(item: Mapping[str, object]) -> Entry:
    people = [_mapping(one) for one in (*_list(item.get("authors")), item.get("author"))]
    return Entry(
        title=_first(item, ("title",)),
        link=_first(item, ("url", "external_url")),
        summary=_first(item, ("summary", "content_text")) or feeds.words(_first(item, ("content_html",))),
        published=_first(item, ("date_published", "date_modified")),
        author=next((name for one in people if (name := _first(one, ("name",)))), ""),
    )


def _first(mapping: Mapping[str, object], keys: Iterable[str]) -> str:
    return next((value for key in keys if isinstance(value := mapping.get(key), str)), "")


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
