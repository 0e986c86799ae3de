"""Lays records out as rows with the same columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from actors.extraction.select import roles
from actors.extraction.select.records import Key, Record

MAX_COLUMNS = 14

_FILLED = 0.2
"""Share of the rows in which a column without a role must say something."""

_ROLE_FILLED = 0.05
_TITLED = 0.5
_MIN_TITLE_CHARS = 3
_MAX_TITLE_CHARS = 200
_MIN_TEXT_CHARS = 40
_DISTINCT = 0.6
_MIN_POST_CHARS = 80
_MIN_POST_TITLE_CHARS = 15

_TITLE, _TEXT = Key(roles.TITLE, ""), Key(roles.TEXT, "")
_DATE, _AUTHOR = Key(roles.DATE, ""), Key(roles.AUTHOR, "")
_URL, _IMAGE = Key(roles.URL, ""), Key(roles.IMAGE, "")

Cells = dict[Key, str]
Rows = tuple[tuple[str, ...], ...]


def table(records: Sequence[Record]) -> tuple[tuple[str, ...], Rows]:
    """Return the names of the columns and the rows; what has little of what most records have is no row."""
    named = _named(records)
    cells = _alike(_merged([_cells(record, named) for record in records]))
    if _are_posts(cells):
        cells = [{key: text for key, text in row.items() if key != _TITLE} for row in cells]
    keys = _columns(cells)
    names = _unique([key.role or key.word or roles.TEXT for key in keys])
    return tuple(names), tuple(tuple([row.get(key, "") for key in keys]) for row in cells)


def _merged(rows: Sequence[Cells]) -> list[Cells]:
    """Join neighbours that lead to one place and say nothing twice: the picture and the name of one thing."""
    merged: list[Cells] = []
    for row in rows:
        if (
            merged
            and (url := row.get(_URL))
            and merged[-1].get(_URL) == url
            and len(merged[-1].keys() & row.keys()) == 1
        ):
            merged[-1] = {**merged[-1], **row}
        else:
            merged.append(row)
    return merged


def _alike(rows: Sequence[Cells]) -> list[Cells]:
    filled = Counter(key for row in rows for key in row)
    common = {key for key, count in filled.items() if count >= _TITLED * len(rows)}
    rows = [row for row in rows if len(common & row.keys()) >= len(common) / 2]
    return [row for row in rows if any(key not in (_URL, _IMAGE) and text for key, text in row.items())]


def _are_posts(rows: Sequence[Cells]) -> bool:
    """Tell posts, which have an author and a text, and a "title" only of the author or of a box below."""
    titles, texts = ([row[key] for row in rows if key in row] for key in (_TITLE, _TEXT))
    if sum(_AUTHOR in row for row in rows) < _TITLED * len(rows) or len(texts) < _TITLED * len(rows) or not titles:
        return False
    told = len(titles) >= _DISTINCT * len(rows) and len(set(titles)) >= _DISTINCT * len(titles)
    return _mean(texts) >= _MIN_POST_CHARS and not (told and _mean(titles) >= _MIN_POST_TITLE_CHARS)


def _named(records: Sequence[Record]) -> dict[Key, Key]:
    """Return the keys without a role that stand for the title and the text, where no key has these roles."""
    said: dict[Key, list[str]] = {}
    linked = Counter(key for record in records for key in record.links)
    for record in records:
        for key, text in record.fields.items():
            said.setdefault(key, []).append(text)
    free = {key: texts for key, texts in said.items() if not key.role and len(set(texts)) > _DISTINCT * len(texts)}
    named: dict[Key, Key] = {}
    posts = min(len(said.get(_AUTHOR, ())), len(said.get(_TEXT, ()))) >= _TITLED * len(records)
    if len(said.get(_TITLE, ())) < _TITLED * len(records) and not posts:
        likely = {key: texts for key, texts in free.items() if len(texts) >= _TITLED * len(records)}
        links = {key: texts for key, texts in likely.items() if linked[key] >= _TITLED * len(texts)} or likely
        titles = {
            key: length
            for key, texts in links.items()
            if _MIN_TITLE_CHARS <= (length := _mean(texts)) <= _MAX_TITLE_CHARS
        }
        if titles:
            named[max(titles, key=titles.__getitem__)] = _TITLE
    if len(said.get(_TEXT, ())) < _TITLED * len(records):
        texts = {
            key: _mean(texts) * len(texts)
            for key, texts in free.items()
            if key not in named and _mean(texts) >= _MIN_TEXT_CHARS
        }
        if texts:
            named[max(texts, key=texts.__getitem__)] = _TEXT
    return named


def _mean(texts: Sequence[str]) -> float:
    return sum(map(len, texts)) / len(texts)


def _cells(record: Record, named: dict[Key, Key]) -> Cells:
    row: Cells = {}
    links = {named.get(key, key): link for key, link in record.links.items()}
    for key, text in record.fields.items():
        place = named.get(key, key)
        row[place] = row[place] if row.get(place) else text
    if url := links.get(_TITLE) or links.get(_DATE) or record.url:
        row[_URL] = url
    if record.image:
        row[_IMAGE] = record.image
    return row


def _columns(rows: Sequence[Cells]) -> list[Key]:
    said: dict[Key, list[str]] = {}
    for row in rows:
        for key, text in row.items():
            said.setdefault(key, []).append(text)
    known = [key for key in said if key.role and len(said[key]) >= max(_ROLE_FILLED * len(rows), 1)]
    other = [key for key, texts in said.items() if not key.role and _tells(texts, len(rows))]
    known.sort(key=lambda key: roles.ORDER.index(key.role))
    best = sorted(other, key=lambda key: -sum(map(len, said[key])))[: max(MAX_COLUMNS - len(known), 0)]
    return (known + [key for key in other if key in set(best)])[:MAX_COLUMNS]


def _tells(texts: Sequence[str], rows: int) -> bool:
    # What every record says the same ("Add to cart") says nothing of any of them.
    return len(texts) >= max(_FILLED * rows, 2) and len(set(texts)) > 1


def _unique(names: Sequence[str]) -> list[str]:
    seen: Counter[str] = Counter()
    unique: list[str] = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return unique
