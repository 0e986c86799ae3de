"""An answer that is made otherwise than those before it is told; one that only says more is not."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from actors.patterns.mapping.flattened import unflattened
from actors.patterns.shapes import drift_of, shape_of
from protocol.patterns.use import Drift

PRODUCTS: list[Any] = [
    {
        "data": {
            "id": 1,
            "name": "Socks",
            "price": 9,
            "note": None,
            "tags": ["warm", "blue"],
            "offers": [{"shop": "A", "price": 9.5, "url": "/a"}, {"shop": "B", "price": 8, "url": "/b"}],
            "stock": {"north": {"left": 3}},
            "byId": {"17": {"name": "x"}, "18": {"name": "y"}},
        },
        "next": None,
        "total": 2,
        "items": [1, 2],
    },
    {
        "data": {
            "id": 2,
            "name": "Hat",
            "price": 12.5,
            "note": "last one",
            "tags": ["red"],
            "offers": [{"shop": "A", "price": 12, "url": "/c"}],
            "stock": {"north": {"left": 0}},
            "byId": {"19": {"name": "z"}},
        },
        "next": None,
        "total": 3,
        "items": [1, 2, 3],
    },
]
SHAPE = shape_of(PRODUCTS)


def changed(way: str, value: Any = None, *, removed: bool = False) -> Any:
    answer = deepcopy(PRODUCTS[0])
    *keys, last = [int(key) if key.isdecimal() and key not in ("17", "18") else key for key in way.split("/")]
    holder = answer
    for key in keys:
        holder = holder[key]
    if removed:
        del holder[last]
    else:
        holder[last] = value
    return answer


def is_valid(shape: dict[str, Any], answer: Any) -> bool:
    validator: Any = Draft202012Validator(shape)
    return bool(validator.is_valid(answer))


@pytest.mark.parametrize(
    ("answer", "drift"),
    [
        (changed("data/name", removed=True), (Drift.MISSING, "data.name")),
        (changed("data/offers/1/price", removed=True), (Drift.MISSING, "data.offers[1].price")),
        (changed("data/price", "9.00"), (Drift.RETYPED, "data.price")),
        (changed("data/price", value=True), (Drift.RETYPED, "data.price")),
        (changed("data/offers", {"a": 1}), (Drift.RETYPED, "data.offers")),
        (changed("data/name", None), (Drift.EMPTIED, "data.name")),
        (changed("data/name", " "), (Drift.EMPTIED, "data.name")),
        (changed("data/tags", []), (Drift.EMPTIED, "data.tags")),
        (changed("data/byId", {}), (Drift.EMPTIED, "data.byId")),
        (changed("data/byId/17/name", 3), (Drift.RETYPED, "data.byId.17.name")),
        (changed("data", None), (Drift.EMPTIED, "data")),
        (changed("next", "/p?page=2"), (Drift.PAGING, "next")),
        (changed("total", 40), (Drift.PAGING, "items")),
        (changed("hasMore", value=True), (Drift.PAGING, "hasMore")),
        (changed("pageInfo", {"hasNextPage": True}), (Drift.PAGING, "pageInfo")),
        ([], (Drift.RETYPED, "")),
        ("<html>", (Drift.RETYPED, "")),
        (None, (Drift.EMPTIED, "")),
        ({"errors": [{"message": "no"}], "data": None}, (Drift.MISSING, "total")),
    ],
)
def test_what_has_drifted_is_told_with_its_place(answer: Any, drift: tuple[Drift, str]) -> None:
    assert drift_of(SHAPE, answer) == drift


@pytest.mark.parametrize(
    "answer",
    [
        *PRODUCTS,
        changed("more", {"a": [1]}),
        changed("data/colour", "blue"),
        changed("data/note", "none"),
        changed("data/price", 9.25),
        changed("data/byId/99", {"name": "other"}),
        changed("next", removed=True),
        changed("hasMore", value=False),
        changed("data/stock/north/left", 10**12),
    ],
)
def test_more_and_other_values_are_no_drift(answer: Any) -> None:
    assert drift_of(SHAPE, answer) is None
    assert is_valid(SHAPE, answer)


def test_another_length_of_page_is_told_while_there_is_more() -> None:
    full = {"rows": [{"id": 1}] * 20, "total": 90}
    shape = shape_of([full, {"rows": [{"id": 2}] * 20, "total": 80}])

    assert drift_of(shape, {"rows": [{"id": 1}] * 10, "total": 90}) == (Drift.PAGING, "rows")
    assert drift_of(shape, {"rows": [{"id": 1}] * 10, "total": 10}) is None
    assert drift_of(shape, full) is None


def test_a_list_may_be_the_whole_answer() -> None:
    shape = shape_of([[{"id": 1}], [{"id": 2}, {"id": 3}]])

    assert drift_of(shape, [{"id": 4}]) is None
    assert drift_of(shape, []) == (Drift.EMPTIED, "")
    assert drift_of(shape, [{"id": 4}, {"key": 5}]) == (Drift.MISSING, "[1].id")


def test_what_is_deep_or_wide_is_described_within_bounds() -> None:
    deep: Any = "end"
    for _ in range(500):
        deep = {"in": [deep]}
    wide = {f"name{number}x": {"a": {"b": number}} for number in range(5_000)}

    for answer in (deep, wide):
        assert len(str(shape_of([answer, answer]))) < 100_000
        assert drift_of(shape_of([answer, answer]), answer) is None


Json = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "next", "total", "items", "hasMore", "17", "18", "a b"]), inner, max_size=5
        )
    ),
    max_leaves=20,
)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(Json, min_size=1, max_size=4))
def test_what_a_shape_was_taken_from_never_drifts(answers: list[Any]) -> None:
    shape = shape_of(answers)

    assert [drift_of(shape, answer) for answer in answers] == [None] * len(answers)
    Draft202012Validator.check_schema(shape)
    assert all(is_valid(shape, unflattened(answer)) for answer in answers)


def test_what_may_lack_is_missed_where_another_name_has_come() -> None:
    shape = shape_of([{"id": 1, "note": "Worn"}, {"id": 2}])

    assert drift_of(shape, {"id": 3}) is None
    assert drift_of(shape, {"id": 3, "note": "Worn", "remark": "New"}) is None
    assert drift_of(shape, {"id": 3, "remark": "Worn"}) == (Drift.MISSING, "note")


def test_names_that_are_another_in_each_answer_are_no_fields() -> None:
    shape = shape_of([{"pages": {"page-one": {"id": 1}}}, {"pages": {"page-two": {"id": 2}}}])

    assert drift_of(shape, {"pages": {"page-three": {"id": 3}}}) is None
    assert drift_of(shape, {"pages": {"page-three": {"key": 3}}}) == (Drift.MISSING, "pages.page-three.id")


def test_values_that_are_named_by_their_places_are_fields() -> None:
    shape = shape_of([[{"note": 1}, {"id": 2, "text": 3}, 7, "One"], [{"note": 1}, {"id": 2, "text": 3}, 8, "Two"]])

    assert drift_of(shape, [{"note": 2}, "Three", {"text": 1, "id": 3}, 9]) is None
    assert drift_of(shape, [{"note": 2}, "Three", {"words": 1, "id": 3}, 9]) == (Drift.MISSING, "note.text")
