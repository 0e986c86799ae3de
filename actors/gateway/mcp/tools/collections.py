"""The tools of 003 that the gate has run: collections, sources, texts, search, sums and other programs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from mcp.types import ToolAnnotations
from msgspec import Struct

from actors.gateway.app_context import AppContext
from actors.gateway.mcp.tool import BuiltinTool, ToolAnswer, by_name
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.request import RequestContext
from actors.gateway.tool_calls import ClientCall, call_or_ask
from actors.gateway.translate import cut_text, framed_parts
from protocol.policy import ToolOutcome
from protocol.tools.app import APP_TOOLS
from protocol.tools.collections import COLLECTION_TOOLS as REGISTERED
from protocol.tools.tool import Risk, Surface, Tool

BOUNDARY_BYTES: Final = 8
MAX_TEXT_BYTES: Final = 18_000
"""The words of the web in one answer at most: with ours it stays below 20 KB. The rest is read as a resource."""

_READS: Final = ToolAnnotations(read_only_hint=True)
_KEEPS: Final = ToolAnnotations(destructive_hint=False)
_DESTROYS: Final = ToolAnnotations(destructive_hint=True)


def outcome_answer(outcome: ToolOutcome) -> ToolAnswer:
    """Return what came of a call: its payload as data, and with all else that it has read as text in a frame."""
    result = outcome.result
    payload: Mapping[str, Any] = {} if result is None else result.payload
    read = () if result is None else result.documents
    encoded = msgspec.json.encode(payload).decode()
    further = [words for words in (_words(one.content) for one in read) if not _is_told(words, encoded)]
    parts = {"result": encoded} | {f"document {number}": words for number, words in enumerate(further, 1)}
    share = MAX_TEXT_BYTES // len(parts)
    shown = {name: cut_text(text, share) for name, text in parts.items() if text}
    return ToolAnswer(framed_parts(shown, secrets.token_hex(BOUNDARY_BYTES)), payload)


def _words(content: Struct) -> str:
    markdown = getattr(content, "markdown", None)
    return markdown if isinstance(markdown, str) else msgspec.json.encode(content).decode()


def _is_told(words: str, encoded: str) -> bool:
    """Return whether the payload has the words of a document: hits are both."""
    return words in encoded or msgspec.json.encode(words).decode()[1:-1] in encoded


def _row(tool: Tool[Any]) -> BuiltinTool[Any]:
    async def run(app: AppContext, request: RequestContext, arguments: Struct) -> ToolAnswer:
        call = ClientCall(name=tool.name, arguments=msgspec.to_builtins(arguments), surface=Surface.MCP)
        return outcome_answer(await call_or_ask(app, request, call))

    return BuiltinTool(
        tool=tool,
        run=run,
        title=tool.name.replace(".", " ").replace("_", " ").capitalize(),
        words_in_text=True,
        annotations=_annotations(tool),
        toolset=Toolset.COLLECTIONS,
    )


def _annotations(tool: Tool[Any]) -> ToolAnnotations:
    if tool.risk in {Risk.DELETE, Risk.SHARE}:
        return _DESTROYS
    return _READS if tool.idempotent else _KEEPS


COLLECTION_TOOLS: Mapping[str, BuiltinTool[Any]] = by_name(*map(_row, [*APP_TOOLS.values(), *REGISTERED.values()]))
"""The tools, by name."""
