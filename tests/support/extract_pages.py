"""The self-made pages that data are extracted from, and what stands in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from actors.answerer.source import AnswerSource
from actors.extraction.evidence.json_values import Json
from actors.extraction.page import extract

PAGES = Path(__file__).parents[1] / "site" / "pages" / "extract"


class GoldPage(Struct, frozen=True, forbid_unknown_fields=True):
    """A page with the data that a schema asks for, null where the page does not say them."""

    url: str
    schema: dict[str, Any]
    data: Any


def names() -> list[str]:
    """Return what the pages are called."""
    return sorted(path.stem for path in PAGES.glob("*.json"))


def gold(name: str) -> GoldPage:
    """Read what is to be extracted from a page."""
    return msgspec.json.decode((PAGES / f"{name}.json").read_bytes(), type=GoldPage)


def source(name: str) -> AnswerSource:
    """Read a page as Weft does, by its own extraction."""
    return source_of((PAGES / f"{name}.html").read_bytes(), gold(name).url, name)


def source_of(html: str | bytes, url: str = "https://site.example/page", doc_id: str = "page") -> AnswerSource:
    """Return a page as the answerer reads it."""
    body = html.encode() if isinstance(html, str) else html
    summary = extract(body, "text/html", url).summary
    return AnswerSource(
        doc_id=doc_id,
        url=summary.url,
        title=summary.title,
        markdown=summary.markdown,
        language=summary.language or "",
        tables=summary.tables,
        parts=summary.parts,
    )


def leaves(data: Json, at: str = "") -> Iterator[tuple[str, Json]]:
    """Return the values below some data by their JSON Pointers."""
    if isinstance(data, dict):
        for name, value in data.items():
            yield from leaves(value, f"{at}/{name}")
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from leaves(value, f"{at}/{number}")
    else:
        yield at, data
