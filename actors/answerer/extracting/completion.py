"""Asks a model for what rules left open; what it answers counts only where it stands in a source word for word."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, structs

from actors.answerer.extracting.arrays import FilledArray, Row
from actors.answerer.extracting.citing import CitedValue, missing
from actors.answerer.extracting.evidence import SourceEvidence, normal
from actors.answerer.extracting.prompting import MAX_ROW, OpenLeaf, messages, output_schema
from actors.answerer.extracting.rules import Draft
from actors.answerer.extracting.schema import Leaf, LeafKind, Record, Rows
from actors.answerer.extracting.slots import LeafSlot, slots
from actors.answerer.extracting.values import RawText, read_value
from actors.answerer.extracting.words import FieldWords
from protocol.answers import FieldFound, FieldOrigin
from protocol.models import ModelMessage, OutputSchema

Ask = Callable[[tuple[ModelMessage, ...], OutputSchema], Awaitable[Any]]
"""Asks a model; returns what matches the schema. Raises FaultError where no model answers."""

_SURE, _CHOSEN = 0.75, 0.6
"""How sure a value of a model is whose words stand in its quote, and one that it chose by what the quote says."""

_CHOOSES = (LeafKind.CHOICE, LeafKind.BOOLEAN)


class ModelValue(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value as a model gives it."""

    field: str
    value: str
    quote: str
    source: str
    row: Annotated[int, Meta(ge=0, le=MAX_ROW)] = 0


class ModelValues(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that a model gives."""

    values: tuple[ModelValue, ...]


class CompletedDraft(Struct, frozen=True):
    """What is known after a model was asked; `all_quoted`: whether all that it gave stands in the sources."""

    draft: Draft
    used_model: bool = False
    all_quoted: bool = True


async def complete(
    shape: Record | Rows, draft: Draft, texts: Sequence[SourceEvidence], instructions: str, ask: Ask
) -> CompletedDraft:
    """Ask a model for the leaves without a value, the arrays without a member, and the columns without a cell."""
    wanted = {each.name: each for each in _open(shape, draft)}
    if not wanted or not texts:
        return CompletedDraft(draft)
    prompt = messages(tuple(wanted.values()), texts, instructions, _known_rows(draft))
    answer = await ask(prompt, output_schema(tuple(wanted), texts))
    try:
        values = msgspec.convert(answer, ModelValues).values
    except msgspec.ValidationError:
        return CompletedDraft(draft, used_model=True, all_quoted=False)
    by_id = {text.source.doc_id: text for text in texts}
    checked = [(value, _checked(wanted.get(value.field), by_id.get(value.source), value)) for value in values]
    all_quoted = all(cited.value is not None for _, cited in checked)
    return CompletedDraft(_merged(draft, wanted, checked), used_model=True, all_quoted=all_quoted)


def _open(shape: Record | Rows, draft: Draft) -> Iterator[OpenLeaf]:
    """Return the leaves that have no value: outside of arrays, in arrays that have no members, in all of their rows."""
    if isinstance(shape, Record):
        leaves, _ = slots(shape)
        yield from (OpenLeaf(slot) for slot in leaves if draft.leaves[slot.at].value is None)
    for at, rows in _arrays(shape):
        filled = draft.arrays.get(at, FilledArray())
        if isinstance(rows.items, Leaf) and not filled.values:
            yield OpenLeaf(LeafSlot("", rows.items, FieldWords.of(at.rpartition("/")[2])), at)
        elif isinstance(rows.items, Record):
            for slot in slots(rows.items)[0]:
                if all(row.cells[slot.at].value is None for row in filled.rows):
                    yield OpenLeaf(slot, at)


def _arrays(shape: Record | Rows) -> Iterator[tuple[str, Rows]]:
    if isinstance(shape, Rows):
        yield "", shape
    else:
        yield from ((slot.at, slot.rows) for slot in slots(shape)[1])


def _known_rows(draft: Draft) -> Mapping[str, Sequence[str]]:
    """Return what the rows of each array are known by: the first of their values."""
    return {
        at: [
            next((str(cell.value) for cell in row.cells.values() if cell.value is not None), "") for row in filled.rows
        ]
        for at, filled in draft.arrays.items()
        if filled.rows
    }


def _checked(wanted: OpenLeaf | None, text: SourceEvidence | None, given: ModelValue) -> CitedValue:
    """Return the value that a model gave where its words stand in its quote, and its quote in the source."""
    if wanted is None or text is None:
        return missing("the model named a field or a source that there is not")
    quote = given.quote if text.is_shown(given.quote) else text.line_of(given.value)
    is_verbatim = normal(given.value).casefold() in normal(quote).casefold()
    leaf = wanted.slot.leaf
    raw = RawText(given.value, base=text.source.url, month_first=text.month_first)
    value = read_value(leaf, wanted.slot.words, raw)
    if not quote:
        return missing("the model's quote does not stand in the source")
    if value.value is None or not (is_verbatim or leaf.kind in _CHOOSES):
        return missing(value.reason or "the model's value does not stand in its quote")
    sure = _SURE if is_verbatim else _CHOSEN
    citation = text.citation(quote, sure)
    if citation is None:
        return missing("the model's quote does not stand in the source")
    return CitedValue(value.value, FieldFound(confidence=sure, origin=FieldOrigin.MODEL, citation=citation))


def _merged(draft: Draft, wanted: Mapping[str, OpenLeaf], checked: Sequence[tuple[ModelValue, CitedValue]]) -> Draft:
    """Return the draft with what a model gave; of two values for one leaf the first counts."""
    leaves = dict(draft.leaves)
    by_array: dict[str, dict[int, dict[str, CitedValue]]] = {}
    for given, cited in checked:
        leaf = wanted.get(given.field)
        if leaf is None:
            continue
        if leaf.array is not None and cited.value is not None:
            by_array.setdefault(leaf.array, {}).setdefault(given.row, {}).setdefault(leaf.slot.at, cited)
        elif leaf.array is None and leaves[leaf.slot.at].value is None:
            leaves[leaf.slot.at] = cited
    arrays = dict(draft.arrays)
    for at, rows in by_array.items():
        open_here = [leaf.slot.at for leaf in wanted.values() if leaf.array == at]
        arrays[at] = _joined(draft.arrays.get(at, FilledArray()), rows, open_here)
    return Draft(leaves, arrays)


def _joined(filled: FilledArray, given: Mapping[int, dict[str, CitedValue]], open_here: Sequence[str]) -> FilledArray:
    """Return an array with what a model gave of its rows: to those that are known, else as rows of its own."""
    if filled.rows:
        rows = [structs.replace(row, cells=row.cells | given.get(number, {})) for number, row in enumerate(filled.rows)]
        return structs.replace(filled, rows=tuple(rows))
    members = [given[number] for number in sorted(given)]
    if values := tuple(member[""] for member in members if "" in member):
        return FilledArray(values=values)
    absent = dict.fromkeys(open_here, missing("the model gave none"))
    return FilledArray(tuple(Row(absent | member) for member in members))
