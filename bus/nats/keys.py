"""The nkeys by which participants show who they are; only public keys are ever written down."""

from __future__ import annotations

import secrets
from hashlib import sha256
from hmac import digest

import nkeys
from msgspec import Struct
from nkeys import PREFIX_BYTE_USER

ONLOOKER = "weft nats onlooker"
STDIO = "weft nats stdio"
STORE = "weft nats store"


class NKey(Struct, frozen=True):
    """A pair of keys; `seed` is the secret one and never shown."""

    seed: str
    public: str

    @property
    def store(self) -> NKey:
        """The key of the same participant where things are kept, which is another account and another connection."""
        return derived(self.seed, STORE)

    def __repr__(self) -> str:
        """Show the public key alone."""
        return f"NKey({self.public})"


def new() -> NKey:
    """Return a key for a participant that lives as long as this process."""
    return _from_bytes(secrets.token_bytes(32))


def of_seed(seed: str) -> NKey:
    """Return the key whose secret half was written down.

    Raises:
        ValueError: that is none.
    """
    try:
        public: bytes = nkeys.from_seed(bytearray(seed.encode())).public_key  # pyright: ignore[reportAssignmentType]  # as below
    except nkeys.NkeysError:
        msg = "no nkey"
        raise ValueError(msg) from None
    return NKey(seed, public.decode())


def derived(secret: str, purpose: str) -> NKey:
    """Return the key that everybody who knows `secret` can work out: HMAC-SHA256 of the purpose."""
    return _from_bytes(digest(secret.encode(), purpose.encode(), sha256))


def _from_bytes(raw: bytes) -> NKey:
    seed = nkeys.encode_seed(raw, PREFIX_BYTE_USER)
    public: bytes = nkeys.from_seed(bytearray(seed)).public_key  # pyright: ignore[reportAssignmentType]  # nkeys says VerifyKey
    return NKey(bytes(seed).decode(), public.decode())
