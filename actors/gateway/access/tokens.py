"""Judges the access tokens of an authorization server (OAuth 2.1 resource server): JWTs, by their issuer's keys."""

from __future__ import annotations

import hashlib
import ssl
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
import jwt
from anyio import to_thread

from actors.gateway.access import refusals, resource
from actors.gateway.access.caller import Caller, Scope
from actors.gateway.access.jwks import FETCH_S, IssuerKeys, UnavailableError
from actors.settings import Settings

ALGORITHMS = ("RS256", "ES256", "EdDSA")
"""What a token may be signed by: never `none`, and nothing that a public key could be taken for the secret of."""

LEEWAY_S = 30
"""How far the clocks of the server and ours may be apart."""

BELIEVED_S = 60.0
"""How long a token that was good is not checked again, though never past its end."""

MAX_BELIEVED = 10_000

_TYPES = frozenset({"", "jwt", "at+jwt", "application/at+jwt"})
_REQUIRED = ["exp", "iss", "aud", "sub"]


@dataclass
class Judge:
    """Tells whose token it is; nobody but the issuer's own keys vouches for one."""

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
        """Tell whose token this is, if it is one that is good now.

        Raises:
            RefusedError: the keys of the issuer are not to be had, so nobody can tell.
        """
        mark, now = hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest(), self.clock()
        if (known := self._believed.get(mark)) is not None and now < known[1]:
            return known[0]
        self._believed.pop(mark, None)
        try:
            claims = await self._claims(text)
        except UnavailableError:
            raise refusals.issuer_away() from None
        except (jwt.PyJWTError, ValueError):
            return None
        who = self._caller(claims)
        if who is not None:
            self._believe(mark, who, min(now + BELIEVED_S, float(claims["exp"]) + LEEWAY_S))
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
        return Caller(f"oauth-{name}", scopes_of(claims), challenge=self.base_challenge)

    def _believe(self, mark: bytes, who: Caller, until: float) -> None:
        self._believed[mark] = (who, until)
        if len(self._believed) > MAX_BELIEVED:
            self._believed.popitem(last=False)


def scopes_of(claims: dict[str, Any]) -> frozenset[Scope]:
    """Read the scopes of a token: a text with blanks (RFC 9068), or as some servers have it a list, or `scp`."""
    told = claims.get("scope", claims.get("scp", ""))
    words: Iterable[Any] = told.split() if isinstance(told, str) else _items(told)
    known = {scope.value: scope for scope in Scope}
    return frozenset(known[word] for word in words if isinstance(word, str) and word in known)


def address_rule(networks: Iterable[str]) -> Callable[[str], bool]:
    """Make the rule of what may be asked: https, and http at an address in a network that the operator allowed."""
    allowed = tuple(ip_network(network) for network in networks)

    def may_ask(address: str) -> bool:
        parts = urlsplit(address)
        return parts.scheme == "https" or (parts.scheme == "http" and _is_in(parts.hostname or "", allowed))

    return may_ask


@asynccontextmanager
async def judging(settings: Settings) -> AsyncGenerator[Judge, None]:
    """Judge the tokens of the issuer that the settings name, within the block."""
    # No proxy of the environment, no redirect: whom we ask is who was named.
    verify = await to_thread.run_sync(_trusted, settings.fetch_ca_file)
    async with httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=FETCH_S, verify=verify) as client:
        keys = IssuerKeys(settings.oauth_issuer, settings.oauth_jwks_url, client, address_rule(settings.allow_private))
        yield Judge(
            issuer=settings.oauth_issuer,
            audiences=resource.audiences(settings),
            keys=keys,
            base_challenge=resource.challenge(settings),
        )


def _trusted(ca_file: str) -> ssl.SSLContext:
    context = httpx2.create_ssl_context(trust_env=False)
    if ca_file:
        context.load_verify_locations(ca_file)
    return context


def _items(told: Any) -> list[Any]:
    return cast("list[Any]", told) if isinstance(told, list) else []  # type: ignore[redundant-cast] # pyright's


def _is_in(host: str, networks: tuple[IPv4Network | IPv6Network, ...]) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return any(address.version == network.version and address in network for network in networks)
