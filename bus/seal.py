"""Encrypts what must never lie in the open: values of sealed buckets, before they reach the bus or a disk."""

from __future__ import annotations

import base64
import binascii
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
_NONCE_BYTES = 12


class UnsealError(Exception):
    """A value was sealed with another key, for another place, or was changed."""


class Seal:
    """AES-256-GCM under one key; a sealed value opens only in the place that it was sealed for."""

    def __init__(self, key: bytes) -> None:
        """Take the key of 32 bytes."""
        self._cipher = AESGCM(key)

    @classmethod
    def of(cls, text: str) -> Seal:
        """Read a key of 32 bytes in URL-safe base64.

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
        return cls(key)

    def seal(self, value: bytes, place: str) -> bytes:
        """Encrypt `value` for `place`."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, value, place.encode())

    def unseal(self, sealed: bytes, place: str) -> bytes:
        """Decrypt what was sealed for `place`.

        Raises:
            UnsealError: it was not sealed with this key for this place, or has been changed.
        """
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError) as error:
            raise UnsealError(place) from error


def new_key() -> str:
    """Make a random key, as `Seal.of` reads it."""
    return base64.urlsafe_b64encode(os.urandom(KEY_BYTES)).decode().rstrip("=")
