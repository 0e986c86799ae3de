"""Kinds of slots: what a piece of an address may be, told by the name of its slot (`{number}`, `{slug2}`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from actors.address_shapes import is_section, names_language

MAX_VALUE_CHARS: Final = 500
"""A longer piece is no value of a slot."""

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

UUID_CHARS: Final = 36

_NUMBER: Final = re.compile(r"[0-9]{1,20}")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_UUID: Final = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_HEX: Final = re.compile(r"[0-9A-Fa-f]{8,128}")
_LETTER: Final = re.compile(r"[A-Fa-f]")
_DIGIT: Final = re.compile(r"[0-9]")
_NO_TEXT: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_ORDINAL: Final = re.compile(r"[0-9]+$")
_RESERVED: Final = frozenset(
    {"login", "logout", "signin", "signout", "signup", "register", "account", "settings", "admin", "cart", "basket"}
    | {"checkout", "search", "new", "edit", "create", "delete", "index", "api", "static", "assets"}
)
"""Sections that sites keep beside the names of their pages; no slot of a path stands for one."""


def is_number(value: str) -> bool:
    """Return whether a value is a number or a counter, perhaps with zeros before it."""
    return _NUMBER.fullmatch(value) is not None


def _is_date(value: str) -> bool:
    return _DATE.fullmatch(value) is not None


def _is_uuid(value: str) -> bool:
    return _UUID.fullmatch(value) is not None


def _is_hex(value: str) -> bool:
    return _HEX.fullmatch(value) is not None and bool(_LETTER.search(value)) and bool(_DIGIT.search(value))


def _is_slug(value: str) -> bool:
    return _is_name(value) and not is_section(value) and any(map(str.isalnum, value))


def _is_name(value: str) -> bool:
    return is_value(value) and value.lower() not in _RESERVED


def is_value(value: str) -> bool:
    """Return whether a text may be the value of any slot: not empty, not long, without controls and half characters."""
    return 0 < len(value) <= MAX_VALUE_CHARS and _NO_TEXT.search(value) is None


KINDS: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        "number": is_number,
        "date": _is_date,
        "uuid": _is_uuid,
        "hex": _is_hex,
        "locale": names_language,
        "slug": _is_slug,
        "name": _is_name,
        "text": is_value,
    }
)
"""Kinds, the narrowest first. `slug` is a name that is no plain word; `text` is the value of a query."""

_TYPED: Final = ("number", "date", "uuid", "hex", "locale")
_CLOSED: Final = frozenset({"number", "uuid", "hex"})


@lru_cache(maxsize=1024)
def kind_of(slot: str) -> str:
    """Return the kind that the name of a slot tells; `text` for a name of somebody's own."""
    kind = _ORDINAL.sub("", slot)
    return kind if kind in KINDS else "text"


def fits(slot: str, value: str) -> bool:
    """Return whether a value is one of a slot's kind."""
    return KINDS[kind_of(slot)](value)


def is_closed(slot: str) -> bool:
    """Return whether values of a slot hold nothing but digits, letters and hyphens."""
    return kind_of(slot) in _CLOSED


def typed(values: Sequence[str]) -> str:
    """Return the kind that all values look like by themselves; "" where they are words."""
    return next((kind for kind in _TYPED if all(map(KINDS[kind], values))), "")


def kind_in_path(values: Sequence[str]) -> str:
    """Return the narrowest kind of the values of a segment; "" where one is no value at all."""
    kinds = (*_TYPED, "slug", "name")
    return next((kind for kind in kinds if all(map(KINDS[kind], values))), "")
