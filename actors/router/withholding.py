"""Keeps the secrets that a provider is asked with out of what its models write: a server can send back what it got."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from msgspec import Struct, structs

from actors.router.provider import ModelCompletion, ModelRequest, ProviderClient, ProviderCredentials, Write
from protocol.models import ToolUsePart

WITHHELD = "[redacted]"
MIN_SECRET_CHARS = 12
"""What is shorter is no key, but what servers that want none are given in its place."""

_OPEN = frozenset({"base_url", "resource_name", "region"})


class WithholdingClient(Struct, frozen=True):
    """A client whose answers and streams have none of `secrets`, in whatever pieces they come."""

    inner: ProviderClient
    secrets: tuple[str, ...]

    @classmethod
    def of(cls, inner: ProviderClient, credentials: ProviderCredentials) -> ProviderClient:
        """Return a client that withholds the secrets of some credentials; the client itself where they have none."""
        given = structs.asdict(credentials)
        values = {value for name, value in given.items() if name not in _OPEN and len(value) >= MIN_SECRET_CHARS}
        return cls(inner, tuple(sorted(values, key=len, reverse=True))) if values else inner

    async def answer(self, request: ModelRequest, write: Write | None = None) -> ModelCompletion:
        """Ask a model as the client does.

        Raises:
            ProviderError: there is no answer.
        """
        if write is None:
            return self._without(await self.inner.answer(request))
        pieces = _Pieces(self.secrets, write)
        completion = await self.inner.answer(request, pieces.write)
        await pieces.end()
        return self._without(completion)

    async def aclose(self) -> None:
        """Close the client."""
        await self.inner.aclose()

    def _without(self, completion: ModelCompletion) -> ModelCompletion:
        return structs.replace(
            completion,
            text=_withheld(completion.text, self.secrets),
            model=_withheld(completion.model, self.secrets),
            tool_calls=tuple(self._call(call) for call in completion.tool_calls),
        )

    def _call(self, call: ToolUsePart) -> ToolUsePart:
        written = msgspec.json.encode(call).decode()
        safe = _withheld(written, self.secrets)
        return call if safe == written else msgspec.json.decode(safe, type=ToolUsePart)


@dataclass
class _Pieces:
    """A stream in pieces: the end of one waits for the next where a secret may begin in it."""

    secrets: Sequence[str]
    out: Write
    held: str = ""

    async def write(self, piece: str) -> None:
        text = _withheld(self.held + piece, self.secrets)
        safe = len(text) - max(_begun(text, secret) for secret in self.secrets)
        self.held = text[safe:]
        if safe:
            await self.out(text[:safe])

    async def end(self) -> None:
        if self.held:
            await self.out(self.held)


def _withheld(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, WITHHELD)
    return text


def _begun(text: str, secret: str) -> int:
    """Return how many characters at the end of a text are the beginning of a secret."""
    most = min(len(secret) - 1, len(text))
    return next((length for length in range(most, 0, -1) if text.endswith(secret[:length])), 0)
