"""What a provider of models is to the router: its credentials, what it can do, and one way to ask it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from protocol.models import CallErrorKind, ModelMessage, OutputSchema, Provider, TokenUsage, ToolDefinition, ToolUsePart

StructuredMeans = Literal["native", "tool", "prompt"]

Write = Callable[[str], Awaitable[None]]
"""Is called with each piece of text as the model writes it."""


class ProviderCredentials(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a provider is asked with (004 "LLMConfig Output"); it never leaves the router's process unsealed."""

    api_key: str = ""
    base_url: str = ""
    resource_name: str = ""
    region: str = ""
    access_key_id: str = ""
    secret_access_key: str = ""
    session_token: str = ""

    def __repr__(self) -> str:
        """Show where it leads, and no secret."""
        return f"ProviderCredentials(base_url={self.base_url!r}, region={self.region!r})"


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One request to one model; with `output` the provider is to hold its answer to the schema by its `means`.

    `native`: by the provider's own structured output; `tool`: as the arguments of a tool that the model must call;
    `prompt`: by words alone, which stand in `messages` already.
    """

    model: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolDefinition, ...] = ()
    output: OutputSchema | None = None
    means: StructuredMeans | None = None
    max_tokens: int = 1_024
    temperature: float | None = None
    first_token_ms: int = 60_000
    """How long it may take until anything comes; the whole is bounded by the cancel scope of the caller."""


class ModelCompletion(Struct, frozen=True, kw_only=True):
    """What a model answered; `model` is the one that the provider says has served."""

    text: str
    finish: Literal["stop", "length", "tool_calls", "refused"]
    usage: TokenUsage
    model: str
    tool_calls: tuple[ToolUsePart, ...] = ()


class ProviderError(Exception):
    """A provider did not answer, or not in its protocol; the message is ours, and has no word of what was sent."""

    def __init__(
        self, kind: CallErrorKind, message: str, *, retry_after_ms: int | None = None, status: int | None = None
    ) -> None:
        """Keep the kind, and after how long it may be asked again where the provider says so."""
        super().__init__(message)
        self.kind = kind
        self.retry_after_ms = retry_after_ms
        self.status = status
        self.usage = TokenUsage()
        """What was used nevertheless, as by answers that did not keep to a schema."""


class ProviderClient(Protocol):
    """A way to ask the models of one provider; safe to use by many tasks at once."""

    async def answer(self, request: ModelRequest, write: Write | None = None) -> ModelCompletion:
        """Ask a model; with `write` the answer is streamed. Cancelling ends the request at the provider, too.

        Raises:
            ProviderError: there is no answer.
        """
        ...

    async def aclose(self) -> None:
        """Close its connections."""
        ...


class Capabilities(Struct, frozen=True, kw_only=True):
    """What the models of a provider can do, as far as is known beforehand; a router learns what is not so."""

    tools: bool = True
    images: bool = True
    native_schema: bool = True
    local: bool = False
    """Runs on a machine of the operator: no price, and long until the first word."""


class ProviderKind(Struct, frozen=True, kw_only=True):
    """A row of the table of providers, one file each in `providers/`.

    `requires` are the fields of ProviderCredentials without which it cannot be asked, `environment` the variables that
    they are read from, the first that is set; `defaults` fill what is not given, and `complete` adds what follows from
    the rest.
    None of it counts before something of the provider is set: no server is believed to run unasked.
    `make` gets the hosts of the setting `model_hosts`, and opens nothing.
    """

    provider: Provider
    requires: tuple[str, ...]
    environment: Mapping[str, tuple[str, ...]]
    make: Callable[[ProviderCredentials, Collection[str]], ProviderClient]
    capabilities: Capabilities = Capabilities()
    defaults: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    complete: Callable[[ProviderCredentials], ProviderCredentials] = lambda given: given
    modules: tuple[str, ...] = ()
    """Without these the provider is not available: they come with the extra `weft[llm]`."""
    price_id: str | None = None
    """Its id in genai-prices, where prices are known."""
