"""Encrypts what must never lie in the open: values of sealed buckets, before they reach the bus or a disk."""

from __future__ import annotations

import base64
import binascii
import hmac
import os
from collections.abc import Iterable, Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32
_LABEL = "weft 1"
_NONCE_BYTES = 12
_FINGERPRINT_BYTES = 8


class UnsealError(Exception):
    """A value was sealed with another key, for another place, or was changed."""


class Seal:
    """AES-256-GCM under one key per purpose; a sealed value opens only in the place that it was sealed for.

    A place is words; the first of them is the purpose. Whoever has the root derives the key of any purpose; whoever was
    given keys has those alone.
    """

    def __init__(self, keys: Mapping[str, bytes], root: bytes | None = None) -> None:
        """Take the keys of some purposes, each of 32 bytes, or the root of all."""
        self._keys = dict(keys)
        self._ciphers = {purpose: AESGCM(key) for purpose, key in keys.items()}
        self._root = root

    @classmethod
    def of(cls, text: str) -> Seal:
        """Read a root of 32 bytes in URL-safe base64.

        Raises:
            ValueError: it is none.
        """
        try:
            key = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (binascii.Error, ValueError) as error:
            msg = "not URL-safe base64"
            raise ValueError(msg) from error
        if len(key) != KEY_BYTES:
            msg = f"{len(key)} bytes instead of {KEY_BYTES}"
            raise ValueError(msg)
        return cls({}, key)

    def derived(self, purposes: Iterable[str]) -> dict[str, bytes]:
        """Derive the keys of some purposes (HKDF-SHA256), for a process that is to have no more.

        Raises:
            ValueError: this is no root.
        """
        return {purpose: self._derive(purpose) for purpose in purposes}

    @property
    def fingerprint(self) -> str:
        """By what a root is known to those who have the same; it says nothing of the root.

        Raises:
            ValueError: this is no root.
        """
        return self.digest(b"", "fingerprint")[:_FINGERPRINT_BYTES].hex()

    def holds(self, purpose: str) -> bool:
        """Return whether there is a key for a purpose."""
        return self._root is not None or purpose in self._ciphers

    def seal(self, value: bytes, place: str) -> bytes:
        """Encrypt `value` for `place`.

        Raises:
            ValueError: there is no key for that purpose.
        """
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher(place).encrypt(nonce, value, place.encode())

    def unseal(self, sealed: bytes, place: str) -> bytes:
        """Decrypt what was sealed for `place`.

        Raises:
            UnsealError: it was not sealed with this key for this place, or has been changed.
        """
        try:
            return self._cipher(place).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError) as error:
            raise UnsealError(place) from error

    def digest(self, value: bytes, place: str) -> bytes:
        """Return 32 bytes that are the same for the same value and place, and that nobody without the key can compute.

        Raises:
            ValueError: there is no key for that purpose.
        """
        purpose = place.partition(" ")[0]
        key = self._keys[purpose] if purpose in self._keys else self._derive(purpose)
        own = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=f"{_LABEL} digest".encode()).derive(key)
        return hmac.digest(own, place.encode() + b"\0" + value, "sha256")

    def unseal_undivided(self, sealed: bytes, place: str) -> bytes:
        """Decrypt what was sealed by the root itself, as Weft did before each purpose had a key.

        Raises:
            UnsealError: it was not, or this is no root.
        """
        if self._root is None:
            raise UnsealError(place)
        try:
            return AESGCM(self._root).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError) as error:
            raise UnsealError(place) from error

    def _cipher(self, place: str) -> AESGCM:
        purpose = place.partition(" ")[0]
        if purpose not in self._ciphers:
            self._ciphers[purpose] = AESGCM(self._derive(purpose))
        return self._ciphers[purpose]

    def _derive(self, purpose: str) -> bytes:
        if self._root is None:
            msg = f"no key for {purpose}"
            raise ValueError(msg)
        label = f"{_LABEL} {purpose}".encode()
        return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=label).derive(self._root)


class KeyPair:
    """A key pair for one answer: what is sealed for its `public` half opens here, and nowhere else (X25519)."""

    def __init__(self) -> None:
        """Make the pair."""
        self._private = X25519PrivateKey.generate()
        self.public = self._private.public_key().public_bytes_raw()

    def unseal(self, sealed: bytes, place: str) -> bytes:
        """Decrypt what `seal_for` has sealed for this pair and place.

        Raises:
            UnsealError: it was not, or has been changed.
        """
        try:
            shared = self._private.exchange(X25519PublicKey.from_public_bytes(sealed[:KEY_BYTES]))
        except ValueError as error:
            raise UnsealError(place) from error
        return _between(shared, sealed[:KEY_BYTES], self.public, place).unseal(sealed[KEY_BYTES:], place)


def seal_for(public: bytes, value: bytes, place: str) -> bytes:
    """Encrypt `value` for the key pair with this `public` half, and for `place`.

    Raises:
        ValueError: it is no such half.
    """
    private = X25519PrivateKey.generate()
    own = private.public_key().public_bytes_raw()
    shared = private.exchange(X25519PublicKey.from_public_bytes(public))
    return own + _between(shared, own, public, place).seal(value, place)


def _between(shared: bytes, sender: bytes, receiver: bytes, place: str) -> Seal:
    """Return what seals between two key pairs; both halves are bound to it."""
    label = _LABEL.encode() + sender + receiver
    key = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=label).derive(shared)
    return Seal({place.partition(" ")[0]: key})


def new_key() -> str:
    """Make a random key, as `Seal.of` reads it."""
    return base64.urlsafe_b64encode(os.urandom(KEY_BYTES)).decode().rstrip("=")
