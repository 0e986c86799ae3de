"""The tools that record what is done in a browser session, and do it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, field

from protocol.access import Scope
from protocol.browsers.operations import SessionId
from protocol.flows import MAX_PARAMETERS, FlowName, ParameterName, ParameterValue
from protocol.pages import Url
from protocol.tools.tool import Risk, Tool, ToolArguments, WithoutArguments, by_name

MAX_ID_CHARS: Final = 100
Values = Annotated[dict[ParameterName, ParameterValue], Meta(max_length=MAX_PARAMETERS)]


class RecordArguments(ToolArguments, frozen=True, kw_only=True):
    """What is to happen to the recording of a session."""

    action: Annotated[Literal["begin", "keep", "drop"], Meta(description="keep ends it, and needs a name.")]
    name: FlowName | None = None
    url: Annotated[Url | None, Meta(description="Page to begin at.")] = None
    session_id: SessionId | None = None


class ReplayArguments(ToolArguments, frozen=True, kw_only=True):
    """Which flow is done again, and with what."""

    flow_id: Annotated[str, Meta(min_length=1, max_length=MAX_ID_CHARS)]
    parameters: Annotated[Values, Meta(description="Those not given are as recorded.")] = field(
        default_factory=dict[str, str]
    )
    secrets: Annotated[Values, Meta(description="Of parameters that are secret; kept nowhere.")] = field(
        default_factory=dict[str, str]
    )
    session_id: SessionId | None = None


def _tool(name: str, arguments: type[Any], risk: Risk, description: str, *, idempotent: bool = False) -> Tool[Any]:
    """Return a row; the gateway does it for its caller, and no model of ours proposes it."""
    return Tool(
        name=name,
        arguments=arguments,
        risk=risk,
        description=description,
        scope=Scope.BROWSER,
        idempotent=idempotent,
        proposable=False,
    )


FLOW_TOOLS: Final[Mapping[str, Tool[Any]]] = by_name(
    _tool(
        "record_flow",
        RecordArguments,
        Risk.COLLECT,
        "Record what is done in a browser session, to do it again; secrets are never recorded.",
    ),
    _tool("list_flows", WithoutArguments, Risk.COLLECT, "List recorded flows and their parameters.", idempotent=True),
    _tool(
        "replay_flow",
        ReplayArguments,
        Risk.RUN,
        "Do a recorded flow again with other inputs; it stops where an element is gone or like another.",
    ),
)
"""Every tool of flows by its name."""
