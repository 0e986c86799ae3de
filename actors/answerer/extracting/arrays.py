"""Fills arrays: with rows of tables, records, structured data and sections, and with lists of single values."""

from __future__ import annotations

import json
from collections.abc import Sequence

from msgspec import Struct

from actors.answerer.extracting import layouts, structured
from actors.answerer.extracting.citing import CitedValue, cite, missing
from actors.answerer.extracting.evidence import Pair, SourceEvidence, normal
from actors.answerer.extracting.filling import UNLABELLED, count_fits, fill
from actors.answerer.extracting.layouts import RowSet
from actors.answerer.extracting.schema import MAX_ITEMS, Leaf, Record, Rows, pointer
from actors.answerer.extracting.slots import ArraySlot, LeafSlot, called, slots
from actors.answerer.extracting.typed import all_by_form, found_by_type
from actors.answerer.extracting.values import RawText, read_value
from actors.answerer.extracting.words import LIKE, likeness, meanings
from protocol.answers import FieldFound, FieldOrigin

MAX_SETS = 60
"""Tables, lists and kinds of data of one source that are looked at for rows."""

_SAMPLE = 8
_LEAST_SHARE = 0.3
"""The share of an object that rows must fill to be taken for it."""

_NEARLY_AS_GOOD = 0.95
_CALLED_SO = 0.15
_NO_ROWS = "the sources have no list, table or data whose rows are such objects"
_MAX_COLUMNS = 8
_MAX_LISTED_CHARS = 300


class Row(Struct, frozen=True):
    """An object of an array: what was found for each of its slots, by the slot's pointer."""

    cells: dict[str, CitedValue]


class FilledArray(Struct, frozen=True):
    """The members of an array, and what is said of the array itself: why it is empty, or that there are more."""

    rows: tuple[Row, ...] = ()
    values: tuple[CitedValue, ...] = ()
    note: FieldFound | None = None


def fill_array(
    slot: ArraySlot, texts: Sequence[SourceEvidence], pairs: Sequence[tuple[SourceEvidence, Sequence[Pair]]]
) -> FilledArray:
    """Return the members of an array, those of several sources one after the other, each once."""
    if isinstance(slot.rows.items, Leaf):
        return _values(slot, slot.rows.items, texts, pairs)
    if isinstance(slot.rows.items, Rows):
        return FilledArray(note=FieldFound(reason="arrays of arrays are left to a model"))
    return _rows(slot, slot.rows.items, texts)


# -- arrays of objects ---------------------------------------------------------------------------------------------


def _rows(slot: ArraySlot, record: Record, texts: Sequence[SourceEvidence]) -> FilledArray:
    wanted, inner = slots(record, [" ".join(called(slot))])
    chosen = [(text, rows) for text in texts for rows in _chosen(slot, wanted, text)]
    listed = ((text, rows, pairs) for text, rows in chosen for pairs in rows.rows)
    filled: dict[str, Row] = {}
    for text, rows, pairs in listed:
        row = _row(wanted, inner, pairs, text, rows)
        if any(cited.value is not None for cited in row.cells.values()):
            filled.setdefault(_identity(row), row)
        if len(filled) > slot.rows.max_items:
            count = sum(rows.count for _, rows in chosen)
            return FilledArray(tuple(filled.values())[:-1], note=FieldFound(reason=_more(slot.rows.max_items, count)))
    return FilledArray(tuple(filled.values()), note=None if filled else FieldFound(reason=_no_rows(wanted, texts)))


def _no_rows(wanted: Sequence[LeafSlot], texts: Sequence[SourceEvidence]) -> str:
    """Say that no rows are such objects, which columns come nearest, and what is wrong with a value of theirs."""
    first = [(text, rows.rows[0]) for text in texts for rows in _sets(text) if rows.rows]
    nearest = max(first, key=lambda each: count_fits(wanted, each[1], each[0]), default=None)
    columns = [pair.column for pair in nearest[1] if pair.column][:_MAX_COLUMNS] if nearest else []
    if nearest is None or not columns or not count_fits(wanted, nearest[1], nearest[0]):
        return _NO_ROWS
    reasons = (cell.field.reason for cell in fill(wanted, [nearest]).values() if cell.value is None)
    why = next((f" ({reason})" for reason in reasons if reason != UNLABELLED), "")
    return f"{_NO_ROWS}; the nearest have {', '.join(columns)}{why}"


def _more(most: int, count: int) -> str:
    return (
        f"{most} of about {count} rows: ask for the pages of the list one by one, or raise maxItems up to {MAX_ITEMS}"
    )


def _chosen(slot: ArraySlot, wanted: Sequence[LeafSlot], text: SourceEvidence) -> list[RowSet]:
    """Return the rows of a source that fill the object best, with those that are laid out likewise."""
    weighed = [(_fitness(slot, wanted, each, text), each) for each in _sets(text)]
    best = max((fitness for fitness, _ in weighed), default=0.0)
    if best <= 0:
        return []
    first = next(each for fitness, each in weighed if fitness == best)
    return [
        each
        for fitness, each in weighed
        if fitness >= best * _NEARLY_AS_GOOD
        and (each.origin, each.kind) == (first.origin, first.kind)
        and (first.origin is not FieldOrigin.STRUCTURED_DATA or each is first)
    ]


def _sets(text: SourceEvidence) -> list[RowSet]:
    return [*text.once(structured.row_sets)[:MAX_SETS], *text.once(layouts.row_sets)[:MAX_SETS]]


def _fitness(slot: ArraySlot, wanted: Sequence[LeafSlot], rows: RowSet, text: SourceEvidence) -> float:
    """Return how well rows fill the object, 0 where they do not."""
    step = max(1, len(rows.rows) // _SAMPLE)
    sample = rows.rows[::step][:_SAMPLE]
    if not sample or not wanted:
        return 0.0
    counts = [count_fits(wanted, pairs, text) + _count_forms(wanted, pairs, text) for pairs in sample]
    mean = sum(counts) / len(counts)
    is_called = bool(rows.called & called(slot))
    if rows.kind == "top" and len(rows.rows) == 1 and not is_called:
        return 0.0
    least = min(len(wanted), 1 if is_called else 2) * 0.7  # rows may lack what others have
    if mean < least or mean / len(wanted) < _LEAST_SHARE:
        return 0.0
    several = min(len(rows.rows), 3) * 0.02
    return mean / len(wanted) + several + _CALLED_SO * is_called


def _count_forms(wanted: Sequence[LeafSlot], pairs: Sequence[Pair], text: SourceEvidence) -> float:
    """Return how many slots of a row are known by their form: addresses of mail and numbers to call."""
    forms = [slot for slot in wanted if slot.words.speaks_of("email", "phone")]
    return sum(0.5 for slot in forms if found_by_type(slot, pairs, text, {}))


def _row(
    wanted: Sequence[LeafSlot], inner: Sequence[ArraySlot], pairs: Sequence[Pair], text: SourceEvidence, rows: RowSet
) -> Row:
    cells = fill(wanted, [(text, pairs)])
    for slot in wanted:
        if cells[slot.at].value is None and (known := found_by_type(slot, pairs, text, cells)):
            cells[slot.at] = known
        elif cells[slot.at].value is None and slot.words.is_name and rows.origin is FieldOrigin.TABLE and pairs:
            cells[slot.at] = _first_cell(slot, pairs[0], text)
    for array in inner:
        cells |= _inner(array, pairs, text)
    return Row(cells)


def _first_cell(slot: LeafSlot, pair: Pair, text: SourceEvidence) -> CitedValue:
    """Return the first cell of a row as its name, as tables have it."""
    value = read_value(slot.leaf, slot.words, text.raw(pair))
    return cite(slot, text, pair, value, 0.75) if value.value is not None else missing("no column is called so")


def _inner(array: ArraySlot, pairs: Sequence[Pair], text: SourceEvidence) -> dict[str, CitedValue]:
    """Return the values of a list that stands in one cell, by the pointer of each."""
    if not isinstance(array.rows.items, Leaf):
        return {}
    pair = next((each for each in pairs if any(likeness(label, array.words) >= LIKE for label in each.labels)), None)
    filled = _of_texts(array, array.rows.items, text, pair, _split(pair.text)) if pair else ()
    return {pointer(array.at, number): each for number, each in enumerate(filled)}


def _identity(row: Row) -> str:
    """Return what two rows have in common that say the same."""
    return json.dumps([normal(str(each.value)).casefold() for each in row.cells.values()])


# -- arrays of values ----------------------------------------------------------------------------------------------


def _values(
    slot: ArraySlot, leaf: Leaf, texts: Sequence[SourceEvidence], pairs: Sequence[tuple[SourceEvidence, Sequence[Pair]]]
) -> FilledArray:
    values: dict[str, CitedValue] = {}
    for text, own in zip(texts, (each for _, each in pairs), strict=True):
        for cited in _of_source(slot, leaf, text, own):
            if cited.value is not None:
                values.setdefault(str(cited.value).casefold(), cited)
    if not values:
        return FilledArray(note=FieldFound(reason=UNLABELLED))
    return FilledArray(values=tuple(values.values())[: slot.rows.max_items])


def _of_source(slot: ArraySlot, leaf: Leaf, text: SourceEvidence, pairs: Sequence[Pair]) -> Sequence[CitedValue]:
    """Return the values of one source: of its data, below a heading or a label, in a column, or in one cell."""
    for label, listed in structured.lists(text):
        if likeness(label, slot.words) >= LIKE and listed:
            members = _split(listed[0]) if len(listed) == 1 else listed
            data = Pair((label,), "", FieldOrigin.STRUCTURED_DATA, structured.DATA_WEIGHT, data=True)
            if members_read := _of_texts(slot, leaf, text, data, members):
                return members_read
    below = _below_label(slot, text)
    if below:
        label_pair = Pair((), "", FieldOrigin.KEY_VALUE, 0.85)
        return _of_texts(slot, leaf, text, label_pair, below)
    column = _column(slot, text)
    if column:
        return _of_texts(slot, leaf, text, column[0], [pair.text for pair in column])
    labelled = [pair for pair in pairs if any(likeness(label, slot.words) >= LIKE for label in pair.labels)]
    best = max(labelled, key=lambda pair: pair.weight, default=None)
    return _of_texts(slot, leaf, text, best, _split(best.text)) if best else all_by_form(_member(slot, leaf), text)


def _below_label(slot: ArraySlot, text: SourceEvidence) -> list[str]:
    """Return the items of the list that follows a heading or a label of the array's name."""
    lines = text.lines
    for number, line in enumerate(lines):
        is_label = line.level or line.text.endswith((":", "\uff1a"))
        if not is_label or likeness(meanings(line.text), slot.words) < LIKE:
            continue
        items: list[str] = []
        for later in lines[number + 1 :]:
            if later.level and not later.item:
                break
            if later.item:
                items.append(later.text)
            elif items:
                break
        if items:
            return items
    return []


def _column(slot: ArraySlot, text: SourceEvidence) -> list[Pair]:
    """Return the cells of the column of the array's name."""
    for rows in text.once(layouts.row_sets):
        cells = [
            pair for row in rows.rows for pair in row if any(likeness(each, slot.words) >= LIKE for each in pair.labels)
        ]
        if len(cells) > 1 and rows.kind != "section":
            return cells
    return []


def _member(slot: ArraySlot, leaf: Leaf) -> LeafSlot:
    return LeafSlot("", leaf, slot.words)


def _of_texts(
    slot: ArraySlot, leaf: Leaf, text: SourceEvidence, pair: Pair, members: Sequence[str]
) -> Sequence[CitedValue]:
    own = _member(slot, leaf)
    cells: list[CitedValue] = []
    for member in members:
        value = read_value(
            leaf, slot.words, RawText(member, data=pair.data, base=text.source.url, month_first=text.month_first)
        )
        if value.value is not None:
            cell = Pair(pair.labels, member, pair.origin, pair.weight, data=pair.data)
            cells.append(cite(own, text, cell, value, pair.weight))
    return [each for each in cells if each.value is not None]


def _split(listed: str) -> list[str]:
    """Part what is listed in one line: by semicolons, else by commas."""
    if len(listed) > _MAX_LISTED_CHARS:
        return []
    for sign in (";", "\uff1b", "\u3001", "·", "|", ", ", "\uff0c"):
        if sign in listed:
            return [part.strip(" .") for part in listed.split(sign) if part.strip(" .")]
    return [listed]
