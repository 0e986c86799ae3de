"""What an offering actor answers to a gateway, and what it publishes of its offer and its work."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from protocol.confidence import Score
from protocol.offers.offer import Json, MediaType, Prose, Title, Uri


class Annotations(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Whom a piece of content is for, and how much it matters (0 to 1)."""

    audience: tuple[Literal["user", "assistant"], ...] | UnsetType = UNSET
    priority: Score | UnsetType = UNSET
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


class OfferedResult(Struct, frozen=True, kw_only=True, rename="camel", tag="tool_result", omit_defaults=True):
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
    result: OfferedResult | UnsetType = UNSET
    error: Refused | UnsetType = UNSET
    requests: InputRequests | UnsetType = UNSET


class Acknowledged(Struct, frozen=True, kw_only=True, tag="acknowledged"):
    """A task was told."""


Outcome = OfferedResult | Contents | Messages | Completion | InputRequired | OfferedTask | Acknowledged | Refused


class OfferAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """OFFERED: what came of it; `said` is how often OFFER_SAID was told before, and may still be on its way."""

    outcome: Outcome = field(name="came")
    messages: Annotated[int, Meta(ge=0)] = field(name="said", default=0)


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
