"""How long a search over 50,000 passages takes in the keeper, beside FTS5 over the same words in the clear."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import median, quantiles

from anyio import to_thread

from actors.keeper.collections import CollectionTables
from actors.keeper.search_index import CollectionPassages
from actors.keeper.search_queries import SearchIndex
from actors.projection.database import Database
from actors.projection.projection import Projection
from bus.seal import Seal, new_key
from bus.stores import JournalLine
from protocol.collections import CollectionCreated, CollectionLine, SourceAdded, SourceCaptured, SourceKind
from protocol.search import SearchPassages
from protocol.subjects import COLLECTIONS
from tests.bench.table import Row

PASSAGES, OF_SOURCE, WORDS_OF_PASSAGE = 50_000, 20, 110
VOCABULARY = 60_000
QUERIES = 200
P50_MS, RATIO = 20.0, 1.0
BATCH = 64
CALLER, COLLECTION = "key_bench", "col_bench"


async def measure() -> list[Row]:
    """Index the passages, and ask."""
    words = _Words(Random(7))
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        path = Path(folder)
        sources = [[words.text(WORDS_OF_PASSAGE) for _ in range(OF_SOURCE)] for _ in range(PASSAGES // OF_SOURCE)]
        queries = [words.text(length) for length in (2, 3, 4, 5, 6) for _ in range(QUERIES // 5)]
        seal = Seal.of(new_key())
        database = Database(path / "keeper.sqlite", "actors.keeper")
        async with database.open():
            projection = Projection(COLLECTIONS.name, database, (CollectionTables(seal), CollectionPassages(seal)))
            lines = list(_lines(sources))
            started = time.perf_counter()
            for place in range(0, len(lines), BATCH):
                await projection.apply(lines[place : place + BATCH])
            rate = PASSAGES / (time.perf_counter() - started)
            index, ours = SearchIndex(database, seal), list[float]()
            for query in queries:
                started = time.perf_counter()
                found = await index.search(SearchPassages(caller=CALLER, query=query))
                ours.append((time.perf_counter() - started) * 1_000)
                assert found.indexed == PASSAGES
                assert found.passages
        plain = await to_thread.run_sync(_plain, path / "plain.sqlite", sources, queries)
    return [
        Row(
            f"search over {PASSAGES:,} passages, p50 (p95 {quantiles(ours, n=20)[-1]:.1f} ms)",
            f"{median(ours):.1f} ms",
            f"{median(plain):.1f} ms, FTS5 in the clear",
            median(ours),
            P50_MS,
            "<=",
            "ms",
        ),
        Row(
            f"search beside FTS5 in the clear, p50 ({rate:,.0f} passages/s indexed)",
            f"{median(ours):.1f} ms",
            f"{median(plain):.1f} ms",
            median(ours) / median(plain),
            RATIO,
            "<=",
        ),
    ]


class _Words:
    """Words as often as in a language: the second half as often as the first, and so on (Zipf)."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._words = [f"w{number}" for number in range(VOCABULARY)]
        self._weights = list(accumulate(1 / (number + 1) for number in range(VOCABULARY)))

    def text(self, length: int) -> str:
        """Return some words."""
        return " ".join(self._chance.choices(self._words, cum_weights=self._weights, k=length))


def _lines(sources: list[list[str]]) -> Iterator[JournalLine[CollectionLine]]:
    """Yield the lines by which sources were captured."""
    lines = (line for number, passages in enumerate(sources) for line in _captured(number, passages))
    created = CollectionCreated(caller=CALLER, at=1, collection=COLLECTION, title="Bench")
    return (JournalLine(number, "bench", 1, line) for number, line in enumerate((created, *lines), 1))


def _captured(number: int, passages: list[str]) -> tuple[CollectionLine, CollectionLine]:
    name, url = f"src_{number}", f"https://site.example/{number}"
    added = SourceAdded(
        caller=CALLER, at=1, collection=COLLECTION, source=name, kind=SourceKind.URL, url=url, normalized_url=url
    )
    captured = SourceCaptured(
        caller=CALLER,
        at=1,
        collection=COLLECTION,
        job=f"job_{number}",
        source=name,
        version=1,
        url=url,
        title=f"Source {number}",
        content_hash=name,
        markdown="\n\n".join(passages),
    )
    return added, captured


def _plain(path: Path, sources: list[list[str]], queries: list[str]) -> list[float]:
    with closing(sqlite3.connect(path)) as plain:
        plain.execute("CREATE VIRTUAL TABLE passages USING fts5 (body)")
        plain.executemany("INSERT INTO passages VALUES (?)", ((text,) for texts in sources for text in texts))
        plain.commit()
        taken = list[float]()
        for query in queries:
            started = time.perf_counter()
            plain.execute(
                "SELECT rowid, body FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT 20",
                (" OR ".join(query.split()),),
            ).fetchall()
            taken.append((time.perf_counter() - started) * 1_000)
        return taken
