"""The tools that are neither of a browser nor of a collection: search, calculation, other programs (003)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, UnsetType

from protocol.access import Scope
from protocol.documents import NonEmpty
from protocol.tools.tool import Risk, Tool, ToolArguments, by_name

RUNNER: Final = "runner"


class SearchWeb(ToolArguments, frozen=True, kw_only=True):
    """Ask a search engine; `new_tab`, which 003 names, changes nothing, for the results are an answer and no page."""

    query: NonEmpty
    engine: NonEmpty | UnsetType = UNSET
    new_tab: bool | UnsetType = UNSET


class InvokeIntegration(ToolArguments, frozen=True, kw_only=True):
    """Have another program do something."""

    integration: NonEmpty
    operation: NonEmpty
    payload: dict[str, Any]
    idempotency_key: NonEmpty | UnsetType = UNSET


class Calculate(ToolArguments, frozen=True, kw_only=True):
    """Compute an expression; `precision` is the number of decimals."""

    expression: NonEmpty
    precision: Annotated[int, Meta(ge=0, le=6)] | UnsetType = UNSET


APP_TOOLS: Final[Mapping[str, Tool[Any]]] = by_name(
    Tool(
        name="search",
        arguments=SearchWeb,
        risk=Risk.SEARCH,
        description="Ask a search engine, or where none is set up what was read before.",
        scope=Scope.BROWSE,
        actor=RUNNER,
        idempotent=True,
    ),
    Tool(
        name="app.calculate",
        arguments=Calculate,
        risk=Risk.CALCULATE,
        description="Compute an expression of numbers, + - * /, and parentheses.",
        scope=Scope.BROWSE,
        actor=RUNNER,
        idempotent=True,
    ),
    Tool(
        name="integration.invoke",
        arguments=InvokeIntegration,
        risk=Risk.SHARE,
        description="Have a program do something that the operator has allowed.",
        scope=Scope.INTEGRATIONS,
        actor=RUNNER,
    ),
)
"""The other tools by their names."""
