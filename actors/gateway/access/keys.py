"""The form of a key: recognisable, 256 random bits, and a sum that tells a slip of the hand from a wrong key."""

from __future__ import annotations

import hashlib
import re
import secrets
import string
import zlib
from dataclasses import dataclass, field

PREFIX = "weft_"
"""What every key begins with, so that people and secret scanners know it for one."""

ID_CHARS = 12

_ID_LETTERS = string.ascii_lowercase + string.digits
_LETTERS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SECRET_BITS = 256
_SECRET_CHARS = 43
_SUM_CHARS = 6
_KEY = re.compile(rf"(weft_([a-z0-9]{{{ID_CHARS}}})_[0-9A-Za-z]{{{_SECRET_CHARS}}})([0-9A-Za-z]{{{_SUM_CHARS}}})")


@dataclass(frozen=True)
class MadeKey:
    """A key as it is shown once, and what is kept of it: its id and its digest."""

    id: str
    text: str = field(repr=False)
    digest: bytes = field(repr=False)


def make() -> MadeKey:
    """Make a key."""
    name = "".join(secrets.choice(_ID_LETTERS) for _ in range(ID_CHARS))
    body = f"{PREFIX}{name}_{_base62(secrets.randbits(_SECRET_BITS), _SECRET_CHARS)}"
    text = body + _sum(body)
    return MadeKey(name, text, digest(text))


def id_of(text: str) -> str | None:
    """Return the id that a key names, if it has the form of one and its sum is right."""
    found = _KEY.fullmatch(text)
    return found[2] if found and found[3] == _sum(found[1]) else None


def digest(text: str) -> bytes:
    """Return what is kept of a key.

    A plain hash is right for 256 random bits, which nobody guesses; a slow one is for what people think of, and would
    cost as much at every request.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def _sum(body: str) -> str:
    return _base62(zlib.crc32(body.encode("ascii")), _SUM_CHARS)


def _base62(number: int, chars: int) -> str:
    written: list[str] = []
    for _ in range(chars):
        number, digit = divmod(number, len(_LETTERS))
        written.append(_LETTERS[digit])
    return "".join(reversed(written))
