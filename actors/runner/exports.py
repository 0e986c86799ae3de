"""Exports the result of a run: as files, and as much of it inline as fits."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, cast

import structlog
from msgspec import Struct

from actors.runner.template import ResultTable, TaskTemplate
from protocol.codec import encode
from protocol.runs.states import ArtifactType

log = structlog.stdlib.get_logger()

EXPORT_BROKE = "export_broke"

SLICE_BYTES: Final = 262_144
"""How much of a file is read at once at most (002 §5), so each slice is one file of the store."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet runs."""

Cell = str | int | float | bool | None


class ExportFile(Struct, frozen=True):
    """A file of a run, before it is stored."""

    type: ArtifactType
    data: bytes


def files(template: TaskTemplate[Any], result: Any, forms: Sequence[ArtifactType]) -> tuple[ExportFile, ...]:
    """Write a result (as JSON says it) in some forms; one that cannot be written is left out."""
    exported = list[ExportFile]()
    for form in dict.fromkeys(forms):
        try:
            exported.append(ExportFile(form, _write(template, result, form)))
        except Exception:
            # A failure of the template: the whole result is there as JSON all the same.
            log.exception(EXPORT_BROKE, template=template.template_id, form=form)
    return tuple(exported)


def slices(data: bytes) -> Iterator[bytes]:
    """Cut a file into slices; an empty one has one."""
    for start in range(0, max(len(data), 1), SLICE_BYTES):
        yield data[start : start + SLICE_BYTES]


def table_as_csv(table: ResultTable) -> bytes:
    """Write rows as CSV (RFC 4180) in UTF-8, harmless for whoever opens it in a spreadsheet."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([defused(cell) for cell in table.header])
    writer.writerows([defused(cell) for cell in row] for row in table.rows)
    return out.getvalue().encode()


def defused(cell: Cell) -> Cell:
    """Keep a spreadsheet from running a text: the words of pages are the web's."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def inline(template: TaskTemplate[Any], result: Any, max_bytes: int) -> tuple[Any, bool]:
    """Return what stands inline of a result (as JSON says it), and whether it is shortened."""
    if len(encode(result)) <= max_bytes:
        return result, False
    try:
        brief = template.brief(result)
    except Exception:
        log.exception(EXPORT_BROKE, template=template.template_id, form="brief")
        brief = result
    while len(encode(brief)) > max_bytes:
        shorter = _halved(brief)
        if shorter is None:
            return None, True
        brief = shorter
    return brief, True


def _write(template: TaskTemplate[Any], result: Any, form: ArtifactType) -> bytes:
    match form:
        case ArtifactType.JSON:
            return encode(result)
        case ArtifactType.CSV:
            return table_as_csv(template.table(result))
        case ArtifactType.MARKDOWN:
            return template.markdown(result).encode()
        case ArtifactType.JSONL:
            return b"".join(encode(line) + b"\n" for line in template.lines(result))
        case ArtifactType.ZIP:
            return _packed(template.folder(result))


def _packed(files: Iterable[tuple[str, str]]) -> bytes:
    """Pack files, each with the same date: the same result gives the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return packed.getvalue()


def _halved(brief: Any) -> Any:
    """Leave out half of what takes most room; None where nothing can be left out."""
    if not isinstance(brief, dict) or not brief:
        return None
    fields = cast("dict[str, Any]", brief)
    longest = max(fields, key=lambda name: len(encode(fields[name])))
    value = fields[longest]
    if isinstance(value, list) and value:
        items = cast("Sequence[Any]", value)
        return {**fields, longest: items[: len(items) // 2]}
    return {name: kept for name, kept in fields.items() if name != longest}
