"""Undoes what words may be hidden by: percent signs, base64, hex, letters backwards or thirteen on."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote_plus

MAX_FORMS: Final = 24
_ENCODED: Final = (re.compile(r"[A-Za-z0-9+/_-]{8,4096}={0,2}"), re.compile(r"[A-Za-z0-9+]{8,4096}={0,2}"))
"""Base64: with the signs that also divide addresses, and without."""

_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2}[\s:%x\\-]{0,2}){4,2048}")


def decoded_forms(text: str) -> tuple[str, ...]:
    """Return a text, and what it is when it is decoded: percent signs, base64, hex."""
    forms = [text]
    for form in forms:
        if len(forms) >= MAX_FORMS:
            break
        plain = [unquote_plus(form), *from_base64(form), *_from_hex(form)]
        forms += [one for one in plain if one and one not in forms]
    return tuple(dict.fromkeys(forms))


def turned_forms(forms: Sequence[str]) -> tuple[str, ...]:
    """Return texts as they are backwards, and thirteen letters on."""
    turned = [*(form[::-1] for form in forms), *(codecs.encode(form, "rot13") for form in forms)]
    return tuple(one for one in turned if one not in forms)


def from_base64(text: str) -> list[str]:
    """Return the texts that stand in a text as base64."""
    runs = dict.fromkeys(match[0].rstrip("=") for pattern in _ENCODED for match in pattern.finditer(text))
    return [plain for run in runs if (plain := _printable(_unbase64(run)))]


def _unbase64(text: str) -> bytes:
    padded = text.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _from_hex(text: str) -> list[str]:
    plain = list[str]()
    for match in _HEX.finditer(text):
        digits = re.sub(r"[^0-9a-fA-F]", "", match[0])
        plain.append(_printable(bytes.fromhex(digits[: len(digits) // 2 * 2])))
    return [one for one in plain if one]


def _printable(data: bytes) -> str:
    """Return bytes as the text that they are; "" for what is none."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    return text if len(text) > 3 and all(one.isprintable() or one.isspace() for one in text) else ""  # noqa: PLR2004 - shorter texts say nothing
