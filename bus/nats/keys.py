"""The nkeys by which participants show who they are; only public keys are ever written down."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256
from hmac import digest

import nkeys
from nkeys import PREFIX_BYTE_USER

ONLOOKER = "weft nats onlooker"
STDIO = "weft nats stdio"


@dataclass(frozen=True)
class NKey:
    """A pair of keys; `seed` is the secret one and never shown."""

    seed: str
    public: str

    def __repr__(self) -> str:
        """Show the public key alone."""
        return f"NKey({self.public})"


def new() -> NKey:
    """Return a key for a participant that lives as long as this process."""
    return _from_bytes(secrets.token_bytes(32))


def derived(secret: str, purpose: str) -> NKey:
    """Return the key that everybody who knows `secret` can work out: HMAC-SHA256 of the purpose."""
    return _from_bytes(digest(secret.encode(), purpose.encode(), sha256))


def _from_bytes(raw: bytes) -> NKey:
    seed = nkeys.encode_seed(raw, PREFIX_BYTE_USER)
    public: bytes = nkeys.from_seed(bytearray(seed)).public_key  # pyright: ignore[reportAssignmentType]  # nkeys says VerifyKey
    return NKey(bytes(seed).decode(), public.decode())
