"""What a tool is: how it is announced, what it takes, what it does and what it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from mcp.types import ToolAnnotations
from msgspec import Struct

from actors.gateway.access.caller import Scope
from actors.gateway.asking import Desk

A = TypeVar("A", bound=Struct)


class Toolset(StrEnum):
    """Tools that are chosen together, by a setting or in the address (`/mcp?toolsets=core,browser`)."""

    CORE = "core"
    """Read pages, look after saved logins."""

    BROWSER = "browser"
    """Drive a browser step by step (002)."""

    RUNS = "runs"
    """Run templates (002)."""


@dataclass(frozen=True)
class Image:
    """A picture that a tool answers with."""

    media_type: str
    data: bytes


@dataclass(frozen=True)
class Answer:
    """What a tool answers: the text for a model, the same as data, and pictures."""

    text: str
    data: Struct
    images: tuple[Image, ...] = ()


@dataclass(frozen=True)
class ToolEntry(Generic[A]):
    """One row of the table of tools.

    Clients are told the fields of `by_type` by their type alone, and nothing of an answer that explains itself (None);
    /openapi.json describes them whole.
    """

    description: str
    arguments: type[A]
    run: Callable[[Desk, A], Awaitable[Answer]]
    title: str | None = None
    answer: type[Struct] | None = None
    by_type: frozenset[str] = frozenset()
    annotations: ToolAnnotations | None = None
    toolset: Toolset = Toolset.CORE
    scope: Scope = Scope.BROWSE
