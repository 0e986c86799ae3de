"""The pages of the reference that tell what the edge offers: the MCP tools and the REST endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mcp.types import PromptArgument

from actors.gateway.mcp.prompts import list_prompts
from actors.gateway.mcp.resources import TEMPLATES
from actors.gateway.mcp.tool import BuiltinTool
from actors.gateway.mcp.toolbox import TOOLS
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.rest.endpoints import ENDPOINTS
from actors.gateway.rest.routing import Endpoint
from protocol.browsers.results import ERROR_CODES, ErrorCode
from protocol.schemas import schema
from scripts import markdown

TOOLS_TEXT = (
    "The MCP tools, by the toolsets in which they can be chosen (`/mcp?toolsets=core,browser`, or the setting "
    "`toolsets`). A key is good for a tool when it has its scope."
)
TOOL_ERRORS_TEXT = (
    "An error of a browser tool has `error`, `errorCode`, `recoverHint` and `details`, with the fields of a "
    "StructuredError beside them, whose `code` says more; `nextActions` are calls that make sense now."
)
REST_TEXT = (
    "The endpoints, as `/openapi.json` and `/docs` of a running Weft tell them in full. A key is good for an endpoint "
    "when it has its scope; `open` ones want none. Every refusal is a StructuredError, below `/v1` in its envelope."
)
_HINTS = (("read_only_hint", "reads"), ("destructive_hint", "destroys"), ("idempotent_hint", "idempotent"))


def tools_page() -> str:
    """Return what a model can do, and with which arguments."""
    parts = [TOOLS_TEXT]
    for toolset in Toolset:
        found = {name: entry for name, entry in TOOLS.items() if entry.toolset is toolset}
        if found:
            parts.append(f"## {toolset.value}")
        for name, entry in found.items():
            parts += _tool(name, entry)
    parts += ["## Errors of the browser tools", TOOL_ERRORS_TEXT, markdown.table(("Code", "`errorCode`"), _codes())]
    resources = [
        (f"`{one.uri_template}`", f"`{one.mime_type or 'by its kind'}`", one.description or "") for one in TEMPLATES
    ]
    parts += ["## Resources", markdown.table(("Address", "Type", "What it is"), resources)]
    prompts = [
        (f"`{one.name}`", one.description or "", ", ".join(_argument(each) for each in one.arguments or ()))
        for one in list_prompts()
    ]
    parts += ["## Prompts", markdown.table(("Prompt", "What it is for", "Arguments"), prompts)]
    return markdown.page("MCP tools", parts)


def _codes() -> list[tuple[str, str]]:
    told = [(f"`{code}`", f"`{error_code}`") for code, error_code in ERROR_CODES.items()]
    return [*told, ("every other one", f"`{ErrorCode.EXECUTION_ERROR}`")]


def _argument(argument: PromptArgument) -> str:
    return f"`{argument.name}`" if argument.required else f"`{argument.name}` (optional)"


def _tool(name: str, entry: BuiltinTool[Any]) -> Iterator[str]:
    hints = [word for field, word in _HINTS if entry.annotations is not None and getattr(entry.annotations, field)]
    yield f"### `{name}`"
    yield f"{entry.description} Scope `{entry.scope.value}`{''.join(f', {hint}' for hint in hints)}."
    told = schema(entry.arguments)
    required = told.get("required", ())
    rows = [
        (f"`{field}`", _kind(shape), "yes" if field in required else "", str(shape.get("description", "")))
        for field, shape in told["properties"].items()
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
    """Return what a program can ask."""
    head = ("Endpoint", "What it does", "Scope", "Takes", "Answers", "Refuses with")
    return markdown.page("REST", [REST_TEXT, markdown.table(head, [_endpoint(one) for one in ENDPOINTS])])


def _endpoint(one: Endpoint) -> tuple[str, ...]:
    takes = [kind.__name__ for kind in (one.params, one.body) if kind is not None]
    plain = [media.partition(";")[0] for media in one.media]
    answers = ", ".join(name for kind in one.answers.values() for name in (plain if kind is None else [kind.__name__]))
    return (
        f"`{one.method} {one.path}`",
        one.summary,
        "open" if one.open else one.scope.value,
        ", ".join(takes),
        answers,
        ", ".join(str(status) for status in one.statuses),
    )
