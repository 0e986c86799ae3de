"""JSON Schema of every message, for those who join the bus or call the edge in another language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import cleandoc
from typing import Any, cast

import msgspec

from protocol.browse import BrowseOptions, BrowseResult, StructuredError
from protocol.documents import Content, Document
from protocol.packets import Request, Response
from protocol.subject_kinds import Subject
from protocol.subjects import table

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_HERE = "#/$defs/"


def schema(kind: Any) -> dict[str, Any]:
    """Return the schema of one type, definitions inside and an object at its root, as MCP and OpenAPI want it."""
    (root,), definitions = msgspec.json.schema_components([kind], ref_template=_HERE + "{name}")
    if "$ref" in root:
        root = definitions[root["$ref"].removeprefix(_HERE)]
    reachable = _reachable(root, definitions)
    tidy: dict[str, Any] = tidied({"$schema": DIALECT, **root, **({"$defs": reachable} if reachable else {})})
    return tidy


def tidied(node: Any) -> Any:
    """Take the indentation of the source out of descriptions."""
    if isinstance(node, dict):
        branch = cast("dict[str, Any]", node)
        return {
            name: cleandoc(value) if name == "description" and isinstance(value, str) else tidied(value)
            for name, value in branch.items()
        }
    return [tidied(child) for child in cast("Iterable[Any]", node)] if isinstance(node, list) else node


def _reachable(root: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Every definition that `root` refers to, or that one of those refers to, by name."""
    names = set(_references(root))
    unread = list(names)
    while unread:
        references = set(_references(definitions[unread.pop()])) - names
        names |= references
        unread.extend(references)
    return {name: definitions[name] for name in sorted(names)}


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        branch = cast("dict[str, Any]", node)
        if isinstance(reference := branch.get("$ref"), str):
            yield reference.removeprefix(_HERE)
        for child in branch.values():
            yield from _references(child)
    elif isinstance(node, list):
        for child in cast("Iterable[Any]", node):
            yield from _references(child)


def message_types() -> dict[str, Any]:
    """Every message by name: the packets of each subject, any LLMCP packet, a document, and the edge's own types."""
    types: dict[str, Any] = {
        "llmcp.request": Request[Any],
        "llmcp.response": Response[Any],
        "llmcp.document": Document[Content],
        "edge.browse.options": BrowseOptions,
        "edge.browse.result": BrowseResult,
        "edge.error": StructuredError,
    }
    for _, entry in table():
        if isinstance(entry, Subject):
            args: Any = entry.args
            answer: Any = getattr(entry, "answer", None)
            types[f"{entry.task}.request"] = Request[args]
            if answer is not None:
                types[f"{entry.task}.response"] = Response[answer]
    return types


def messages() -> dict[str, dict[str, Any]]:
    """Return the schema of every message by its name."""
    return {name: schema(kind) for name, kind in message_types().items()}
