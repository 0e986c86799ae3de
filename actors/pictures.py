"""Reads pictures that a model may be shown: those that clients send as text, and those that are kept."""

from __future__ import annotations

import base64
import re
from typing import Final

from bus import Bus
from bus.recording import form_of, outside
from protocol.models import ImagePart, MediaType
from protocol.subject_kinds import Objects

_PICTURE: Final = form_of(ImagePart | None)

_DATA_URL: Final = re.compile(r"data:image/[a-z]+;base64,")
_SIGNATURES: Final[tuple[tuple[re.Pattern[bytes], MediaType], ...]] = (
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
)


def read_picture(text: str) -> ImagePart | None:
    """Return a picture in base64 (RFC 4648 §4), with or without its padding and the head of a data URL; None: none."""
    head = _DATA_URL.match(text)
    digits = text[head.end() if head else 0 :].rstrip("=")
    whole = digits[: len(digits) - (len(digits) % 4 == 1)]  # one digit alone is no byte
    try:
        return picture_of(base64.b64decode(whole + "=" * (-len(whole) % 4)))
    except ValueError:
        return None


def picture_of(data: bytes) -> ImagePart | None:
    """Return a JPEG, PNG or WebP by how it begins, whatever it is called; None: it is none of them."""
    for signature, media_type in _SIGNATURES:
        if signature.match(data):
            return ImagePart(media_type=media_type, data=data)
    return None


async def kept_picture(bus: Bus, store: Objects, name: str) -> ImagePart | None:
    """Return a picture of a store by its name; None: it is not there, or no longer."""

    async def read() -> ImagePart | None:
        try:
            return picture_of(await (await bus.objects(store)).get(name))
        except (KeyError, ValueError):
            return None

    return await outside("pictures.kept", name, read, _PICTURE)
