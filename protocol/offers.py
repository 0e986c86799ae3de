"""What an actor brings to MCP of its own: tools, resources and prompts that every gateway lists, and asks it for.

An actor puts its Offer into the bucket OFFERS, under `name.replica`, and again every OFFER_AGAIN_MS; it answers OFFERED
under its name. What it says is in the words of MCP, so that an offer in any language is what MCP's own schema says.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.progress import Watch

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


# -- what an offering actor is asked -----------------------------------------------------------------------------------


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
    """Tell how a task stands."""

    id: str


class UpdateTask(Struct, frozen=True, kw_only=True, tag="update_task"):
    """Give a task what it asked for; what it has not asked for is ignored."""

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


# -- what it answers ---------------------------------------------------------------------------------------------------


class Annotations(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Whom a piece of content is for, and how much it matters (0 to 1)."""

    audience: tuple[Literal["user", "assistant"], ...] | UnsetType = UNSET
    priority: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    last_modified: str | UnsetType = UNSET


class Text(Struct, frozen=True, kw_only=True, tag="text", tag_field="type", omit_defaults=True):
    """Words."""

    text: str
    annotations: Annotations | UnsetType = UNSET


class Picture(Struct, frozen=True, kw_only=True, rename="camel", tag="image", tag_field="type", omit_defaults=True):
    """A picture, in base64."""

    data: str
    mime_type: MediaType
    annotations: Annotations | UnsetType = UNSET


class Audio(Struct, frozen=True, kw_only=True, rename="camel", tag="audio", tag_field="type", omit_defaults=True):
    """A sound, in base64."""

    data: str
    mime_type: MediaType
    annotations: Annotations | UnsetType = UNSET


class ResourceContents(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a resource holds: text, or bytes in base64."""

    uri: Uri
    mime_type: MediaType = ""
    text: str | UnsetType = UNSET
    blob: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Hold the rule of the two."""
        if (self.text is UNSET) == (self.blob is UNSET):
            msg = "a resource has either text or blob"
            raise ValueError(msg)


class Embedded(Struct, frozen=True, kw_only=True, tag="resource", tag_field="type", omit_defaults=True):
    """A resource that comes along."""

    resource: ResourceContents
    annotations: Annotations | UnsetType = UNSET


class Link(
    Struct, frozen=True, kw_only=True, rename="camel", tag="resource_link", tag_field="type", omit_defaults=True
):
    """A resource that can be read."""

    uri: Uri
    name: Title
    title: Title = ""
    description: Prose = ""
    mime_type: MediaType = ""
    annotations: Annotations | UnsetType = UNSET


Block = Text | Picture | Audio | Embedded | Link
Blocks = Annotated[tuple[Block, ...], Meta(max_length=1_000)]


class ToolResult(Struct, frozen=True, kw_only=True, rename="camel", tag="tool_result", omit_defaults=True):
    """What a tool came to; with `is_error` it did not do what it was to do, and `content` says so to the model."""

    content: Blocks
    structured_content: Any = UNSET
    is_error: bool = False


class Contents(Struct, frozen=True, kw_only=True, tag="contents"):
    """What a resource holds, in one or more pieces."""

    contents: Annotated[tuple[ResourceContents, ...], Meta(max_length=1_000)]


class Message(Struct, frozen=True, kw_only=True):
    """One message of a prompt."""

    role: Literal["user", "assistant"]
    content: Block


class Messages(Struct, frozen=True, kw_only=True, tag="messages", omit_defaults=True):
    """A filled prompt."""

    messages: Annotated[tuple[Message, ...], Meta(max_length=100)]
    description: Prose = ""


class Completion(Struct, frozen=True, kw_only=True, rename="camel", tag="completion", omit_defaults=True):
    """How a value may go on, the likeliest first."""

    values: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    total: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    has_more: bool = False


class InputRequest(Struct, frozen=True, kw_only=True):
    """Something that the client, or the user behind it, is to give; `params` are those of the method."""

    method: Literal["elicitation/create", "sampling/createMessage", "roots/list"]
    params: Json = {}


InputRequests = Annotated[dict[str, InputRequest], Meta(max_length=16)]


class InputRequired(Struct, frozen=True, kw_only=True, tag="input_required", omit_defaults=True):
    """The same is to be asked again, with the responses to `requests` and this `state`, which no client can read."""

    requests: InputRequests
    state: Annotated[str, Meta(max_length=65_536)] | None = None


class Refused(Struct, frozen=True, kw_only=True, tag="refused", omit_defaults=True):
    """The request is an error of the protocol, told to the client as JSON-RPC says it."""

    code: int
    message: Annotated[str, Meta(max_length=2_000)]
    data: Json | UnsetType = UNSET


class TaskStatus(StrEnum):
    """How a task stands; the last three are final."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class OfferedTask(Struct, frozen=True, kw_only=True, tag="task", omit_defaults=True):
    """How a task of the asking caller stands; times in ms since the epoch.

    It can be asked for until `ttl_ms` after `created`, or for ever. A completed one has `result`, a failed one `error`;
    one that waits has `requests`.
    """

    id: Annotated[str, Meta(min_length=1, max_length=200)]
    status: TaskStatus
    created: int
    updated: int
    message: Prose = ""
    ttl_ms: Annotated[int, Meta(ge=1)] | None = None
    poll_ms: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
    result: ToolResult | UnsetType = UNSET
    error: Refused | UnsetType = UNSET
    requests: InputRequests | UnsetType = UNSET


class Acknowledged(Struct, frozen=True, kw_only=True, tag="acknowledged"):
    """A task was told."""


Outcome = ToolResult | Contents | Messages | Completion | InputRequired | OfferedTask | Acknowledged | Refused


class OfferAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """OFFERED: what came of it; `said` is how often OFFER_SAID was told before, and may still be on its way."""

    came: Outcome
    said: Annotated[int, Meta(ge=0)] = 0


# -- what it tells without being asked ---------------------------------------------------------------------------------


class ResourceUpdated(Struct, frozen=True, kw_only=True, tag="resource_updated"):
    """A resource holds something else now."""

    uri: Uri


class TaskChanged(Struct, frozen=True, kw_only=True, tag="task_changed"):
    """A task of `caller`, done by `actor`, stands differently."""

    actor: str
    caller: str
    task: OfferedTask


class OfferNews(Struct, frozen=True, kw_only=True):
    """OFFER_NEWS: what has changed at an offering actor, for those who wait for it."""

    news: ResourceUpdated | TaskChanged


class LogLevel(StrEnum):
    """How much a line of a log matters, from the least (RFC 5424)."""

    DEBUG = "debug"
    INFO = "info"
    NOTICE = "notice"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"
    ALERT = "alert"
    EMERGENCY = "emergency"


class LogLine(Struct, frozen=True, kw_only=True, tag="log", omit_defaults=True):
    """A line of a log: any JSON."""

    level: LogLevel
    data: Any
    logger: Annotated[str, Meta(max_length=200)] = ""


class Step(Struct, frozen=True, kw_only=True, tag="step", omit_defaults=True):
    """How far the work is; `done` grows each time."""

    done: float
    total: float | None = None
    message: Prose = ""


class Said(Struct, frozen=True, kw_only=True):
    """OFFER_SAID: something about work that a replica of the gateway knows as `token`."""

    token: str
    says: LogLine | Step
