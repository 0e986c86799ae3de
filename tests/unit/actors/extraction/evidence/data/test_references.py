"""Flat lists of parts become the values that they were written from."""

from __future__ import annotations

import pytest

from actors.extraction.evidence.data.references import joined
from actors.extraction.parse.values import Json, walk


@pytest.mark.parametrize(
    ("flat", "value"),
    [
        ([{"a": 1, "b": 2}, "text", [1, 3], 5], {"a": "text", "b": ["text", 5]}),
        ([["ShallowReactive", 1], {"a": 2}, ["Ref", 3], "x"], {"a": "x"}),
        ([{"day": 1, "none": -1}, ["Date", "2024-02-03"]], {"day": "2024-02-03", "none": None}),
        ([["Set", 1, 2], "a", "b"], ["a", "b"]),
        ([["Map", 1, 2], "key", "value"], {"key": "value"}),
        ([5], 5),
        ([], None),
        ("text", None),
        ([{"a": 99}], {"a": None}),
    ],
)
def test_joins_parts(flat: Json, value: Json) -> None:
    assert joined(flat) == value


def test_reads_names_that_are_parts() -> None:
    assert joined([{"_1": 2}, "title", "On blue"], numbered_keys=True) == {"title": "On blue"}


def test_ends_circles() -> None:
    value = joined([{"self": 0, "list": 1}, [0, 1]])

    assert isinstance(value, dict)
    assert value["self"] is value
    assert len(list(walk(value))) == 1
