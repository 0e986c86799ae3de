"""Hides the secrets of packets that are shown to a person: by names that tell, and by their form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import cast

MASK = "***"

_WORDS = (
    "accesskey", "apikey", "authorization", "bearer", "claimkey", "cookie", "credential", "jwt", "nkey", "passphrase",
    "passwd", "password", "privatekey", "secret", "seed", "signature", "token",
)  # fmt: skip
_SECRET_NAME = re.compile("|".join(_WORDS))
_TYPES = re.compile(r"(?:.{0,64}[._])?(?:type|type_text|type_keys|set_value|fill)")
"""The operations and tools that put words into a page, on any surface."""

_TYPED = ("text", "value")
_SHORT_NAMES = frozenset({"auth", "pwd", "sid"})

# Repetitions are bounded: what passes on the bus was written by strangers.
_END_OF_NAME = r"[\\\"']{0,8}\s{0,8}[:=]\s{0,8}"
_USERINFO = re.compile(r"(\w://)[^\s/\"'<>]*@")
_SCHEME = re.compile(r"\b(bearer|basic|digest)(\s{1,8})[^\s\"',;]+", re.IGNORECASE)
_HEADER = re.compile(rf"((?:authorization|cookie){_END_OF_NAME}[\\\"']{{0,8}})[^\r\n\"\\]+", re.IGNORECASE)
_QUERY = re.compile(r"([?&;](?:auth|code|key|pass|pwd|session(?:_?id)?|sid|sig)=)[^&#\s\"'<>]+", re.IGNORECASE)
_KEY = re.compile(r"\b(weft_[a-z0-9]{12})_[0-9A-Za-z]+")
_SPELT = "|".join(word.replace("key", "[-_ ]?key") for word in _WORDS)
_PAIR = re.compile(
    rf"((?:{_SPELT})[\w.%-]{{0,64}}\]?(?:\[\w{{0,64}}\])?{_END_OF_NAME})"
    r"(\\*\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|[^\s\"'&,;#}<>]+)",
    re.IGNORECASE | re.DOTALL,
)


def is_secret(name: str) -> bool:
    """Return whether what goes by this name is to be hidden."""
    bare = re.sub(r"[^a-z0-9]", "", name.lower())
    return bare in _SHORT_NAMES or _SECRET_NAME.search(bare) is not None


def mask_packet(packet: object) -> object:
    """Hide the secrets of a packet, and what it types into a page: nobody can see whether that is one."""
    return mask(_without_typed(packet))


def mask(value: object) -> object:
    """Hide the secrets of a JSON value at every depth; None and empty texts stay, since they hide nothing."""
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, dict):
        return _mask_object(cast("dict[str, object]", value))
    return _mask_list(cast("list[object]", value)) if isinstance(value, list) else value


def mask_text(text: str) -> str:
    """Hide what has the form of a secret: keys of Weft, credentials in URLs, values of telling names, and headers."""
    plain = text.casefold().replace("\u0131", "i")
    for stems, form, hidden in _FORMS:
        if any(stem in plain for stem in stems):
            text = form.sub(hidden, text)
    return text


def mask_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Hide the secrets of a map of headers."""
    return {name: str(_hidden(value)) if is_secret(name) else mask_text(value) for name, value in headers.items()}


def _without_typed(value: object) -> object:
    """Hide the words of each operation and each call of a tool that types."""
    if isinstance(value, list):
        return [_without_typed(one) for one in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    given = cast("dict[str, object]", value)
    shown = {name: _without_typed(one) for name, one in given.items()}
    names = (given.get("type"), given.get("name"))
    if any(isinstance(name, str) and _TYPES.fullmatch(name) for name in names):
        for holder in (shown, shown.get("arguments")):
            if isinstance(holder, dict):
                typed = cast("dict[str, object]", holder)
                typed.update({name: _hidden(typed[name]) for name in _TYPED if isinstance(typed.get(name), str)})
    return shown


def _mask_object(value: dict[str, object]) -> dict[str, object]:
    masked = {
        mask_text(name): _hidden(inner) if is_secret(name) and not _is_count(name, inner) else mask(inner)
        for name, inner in value.items()
    }
    named = value.get("name", value.get("key"))
    if isinstance(named, str) and is_secret(named) and "value" in value:  # a header or cookie as a pair
        masked["value"] = _hidden(value["value"])
    return masked


def _is_count(name: str, value: object) -> bool:
    """Return whether this says how many there are, as of cookies or tokens, or whether there is one."""
    return isinstance(value, bool) or (isinstance(value, int | float) and name.lower().endswith("s"))


def _mask_list(items: list[object]) -> list[object]:
    match items:
        case [str(name), value] if is_secret(name):
            return [mask_text(name), _hidden(value)]
        case _:
            return [mask(item) for item in items]


def _hidden(value: object) -> object:
    return value if value is None or value == "" else MASK


def _hide_pair(match: re.Match[str]) -> str:
    quote = match[2][0] if match[2][0] in "\"'" else ""
    return f"{match[1]}{quote}{MASK}{quote}"


_FORMS: Sequence[tuple[Sequence[str], re.Pattern[str], str | Callable[[re.Match[str]], str]]] = (
    (("weft_",), _KEY, rf"\1_{MASK}"),
    (("://",), _USERINFO, rf"\1{MASK}@"),
    (("authorization", "cookie"), _HEADER, rf"\1{MASK}"),
    (("bearer", "basic", "digest"), _SCHEME, rf"\1\2{MASK}"),
    (("=",), _QUERY, rf"\1{MASK}"),
    ((*(word for word in _WORDS if "key" not in word), "key"), _PAIR, _hide_pair),
)
"""The forms of secrets, each with what hides it; a text with none of the stems of a form, in small letters, is not
searched for it: that takes a tenth of the time."""
