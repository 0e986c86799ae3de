"""Extracts data by a JSON Schema: what the sources say by rule, then what a model quotes of the rest."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from actors.answerer.extracting.arrays import FilledArray
from actors.answerer.extracting.citing import CitedValue
from actors.answerer.extracting.completion import Ask, CompletedDraft, complete
from actors.answerer.extracting.evidence import SourceEvidence
from actors.answerer.extracting.rules import Draft, draft_by_rule
from actors.answerer.extracting.schema import Leaf, Record, Rows, Shape, pointer, read_schema
from actors.answerer.source import AnswerSource
from protocol.answers import ExtractData, FieldFound
from protocol.faults import Fault, FaultError


class ExtractedData(Struct, frozen=True):
    """Data that match the schema but for null where there is none, and where each leaf of them stands.

    `used_model`: whether a model has answered; `all_quoted`: whether all that it gave stands in the sources. `fault` is
    why none has answered, where one was to be asked; the data are those of the rules then.
    """

    data: Any
    fields: dict[str, FieldFound]
    confidence: float
    used_model: bool = False
    all_quoted: bool = True
    fault: Fault | None = None


ByRule = Callable[[Callable[[], Draft]], Awaitable[Draft]]
"""Calls the rules, which may take long for large sources: out of the way of others, where there are any."""


async def at_once(rules: Callable[[], Draft]) -> Draft:
    """Call the rules, and have everything else wait."""
    return rules()


async def extract(
    request: ExtractData, sources: Sequence[AnswerSource], ask: Ask | None, by_rule: ByRule = at_once
) -> ExtractedData:
    """Return the data that a request asks for; with `ask`, a model is asked for what rules left open.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for a schema that is not read.
    """
    shape = read_schema(request.schema)
    texts = [SourceEvidence(source) for source in sources]
    completed, fault = CompletedDraft(await by_rule(lambda: draft_by_rule(shape, texts))), None
    if ask is not None:
        try:
            completed = await complete(shape, completed.draft, texts, request.instructions, ask)
        except FaultError as error:
            fault = error.fault
    fields: dict[str, FieldFound] = {}
    data = _assembled(shape, "", completed.draft, fields)
    scores = [each.confidence for each in fields.values() if each.origin is not None]
    confidence = round(_fullness(completed.draft) * sum(scores) / len(scores), 3) if scores else 0.0
    return ExtractedData(data, fields, confidence, completed.used_model, completed.all_quoted, fault)


def _fullness(draft: Draft) -> float:
    """Return what is left of the confidence where nothing was found for cells of rows: all of it without such."""
    cells = [cell for filled in draft.arrays.values() for row in filled.rows for cell in row.cells.values()]
    return math.sqrt(sum(cell.value is not None for cell in cells) / len(cells)) if cells else 1.0


def _assembled(shape: Shape, at: str, draft: Draft, fields: dict[str, FieldFound]) -> Any:
    """Return the data of a draft, and note in `fields` where each leaf stands."""
    match shape:
        case Leaf():
            return _value(draft.leaves.get(at), at, fields)
        case Record():
            steps = ((each, pointer(at, each.name)) for each in shape.properties)
            return {each.name: _assembled(each.shape, there, draft, fields) for each, there in steps}
        case Rows():
            return _members(shape, at, draft.arrays.get(at, FilledArray()), fields)


def _members(shape: Rows, at: str, filled: FilledArray, fields: dict[str, FieldFound]) -> list[Any]:
    if filled.note is not None:
        fields[at] = filled.note
    values = [_value(each, pointer(at, number), fields) for number, each in enumerate(filled.values)]
    rows = [_row(shape.items, pointer(at, number), "", row.cells, fields) for number, row in enumerate(filled.rows)]
    return [*values, *rows]


def _row(shape: Shape, at: str, within: str, cells: Mapping[str, CitedValue], fields: dict[str, FieldFound]) -> Any:
    """Return an object of an array; `within` is the pointer in the object, by which its cells are named."""
    match shape:
        case Leaf():
            return _value(cells.get(within), at, fields)
        case Record():
            steps = ((each, pointer(at, each.name), pointer(within, each.name)) for each in shape.properties)
            return {each.name: _row(each.shape, place, slot, cells, fields) for each, place, slot in steps}
        case Rows():
            inner = [cells[there] for number in range(len(cells)) if (there := pointer(within, number)) in cells]
            return [_value(each, pointer(at, number), fields) for number, each in enumerate(inner)]


def _value(cited: CitedValue | None, at: str, fields: dict[str, FieldFound]) -> Any:
    fields[at] = cited.field if cited else FieldFound(reason="it was not looked for")
    return cited.value if cited else None
