"""What is said to models and answered, in one form for every provider, and how it is decided who answers (004)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.documents import NonEmpty
from protocol.replicas import Name, Watch

FALLBACK_PROVIDER: Final = "anthropic"
FALLBACK_MODEL: Final = "claude-sonnet-4-5-20250929"
"""Who answers where no rule matches (004 "Fallback")."""


class Provider(StrEnum):
    """The providers of models (004 "Supported Providers")."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    GOOGLE = "google"
    OPENROUTER = "openrouter"
    AZURE = "azure"
    OLLAMA = "ollama"
    LMSTUDIO = "lmstudio"
    BEDROCK = "bedrock"
    BROWSEROS = "browseros"
    OPENAI_COMPATIBLE = "openai-compatible"


class ModelClass(StrEnum):
    """How much a model is asked for (004 "Categories")."""

    SIMPLE = "simple"
    STANDARD = "standard"
    COMPLEX = "complex"
    VISION = "vision"


class RouteReason(StrEnum):
    """Why a model was chosen: the closed set of 004 "RouteDecision"."""

    DEFAULT = "default"
    OPTIMIZED = "optimized"
    FALLBACK = "fallback"
    DOWNGRADE_TEST = "downgrade_test"
    NO_PROVIDERS_AVAILABLE = "no_providers_available"


class ModelName(Struct, frozen=True, kw_only=True):
    """A model of a provider."""

    provider: Provider
    model: NonEmpty


MediaType = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]


class TextPart(Struct, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """Words of a message."""

    text: str


class ImagePart(Struct, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """A picture of a message, as bytes: addresses are never passed on, so that no provider's client fetches them."""

    media_type: MediaType
    data: bytes


class ToolUsePart(Struct, frozen=True, kw_only=True, tag_field="type", tag="tool_use"):
    """A call of a tool that the model proposed; `id` is the model's."""

    id: str
    name: NonEmpty
    arguments: dict[str, Any]


class ToolResultPart(Struct, frozen=True, kw_only=True, tag_field="type", tag="tool_result"):
    """What came of a proposed call."""

    id: str
    text: str


MessagePart = TextPart | ImagePart | ToolUsePart | ToolResultPart


class ModelMessage(Struct, frozen=True, kw_only=True):
    """One message of a conversation with a model; system messages come first."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[MessagePart, ...]


class ToolDefinition(Struct, frozen=True, kw_only=True):
    """A tool that the model may propose to call; `parameters` is a JSON Schema of an object."""

    name: NonEmpty
    description: str
    parameters: dict[str, Any]


class OutputSchema(Struct, frozen=True, kw_only=True):
    """The JSON Schema (2020-12) that the answer is to match; its root is an object."""

    name: NonEmpty
    schema: dict[str, Any]


class CallModel(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """CALL_MODEL: answer these messages.

    `tool` is what the model is asked for, by which the route is chosen: the name of a browser tool as 004 has it, or
    a name of ours such as `web_answer`. `pin` names the model instead. `conversation` keeps to the model that answered
    it before. `caller` and `run` are who pays. `watch` is told what the model writes as it writes it (MODEL_TEXT).
    `max_cost_usd` bounds this call alone.
    """

    tool: Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.-]+$(?!\n)")]
    messages: Annotated[tuple[ModelMessage, ...], Meta(min_length=1)]
    tools: tuple[ToolDefinition, ...] = ()
    output: OutputSchema | None = None
    max_tokens: Annotated[int, Meta(ge=1, le=131_072)] = 1_024
    temperature: Annotated[float, Meta(ge=0.0, le=2.0)] | None = None
    pin: ModelName | None = None
    conversation: str = ""
    caller: str = ""
    run: str = ""
    max_cost_usd: float | None = None
    watch: Watch | None = None


class ModelText(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """MODEL_TEXT: what a model has written further; `index` counts from 0 within one call.

    `restarted`: what came before is void, another model begins again.
    """

    token: Name
    index: int
    text: str
    restarted: bool = False


TokenCount = Annotated[int, Meta(ge=0, le=10**12)]


class TokenUsage(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What a call has used, as the provider counts; `cache_read` and `cache_write` are part of `input`."""

    input: TokenCount = 0
    output: TokenCount = 0
    cache_read: TokenCount = 0
    cache_write: TokenCount = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        """Return what two calls have used together."""
        return TokenUsage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
        )


class CallErrorKind(StrEnum):
    """Why a call of a model failed; all but the last three are the infrastructure's, not the model's."""

    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    TIMEOUT = "timeout"
    NETWORK = "network"
    AUTH = "auth"
    QUOTA = "quota"
    UNSUPPORTED = "unsupported"
    CANCELLED = "cancelled"
    MALFORMED = "malformed"
    SCHEMA = "schema"
    REFUSED = "refused"


INFRASTRUCTURE: Final = frozenset(CallErrorKind) - {
    CallErrorKind.MALFORMED,
    CallErrorKind.SCHEMA,
    CallErrorKind.REFUSED,
}
"""Errors that say nothing of how good a model is."""


class ModelAttempt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One try of a call: who was asked, and why that failed if it did; `waited_ms` before it."""

    name: ModelName
    latency_ms: int
    error: CallErrorKind | None = None
    message: str = ""
    waited_ms: int = 0


class RouteCandidate(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A model that could have been chosen, with what is known of it, and why it was not chosen."""

    name: ModelName
    calls: int = 0
    success_rate: float | None = None
    cost_usd: float | None = None
    """Of a usual call."""
    why_not: str = ""


class RouteDecision(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who is asked, and why (004 "RouteDecision"); `candidates` is an addition to the seed.

    Without any provider `provider` and `model` are those that would have been asked.
    """

    provider: Provider
    model: str
    reason: RouteReason
    candidates: tuple[RouteCandidate, ...] = ()


class ModelAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to CALL_MODEL: `text`, proposed `tool_calls`, and `data` that matches the schema where one was given.

    `structured` says by what means the schema was had. `requested` is who was chosen first, `served` who answered.
    `cost_usd` is None where no price is known. `call_id` is what OUTCOME names the call by.
    """

    call_id: str
    text: str
    requested: ModelName
    served: ModelName
    reason: RouteReason
    finish: Literal["stop", "length", "tool_calls", "refused"]
    usage: TokenUsage
    cost_usd: float | None = None
    latency_ms: int = 0
    data: Any | UnsetType = UNSET
    structured: Literal["native", "tool", "prompt"] | None = None
    tool_calls: tuple[ToolUsePart, ...] = ()
    attempts: tuple[ModelAttempt, ...] = ()


class CallOutcome(Struct, frozen=True, kw_only=True):
    """CALL_OUTCOME: whether an answer was found to be true by whoever could check it (citations, schema, verifier)."""

    call_id: str
    tool: str
    verified: bool


class ModelCalled(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="line", tag="called"):
    """A line of MODEL_CALLS: one try of a call of a model (004 "Recording", and more); `at` in ms since the epoch.

    `preview` is the redacted beginning of what was asked and answered, `digest` the SHA-256 of what was asked.
    `truncated`: the answer ended where it was as long as it might be.
    """

    call_id: str
    at: int
    tool: str
    provider: Provider
    model: str
    success: bool
    latency_ms: int
    reason: RouteReason
    cost_usd: float | None = None
    usage: TokenUsage = TokenUsage()
    error_kind: CallErrorKind | None = None
    conversation: str = ""
    caller: str = ""
    run: str = ""
    digest: str = ""
    asked_preview: str = ""
    answer_preview: str = ""
    truncated: bool = False


class ModelJudged(Struct, frozen=True, kw_only=True, tag_field="line", tag="judged"):
    """A line of MODEL_CALLS: what a check has found of an answer."""

    call_id: str
    at: int
    tool: str
    verified: bool


class SpendTaken(Struct, frozen=True, kw_only=True):
    """A row of MODEL_SPEND: how much of a limit the replicas of the router have taken, in US dollars or in calls.

    They take it in portions before they spend it, so that no limit is ever exceeded by all of them together.
    """

    taken: float


class LearningStep(StrEnum):
    """What was done with the route of a tool by what its calls have taught (004 "Self-Learning Mechanism")."""

    UPGRADED = "upgraded"
    TEST_STARTED = "test_started"
    TEST_PASSED = "test_passed"
    TEST_FAILED = "test_failed"
    UNDONE = "undone"
    """What was changed before turned out badly, or is needed no longer."""
    OPTIMIZED = "optimized"
    """Another model costs less, failures included (the policy `economic`)."""
    REROUTED = "rerouted"
    """Somebody else has changed the route: a person, or the table; what was learned of the old one is void."""


class RouteStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change of what a tool's calls go to: from `old` to `new`, both the same where a test begins or fails.

    `home` is who is asked where nothing is learned. `tested` is asked beside `new`, with `share` of the calls.
    `why` is for people. `savings_usd` is per call. `candidates` are the models that were weighed, where there were
    several.
    """

    tool: str
    step: LearningStep
    home: ModelName
    old: ModelName
    new: ModelName
    why: str
    tested: ModelName | None = None
    share: float = 1.0
    old_rate: float | None = None
    new_rate: float | None = None
    savings_usd: float | None = None
    candidates: tuple[RouteCandidate, ...] = ()


LEARNED_TOPIC: Final = "routes.learned"
"""The topic of MODEL_CALLS that RoutesLearned stands under; those of calls are one token, the tool's."""


class RoutesLearned(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="line", tag="learned"):
    """A line of MODEL_CALLS: what one look at the calls has changed; `at` in ms since the epoch.

    `counted`: the calls had reached the number at which cheaper models are tested, and are counted from 0 again.
    """

    at: int
    steps: tuple[RouteStep, ...] = ()
    counted: bool = False


class LearnerTurn(Struct, frozen=True, kw_only=True):
    """The value of LEARNER_TURN: the replica that acts, `until` then (ms since the epoch) if it does not say more."""

    replica: str
    until: int


CallLine = ModelCalled | ModelJudged | RoutesLearned
