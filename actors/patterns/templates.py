"""Templates of addresses and bodies: how they are read, matched with addresses, and filled.

`{name}` stands for a value, `{name=value}` for one that is known only with this value, `{0:data.id}` for what the
answer of an earlier request has there, `{name*6-6}` for a number that follows from another: the items before a page of
six; `{{` and `}}` are braces. Whatever fills a slot stays within its segment, the value of its parameter or its text in
JSON: it never changes the host, the path or what is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast
from urllib.parse import quote, unquote

from msgspec import Struct

from actors.patterns.slots import MAX_VALUE_CHARS, NAME, fits, is_value

MAX_TEMPLATE_CHARS: Final = 16_000
WEB: Final = ("https://", "http://")

_TOKEN: Final = re.compile(r"\{\{|\}\}|\{([^{}]{1,600})\}|[{}]")
_KEY: Final = r"[\w$@~-]{1,80}"
_ANSWERED: Final = re.compile(rf"([0-9]):({_KEY}(?:\.{_KEY}){{0,15}})")
_COUNTED: Final = re.compile(r"(\w+?)(?:\*([1-9][0-9]{0,5}))?([+-][1-9][0-9]{0,5})?")
_COUNTER: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_MOST: Final = 10**12
_ADDRESS: Final = re.compile(r"(https?://[^/?#{}\\\s@]+)((?:/[^?#]*)?)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_UNESCAPED: Final = "!~*'()"
"""What `encodeURIComponent` leaves as it is, beside letters, digits, `-`, `_` and `.`."""

_STEPS_UP: Final = re.compile(r"(?:^|[/\\])\.{1,2}(?=$|[/\\])")
_MAX_SHOWN: Final = 80
_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_JSON_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+("?)', re.DOTALL)


class FillError(ValueError):
    """A slot cannot be filled: it has no value, or one that is none of its kind; `where` is the slot."""

    def __init__(self, where: str) -> None:
        super().__init__(f"no value fits the slot {where}")
        self.where = where


class AddressSlot(Struct, frozen=True):
    """A value of a page's address; with `fixed`, none but this has been seen.

    What a request has for a number may be that many `times`, and `plus` so many.
    """

    name: str
    fixed: str = ""
    times: int = 1
    plus: int = 0

    @property
    def is_plain(self) -> bool:
        """Return whether it stands for the value itself."""
        return (self.times, self.plus) == (1, 0)

    def counted(self, value: str) -> str | None:
        """Return what stands for a value: itself, or the number that follows from it; None where none does."""
        if self.is_plain:
            return value
        if not _COUNTER.fullmatch(value):
            return None
        number = int(value) * self.times + self.plus
        return str(number) if 0 <= number < _MOST else None


class AnswerSlot(Struct, frozen=True):
    """A value of the answer of an earlier request: its number, and the keys that lead to it."""

    number: int
    way: tuple[str, ...]


Piece = str | AddressSlot | AnswerSlot


def pieces_of(template: str) -> tuple[Piece, ...]:
    """Take a template apart.

    Raises:
        ValueError: a brace that is none of a slot, or a slot without a proper name.
    """
    if len(template) > MAX_TEMPLATE_CHARS:
        raise ValueError("a template is too long")
    pieces: list[Piece] = []
    text, end = "", 0
    for token in _TOKEN.finditer(template):
        text += template[end : token.start()]
        end = token.end()
        if token[0] in ("{{", "}}"):
            text += token[0][0]
            continue
        pieces += [text, _slot(token[1])] if text else [_slot(token[1])]
        text = ""
    text += template[end:]
    return (*pieces, text) if text else tuple(pieces)


def formatted(pieces: Sequence[Piece]) -> str:
    """Return the template of pieces, as `pieces_of` reads it."""
    return "".join(map(_formatted, pieces))


def way_of(keys: Sequence[str]) -> tuple[str, ...] | None:
    """Return keys as the way of a slot; None where they cannot be written as one."""
    return tuple(keys) if _ANSWERED.fullmatch(f"0:{'.'.join(keys)}") and all(map(_is_key, keys)) else None


@lru_cache(maxsize=2048)
def address_parts(template: str) -> tuple[str, str, str | None, str]:
    """Return origin, path, query (None: has none) and fragment of the template of an address.

    Raises:
        ValueError: it is none, or has a slot in its host or in the name of a parameter.
    """
    match = _ADDRESS.fullmatch(template)
    if match is None:
        raise ValueError("no template of an address")
    for pair in (match[3] or "").split("&"):
        if not all(isinstance(piece, str) for piece in pieces_of(pair.partition("=")[0])):
            raise ValueError("a slot in the name of a parameter")
    return match[1], match[2], match[3], match[4] or ""


def fill(template: str, slots: Mapping[str, str], answers: Sequence[Any] = ()) -> str:
    """Return the address or the body that a template gives with the values of a page and the answers before it.

    Raises:
        FillError: a slot has no value, or one that is none of its kind, or one that leads up in the path.
        ValueError: it is no template.
    """
    values = _Values(slots, answers)
    if not template.startswith(WEB):
        return values.json(template) if is_json_template(template) else values.query(template)
    origin, path, query, fragment = address_parts(template)
    filled = origin + values.path(path)
    if query is not None:
        filled += f"?{values.query(query)}"
    return f"{filled}#{values.path(fragment)}" if fragment else filled


def is_json_template(template: str) -> bool:
    """Return whether the template of a body is one of JSON, rather than of the fields of a form."""
    return template.lstrip().startswith(("{{", "["))


class _Values(Struct, frozen=True):
    slots: Mapping[str, str]
    answers: Sequence[Any]

    def path(self, template: str) -> str:
        return "/".join(map(self._segment, template.split("/")))

    def query(self, template: str) -> str:
        return "&".join(map(self._parameter, template.split("&")))

    def json(self, template: str) -> str:
        filled, in_string = "", False
        for piece in pieces_of(template):
            if isinstance(piece, str):
                filled += piece
                in_string = _ends_in_string(piece, inside=in_string)
            else:
                filled += _in_json(piece, self._value(piece), in_string=in_string)
        return filled

    def _segment(self, template: str) -> str:
        if "{" not in template and "}" not in template:
            return template
        pieces = pieces_of(template)
        text = "".join(piece if isinstance(piece, str) else self._encoded(piece) for piece in pieces)
        filled = any(not isinstance(piece, str) for piece in pieces)
        if filled and _STEPS_UP.search(unquote(unquote(text))):  # twice: so do some servers
            raise FillError(template[:_MAX_SHOWN])
        return text

    def _parameter(self, template: str) -> str:
        name, equals, value = template.partition("=")
        if "{" not in template and "}" not in template:
            return template
        if any(not isinstance(piece, str) for piece in pieces_of(name)):
            raise ValueError("a slot in the name of a parameter")
        if _is_json_value(value):
            return f"{name}={quote(self.json(_decoded(value)), safe=_UNESCAPED)}"
        return (
            f"{name}{equals}{''.join(one if isinstance(one, str) else self._encoded(one) for one in pieces_of(value))}"
        )

    def _encoded(self, slot: AddressSlot | AnswerSlot) -> str:
        return quote(self._value(slot), safe=_UNESCAPED)

    def _value(self, slot: AddressSlot | AnswerSlot) -> str:
        if isinstance(slot, AddressSlot):
            value = self.slots.get(slot.name)
            counted = slot.counted(value) if value is not None and fits(slot.name, value) else None
            if counted is None:
                raise FillError(slot.name)
            return counted
        value = answered(self.answers, slot)
        if value is None:
            raise FillError(_formatted(slot))
        return value


def answered(answers: Sequence[Any], slot: AnswerSlot) -> str | None:
    """Return the text or the number that answers have for a slot; None where there is none."""
    if slot.number >= len(answers):
        return None
    value = answers[slot.number]
    for key in slot.way:
        if isinstance(value, dict):
            value = cast("dict[str, Any]", value).get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(cast("list[object]", value)):
            value = cast("list[object]", value)[int(key)]
        else:
            return None
    return scalar(value)


def scalar(value: object) -> str | None:
    """Return a value of JSON as the text that an address can hold; None for what is no text and no whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        text = str(value) if abs(value) < 10**18 else ""
    else:
        text = value if isinstance(value, str) else ""
    return text if is_value(text) else None


def _in_json(slot: AddressSlot | AnswerSlot, value: str, *, in_string: bool) -> str:
    if in_string:
        return json.dumps(value)[1:-1]
    if not _JSON_NUMBER.fullmatch(value):
        raise FillError(_formatted(slot))
    return value


def _ends_in_string(text: str, *, inside: bool) -> bool:
    position = 0
    if inside:
        text = f'"{text}'
    while (start := text.find('"', position)) >= 0:
        match = _JSON_STRING.match(text, start)
        if match is None or not match[1]:
            return True
        position = match.end()
    return False


def _is_json_value(value: str) -> bool:
    return value.startswith(("[", "%5B", "%5b", "%7B", "%7b", "{{"))


def _decoded(value: str) -> str:
    """Return the template of JSON that stands percent-encoded in a parameter: what it encodes is no slot."""
    return formatted([unquote(one.replace("+", " ")) if isinstance(one, str) else one for one in pieces_of(value)])


def _slot(text: str | None) -> AddressSlot | AnswerSlot:
    if text is None:
        raise ValueError("a brace that is none of a slot")
    if match := _ANSWERED.fullmatch(text):
        return AnswerSlot(int(match[1]), tuple(match[2].split(".")))
    name, _, fixed = text.partition("=")
    counted = None if fixed else _COUNTED.fullmatch(name)
    if counted and NAME.fullmatch(counted[1]):
        return AddressSlot(counted[1], "", int(counted[2] or 1), int(counted[3] or 0))
    if not NAME.fullmatch(name):
        raise ValueError("a slot without a proper name")
    return AddressSlot(name, unquote(fixed)[:MAX_VALUE_CHARS])


def _formatted(piece: Piece) -> str:
    match piece:
        case str():
            return piece.replace("{", "{{").replace("}", "}}")
        case AddressSlot(name, fixed, times, plus):
            counted = f"{f'*{times}' if times != 1 else ''}{f'{plus:+d}' if plus else ''}"
            return f"{{{name}={quote(fixed, safe='')}}}" if fixed else f"{{{name}{counted}}}"
        case AnswerSlot(number, way):
            return f"{{{number}:{'.'.join(way)}}}"


def _is_key(key: str) -> bool:
    return re.fullmatch(_KEY, key) is not None
