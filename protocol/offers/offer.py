"""What an actor brings to MCP of its own, for every gateway to list, and what is asked of it.

An actor puts its Offer into the bucket OFFERS, under `name.replica`, and again every OFFER_AGAIN_MS; it answers OFFERED
under its name. What it says is in the words of MCP, so that an offer in any language is what MCP's own schema says.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.replicas import Watch

OFFER_TTL_MS = 30_000
"""How long an offer stands that nobody repeats: whoever made it is gone."""

OFFER_AGAIN_MS = 10_000
"""How often an offer is repeated."""

MAX_NAME_CHARS = 48
"""Models take 64 characters, of which clients need some for the name of the server in front (`mcp__weft__`)."""

MAX_ASK_MS = 600_000
"""The longest that an offering actor may have for one answer."""

Name = Annotated[str, Meta(pattern=f"^[a-zA-Z0-9_-]{{1,{MAX_NAME_CHARS}}}$")]
Title = Annotated[str, Meta(max_length=200)]
Prose = Annotated[str, Meta(max_length=4_000)]
Uri = Annotated[str, Meta(min_length=1, max_length=2_000)]
MediaType = Annotated[str, Meta(max_length=200)]
Schema = dict[str, Any]
Json = dict[str, Any]


class TaskUse(StrEnum):
    """Whether a call of a tool may become a task (the extension io.modelcontextprotocol/tasks)."""

    NEVER = "never"
    """It is answered at once."""

    POSSIBLE = "possible"
    """It may, for a client that knows tasks; others wait for the answer."""

    REQUIRED = "required"
    """It does; a client that does not know tasks is refused."""


class ToolHints(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a tool does to the world, as MCP's annotations say it; None is not known."""

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


class OfferedTool(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A tool; `timeout_ms` is what one call of it may take."""

    name: Name
    description: Annotated[str, Meta(min_length=1, max_length=4_000)]
    input_schema: Schema
    title: Title = ""
    output_schema: Schema | UnsetType = UNSET
    annotations: ToolHints | UnsetType = UNSET
    tasks: TaskUse = TaskUse.NEVER
    timeout_ms: Annotated[int, Meta(ge=1, le=MAX_ASK_MS)] = 60_000


class OfferedResource(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A resource that is listed; `size` in bytes."""

    uri: Uri
    name: Title
    title: Title = ""
    description: Prose = ""
    mime_type: MediaType = ""
    size: Annotated[int, Meta(ge=0)] | UnsetType = UNSET


class OfferedTemplate(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Resources that are not listed one by one: an address with variables (RFC 6570)."""

    uri_template: Uri
    name: Title
    title: Title = ""
    description: Prose = ""
    mime_type: MediaType = ""


class PromptArgument(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a prompt is filled with."""

    name: Title
    title: Title = ""
    description: Prose = ""
    required: bool = False


class OfferedPrompt(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A prompt."""

    name: Name
    title: Title = ""
    description: Prose = ""
    arguments: Annotated[tuple[PromptArgument, ...], Meta(max_length=50)] = ()


class Offer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """OFFERS: everything that one actor brings."""

    tools: Annotated[tuple[OfferedTool, ...], Meta(max_length=100)] = ()
    resources: Annotated[tuple[OfferedResource, ...], Meta(max_length=200)] = ()
    templates: Annotated[tuple[OfferedTemplate, ...], Meta(max_length=50)] = ()
    prompts: Annotated[tuple[OfferedPrompt, ...], Meta(max_length=50)] = ()


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
