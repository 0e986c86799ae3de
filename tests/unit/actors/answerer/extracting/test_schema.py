"""Which schemas are read, and by what name the others are refused."""

from __future__ import annotations

from typing import Any

import pytest

from actors.answerer.extracting.schema import Leaf, LeafKind, Property, Record, Rows, read_schema
from protocol.faults import Code, FaultError

TEXT = {"type": "string"}


def record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_a_schema_as_libraries_write_it() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Event",
        "type": "object",
        "additionalProperties": False,
        "required": ["when"],
        "$defs": {"Place": record(city={"anyOf": [{"type": "string"}, {"type": "null"}], "default": None})},
        "properties": {
            "when": {"type": "string", "format": "date", "description": "The day"},
            "place": {"$ref": "#/$defs/Place", "description": "Where it is"},
            "price": {"type": ["number", "null"], "minimum": 0},
            "status": {"enum": ["open", "full", None]},
            "speakers": {"type": "array", "maxItems": 5, "items": TEXT},
        },
    }

    assert read_schema(schema) == Record(
        properties=(
            Property("when", Leaf(LeafKind.DATE), "The day"),
            Property("place", Record((Property("city", Leaf(LeafKind.TEXT)),)), "Where it is"),
            Property("price", Leaf(LeafKind.NUMBER, minimum=0)),
            Property("status", Leaf(LeafKind.CHOICE, choices=("open", "full"))),
            Property("speakers", Rows(Leaf(LeafKind.TEXT), max_items=5)),
        ),
        title="Event",
    )


@pytest.mark.parametrize(
    ("schema", "at", "why"),
    [
        (TEXT, "/type", "object or an array"),
        ({"type": "object"}, "/properties", "a schema is an object"),
        (record(), "/properties", "names its properties"),
        (record(a={"type": "string", "pattern": "^a$"}), "/properties/a/pattern", "pattern is not read"),
        (record(**{"a/b": {"allOf": [TEXT], "type": "string"}}), "/properties/a~1b/allOf", "allOf is not read"),
        (record(a={"type": "string", "format": "ipv4"}), "/properties/a/format", "date, date-time, uri"),
        (record(a={"type": ["string", "number"]}), "/properties/a/type", "one of object"),
        (record(a={}), "/properties/a/type", "one of object"),
        (record(a={"anyOf": [TEXT, {"type": "number"}]}), "/properties/a/anyOf", "[a schema, null] alone"),
        (record(a={"$ref": "https://a.example/s"}), "/properties/a/$ref", "part of this schema"),
        (record(a={"$ref": "#/$defs/None"}), "/properties/a/$ref", "nothing stands"),
        (record(a={"type": "array", "items": {"type": "tuple"}}), "/properties/a/items/type", "one of object"),
        (record(a={"enum": [[]]}), "/properties/a/enum", "texts, numbers or booleans"),
        (record(a={"type": "array", "items": TEXT, "maxItems": -1}), "/properties/a/maxItems", "a count"),
        (record(**{f"p{number}": TEXT for number in range(201)}), "/properties", "more than 200"),
    ],
)
def test_what_is_not_read_is_named_by_its_pointer(schema: dict[str, Any], at: str, why: str) -> None:
    with pytest.raises(FaultError) as refused:
        read_schema(schema)

    fault = refused.value.fault
    assert (fault.code, fault.field) == (Code.VALIDATION_INVALID_REQUEST, "schema")
    assert fault.message.startswith(f"schema {at}: ")
    assert why in fault.message


def test_references_that_lead_round_end() -> None:
    tree = {"$ref": "#/$defs/Node", "$defs": {"Node": record(child={"$ref": "#/$defs/Node"})}}

    with pytest.raises(FaultError, match="refers to itself"):
        read_schema(tree)


def test_a_schema_has_a_depth() -> None:
    deep: dict[str, Any] = TEXT
    for _ in range(20):
        deep = record(inner=deep)

    with pytest.raises(FaultError, match="deeper than 8"):
        read_schema(deep)
