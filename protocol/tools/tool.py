"""What a tool is: its arguments, its risk, who runs it, and what each surface calls it (003 "Tool call schema")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec import Struct

from protocol.access import Scope

BRIEFLY: Final = "x-briefly"
"""Marks an argument that is an object, in its schema: what it holds stands in its description alone."""

SCHEMA_VERSION: Final = 1
"""The version of all tools together: one per release (003 "Tool schema versioning")."""

A = TypeVar("A", bound=Struct)


class ToolArguments(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """The arguments of a tool; a key that is not among them is refused."""


class WithoutArguments(ToolArguments, frozen=True, kw_only=True):
    """Takes nothing."""


class Surface(StrEnum):
    """Where a call comes in; each names tools in its own way."""

    LLMCP = "llmcp"
    """A proposal of a model (003): `browser.navigate`."""

    MCP = "mcp"
    """A client of MCP (002): `navigate`; what 002 does not have, as in 003."""

    REST = "rest"
    CLI = "cli"

    ROUTING = "routing"
    """The table of the router (004): `browser_navigate`."""

    INTERACT = "interact"
    """The action strings of the extension (001): `navigate("…")`."""


class Risk(StrEnum):
    """What a tool may do, which the policy's table goes by (003, policy gate)."""

    OBSERVE = "observe"
    """Looks at the page that is open."""

    LINKS = "links"
    """Reads the links of what is selected."""

    SEARCH = "search"
    """Sends a query to a search engine."""

    ACT = "act"
    """Does something in a browser."""

    CALCULATE = "calculate"
    """Computes, and nothing else."""

    COLLECT = "collect"
    """Keeps, reads and works on what is the caller's own."""

    SHARE = "share"
    """Sends something out."""

    READ = "read"
    """Reads pages of the web for the caller."""

    RUN = "run"
    """Runs a template that the caller has filled in."""

    DELETE = "delete"
    """Takes away what is the caller's own."""


class ArgumentForm(Struct, Generic[A], frozen=True):
    """The arguments of a tool as one surface has them, and what makes the tool's own of them."""

    arguments: type[A]
    converted: Callable[[A], Struct]


class Tool(Struct, Generic[A], frozen=True, kw_only=True):
    """One tool: `actor` runs it on `tool.{actor}` when the gate says so; None: the gateway does it for its caller.

    `scope` is what a key has to be good for, `local_only` that it is for callers at this machine alone (002 §9).
    `idempotent`: doing it again changes nothing more.
    """

    name: str
    arguments: type[A]
    risk: Risk
    description: str
    scope: Scope
    actor: str | None = None
    aliases: Mapping[Surface, str] = msgspec.field(default_factory=dict[Surface, str])
    forms: Mapping[Surface, ArgumentForm[Any]] = msgspec.field(default_factory=dict[Surface, ArgumentForm[Any]])
    """The arguments on surfaces that have others."""

    idempotent: bool = False
    local_only: bool = False
    proposable: bool = True
    """Whether a model of ours may propose it; the others are for clients alone."""

    def name_on(self, surface: Surface) -> str:
        """Return what a surface calls it; many clients of MCP take no name with a dot."""
        usual = self.name.replace(".", "_") if surface is Surface.MCP else self.name
        return self.aliases.get(surface, usual)

    def arguments_on(self, surface: Surface) -> type[Struct]:
        """Return the arguments that a surface gives it."""
        return self.forms[surface].arguments if surface in self.forms else self.arguments


def by_name(*tools: Tool[Any]) -> Mapping[str, Tool[Any]]:
    """Return tools by their names."""
    return MappingProxyType({tool.name: tool for tool in tools})
