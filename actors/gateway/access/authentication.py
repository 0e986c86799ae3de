"""Who is let in: by which key or token, from where, and how often; kept up to date while the gateway lives."""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct
from starlette.types import Scope

from actors.gateway.access.caller import NOBODY, OWNER, Caller, Ledger
from actors.gateway.access.keys import PREFIX, KeyStore, digest
from actors.gateway.access.limits import (
    ConcurrencyKind,
    ConcurrencyLimits,
    RateLimits,
    RateState,
    address_of,
    too_often,
)
from actors.gateway.access.open_streams import OpenStreams
from actors.gateway.access.rules import AccessHeaders, OriginRules, metadata_paths, origin_rules
from actors.gateway.http import CHALLENGE, HttpStatusError
from actors.gcra import Rate
from actors.settings import Settings
from bus import Tables
from bus.stats import AccountCounts
from protocol.actions import Action
from protocol.faults import Code, fault

if TYPE_CHECKING:
    from actors.gateway.access.tokens import TokenVerifier

ANONYMOUS_BURST = 100
FAILED_BURST = 20

MAX_KNOWN_KEYS = 10_000
"""Keys and tokens that were good once, and are no guesses."""

MAX_TOKEN_CHARS = 8_192


_WAY_IN = Action(
    action="send_api_key",
    description="Send the API key as `Authorization: Bearer KEY`; `weft up` says where it is kept.",
)


class Visitor(Struct, frozen=True):
    """Who was let in: the caller, the name that its limits go by, and how they stand."""

    caller: Caller
    account: str
    rate_state: RateState


@dataclass
class AccessControl:
    """Lets in whom the rules, the credentials and the rates allow, over HTTP and WebSocket alike."""

    rules: OriginRules
    authenticator: Authenticator
    rates: RateLimits
    anonymous: RateLimits
    concurrency: ConcurrencyLimits
    ledger: Ledger
    streams: OpenStreams
    accounts: AccountCounts = field(default_factory=AccountCounts)

    async def let_in(self, scope: Scope, headers: AccessHeaders, *, needs_key: bool) -> Visitor:
        """Return who comes in; `headers` have passed the rules.

        Raises:
            HttpStatusError: why nobody does.
        """
        address = address_of(scope.get("client"))
        if needs_key and headers.authorizations:
            who = await self.authenticator.holder(headers.authorizations, address)
            account, rates = who.name, self.rates
        else:
            who, account, rates = NOBODY, f"address {address}", self.anonymous
        rate_state = rates.take(account, who.limits.per_minute)
        if rate_state.wait_ms > 0:
            if who is not NOBODY:
                self.accounts.refused[account] += 1
            raise too_often(rate_state)
        if needs_key and who is NOBODY:
            raise _unknown_key(self.authenticator.challenge, shown=False)
        return Visitor(who, account, rate_state)


@asynccontextmanager
async def access_control(
    bus: Tables, settings: Settings, open_paths: Iterable[str], replica: str
) -> AsyncGenerator[AccessControl, None]:
    """Set up what lets clients in; within the block it knows the keys, and writes down who used what."""
    async with AsyncExitStack() as opened:
        tokens = await opened.enter_async_context(_tokens(settings)) if settings.oauth_issuer else None
        key_store, ledger = KeyStore(), Ledger(replica)
        streams = OpenStreams(key_store.has_ended)
        await opened.enter_async_context(key_store.watching(bus))
        await opened.enter_async_context(streams.following_keys())
        await opened.enter_async_context(ledger.writing(bus))
        failures = RateLimits(Rate.per_minute(settings.rate_failed_per_minute, FAILED_BURST))
        most = {
            ConcurrencyKind.REQUEST: settings.requests_at_once,
            ConcurrencyKind.STREAM: settings.streams_at_once,
            ConcurrencyKind.SOCKET: settings.sockets_at_once,
        }
        yield AccessControl(
            rules=origin_rules(settings, [*open_paths, *metadata_paths(settings)]),
            authenticator=Authenticator(settings.api_key, key_store, failures, tokens),
            rates=RateLimits(Rate.per_minute(settings.rate_per_minute, settings.rate_burst)),
            anonymous=RateLimits(Rate.per_minute(settings.rate_anonymous_per_minute, ANONYMOUS_BURST)),
            concurrency=ConcurrencyLimits(most),
            ledger=ledger,
            streams=streams,
        )


@dataclass
class Authenticator:
    """Who may come in: the owner, the holders of keys, and those whom an authorization server vouches for.

    An address that shows too many wrong keys is not heard with any that was never good before, so that nobody guesses;
    who was in already stays in.
    """

    owner: str = field(repr=False)
    key_store: KeyStore
    failures: RateLimits
    tokens: TokenVerifier | None = None
    _owner: bytes = field(init=False, repr=False)
    _known: OrderedDict[bytes, None] = field(default_factory=OrderedDict[bytes, None], init=False, repr=False)

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
            HttpStatusError: nobody whom we know; or nobody can tell now; or the address has shown too much.
        """
        text = _bearer(authorizations)
        if text is None:
            raise self._wrong(address)
        key_digest = digest(text)
        if key_digest not in self._known and (rate_state := self.failures.look(address)).wait_ms > 0:
            raise too_often(rate_state, "Too many wrong keys from this address.")
        who = OWNER if self._is_owner(key_digest) else await self._other(text)
        if who is None:
            self._known.pop(key_digest, None)
            raise self._wrong(address)
        self._remember(key_digest)
        return who

    def _is_owner(self, key_digest: bytes) -> bool:
        return bool(self.owner) and hmac.compare_digest(key_digest, self._owner)

    async def _other(self, text: str) -> Caller | None:
        if text.startswith(PREFIX):
            return self.key_store.holder(text)
        return await self.tokens.holder(text) if self.tokens else None

    def _wrong(self, address: str) -> Exception:
        self.failures.take(address)
        return _unknown_key(self.challenge, shown=True)

    def _remember(self, key_digest: bytes) -> None:
        self._known[key_digest] = None
        self._known.move_to_end(key_digest)
        if len(self._known) > MAX_KNOWN_KEYS:
            self._known.popitem(last=False)


def _unknown_key(challenge: str, *, shown: bool) -> HttpStatusError:
    """Refuse who shows no key, or one that is not good: why it is not, nobody is told (RFC 6750 §3.1)."""
    refused = fault(Code.AUTH_INVALID_CREDENTIALS, "This Weft wants its API key.", actions=(_WAY_IN,))
    error = ', error="invalid_token"' if shown else ""
    return HttpStatusError(refused, 401, {"WWW-Authenticate": f"{challenge}{error}"})


def _bearer(authorizations: tuple[str, ...]) -> str | None:
    """Read the one Authorization header that there may be (RFC 6750 §2.1)."""
    if len(authorizations) != 1:
        return None
    scheme, _, text = authorizations[0].partition(" ")
    text = text.strip()
    return text if scheme.lower() == "bearer" and text and len(text) <= MAX_TOKEN_CHARS else None


@asynccontextmanager
async def _tokens(settings: Settings) -> AsyncGenerator[TokenVerifier, None]:
    from actors.gateway.access.tokens import verifying_tokens  # noqa: PLC0415 - costs 60 ms, and most have no issuer

    async with verifying_tokens(settings) as verifier:
        yield verifier
