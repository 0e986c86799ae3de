"""The files of a run, and what is told inline."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.runner import exports
from actors.runner.template import ResultTable
from protocol.codec import encode
from protocol.runs.states import ArtifactType
from tests.unit.actors.runner.fakes import Chores

CELLS = st.one_of(st.none(), st.booleans(), st.integers(), st.text(st.characters(exclude_categories=["Cs"])))


class Broken(Chores):
    """Cannot write Markdown."""

    def markdown(self, result: Any) -> str:
        """Fail."""
        raise ValueError(result)


def read(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_a_spreadsheet_would_run_is_defused(start: str) -> None:
    rows = read(
        exports.table_as_csv(ResultTable((f"{start}head",), ((f"{start}cmd|' /C calc'!A0",), (-1,), (f"a{start}",))))
    )

    assert rows == [[f"'{start}head"], [f"'{start}cmd|' /C calc'!A0"], ["-1"], [f"a{start}"]]


@given(st.lists(st.tuples(CELLS, CELLS), max_size=5))
def test_no_cell_begins_a_formula_and_nothing_else_is_lost(rows: list[tuple[Any, Any]]) -> None:
    found = read(exports.table_as_csv(ResultTable(("one", "two"), tuple(rows))))[1:]

    assert len(found) == len(rows)
    for texts, cells in zip(found, rows, strict=True):
        for text, cell in zip(texts, cells, strict=True):
            if isinstance(cell, str):
                assert text.removeprefix("'") == cell.removeprefix("'")
                assert not text.startswith(("=", "+", "-", "@", "\t", "\r"))
            else:
                assert text == ("" if cell is None else str(cell))


@given(st.integers(0, 3 * exports.SLICE_BYTES + 1))
def test_slices_put_together_are_the_file(size: int) -> None:
    data = bytes(size)
    cut = list(exports.slices(data))

    assert b"".join(cut) == data
    assert all(len(one) == exports.SLICE_BYTES for one in cut[:-1])
    assert len(cut) == max(1, -(-size // exports.SLICE_BYTES))


def test_a_form_that_cannot_be_written_is_left_out() -> None:
    result: dict[str, Any] = {"items": []}
    kept = exports.files(Broken(), result, (ArtifactType.MARKDOWN, ArtifactType.JSON))

    assert [(one.type, one.data) for one in kept] == [(ArtifactType.JSON, encode(result))]


def test_a_result_that_fits_is_told_whole() -> None:
    result = {"summary": {"total": 1}, "items": [{"said": "a"}]}

    assert exports.inline(Chores(), result, 1_000) == (result, False)


@given(st.integers(0, 300), st.integers(0, 3_000), st.integers(30, 2_000))
def test_whatever_is_told_inline_fits(items: int, size: int, most: int) -> None:
    result = {"summary": {"total": items}, "note": "x" * size, "items": [{"name": "y", "said": "x" * size}] * items}
    told, cut = exports.inline(Chores(), result, most)

    assert len(encode(told)) <= most
    assert cut is (len(encode(result)) > most)
    if told is not None and most > 100:
        assert told["summary"] == {"total": items}
