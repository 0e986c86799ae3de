"""The queries to the index of passages, ranked by BM25 among those of the caller alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from actors.keeper.search_index import Indexed, passage_place, scope_of
from actors.keeper.search_terms import HiddenTerms, query_terms
from actors.projection.database import Database, Row
from bus.seal import Seal, UnsealError
from protocol.codec import decoder
from protocol.collections import own_id
from protocol.faults import Code, FaultError, fault
from protocol.search import FoundPassage, Passages, SearchPassages
from protocol.subjects import COLLECTIONS, PAGE_VISITS

MAX_TERMS: Final = 12
"""Terms of a query that are looked for: the rarest."""

_COMMON: Final = 2_000
"""Passages from which a term says too little for what it takes to rank them, where a query has a rarer one."""

_COMMON_SHARE: Final = 0.25
_MANY: Final = 40
"""Passages from which that share of them is told from chance."""

_CANDIDATES: Final = 8
"""Ranked passages for each that is asked for: some sources have more than they may."""

_FADING: Final = 0.3
"""What each further passage of a source counts less than the one before."""

_KNOWN_CALLERS: Final = 1_000

_COUNTS = "SELECT (SELECT count(*) FROM passages), (SELECT count(*) FROM passages WHERE caller = ?)"
_TERMS = "SELECT term, doc FROM search_counts WHERE term IN ({})"
_SCORES = (
    "SELECT rowid AS id, ? * bm25(search_terms, 3.0, 1.0, 0.0) AS score FROM search_terms WHERE search_terms MATCH ?"
)
"""A word of the title counts three times."""

_RANKED = (
    "WITH scores AS MATERIALIZED ({}), "
    "best AS MATERIALIZED (SELECT id, sum(score) AS total FROM scores GROUP BY id ORDER BY total LIMIT ?) {}"
)
_PASSAGES = (
    "SELECT passages.id, kind, owner, collection, at, content, total FROM best JOIN passages USING (id) "
    "WHERE caller = ? ORDER BY total, passages.id"
)
_OWNERS = "SELECT owner, total FROM best JOIN passages USING (id) WHERE caller = ? ORDER BY total"
_ANY = "SELECT id, content FROM passages WHERE caller = ? LIMIT 1"


@dataclass(frozen=True)
class SearchIndex:
    """The queries to the index; each finds what is its caller's."""

    database: Database
    seal: Seal
    _counts: dict[str, tuple[object, int, int]] = field(
        default_factory=dict[str, tuple[object, int, int]], init=False, repr=False
    )

    async def search(self, request: SearchPassages) -> Passages:
        """Return the passages that match best, a few of each document.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, where the file was sealed with another key; it is being replaced.
        """
        own, rows = await self._ranked(_PASSAGES, request, request.limit * _CANDIDATES)
        if not rows:
            await self._check_key(request.caller)
        return Passages(passages=tuple(islice(self._found(rows, request.per_source), request.limit)), indexed=own)

    async def rank_sources(self, request: SearchPassages) -> Mapping[str, float]:
        """Return how well the sources of a collection match, by their ids: their best passages count, the first most.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the database is being replaced.
        """
        _, rows = await self._ranked(_OWNERS, request, _COMMON)
        scores, counts = dict[str, float](), Counter[str]()
        for owner, total in rows:
            scores[owner] = scores.get(owner, 0.0) - total * _FADING ** counts[owner]
            counts[owner] += 1
        return scores

    async def _ranked(self, query: str, request: SearchPassages, limit: int) -> tuple[int, list[Row]]:
        """Return how many passages a caller has, and the rows of those that match best."""
        everything, own = await self._count(request.caller)
        hidden = HiddenTerms.of(self.seal, request.caller)
        terms = await self._weighed(hidden, query_terms(request.query), everything, own)
        if not terms:
            return own, []
        scope = f'scope : "{hidden.hidden(scope_of(own_id(request.collection)))}" AND ' if request.collection else ""
        wanted = [(weight, f'{scope}{{title body}} : "{term}"') for term, weight in terms]
        values = (*(value for pair in wanted for value in pair), limit, request.caller)
        return own, await self.database.read(_RANKED.format(" UNION ALL ".join([_SCORES] * len(wanted)), query), values)

    async def _count(self, caller: str) -> tuple[int, int]:
        """Return how many passages there are, and how many of a caller; counted anew when the tables have moved."""
        moved = (self.database.position(COLLECTIONS.name), self.database.position(PAGE_VISITS.name))
        known = self._counts.get(caller)
        if known is None or known[0] != moved:
            if len(self._counts) >= _KNOWN_CALLERS:
                self._counts.clear()
            [(everything, own)] = await self.database.read(_COUNTS, (caller,))
            known = self._counts[caller] = (moved, everything, own)
        return known[1], known[2]

    async def _weighed(
        self, hidden: HiddenTerms, words: Sequence[str], everything: int, own: int
    ) -> list[tuple[str, float]]:
        """Return the rarest terms of a query with their weights, by which BM25 counts among a caller's passages alone.

        FTS5 takes a term for rare that few of all callers' passages have.
        """
        terms = [hidden.hidden(word) for word in words]
        rows = await self.database.read(_TERMS.format(", ".join("?" * len(terms))), terms) if terms else []
        counts = sorted(((int(count), str(term)) for term, count in rows))
        most = min(_COMMON, own * _COMMON_SHARE) if own >= _MANY else _COMMON
        telling = [(count, term) for count, term in counts if count <= most] or counts[:1]
        return [(term, _rarity(own, count) / _rarity_of_all(everything, count)) for count, term in telling[:MAX_TERMS]]

    def _found(self, rows: Sequence[Row], per_source: int) -> Iterator[FoundPassage]:
        shown = Counter[str]()
        for name, kind, owner, collection, at, content, total in rows:
            shown[owner] += 1
            if shown[owner] <= per_source:
                kept = self._opened(name, content)
                yield FoundPassage(
                    url=kept.url,
                    title=kept.title,
                    text=kept.text,
                    score=-total,
                    kind=kind,
                    source_id=owner if kind == "source" else "",
                    artifact_id=owner if kind == "text" else "",
                    collection_id=collection,
                    at=at,
                )

    async def _check_key(self, caller: str) -> None:
        """Have a file replaced whose terms are hidden by another key: nothing is ever found in it."""
        for name, content in await self.database.read(_ANY, (caller,)):
            self._opened(name, content)

    def _opened(self, name: int, content: bytes) -> Indexed:
        try:
            kept: Indexed = decoder(Indexed).decode(self.seal.unseal(content, passage_place(name)))
        except UnsealError:
            self.database.broken = True
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE)) from None
        return kept


def _rarity(passages: int, count: int) -> float:
    """Return how much a term tells (BM25's idf, which is never negative)."""
    return math.log(1 + (_others(passages, count) + 0.5) / (count + 0.5))


def _rarity_of_all(passages: int, count: int) -> float:
    """Return what FTS5 takes for that, among all passages."""
    return max(math.log((_others(passages, count) + 0.5) / (count + 0.5)), 1e-6)


def _others(passages: int, count: int) -> int:
    """Return how many have not a term; passages may come in between the one count and the other."""
    return max(passages - count, 0)
