"""Reads the part of JSON Schema (2020-12) that data may be asked for by, and refuses the rest by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NoReturn, cast

import msgspec
from msgspec import Struct

from protocol.faults import Code, FaultError, fault

MAX_DEPTH: Final = 8
MAX_PROPERTIES: Final = 200
MAX_ITEMS: Final = 500
"""Rows of one array that are given at most."""


class LeafKind(StrEnum):
    """What a leaf of the data is."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    DATE = "date"
    DATE_TIME = "date-time"
    URI = "uri"
    EMAIL = "email"
    CHOICE = "enum"


class Leaf(Struct, frozen=True):
    """A single value; `choices` are those of an enum, a limit is inclusive unless `exclusive` has its name."""

    kind: LeafKind
    choices: tuple[str | float | bool, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    exclusive: frozenset[str] = frozenset()
    max_length: int | None = None


class Property(Struct, frozen=True):
    """A property of an object; `about` is what the schema says of it beyond its name."""

    name: str
    shape: Shape
    about: str = ""


class Record(Struct, frozen=True):
    """An object, and its title if it has one."""

    properties: tuple[Property, ...]
    title: str = ""


class Rows(Struct, frozen=True):
    """An array of at most `max_items`."""

    items: Shape
    max_items: int = MAX_ITEMS


Shape = Leaf | Record | Rows

_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "nullable"}
    | {"$schema", "$id", "$comment", "$defs", "definitions"}
)
_READ: Mapping[str, frozenset[str]] = {
    "object": frozenset({"type", "properties", "required", "additionalProperties"}),
    "array": frozenset({"type", "items", "minItems", "maxItems", "uniqueItems"}),
    "string": frozenset({"type", "format", "minLength", "maxLength"}),
    "number": frozenset({"type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
    "integer": frozenset({"type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
    "boolean": frozenset({"type"}),
    "enum": frozenset({"type", "enum", "const"}),
}
"""The keywords that are read, by type; `required` and least lengths bind nothing: null stands for what is absent."""

_FORMATS: Mapping[str, LeafKind] = {
    "date": LeafKind.DATE,
    "date-time": LeafKind.DATE_TIME,
    "uri": LeafKind.URI,
    "url": LeafKind.URI,
    "email": LeafKind.EMAIL,
}


def read_schema(schema: Mapping[str, Any]) -> Record | Rows:
    """Return the shape of the data that a schema asks for.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for what is not read; it names the keyword by its JSON Pointer.
    """
    shape = _Reader(schema).shape(schema, "", (), 0)
    if isinstance(shape, Leaf):
        _refuse("/type", "the root is an object or an array")
    return shape


def pointer(above: str, step: str | int) -> str:
    """Return the JSON Pointer of a member (RFC 6901)."""
    return f"{above}/{str(step).replace('~', '~0').replace('/', '~1')}"


@dataclass
class _Reader:
    """Reads one schema; counts what it has read."""

    root: Mapping[str, Any]
    properties: int = field(default=0)

    def shape(self, schema: object, at: str, refs: tuple[str, ...], depth: int) -> Shape:
        if depth > MAX_DEPTH:
            _refuse(at, f"it is nested deeper than {MAX_DEPTH} levels")
        node, at, refs = self._resolved(_object(schema, at), at, refs)
        kind = _type(node, at)
        read = _READ[kind] | _ANNOTATIONS
        for keyword in node:
            if keyword not in read and not keyword.startswith("x-"):
                _refuse(pointer(at, keyword), f"the keyword {keyword} is not read for {kind}")
        if kind == "object":
            return self._record(node, at, refs, depth)
        if kind == "array":
            items = self.shape(node.get("items", {"type": "string"}), pointer(at, "items"), refs, depth + 1)
            most = _count(node, "maxItems", at)
            return Rows(items, MAX_ITEMS if most is None else min(MAX_ITEMS, most))
        return _choice(node, at) if kind == "enum" else _leaf(node, kind, at)

    def _record(self, node: Mapping[str, Any], at: str, refs: tuple[str, ...], depth: int) -> Record:
        additional = node.get("additionalProperties", False)
        if not isinstance(additional, bool):
            _refuse(pointer(at, "additionalProperties"), "it is read as true or false alone: name the properties")
        declared = _object(node.get("properties"), pointer(at, "properties"))
        if not declared:
            _refuse(pointer(at, "properties"), "an object names its properties")
        self.properties += len(declared)
        if self.properties > MAX_PROPERTIES:
            _refuse(pointer(at, "properties"), f"the schema has more than {MAX_PROPERTIES} properties")
        above = pointer(at, "properties")
        properties = [
            Property(name, self.shape(each, pointer(above, name), refs, depth + 1), self._said_of(each))
            for name, each in declared.items()
        ]
        title = node.get("title")
        return Record(tuple(properties), title if isinstance(title, str) else "")

    def _said_of(self, schema: Mapping[str, Any]) -> str:
        node, _, _ = self._resolved(schema, "", ())
        return " ".join(filter(None, dict.fromkeys((_about(schema), _about(node)))))

    def _resolved(
        self, node: Mapping[str, Any], at: str, refs: tuple[str, ...]
    ) -> tuple[Mapping[str, Any], str, tuple[str, ...]]:
        """Follow references, and open what is only made nullable: {"anyOf": [X, {"type": "null"}]}."""
        while True:
            if "$ref" in node:
                target: object = node["$ref"]
                if not isinstance(target, str) or not target.startswith("#"):
                    _refuse(pointer(at, "$ref"), "a reference leads to a part of this schema (#/$defs/…)")
                if target in refs:
                    _refuse(pointer(at, "$ref"), f"{target} refers to itself")
                refs = (*refs, target)
                node, at = self._target(target, at), target[1:]
                continue
            inner = _nullable(node, at)
            if inner is None:
                return node, at, refs
            node, at = inner

    def _target(self, target: str, at: str) -> Mapping[str, Any]:
        node: object = self.root
        for step in target[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            node = cast("Mapping[str, object]", node).get(name) if isinstance(node, Mapping) else None
        if not isinstance(node, Mapping):
            _refuse(pointer(at, "$ref"), f"nothing stands at {target}")
        return cast("Mapping[str, Any]", node)


def _nullable(node: Mapping[str, Any], at: str) -> tuple[Mapping[str, Any], str] | None:
    """Return what a schema that only adds null to another one makes nullable, and where it stands."""
    for keyword in ("anyOf", "oneOf"):
        if keyword not in node:
            continue
        listed = node[keyword]
        schemas = [_object(each, pointer(at, keyword)) for each in _list(listed)]
        others = [(number, each) for number, each in enumerate(schemas) if each.get("type") != "null"]
        if len(others) != 1 or not (node.keys() - {keyword} <= _ANNOTATIONS):
            _refuse(pointer(at, keyword), f"{keyword} is read for [a schema, null] alone")
        number, inner = others[0]
        return inner, pointer(pointer(at, keyword), number)
    return None


def _type(node: Mapping[str, Any], at: str) -> str:
    if "enum" in node or "const" in node:
        return "enum"
    declared = node.get("type")
    if declared is None:
        declared = next((kind for kind, mark in (("object", "properties"), ("array", "items")) if mark in node), None)
    others = [each for each in _list(declared) if each != "null"]
    if len(others) == 1:
        declared = others[0]
    if not isinstance(declared, str) or declared not in _READ or declared == "enum":
        wanted = "object, array, string, number, integer or boolean, perhaps with null"
        _refuse(pointer(at, "type"), f"the type is one of {wanted}")
    return declared


def _leaf(node: Mapping[str, Any], kind: str, at: str) -> Leaf:
    if kind == "string":
        name = node.get("format")
        if name is not None and name not in _FORMATS:
            _refuse(pointer(at, "format"), f"the formats are {', '.join(_FORMATS)}")
        return Leaf(LeafKind.TEXT if name is None else _FORMATS[name], max_length=_count(node, "maxLength", at))
    limits = {name: _number(node, name, at) for name in _READ[kind] - {"type"}} if kind != "boolean" else {}
    exclusive = {
        name for name, given in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")) if given in node
    }
    return Leaf(
        LeafKind(kind),
        minimum=limits.get("exclusiveMinimum" if "minimum" in exclusive else "minimum"),
        maximum=limits.get("exclusiveMaximum" if "maximum" in exclusive else "maximum"),
        exclusive=frozenset(exclusive),
    )


def _choice(node: Mapping[str, Any], at: str) -> Leaf:
    listed = _list(node["enum"]) if "enum" in node else [node["const"]]
    choices = tuple(each for each in listed if each is not None)
    if not choices or not all(isinstance(each, (str, int, float, bool)) for each in choices):
        _refuse(pointer(at, "enum"), "an enum lists texts, numbers or booleans")
    return Leaf(LeafKind.CHOICE, choices)


def _about(node: Mapping[str, Any]) -> str:
    return " ".join(text for name in ("title", "description") if isinstance(text := node.get(name), str))


def _object(value: object, at: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        _refuse(at, "a schema is an object")
    return cast("Mapping[str, Any]", value)


def _list(value: object) -> list[Any]:
    return msgspec.convert(value, list[Any]) if isinstance(value, list) else []


def _count(node: Mapping[str, Any], name: str, at: str) -> int | None:
    value = node.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        _refuse(pointer(at, name), f"{name} is a count")
    return value


def _number(node: Mapping[str, Any], name: str, at: str) -> float | None:
    value = node.get(name)
    if value is not None and (not isinstance(value, (int, float)) or isinstance(value, bool)):
        _refuse(pointer(at, name), f"{name} is a number")
    return value


def _refuse(at: str, why: str) -> NoReturn:
    raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"schema {at or '/'}: {why}", field="schema"))
