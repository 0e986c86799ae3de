"""The index of what callers have captured, kept and read: passages, by terms that are hidden.

SQLite's FTS5 holds the terms. The file shows how often a term occurs and beside which others, and no word of any.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import ClassVar, Final, Literal, NamedTuple

import msgspec
from anyio import to_thread
from msgspec import Struct

from actors.keeper.search_terms import HiddenTerms
from actors.markdown.structure import passages_of, plain_words, read_outline
from actors.projection.database import Row, Write
from actors.projection.projection import TableUpdate
from bus.seal import Seal
from bus.stores import JournalLine
from protocol.codec import encode
from protocol.collections import (
    CollectionDeleted,
    CollectionLine,
    SourceAdded,
    SourceCaptured,
    SourceDeleted,
    TextAsked,
    TextDeleted,
    TextEnded,
)
from protocol.subjects import COLLECTIONS, PAGE_VISITS
from protocol.visits import KeptVisit

Kind = Literal["source", "text", "page"]

MAX_PASSAGES: Final = 1_000
"""Passages of one document that can be found."""

MAX_CALLERS: Final = 4
"""Callers whose words are remembered while an index is written."""

_LEAST_CHARS: Final = 80
"""What is shorter says too little to be searched for."""

_PURPOSE: Final = COLLECTIONS.name

_UNINDEX = "DELETE FROM search_terms WHERE rowid IN (SELECT id FROM passages WHERE {})"
_REMOVE = "DELETE FROM passages WHERE {}"
_OF_OWNER, _OF_COLLECTION = "caller = ? AND owner = ?", "caller = ? AND collection = ? AND kind = 'source'"
_ADD = "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INDEX = "INSERT INTO search_terms (rowid, title, body, scope) VALUES (?, ?, ?, ?)"
"""One row a statement: FTS5 writes out what it has gathered at each statement that may write several."""

_ADD_OF_SOURCE = (
    "INSERT INTO passages SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE EXISTS (SELECT 1 FROM sources WHERE id = ?6)"
)
"""What was captured of a source that was deleted meanwhile is kept by nobody."""

_INDEX_OF_SOURCE = (
    "INSERT INTO search_terms (rowid, title, body, scope) SELECT ?1, ?2, ?3, ?4 "
    "WHERE EXISTS (SELECT 1 FROM passages WHERE id = ?1)"
)


class Indexed(Struct, frozen=True):
    """What is kept of a passage, sealed."""

    url: str
    title: str
    text: str


class _Owned(NamedTuple):
    """A document whose passages are indexed, and whose they are."""

    caller: str
    kind: Kind
    owner: str
    collection: str
    at: int
    url: str
    title: str
    markdown: str


class _Indexing(Struct, frozen=True):
    """Writes the passages of documents; `journal` and a line of it are what they were made of."""

    seal: Seal
    journal: str
    number: int
    """Tells the ids of journals apart."""
    terms: OrderedDict[str, HiddenTerms] = msgspec.field(default_factory=OrderedDict[str, HiddenTerms])
    """How the terms of callers are hidden, those last who were met last."""

    def writes(self, line: int, document: _Owned) -> list[Write]:
        """Return the statements that index a document in place of what it was."""
        rows, terms = self.rows(line, document)
        add, index = (_ADD_OF_SOURCE, _INDEX_OF_SOURCE) if document.kind == "source" else (_ADD, _INDEX)
        return [*removal(_OF_OWNER, (document.caller, document.owner)), (add, rows), (index, terms)]

    def rows(self, line: int, document: _Owned) -> tuple[list[Row], list[Row]]:
        """Return the passages of a document, and their terms."""
        hidden = self._terms_of(document.caller)
        scope = hidden.hidden(scope_of(document.collection))
        title, rows, terms = hidden.hide_text(document.title), list[Row](), list[Row]()
        for number, (above, text) in enumerate(_cut(document.markdown)):
            name = ((line * 2 + self.number) << 10) + number
            kept = encode(Indexed(document.url, document.title, text))
            rows.append(
                (
                    name,
                    self.journal,
                    line,
                    document.caller,
                    document.kind,
                    document.owner,
                    document.collection,
                    document.at,
                    self.seal.seal(kept, passage_place(name)),
                )
            )
            terms.append((name, f"{title} {hidden.hide_text(above)}".strip(), hidden.hide_text(text), scope))
        return rows, terms

    def _terms_of(self, caller: str) -> HiddenTerms:
        hidden = self.terms[caller] = self.terms.get(caller) or HiddenTerms.of(self.seal, caller)
        self.terms.move_to_end(caller)
        if len(self.terms) > MAX_CALLERS:
            self.terms.popitem(last=False)
        return hidden


def removal(which: str, *values: Row) -> list[Write]:
    """Return the statements that take passages away, once for each of the values."""
    return [(_UNINDEX.format(which), values), (_REMOVE.format(which), values)]


class CollectionPassages(Struct, frozen=True, dict=True):
    """The passages of captured sources, notes and kept texts, as the lines of COLLECTIONS say."""

    seal: Seal
    clear: ClassVar[tuple[str, ...]] = (
        _UNINDEX.format(f"journal = '{COLLECTIONS.name}'"),
        _REMOVE.format(f"journal = '{COLLECTIONS.name}'"),
    )
    prune: ClassVar[tuple[str, ...]] = (
        _UNINDEX.format(f"journal = '{COLLECTIONS.name}' AND line < ?"),
        _REMOVE.format(f"journal = '{COLLECTIONS.name}' AND line < ?"),
    )

    @cached_property
    def _indexing(self) -> _Indexing:
        return _Indexing(self.seal, COLLECTIONS.name, 0)

    async def update(self, lines: Sequence[JournalLine[CollectionLine]]) -> TableUpdate:
        """Return what lines change, in their order."""
        return TableUpdate(await to_thread.run_sync(self._writes, lines))

    def _writes(self, lines: Sequence[JournalLine[CollectionLine]]) -> list[Write]:
        writes = list[Write]()
        for line in lines:
            changed = _change_of_collection(line.value)
            writes += self._indexing.writes(line.sequence, changed) if isinstance(changed, _Owned) else changed or []
        return writes


class PagePassages(Struct, frozen=True, dict=True):
    """The passages of pages that callers have read, as the lines of PAGE_VISITS say; none unless they are `wanted`."""

    seal: Seal
    wanted: bool = True
    clear: ClassVar[tuple[str, ...]] = (
        _UNINDEX.format(f"journal = '{PAGE_VISITS.name}'"),
        _REMOVE.format(f"journal = '{PAGE_VISITS.name}'"),
    )
    prune: ClassVar[tuple[str, ...]] = (
        _UNINDEX.format(f"journal = '{PAGE_VISITS.name}' AND line < ?"),
        _REMOVE.format(f"journal = '{PAGE_VISITS.name}' AND line < ?"),
    )

    @cached_property
    def _indexing(self) -> _Indexing:
        return _Indexing(self.seal, PAGE_VISITS.name, 1)

    async def update(self, lines: Sequence[JournalLine[KeptVisit]]) -> TableUpdate:
        """Return what lines change; of a page the last reading counts."""
        read = (line for line in lines if self.wanted and len(line.value.markdown) >= _LEAST_CHARS)
        newest = {(line.value.caller, line.value.final_url): line for line in read}
        return TableUpdate(await to_thread.run_sync(self._writes, newest) if newest else [])

    def _writes(self, newest: Mapping[tuple[str, str], JournalLine[KeptVisit]]) -> list[Write]:
        """Return statements for all at once: what is removed first makes FTS5 write out nothing."""
        pages = [self._indexing.rows(line.sequence, _page(line.value)) for line in newest.values()]
        passages = [row for rows, _ in pages for row in rows]
        terms = [row for _, rows in pages for row in rows]
        return [*removal(_OF_OWNER, *newest), (_ADD, passages), (_INDEX, terms)]


def _change_of_collection(line: CollectionLine) -> _Owned | list[Write] | None:
    match line:
        case SourceCaptured() | SourceAdded() if line.markdown:
            who, where, at = line.caller, line.collection, line.at
            return _Owned(who, "source", line.source, where, at, line.url, line.title, line.markdown)
        case TextAsked() | TextEnded() if line.markdown:
            return _Owned(line.caller, "text", line.artifact, line.collection, line.at, "", line.title, line.markdown)
        case SourceDeleted():
            return removal(_OF_OWNER, (line.caller, line.source))
        case TextDeleted():
            return removal(_OF_OWNER, (line.caller, line.artifact))
        case CollectionDeleted():
            return removal(_OF_COLLECTION, (line.caller, line.collection))
        case _:
            return None


def _page(visit: KeptVisit) -> _Owned:
    url = visit.final_url
    return _Owned(visit.caller, "page", url, "", visit.at, url, visit.title, visit.markdown)


def _cut(markdown: str) -> Iterator[tuple[str, str]]:
    """Yield the passages of a document as plain words, each with the headings above it."""
    for passage in islice(passages_of(markdown, read_outline(markdown)), MAX_PASSAGES):
        if text := plain_words(passage.text):
            yield " ".join(heading.lstrip("# ") for heading in passage.headings), text


def scope_of(collection: str | None) -> str:
    """Return what the passages of a collection have in common."""
    return f"collection {collection}"


def passage_place(name: int) -> str:
    """Return the place that a passage is sealed for."""
    return f"{_PURPOSE} passage {name}"
