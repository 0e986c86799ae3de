"""Reads what a model wrote: JSON where there is some, otherwise Markdown, and never a half-valid tool call."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any, cast

import msgspec
from msgspec import Struct

from protocol.faults import Code, FaultError, fault
from protocol.packets import Assistant, Citation, ToolCall
from protocol.render import MAX_DEPTH
from protocol.tools.registry import arguments_of

MAX_OUTPUT_CHARS = 400_000
"""The longest output of a model that is read at all."""

# Each pattern reads a text in time that grows with its length alone: what a model writes may be hostile.
_FENCE = re.compile(r"```[A-Za-z0-9_-]*")
_THINK = re.compile(r"<(/?)think>", re.IGNORECASE)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)', re.DOTALL)
_CITATIONS, _END_CITATIONS = "---CITATIONS---", "---END CITATIONS---"


class OutputReading(StrEnum):
    """How an output was understood."""

    STRICT = "strict"
    REPAIRED = "repaired"
    MARKDOWN = "markdown"
    BROKEN_JSON = "broken_json"


class ModelOutput(Struct, frozen=True):
    """What a model said: its answer, the calls that it proposes, and how it had to be read.

    `discarded`: it proposed calls, of which at least one was invalid.
    """

    assistant: Assistant
    tool_calls: tuple[ToolCall, ...]
    reading: OutputReading
    discarded: bool = False


# What siblings of the protocol write otherwise.
_NODE_TYPES = {"document": "doc", "quote": "blockquote"}
_ARGUMENTS = {"maxItemsChars": "maxItemChars"}


def read_model_output(output: str, *, tools: bool = True) -> ModelOutput:
    """Read a model's output as leniently as is safe (003 "Robustness").

    JSON may stand in a code fence, after a thinking trace, with trailing commas, as a whole packet or as its
    `assistant` part alone. Anything else is Markdown, without tool calls and citations. One invalid tool call, an
    unknown tool or argument among them, discards all of them. `tools=False` (Markdown mode) never returns a call.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when the output is longer than MAX_OUTPUT_CHARS.
    """
    if len(output) > MAX_OUTPUT_CHARS:
        message = f"The model wrote {len(output)} characters; {MAX_OUTPUT_CHARS} are read at most"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message))
    bare = _without_thoughts(output).strip()
    for text, reading in ((bare, OutputReading.STRICT), (_repaired(bare), OutputReading.REPAIRED)):
        body = _object(text)
        assistant = _assistant(body) if body is not None else None
        if body is not None and assistant is None and tools and _proposed(body):
            assistant = Assistant(markdown="")  # the calls are all that it says
        if body is not None and assistant is not None:
            calls = _tool_calls(body) if tools else ()
            return ModelOutput(assistant, calls, reading, discarded=tools and not calls and bool(_proposed(body)))
    broken = _unfenced(bare).startswith("{")
    return ModelOutput(_markdown(bare), (), OutputReading.BROKEN_JSON if broken else OutputReading.MARKDOWN)


def _without_thoughts(text: str) -> str:
    """Leave out what stands between `<think>` and the next `</think>`."""
    pieces: list[str] = []
    end, opened = 0, None
    for tag in _THINK.finditer(text):
        if not tag[1] and opened is None:
            opened = tag.start()
        elif tag[1] and opened is not None:
            pieces.append(text[end:opened])
            end, opened = tag.end(), None
    return "".join([*pieces, text[end:]])


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _repaired(text: str) -> str:
    text = _unfenced(text)
    pieces: list[str] = []
    end = 0
    for string in _STRING.finditer(text):
        pieces += [_TRAILING_COMMA.sub(r"\1", text[end : string.start()]), string[0]]
        end = string.end()
    return "".join([*pieces, _TRAILING_COMMA.sub(r"\1", text[end:])])


def _unfenced(text: str) -> str:
    opening, _, rest = text.partition("\n")
    fenced = rest.endswith("```") and _FENCE.fullmatch(opening.rstrip())
    return rest.removesuffix("```").strip() if fenced else text


def _assistant(body: dict[str, Any]) -> Assistant | None:
    part = body.get("assistant", body)
    fields = cast("dict[str, Any]", part) if isinstance(part, dict) else {}
    if "render" in fields:
        fields = {**fields, "render": _tree(fields["render"])}
    try:
        return msgspec.convert(fields, Assistant)
    except (msgspec.ValidationError, RecursionError):
        markdown = fields.get("markdown")
        return Assistant(markdown=markdown) if isinstance(markdown, str) else None


def _tree(node: Any, depth: int = 0) -> Any:
    """Return a node in the protocol's own words: `document`, `quote` and texts without children are understood."""
    if isinstance(node, str):
        return {"type": "text", "text": node}
    if not isinstance(node, dict) or depth > 2 * MAX_DEPTH:
        return cast("Any", node)
    fields = dict(cast("dict[str, Any]", node))
    fields["type"] = _NODE_TYPES.get(str(fields.get("type")), fields.get("type"))
    if fields["type"] not in ("text", "code_block") and "children" not in fields and "text" in fields:
        fields["children"] = [fields.pop("text")]
    for name in ("children", "items"):
        if isinstance(fields.get(name), list):
            fields[name] = [_tree(child, depth + 1) for child in fields[name]]
    return fields


def _tool_calls(body: dict[str, Any]) -> tuple[ToolCall, ...]:
    try:
        calls = msgspec.convert(_proposed(body), tuple[ToolCall, ...])
    except (msgspec.ValidationError, RecursionError):
        return ()
    return valid_calls(calls)


def _proposed(body: dict[str, Any]) -> Any:
    return body.get("tool_calls", body.get("toolCalls", []))


def valid_calls(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """Return the calls that a model proposes, if each is one of a known tool with its arguments; otherwise none."""
    renamed = tuple(
        ToolCall(
            name=call.name, arguments={_ARGUMENTS.get(name, name): value for name, value in call.arguments.items()}
        )
        for call in calls
    )
    try:
        for call in renamed:
            arguments_of(call)
    except (ValueError, RecursionError):
        return ()
    return renamed


def _markdown(text: str) -> Assistant:
    lines = text.split("\n")
    marks = [line.rstrip() for line in lines]
    try:
        start = marks.index(_CITATIONS)
        end = marks.index(_END_CITATIONS, start)
    except ValueError:
        return Assistant(markdown=text)
    block = (_object(line) for line in lines[start + 1 : end] if line.strip())
    citations = tuple(citation for line in block if (citation := _citation(line)) is not None)
    return Assistant(markdown="\n".join(lines[:start] + lines[end + 1 :]).strip(), citations=citations)


def _citation(line: dict[str, Any] | None) -> Citation | None:
    try:
        return msgspec.convert(line, Citation)
    except msgspec.ValidationError:
        return None
