"""One client for all who speak OpenAI's chat completions: seven of the ten providers."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing
from typing import Any, Final, Literal

import anyio
import httpx2
import msgspec
from msgspec import Struct

from actors.router.provider import ModelCompletion, ModelRequest, ProviderCredentials, ProviderError, Write
from actors.router.providers.errors import failure, failure_of_response, kind_of_error
from actors.router.providers.openai_wire import Assembly, Chunk, UnreadableCallError, body_of
from actors.router.providers.reach import connection, is_named
from bus.tracing import inject
from protocol.models import CallErrorKind, Provider

IDLE_S: Final = 60.0
"""How long a stream may be silent once it has begun."""

MAX_EVENT_BYTES: Final = 4_000_000
MAX_ERROR_BYTES: Final = 65_536
MAX_ANSWER_BYTES: Final = 16_000_000
MAX_STREAM_BYTES: Final = 64_000_000
"""The longest answer that may be asked for, a token an event of 400 bytes."""

_read_chunk = msgspec.json.Decoder(Chunk).decode


class OpenAIDialect(Struct, frozen=True, kw_only=True):
    """How a provider differs from the others of its dialect."""

    provider: Provider
    key_header: Literal["Authorization", "api-key"] = "Authorization"
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    with_demands: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """What is sent besides where tools or a schema are needed."""

    def client(self, credentials: ProviderCredentials, hosts: Collection[str]) -> OpenAIClient:
        """Make a client; it opens its connections with the first request."""
        return OpenAIClient(self, credentials, hosts)


class OpenAIClient:
    """Asks the models of one provider; see ProviderClient."""

    def __init__(self, dialect: OpenAIDialect, credentials: ProviderCredentials, hosts: Collection[str]) -> None:
        """Connect to `credentials.base_url`, which is public or one of `hosts`."""
        self._dialect = dialect
        self._credentials = credentials
        self._hosts = hosts
        self._opening = anyio.Lock()
        self._http: httpx2.AsyncClient | None = None

    async def answer(self, request: ModelRequest, write: Write | None = None) -> ModelCompletion:
        """Ask a model."""
        provider = self._dialect.provider
        try:
            with anyio.fail_after(request.first_token_ms / 1_000) as limit:
                return await self._answer(request, write, limit)
        except TimeoutError:
            raise failure(provider, CallErrorKind.TIMEOUT) from None
        except httpx2.TimeoutException:
            raise failure(provider, CallErrorKind.TIMEOUT) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, msgspec.DecodeError, UnicodeError):
            # What speaks another protocol is no model that answers badly.
            raise failure(provider, CallErrorKind.NETWORK) from None
        except UnreadableCallError:
            raise failure(provider, CallErrorKind.MALFORMED) from None

    async def aclose(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.aclose()

    async def _answer(self, request: ModelRequest, write: Write | None, limit: anyio.CancelScope) -> ModelCompletion:
        http = await self._opened()
        body = body_of(request, self._dialect.max_tokens_field)
        if request.tools or request.output is not None:
            body |= self._dialect.with_demands
        assembly = Assembly()
        async with http.stream("POST", "chat/completions", json=body, headers=self._trace_context()) as response:
            if not response.is_success:
                raise await self._refusal(response)
            async with aclosing(_chunks(response)) as chunks:
                async for chunk in chunks:
                    limit.deadline = anyio.current_time() + IDLE_S
                    if chunk.error:
                        raise failure(self._dialect.provider, kind_of_error(chunk.error) or CallErrorKind.OVERLOADED)
                    text = assembly.add(chunk)
                    if text and write is not None:
                        await write(text)
        if assembly.finish is None:
            raise failure(self._dialect.provider, CallErrorKind.NETWORK)  # it broke off
        return assembly.completion(request.model)

    async def _opened(self) -> httpx2.AsyncClient:
        async with self._opening:
            if self._http is None:
                key, header = self._credentials.api_key, self._dialect.key_header
                headers = {header: key if header == "api-key" else f"Bearer {key}"} if key else {}
                base_url = f"{self._credentials.base_url.rstrip('/')}/"
                self._http = await connection(base_url, self._hosts, headers | {"User-Agent": "Weft"})
            return self._http

    def _trace_context(self) -> dict[str, str]:
        """Return the W3C context of the current span for a server that the operator has named; strangers get none."""
        headers: dict[str, str] = {}
        if is_named(self._credentials.base_url, self._hosts):
            inject(headers)
        return headers

    async def _refusal(self, response: httpx2.Response) -> ProviderError:
        body = await _body(response, MAX_ERROR_BYTES)
        return failure_of_response(self._dialect.provider, response.status_code, response.headers, body, time.time())


async def _chunks(response: httpx2.Response) -> AsyncGenerator[Chunk]:
    """Yield the events of a stream; the answer of a server that does not stream is one."""
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json":
        yield _read_chunk(await _body(response, MAX_ANSWER_BYTES))
        return
    size = 0
    async for event in httpx2.EventSource(response, MAX_EVENT_BYTES):
        size += len(event.data)
        if event.data == "[DONE]":
            return
        if size > MAX_STREAM_BYTES:
            msg = "the stream does not end"
            raise httpx2.DecodingError(msg)
        if event.data:
            yield _read_chunk(event.data)


async def _body(response: httpx2.Response, most: int) -> bytes:
    """Read a body, or so much of it."""
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > most:
            break
    return body[:most]
