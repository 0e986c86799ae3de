"""Says what a record of a state claims of the fields of its page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from actors.extraction.evidence.claim import Field
from actors.extraction.evidence.data.records import MAX_RECORDS, Record
from actors.extraction.parse.values import Json, items, mapping, one_line, scalar

MAX_CHARS = 500

_NAMES: tuple[tuple[Field, frozenset[str]], ...] = (
    (Field.TITLE, frozenset({"headline", "title", "name", "productname", "displayname", "heading", "producttitle"})),
    (
        Field.PUBLISHED,
        frozenset(
            {"datepublished", "publishedat", "publisheddate", "publishdate", "firstpublished", "firstpublishedat"}
            | {"publicationdate", "published", "pubdate", "publishedtime", "datefirstpublished", "displaydate"}
            | {"publishtime", "dateposted", "createdat", "datecreated", "creationdate", "created"}
        ),
    ),
    (
        Field.MODIFIED,
        frozenset({"datemodified", "updatedat", "modifiedat", "lastmodified", "lastupdated", "dateupdated"}),
    ),
    (Field.AUTHOR, frozenset({"author", "authors", "byline", "bylines", "authorname", "writer", "creator"})),
    (Field.DESCRIPTION, frozenset({"description", "summary", "excerpt", "dek", "standfirst", "abstract"})),
)
_DATE = re.compile(r"\d{4}-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}/\d{1,2}/|\b(?:19|20)\d\d\b")
_SECONDS = (600_000_000, 2_400_000_000)
"""Numbers between these are taken for seconds since 1970, and a thousand times as large ones for milliseconds."""


def of_record(record: Record) -> Iterator[tuple[Field, str, str]]:
    """Return each field that a record speaks of: the value, and the property that it stands in."""
    for key, value in record.node.items():
        plain = key.replace("_", "").replace("-", "").lower()
        for field, names in _NAMES:
            if plain in names:
                for text in _texts(field, value):
                    yield field, text, plain


def _texts(field: Field, value: Json) -> Iterator[str]:
    if field in {Field.PUBLISHED, Field.MODIFIED}:
        text = _moment(value) or scalar(value)
        if _DATE.search(text[:40]):
            yield text[:40]
        return
    for item in items(value)[:MAX_RECORDS]:
        described = mapping(item)
        text = scalar(described.get("name")) or scalar(described.get("displayName")) or scalar(item)
        if (text := one_line(text, MAX_CHARS)) and "<" not in text:
            yield text


def _moment(value: Json) -> str:
    """Write seconds or milliseconds since 1970 as a date and time."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return ""
    seconds = value / 1000 if value > _SECONDS[1] else value
    return datetime.fromtimestamp(seconds, UTC).isoformat() if _SECONDS[0] < seconds < _SECONDS[1] else ""
