"""The pages of the reference that tell what the edge offers: the MCP tools and the REST endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from actors.gateway.mcp.table import TOOLS
from actors.gateway.mcp.tool import ToolEntry, Toolset
from actors.gateway.rest.contract import Endpoint
from actors.gateway.rest.endpoints import ENDPOINTS
from protocol.schemas import schema
from scripts import markdown

TOOLS_TEXT = (
    "The MCP tools, by the toolsets in which they can be chosen (`/mcp?toolsets=core,browser`, or the setting "
    "`toolsets`). A key is good for a tool when it has its scope."
)
REST_TEXT = (
    "The endpoints, as `/openapi.json` and `/docs` of a running Weft tell them in full. A key is good for an endpoint "
    "when it has its scope; `open` ones want none. Every refusal is a StructuredError, below `/v1` in its envelope."
)
_HINTS = (("read_only_hint", "reads"), ("destructive_hint", "destroys"), ("idempotent_hint", "idempotent"))


def tools_page() -> str:
    """Tell what a model can do, and with which arguments."""
    parts = [TOOLS_TEXT]
    for toolset in Toolset:
        found = {name: entry for name, entry in TOOLS.items() if entry.toolset is toolset}
        if found:
            parts.append(f"## {toolset.value}")
        for name, entry in found.items():
            parts += _tool(name, entry)
    return markdown.page("MCP tools", parts)


def _tool(name: str, entry: ToolEntry[Any]) -> Iterator[str]:
    hints = [word for field, word in _HINTS if entry.annotations is not None and getattr(entry.annotations, field)]
    yield f"### `{name}`"
    yield f"{entry.description} Scope `{entry.scope.value}`{''.join(f', {hint}' for hint in hints)}."
    told = schema(entry.arguments)
    required = told.get("required", ())
    rows = [
        (f"`{field}`", _kind(shape), "yes" if field in required else "", str(shape.get("description", "")))
        for field, shape in told["properties"].items()
        if field != "tool"
    ]
    if rows:
        yield markdown.table(("Argument", "Type", "Required", "Meaning"), rows)


def _kind(shape: dict[str, Any]) -> str:
    if "anyOf" in shape:
        return " or ".join(kind for each in shape["anyOf"] if (kind := _kind(each)) != "null")
    if "enum" in shape:
        return " or ".join(f"`{value}`" for value in shape["enum"])
    if "$ref" in shape:
        return str(shape["$ref"]).rpartition("/")[2]
    if shape.get("type") == "array":
        return f"list of {_kind(shape.get('items') or {})}"
    return str(shape.get("type", "any JSON"))


def rest_page() -> str:
    """Tell what a program can ask."""
    head = ("Endpoint", "What it does", "Scope", "Takes", "Answers", "Refuses with")
    return markdown.page("REST", [REST_TEXT, markdown.table(head, [_endpoint(one) for one in ENDPOINTS])])


def _endpoint(one: Endpoint[Any]) -> tuple[str, ...]:
    takes = [kind.__name__ for kind in (one.params, one.body) if kind is not None]
    answers = one.answer.__name__ if one.answer is not None else one.media.partition(";")[0]
    return (
        f"`{one.method} {one.path}`",
        one.summary,
        "open" if one.open else one.scope.value,
        ", ".join(takes),
        answers,
        ", ".join(str(status) for status in one.statuses),
    )
