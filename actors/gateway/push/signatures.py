"""The signatures of Pusher: that a socket may hear a channel, and that a request comes from who has the secret.

Nothing here reads a clock; every comparison takes the same time for whatever is compared.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

WINDOW_S: Final = 600
"""How far the time of a signed request may be from ours."""

VERSION: Final = "1.0"
_MAX_DIGITS: Final = 12


class SignatureError(Exception):
    """A request that is not signed as it has to be: the words are for whoever sent it."""


@dataclass(frozen=True)
class PushApp:
    """The credentials of an app: its id is a number, since clients check that. The secret never leaves."""

    id: str
    key: str
    secret: str = field(repr=False)

    def channel_auth(self, socket_id: str, channel: str) -> str:
        """Return what lets a socket subscribe to a private channel."""
        return f"{self.key}:{self._sign(f'{socket_id}:{channel}')}"

    def allows(self, socket_id: str, channel: str, auth: str) -> bool:
        """Return whether this is what lets a socket subscribe to a private channel."""
        return _same(self.channel_auth(socket_id, channel), auth)

    def signed(
        self, method: str, path: str, body: bytes, now_s: int, query: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return the query of a request, signed."""
        params = {
            **(query or {}),
            "auth_key": self.key,
            "auth_timestamp": str(now_s),
            "auth_version": VERSION,
            "body_md5": _md5(body),
        }
        return {**params, "auth_signature": self._sign(_statement(method, path, params.items()))}

    def check(self, method: str, path: str, query: Iterable[tuple[str, str]], body: bytes, now_s: float) -> None:
        """Hold a request to its signature, which comes first: nobody else learns what is wrong with the rest.

        Raises:
            SignatureError: it is not signed so, too old, or has another body.
        """
        pairs = tuple(query)
        given = dict(pairs)
        if len(given) < len(pairs):
            msg = "A parameter stands in the query more than once"
            raise SignatureError(msg)
        signature = given.pop("auth_signature", "")
        expected = self._sign(_statement(method, path, given.items()))
        if not _same(expected, signature) or not _same(self.key, given.get("auth_key", "")):
            msg = "Invalid signature: the key, the secret or the query is another"
            raise SignatureError(msg)
        if given.get("auth_version") != VERSION:
            msg = f"auth_version has to be {VERSION}"
            raise SignatureError(msg)
        stamp = given.get("auth_timestamp", "")
        if not (stamp.isascii() and stamp.isdecimal() and len(stamp) <= _MAX_DIGITS) or abs(now_s - int(stamp)) > (
            WINDOW_S
        ):
            msg = f"auth_timestamp has to be within {WINDOW_S} s of the time here"
            raise SignatureError(msg)
        if (body or "body_md5" in given) and not _same(_md5(body), given.get("body_md5", "")):
            msg = "body_md5 is that of another body"
            raise SignatureError(msg)

    def _sign(self, text: str) -> str:
        return hmac.digest(self.secret.encode(), text.encode("utf-8", "surrogatepass"), "sha256").hex()


def _statement(method: str, path: str, params: Iterable[tuple[str, str]]) -> str:
    ordered = sorted((name.lower(), value) for name, value in params)
    return "\n".join((method, path, "&".join(f"{name}={value}" for name, value in ordered)))


def _md5(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()  # the protocol's; the signature covers it


def _same(expected: str, given: str) -> bool:
    return hmac.compare_digest(expected.encode(), given.encode("utf-8", "surrogatepass"))
