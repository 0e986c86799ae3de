"""Tells whose key or token a request shows."""

from __future__ import annotations

import hmac
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Protocol

from actors.gateway.access import refusals
from actors.gateway.access.caller import CHALLENGE, OWNER, Caller
from actors.gateway.access.key_store import KeyStore
from actors.gateway.access.keys import PREFIX, digest
from actors.gateway.access.limits import Rates

MAX_MET = 10_000
"""Keys and tokens that were good once, and are no guesses."""

MAX_TOKEN_CHARS = 8_192


class Tokens(Protocol):
    """What judges the access tokens of an authorization server."""

    @property
    def challenge(self) -> str:
        """How a client is sent to the server."""
        ...

    async def holder(self, text: str) -> Caller | None:
        """Tell whose token this is, if it is one that is good now; raises RefusedError where nobody can tell."""
        ...


@dataclass
class Credentials:
    """Who may come in: the owner, the holders of keys, and those whom an authorization server vouches for.

    An address that shows too many wrong keys is not heard with any that was never good before, so that nobody guesses;
    who was in already stays in.
    """

    owner: str = field(repr=False)
    key_store: KeyStore
    failures: Rates
    tokens: Tokens | None = None
    _owner: bytes = field(init=False, repr=False)
    _met: OrderedDict[bytes, None] = field(default_factory=OrderedDict[bytes, None], init=False, repr=False)

    def __post_init__(self) -> None:
        """Keep the owner's key as the others: compared by digests, its length does not show either."""
        self._owner = digest(self.owner)

    @property
    def challenge(self) -> str:
        """How a client is asked for a key."""
        return self.tokens.challenge if self.tokens else CHALLENGE

    async def holder(self, authorizations: tuple[str, ...], address: str) -> Caller:
        """Return who shows this.

        Raises:
            RefusedError: nobody whom we know; or nobody can tell now; or the address has shown too much.
        """
        text = _bearer(authorizations)
        if text is None:
            raise self._wrong(address)
        mark = digest(text)
        if mark not in self._met and (room := self.failures.look(address)).wait_ms > 0:
            raise refusals.too_often(room, "Too many wrong keys from this address.")
        who = OWNER if self._is_owner(mark) else await self._other(text)
        if who is None:
            self._met.pop(mark, None)
            raise self._wrong(address)
        self._meet(mark)
        return who

    def _is_owner(self, mark: bytes) -> bool:
        return bool(self.owner) and hmac.compare_digest(mark, self._owner)

    async def _other(self, text: str) -> Caller | None:
        if text.startswith(PREFIX):
            return self.key_store.holder(text)
        return await self.tokens.holder(text) if self.tokens else None

    def _wrong(self, address: str) -> Exception:
        self.failures.take(address)
        return refusals.unknown(self.challenge, shown=True)

    def _meet(self, mark: bytes) -> None:
        self._met[mark] = None
        self._met.move_to_end(mark)
        if len(self._met) > MAX_MET:
            self._met.popitem(last=False)


def _bearer(authorizations: tuple[str, ...]) -> str | None:
    """Read the one Authorization header that there may be (RFC 6750 §2.1)."""
    if len(authorizations) != 1:
        return None
    scheme, _, text = authorizations[0].partition(" ")
    text = text.strip()
    return text if scheme.lower() == "bearer" and text and len(text) <= MAX_TOKEN_CHARS else None
