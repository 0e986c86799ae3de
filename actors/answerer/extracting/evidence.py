"""What a source says of anything, as pairs of a label and a text, whatever layout they stand in."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

from msgspec import UNSET, Struct, structs

from actors.answerer.extracting.lines import Line, read_lines
from actors.answerer.extracting.values import RawText
from actors.answerer.fragments import TextDirective
from actors.answerer.source import AnswerSource
from actors.extraction.evidence.dates import month_comes_first
from actors.extraction.evidence.json_values import Json
from protocol.answers import FieldOrigin
from protocol.packets import Citation, Locator
from protocol.page import Product

R = TypeVar("R")

MAX_QUOTE_CHARS = 300
_MAX_EXACT_CHARS, _END_WORDS = 120, 5

_DAY_FIRST = (".uk", ".ie", ".au", ".nz", ".in", ".za", ".eu", ".org.uk")
"""Endings of hosts whose English writes the day before the month."""


class Pair(Struct, frozen=True):
    """A label and what stands beside it, by what its words mean; the better of several readings of a label counts.

    `weight` is how sure the layout is of the two belonging together. `section` are the words of the heading above.
    `quote` is what is cited of it, the text itself when it is empty; `ends` are its first and last cell. `column` is
    the name of the column that it stands in, as the page has it.
    """

    labels: tuple[frozenset[str], ...]
    text: str
    origin: FieldOrigin
    weight: float
    links: tuple[str, ...] = ()
    section: frozenset[str] = frozenset()
    quote: str = ""
    ends: tuple[str, str] = ("", "")
    data: bool = False
    column: str = ""


@dataclass(frozen=True)
class SourceEvidence:
    """A source by its lines, and what may be quoted of it."""

    source: AnswerSource
    _read: dict[Callable[[SourceEvidence], object], object] = field(
        default_factory=dict["Callable[[SourceEvidence], object]", object], repr=False
    )
    _quotes: dict[str, bool] = field(default_factory=dict[str, bool], repr=False)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines of its Markdown as plain text; code is left out."""
        return tuple(read_lines(self.source.markdown))

    @cached_property
    def month_first(self) -> bool:
        """Whether it writes 3/4/2026 for a day in March."""
        host = self.source.url.partition("://")[2].partition("/")[0]
        return month_comes_first(self.source.language) and not host.endswith(_DAY_FIRST)

    def raw(self, pair: Pair) -> RawText:
        """Return the text of a pair with what is to be known to read it."""
        return RawText(pair.text, pair.links, pair.data, self.source.url, self.month_first)

    def once(self, read: Callable[[SourceEvidence], R]) -> R:
        """Return what a function reads of the source; it is read when it is first asked for."""
        if read not in self._read:
            self._read[read] = read(self)
        return cast("R", self._read[read])

    def is_shown(self, quote: str) -> bool:
        """Return whether a quote stands in what the source shows, word for word."""
        if quote not in self._quotes:
            wanted = normal(quote)
            self._quotes[quote] = bool(wanted) and wanted in self._shown
        return self._quotes[quote]

    def stands(self, quote: str) -> bool:
        """Return whether a quote stands in what the source shows, or in the data that it brings along."""
        return self.is_shown(quote) or normal(quote) in self._data

    def line_of(self, text: str) -> str:
        """Return the line in which a text stands, "" where it stands in none, or in one too long to be quoted."""
        wanted = normal(text)
        if not wanted or wanted not in self._shown:
            return ""
        short = (line.text for line in self.lines if len(line.text) <= MAX_QUOTE_CHARS)
        return next((line for line in short if wanted in normal(line)), "")

    def citation(self, quote: str, confidence: float, ends: tuple[str, str] = ("", "")) -> Citation | None:
        """Cite the source by words that stand in it; None where they do not.

        `ends` are the first and the last of several cells, since no text directive goes from one cell into the next.
        """
        words = " ".join(quote.split())
        if len(words) > MAX_QUOTE_CHARS:
            words = words[:MAX_QUOTE_CHARS].rpartition(" ")[0] or words[:MAX_QUOTE_CHARS]
        if not words or not self.stands(words):
            return None
        return Citation(
            doc_id=self.source.doc_id,
            url=self.source.url,
            quote=words,
            confidence=round(confidence, 3),
            source_id=self.source.source_id or UNSET,
            locator=_locator(words, ends) if self.is_shown(words) else UNSET,
        )

    @cached_property
    def _shown(self) -> str:
        cells = (" ".join(row) for table in self.source.tables for row in (table.headers, *table.rows))
        records = (cell for records in self.source.parts.lists for row in records.rows for cell in row)
        return normal("\n".join((self.source.title, *(line.text for line in self.lines), *cells, *records)))

    @cached_property
    def _data(self) -> frozenset[str]:
        structured = (text for item in self.source.parts.structured for text in scalars(item.properties))
        fields = self.source.parts.fields
        others = (
            fields.description,
            *fields.authors,
            fields.published,
            fields.modified,
            fields.site_name,
            fields.image,
        )
        sold = structs.asdict(fields.product).values() if isinstance(fields.product, Product) else ()
        known = (*structured, *others, *sold, fields.canonical_url, self.source.language, self.source.url)
        return frozenset(normal(text) for text in known)


def _locator(quote: str, ends: tuple[str, str]) -> Locator:
    """Return the text directive that leads to a quote; long ones are named by their ends."""
    first, last = ends if ends[0] else (quote, "")
    if not ends[0] and len(quote) > _MAX_EXACT_CHARS:
        words = quote.split()
        first, last = " ".join(words[:_END_WORDS]), " ".join(words[-_END_WORDS:])
    return Locator(type="text_fragment", value=str(TextDirective(first, "" if first == last else last)))


def normal(text: str) -> str:
    """Return a text as quotes are compared: compatible characters alike, blanks as one."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def scalars(value: Json) -> Iterator[str]:
    """Return every text and number below a value of structured data."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, (str, int, float)) and not isinstance(node, bool):
            yield str(node)
