"""What a tool of ours is: what it takes, what it does and what it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from mcp.types import ToolAnnotations
from msgspec import Struct

from actors.gateway.app_context import AppContext
from actors.gateway.errors import NextAction, error_text, to_error
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.recovery import for_model
from actors.gateway.request import RequestContext
from protocol.access import Scope
from protocol.browse import StructuredError
from protocol.faults import Fault
from protocol.offers.results import OfferedTask
from protocol.tools.tool import Surface, Tool

A = TypeVar("A", bound=Struct)


class ToolImage(Struct, frozen=True):
    """A picture that a tool answers with."""

    media_type: str
    data: bytes


class ToolLink(Struct, frozen=True):
    """A resource that a tool points at; `size` in bytes, where it is known."""

    uri: str
    name: str
    media_type: str
    size: int | None = None


class ToolAnswer(Struct, frozen=True):
    """What a tool answers: the text for a model, the same as data, pictures, links to more, and what to call next.

    `is_error`: it tells of something that came to nothing. `asked_data` are data that the call has asked for, as text,
    for clients that get the text alone.
    """

    text: str
    data: Struct | Mapping[str, Any]
    images: tuple[ToolImage, ...] = ()
    links: tuple[ToolLink, ...] = ()
    next_actions: tuple[NextAction, ...] = ()
    is_error: bool = False
    asked_data: str = ""


ErrorRenderer = Callable[[Fault, str, Mapping[str, Any]], tuple[str, Struct]]
"""Renders a fault, by the name of a tool and the arguments of the call: as text, and as data."""


def render_error(error: Fault, _tool: str, _arguments: Mapping[str, Any]) -> tuple[str, StructuredError]:
    """Render a fault as most tools do."""
    structured = to_error(for_model(error))
    return error_text(structured), structured


class BuiltinTool(Struct, Generic[A], frozen=True):
    """One of our own tools as MCP has it: what the registry does not say of it, and what runs it.

    A model pays for what it reads of a tool in each conversation, so the schema has no words on the arguments of
    `plain`, whose names say all, and of the answer the types of `answer_fields` alone: docs/reference describes both
    whole. `words_in_text`: the text has words that the data leaves out, so that a client that shows its model the data
    in place of the text gets the text alone. `begin` is what is done in place of `run` for a client that takes a task
    for an answer, unless it returns None.
    """

    tool: Tool[A]
    run: Callable[[AppContext, RequestContext, A], Awaitable[ToolAnswer]]
    title: str | None = None
    answer: type[Struct] | None = None
    answer_fields: tuple[str, ...] = ()
    plain: frozenset[str] = frozenset()
    words_in_text: bool = False
    asks: bool = False
    """Whether it may have to ask the user, though it is done here."""
    annotations: ToolAnnotations | None = None
    toolset: Toolset = Toolset.CORE
    render_error: ErrorRenderer = render_error
    begin: Callable[[AppContext, RequestContext, A], Awaitable[OfferedTask | None]] | None = None

    @property
    def name(self) -> str:
        """What clients of MCP call it."""
        return self.tool.name_on(Surface.MCP)

    @property
    def description(self) -> str:
        """What it does, in the words of the registry."""
        return self.tool.description

    @property
    def arguments(self) -> type[A]:
        """What it takes."""
        return cast("type[A]", self.tool.arguments_on(Surface.MCP))

    @property
    def scope(self) -> Scope:
        """What a key has to be good for."""
        return self.tool.scope


def by_name(*tools: BuiltinTool[Any]) -> Mapping[str, BuiltinTool[Any]]:
    """Return tools by their names, in their order."""
    return MappingProxyType({tool.name: tool for tool in tools})
