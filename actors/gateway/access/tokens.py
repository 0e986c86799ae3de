"""Verifies the access tokens of an authorization server (OAuth 2.1 resource server): JWTs, by their issuer's keys.

The client for keys that PyJWT brings blocks its thread and asks whatever address it is given. So the keys are fetched
here: found by the issuer's metadata, kept, and looked at again when one is unknown.
"""

from __future__ import annotations

import hashlib
import ssl
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import anyio
import httpx2
import jwt
import msgspec
import structlog
from anyio import to_thread
from msgspec import Struct

from actors.gateway.access.caller import Caller, Scope
from actors.gateway.access.rules import audiences, token_challenge
from actors.gateway.http import HttpStatusError
from actors.settings import Settings
from protocol.access import TOKEN_PREFIX
from protocol.faults import Code, fault

log = structlog.stdlib.get_logger()

KEYS_NOT_FETCHED = "issuer_keys_not_fetched"

FETCH_S = 3.0
"""What the authorization server may take for one answer."""

FRESH_S = 3_600.0
"""How long keys are believed without a look."""

COOL_DOWN_S = 10.0
"""Between two looks at the server, whatever the tokens that come in name."""

MAX_BYTES = 262_144
MAX_KEYS = 100

_WELL_KNOWN = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")

ALGORITHMS = ("RS256", "ES256", "EdDSA")
"""What a token may be signed by: never `none`, and nothing that a public key could be taken for the secret of."""

LEEWAY_S = 30
"""How far the clocks of the server and ours may be apart."""

BELIEVED_S = 60.0
"""How long a token that was good is not checked again, though never past its end."""

MAX_BELIEVED = 10_000

_TYPES = frozenset({"", "jwt", "at+jwt", "application/at+jwt"})
_REQUIRED = ["exp", "iss", "aud", "sub"]

S = TypeVar("S", bound=Struct)


@dataclass
class TokenVerifier:
    """Finds whose token it is; nobody but the issuer's own keys vouches for one."""

    issuer: str
    audiences: tuple[str, ...]
    keys: IssuerKeys
    base_challenge: str
    clock: Callable[[], float] = time.time
    _believed: OrderedDict[bytes, tuple[Caller, float]] = field(
        default_factory=OrderedDict[bytes, tuple[Caller, float]], init=False, repr=False
    )

    @property
    def challenge(self) -> str:
        """How a client is sent to the server, for all that there is."""
        return f'{self.base_challenge}, scope="{" ".join(scope.value for scope in Scope)}"'

    async def holder(self, text: str) -> Caller | None:
        """Return whose token this is, if it is one that is good now.

        Raises:
            HttpStatusError: the keys of the issuer are not to be had, so nobody can tell.
        """
        token_digest, now = hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest(), self.clock()
        if (known := self._believed.get(token_digest)) is not None and now < known[1]:
            return known[0]
        self._believed.pop(token_digest, None)
        try:
            claims = await self._claims(text)
        except UnavailableError:
            raise _issuer_unavailable() from None
        except (jwt.PyJWTError, ValueError):
            return None
        who = self._caller(claims)
        if who is not None:
            self._believe(token_digest, who, min(now + BELIEVED_S, float(claims["exp"]) + LEEWAY_S))
        return who

    async def _claims(self, text: str) -> dict[str, Any]:
        header = jwt.get_unverified_header(text)
        algorithm, name = header.get("alg"), header.get("kid", "")
        if algorithm not in ALGORITHMS or str(header.get("typ", "")).lower() not in _TYPES:
            raise jwt.InvalidAlgorithmError
        key = await self.keys.key(name)
        if key is None:
            raise jwt.InvalidKeyError
        return jwt.decode(
            text,
            key,
            algorithms=[algorithm],
            audience=self.audiences,
            issuer=self.issuer,
            leeway=LEEWAY_S,
            options={"require": _REQUIRED, "enforce_minimum_key_length": True},
        )

    def _caller(self, claims: dict[str, Any]) -> Caller | None:
        subject = claims["sub"]
        if not isinstance(subject, str) or not subject:
            return None
        name = hashlib.sha256(f"{self.issuer}\0{subject}".encode()).hexdigest()[:32]
        return Caller(TOKEN_PREFIX + name, scopes_of(claims), challenge=self.base_challenge)

    def _believe(self, token_digest: bytes, who: Caller, until: float) -> None:
        self._believed[token_digest] = (who, until)
        if len(self._believed) > MAX_BELIEVED:
            self._believed.popitem(last=False)


def scopes_of(claims: dict[str, Any]) -> frozenset[Scope]:
    """Read the scopes of a token: a text with blanks (RFC 9068), or as some servers have it a list, or `scp`."""
    scope = claims.get("scope", claims.get("scp", ""))
    words: Iterable[Any] = scope.split() if isinstance(scope, str) else _items(scope)
    known = {one.value: one for one in Scope}
    return frozenset(known[word] for word in words if isinstance(word, str) and word in known)


def address_rule(networks: Iterable[str]) -> Callable[[str], bool]:
    """Make the rule of what may be asked: https, and http at an address in a network that the operator allowed."""
    allowed = tuple(ip_network(network) for network in networks)

    def may_ask(address: str) -> bool:
        parts = urlsplit(address)
        return parts.scheme == "https" or (parts.scheme == "http" and _is_in(parts.hostname or "", allowed))

    return may_ask


@asynccontextmanager
async def verifying_tokens(settings: Settings) -> AsyncGenerator[TokenVerifier, None]:
    """Verify the tokens of the issuer that the settings name, within the block."""
    # No proxy of the environment, no redirect: whom we ask is who was named.
    verify = await to_thread.run_sync(_ssl_context, settings.fetch_ca_file)
    async with httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=FETCH_S, verify=verify) as client:
        keys = IssuerKeys(settings.oauth_issuer, settings.oauth_jwks_url, client, address_rule(settings.allow_private))
        yield TokenVerifier(
            issuer=settings.oauth_issuer,
            audiences=audiences(settings),
            keys=keys,
            base_challenge=token_challenge(settings),
        )


def _issuer_unavailable() -> HttpStatusError:
    """Refuse a token that nobody can verify now: the keys of its issuer are not to be had."""
    unavailable = fault(
        Code.INTERNAL_UNAVAILABLE, "The authorization server does not answer, so no token can be checked."
    )
    return HttpStatusError(unavailable, 503)


def _ssl_context(ca_file: str) -> ssl.SSLContext:
    if not ca_file:
        return _public_authorities()
    context = httpx2.create_ssl_context(trust_env=False)
    context.load_verify_locations(ca_file)
    return context


@cache
def _public_authorities() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


def _items(claim: Any) -> list[Any]:
    return cast("list[Any]", claim) if isinstance(claim, list) else []  # type: ignore[redundant-cast] # pyright's


def _is_in(host: str, networks: tuple[IPv4Network | IPv6Network, ...]) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return any(address.version == network.version and address in network for network in networks)


class UnavailableError(Exception):
    """The keys are not to be had now."""


class _Metadata(Struct):
    issuer: str
    jwks_uri: str


class _KeySet(Struct):
    keys: list[dict[str, Any]]


@dataclass
class IssuerKeys:
    """The keys of `issuer` by their ids; they are where `address` says, or else its metadata.

    `may_ask` says of an address whether it may be asked at all.
    """

    issuer: str
    address: str
    client: httpx2.AsyncClient
    may_ask: Callable[[str], bool]
    clock: Callable[[], float] = time.monotonic
    _keys: dict[str, jwt.PyJWK] = field(default_factory=dict[str, jwt.PyJWK], init=False, repr=False)
    _fetched: float | None = field(default=None, init=False)
    _tried: float | None = field(default=None, init=False)
    _lock: anyio.Lock = field(default_factory=anyio.Lock, init=False, repr=False)

    async def key(self, name: str) -> jwt.PyJWK | None:
        """Return the key of an id, if the server has one.

        Raises:
            UnavailableError: the server does not tell, and nothing is known that is fresh enough.
        """
        if name not in self._keys or not self._is_fresh():
            async with self._lock:
                if (name not in self._keys or not self._is_fresh()) and self._may_try():
                    await self._look()
        if not self._is_fresh():
            raise UnavailableError
        return self._keys.get(name)

    def _is_fresh(self) -> bool:
        return self._fetched is not None and self.clock() - self._fetched < FRESH_S

    def _may_try(self) -> bool:
        return self._tried is None or self.clock() - self._tried >= COOL_DOWN_S

    async def _look(self) -> None:
        self._tried = self.clock()
        try:
            with anyio.fail_after(FETCH_S):
                address = self.address or await self._discovered()
                key_set = await self._read(address, _KeySet)
        except (httpx2.HTTPError, httpx2.InvalidURL, msgspec.DecodeError, TimeoutError, UnavailableError) as error:
            log.warning(KEYS_NOT_FETCHED, issuer=self.issuer, error=type(error).__name__)
            return
        self._keys, self._fetched = usable_keys(key_set.keys), self.clock()

    async def _discovered(self) -> str:
        """Ask the metadata (RFC 8414 §3.1, or OpenID Connect Discovery) where the keys are: on the issuer's host."""
        for address in discovery(self.issuer):
            try:
                metadata = await self._read(address, _Metadata)
            except (UnavailableError, msgspec.DecodeError):
                continue
            if metadata.issuer == self.issuer and _origin(metadata.jwks_uri) == _origin(self.issuer):
                return metadata.jwks_uri
        raise UnavailableError

    async def _read(self, address: str, kind: type[S]) -> S:
        if not self.may_ask(address):
            raise UnavailableError
        async with self.client.stream("GET", address) as answer:
            body = bytearray()
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise UnavailableError
        if answer.status_code != HTTPStatus.OK:
            raise UnavailableError
        return msgspec.json.decode(body, type=kind)


def discovery(issuer: str) -> tuple[str, ...]:
    """Name where the metadata of an issuer may be, by either standard."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    inserted = tuple(f"{origin}{known}{path}" for known in _WELL_KNOWN)
    return inserted if not path else (*inserted, f"{origin}{path}{_WELL_KNOWN[1]}")


def usable_keys(keys: list[dict[str, Any]]) -> dict[str, jwt.PyJWK]:
    """Take the public keys for signatures that we can read; what else there is, is none of ours."""
    usable: dict[str, jwt.PyJWK] = {}
    for one in keys[:MAX_KEYS]:
        name = one.get("kid", "")
        if not isinstance(name, str) or one.get("kty") not in ("RSA", "EC", "OKP") or one.get("use", "sig") != "sig":
            continue
        try:
            usable[name] = jwt.PyJWK(one)
        except jwt.PyJWTError:
            continue
    return usable


def _origin(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc
