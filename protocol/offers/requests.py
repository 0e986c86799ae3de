"""What an offering actor is asked."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from protocol.offers.offer import Json
from protocol.progress import Watch


class CallTool(Struct, frozen=True, kw_only=True, tag="call_tool"):
    """Run a tool; its arguments are as the client gave them."""

    name: str
    arguments: Json = {}


class ReadResource(Struct, frozen=True, kw_only=True, tag="read_resource"):
    """Read a resource, listed or of a template."""

    uri: str


class GetPrompt(Struct, frozen=True, kw_only=True, tag="get_prompt"):
    """Fill a prompt."""

    name: str
    arguments: dict[str, str] = {}


class Complete(Struct, frozen=True, kw_only=True, tag="complete", omit_defaults=True):
    """Suggest how `value`, begun for an argument of a prompt or a variable of a template, may go on.

    `of` is the prompt's name or the template; `others` are the arguments that are filled already.
    """

    kind: Literal["prompt", "template"]
    of: str
    argument: str
    value: str
    others: dict[str, str] = {}


class GetTask(Struct, frozen=True, kw_only=True, tag="get_task"):
    """Return how a task stands."""

    id: str


class UpdateTask(Struct, frozen=True, kw_only=True, tag="update_task"):
    """Return a task what it asked for; what it has not asked for is ignored."""

    id: str
    responses: dict[str, Json] = {}


class CancelTask(Struct, frozen=True, kw_only=True, tag="cancel_task"):
    """End a task; one that has ended stays as it is."""

    id: str


Wanted = CallTool | ReadResource | GetPrompt | Complete | GetTask | UpdateTask | CancelTask


class AskOffer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """OFFERED: do this for `caller`, to whom the tasks belong that come of it; `local`: at the machine of this gateway.

    `capabilities` is what the client can do, as MCP's ClientCapabilities say it. `responses` and `state` are there when
    the same was asked before and answered with InputRequired. `watch` wants to hear how far the work is and what is
    logged of it, by OFFER_SAID.
    """

    do: Wanted
    caller: str = ""
    local: bool = False
    capabilities: Json = {}
    responses: dict[str, Json] = {}
    state: str | None = None
    watch: Watch | None = None
