"""The public keys of an authorization server: found by its metadata, kept, and looked at again when one is unknown."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import urlsplit

import anyio
import httpx2
import jwt
import msgspec
import structlog
from msgspec import Struct

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


S = TypeVar("S", bound=Struct)


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
                found = await self._read(address, _KeySet)
        except (httpx2.HTTPError, httpx2.InvalidURL, msgspec.DecodeError, TimeoutError, UnavailableError) as error:
            log.warning(KEYS_NOT_FETCHED, issuer=self.issuer, error=type(error).__name__)
            return
        self._keys, self._fetched = usable(found.keys), self.clock()

    async def _discovered(self) -> str:
        """Ask the metadata (RFC 8414 §3.1, or OpenID Connect Discovery) where the keys are: on the issuer's host."""
        for address in discovery(self.issuer):
            try:
                told = await self._read(address, _Metadata)
            except (UnavailableError, msgspec.DecodeError):
                continue
            if told.issuer == self.issuer and _origin(told.jwks_uri) == _origin(self.issuer):
                return told.jwks_uri
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


def usable(told: list[dict[str, Any]]) -> dict[str, jwt.PyJWK]:
    """Take the public keys for signatures that we can read; what else there is, is none of ours."""
    found: dict[str, jwt.PyJWK] = {}
    for one in told[:MAX_KEYS]:
        name = one.get("kid", "")
        if not isinstance(name, str) or one.get("kty") not in ("RSA", "EC", "OKP") or one.get("use", "sig") != "sig":
            continue
        try:
            found[name] = jwt.PyJWK(one)
        except jwt.PyJWTError:
            continue
    return found


def _origin(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc
