"""The exported schemas are valid, whole and without ballast; `test_codec.py` has messages conform to them."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from protocol.browse import BrowseOptions
from protocol.packets import Request, Response
from protocol.render import Doc
from protocol.schemas import DIALECT, messages, schema
from protocol.subject_kinds import Call, Subject
from protocol.subjects import table

Schemas = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def every() -> Schemas:
    """Make the schema of every message once, which takes seconds."""
    return messages()


def references(row: object) -> set[str]:
    found = set(json.dumps(row).split('"$ref": "#/$defs/')[1:])
    return {part.partition('"')[0] for part in found}


@pytest.mark.full
@pytest.mark.slow
def test_every_schema_is_valid(every: Schemas) -> None:
    roots = [{key: part for key, part in root.items() if key != "$defs"} for root in every.values()]
    definitions = [part for root in every.values() for part in root.get("$defs", {}).values()]
    different = {json.dumps(part): part for part in (*roots, *definitions)}

    assert len(different) > len(every)
    for part in different.values():
        jsonschema.Draft202012Validator.check_schema(part)


def test_a_schema_has_an_object_at_its_root(every: Schemas) -> None:
    others = {
        name for name, root in every.items() if (root["$schema"], root["type"]) != (DIALECT, "object") or "$ref" in root
    }

    assert others == set()


def reachable(root: dict[str, Any]) -> list[str]:
    definitions: dict[str, Any] = root.get("$defs", {})
    reached: set[str] = set()
    unread = references({key: part for key, part in root.items() if key != "$defs"})
    while unread:
        reached |= unread
        unread = {name for each in unread for name in references(definitions[each])} - reached
    return sorted(reached)


def test_a_schema_defines_exactly_what_can_be_reached(every: Schemas) -> None:
    defined = {name: list(root.get("$defs", {})) for name, root in every.items()}

    assert defined == {name: reachable(root) for name, root in every.items()}


def test_what_only_the_root_was_is_not_defined_again() -> None:
    assert list(schema(BrowseOptions)["$defs"]) == ["Freshness", "Part", "RenderTier"]
    assert "Doc" not in schema(Doc)["$defs"]
    assert "List" in schema(Doc)["$defs"]


def test_every_message_of_the_table_has_a_schema(every: Schemas) -> None:
    subjects = [entry for _, entry in table() if isinstance(entry, Subject)]
    expected = {f"{entry.task}.request" for entry in subjects} | {
        f"{entry.task}.response" for entry in subjects if isinstance(entry, Call)
    }

    assert set(every) == expected | {
        "llmcp.request",
        "llmcp.response",
        "llmcp.document",
        "edge.browse.options",
        "edge.browse.result",
        "edge.error",
    }


def test_a_packet_is_named_by_its_type() -> None:
    assert schema(Request[Any])["properties"]["type"] == {"enum": ["request"]}
    assert schema(Response[Any])["properties"]["type"] == {"enum": ["response"]}
