"""What comes in with an HTTP request, read strictly: its body, its query and the names in its path."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec
from anyio import to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive

from actors.gateway.http import JSON, HttpStatusError, invalid
from protocol.codec import MAX_QUOTED_CHARS, Decoder, MalformedError
from protocol.faults import Code, fault

T = TypeVar("T")

MAX_BODY_BYTES = 4 * 1024 * 1024
"""The largest body that is read; the MCP SDK has the same limit."""

MAX_FORM_BYTES = 8_192
FORM = "application/x-www-form-urlencoded"
MAX_QUERY_FIELDS = 32
IDEMPOTENCY_KEY = "Idempotency-Key"
MAX_KEY_CHARS = 200
_KEY = re.compile(f"[!-~]{{1,{MAX_KEY_CHARS}}}")
_FLOAT = "got `float`"
_BEYOND = "Number out of range"
_anything = Decoder[Any](Any, Code.VALIDATION_INVALID_REQUEST)
_READ_APART_BYTES = 65_536
"""A body that is larger is looked through in a thread."""


async def read_json(request: Request, *, optional: bool = False) -> bytes:
    """Read a JSON body; one that is `optional` and left out is an empty object.

    Raises:
        HttpStatusError: 413 or 415, for a body that is too large or of another type.
    """
    fits = request.headers.get("content-type", "").partition(";")[0].strip().lower() == JSON
    body = await _read(request) if fits or optional else b""
    if optional and not body:
        return b"{}"
    if not fits:
        raise invalid(f"The body has to be {JSON}", 415)
    return body


async def read_file(request: Request, max_bytes: int) -> bytes:
    """Read a body of whatever type.

    Raises:
        HttpStatusError: 413, it has more bytes than that.
    """
    return await _read(request, max_bytes)


async def read_form(request: Request, known: tuple[str, ...]) -> dict[str, str]:
    """Read the known fields of an HTML form, each of which stands there once; others are passed over.

    Raises:
        HttpStatusError: 413 or 415, for a body that is too large or of another type.
        MalformedError: it cannot be read.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise invalid(f"The body has to be {FORM}", 415)
    body = await _read(request, MAX_FORM_BYTES)
    fields: dict[str, str] = {}
    for name, value in _pairs(body, "The body", MAX_FORM_BYTES):
        if name in fields:
            raise _at(name, "stands in the body more than once")
        if name in known:
            fields[name] = value
    return fields


def decoded(decoder: Decoder[T], body: bytes) -> T:
    """Decode a body; to JSON Schema, 1.0 is an integer.

    Raises:
        MalformedError: it is something else.
    """
    try:
        return decoder.decode(body)
    except MalformedError as error:
        if _BEYOND in error.fault.message:
            raise _too_large_number(error, body) from None
        if _FLOAT not in error.fault.message:
            raise
        return _decoded_whole(decoder, body)


def anything(body: bytes) -> Any:
    """Read a body as whatever JSON it is; that of a request which was refused may be none after the mistake.

    Raises:
        MalformedError: it is not JSON, or has a number that no reader has room for.
    """
    try:
        return _anything.decode(body)
    except MalformedError as error:
        raise (_too_large_number(error, body) if _BEYOND in error.fault.message else error) from None


async def check_keys(body: bytes) -> None:
    """Refuse JSON, which was read already, with what readers disagree on: a key that stands twice, an endless number.

    Raises:
        MalformedError: where that stands.
    """
    if len(body) > _READ_APART_BYTES:
        await to_thread.run_sync(_look_through, body)
    else:
        _look_through(body)


def idempotency_key(headers: Mapping[str, str]) -> str:
    """Return the Idempotency-Key of a request, '' where it has none.

    Raises:
        MalformedError: it is longer than any key need be, or has other letters.
    """
    key = headers.get(IDEMPOTENCY_KEY, "")
    if IDEMPOTENCY_KEY in headers and not _KEY.fullmatch(key):
        raise _at(IDEMPOTENCY_KEY, f"takes {MAX_KEY_CHARS} letters of ASCII at most")
    return key


async def drain(receive: Receive) -> None:
    """Pass over whatever body there is: whoever holds the request hears the client leave from then on."""
    while (await receive()).get("more_body", False):
        pass


def query(raw: bytes, known: tuple[str, ...]) -> dict[str, str]:
    """Read a query strictly: only what is known, and nothing twice.

    Raises:
        MalformedError: whatever else stands there.
    """
    if not raw:
        return {}
    pairs = _pairs(raw, "The query", MAX_QUERY_FIELDS)
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name not in known:
            taken = f"; there are {', '.join(known)}" if known else ""
            raise _at(name, f"no such query parameter{taken}")
        if name in fields:
            raise _at(name, "stands in the query more than once")
        fields[name] = value
    return fields


def named(path_params: Mapping[str, Any], raw_path: bytes) -> dict[str, str]:
    """Return what the path names, which has to be UTF-8: a server reads anything else as replacement characters.

    Raises:
        MalformedError: it is something else.
    """
    if path_params:
        try:
            unquote_to_bytes(raw_path).decode()
        except UnicodeDecodeError:
            raise MalformedError(fault(Code.VALIDATION_INVALID_REQUEST, "The path is not UTF-8")) from None
    return {name: str(value) for name, value in path_params.items()}


def _pairs(raw: bytes, what: str, most: int) -> list[tuple[str, str]]:
    try:
        return parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=most)
    except UnicodeError:
        raise MalformedError(fault(Code.VALIDATION_INVALID_REQUEST, f"{what} is not UTF-8")) from None
    except ValueError:
        raise MalformedError(fault(Code.VALIDATION_INVALID_REQUEST, f"{what} has too many fields")) from None


def _decoded_whole(decoder: Decoder[T], body: bytes) -> T:
    try:
        return decoder.decode(msgspec.json.encode(_whole(anything(body))))
    except RecursionError:
        raise _too_deep() from None


def _whole(value: Any) -> Any:
    """Write what is an integer as one."""
    match value:
        case dict():
            return {name: _whole(inner) for name, inner in cast("dict[str, Any]", value).items()}
        case list():
            return [_whole(inner) for inner in cast("Iterable[Any]", value)]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


def _look_through(body: bytes) -> None:
    try:
        _decoder.decode(body.decode())
    except _TwiceError:
        raise _at(_first(body, _is_twice), "stands in the body more than once") from None
    except _EndlessError:
        raise _at(_first(body, _is_endless), _BEYOND) from None
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> MalformedError:
    return MalformedError(fault(Code.VALIDATION_INVALID_REQUEST, "Nested too deeply"))


class _TwiceError(ValueError):
    """A key stands twice in one object."""


class _EndlessError(ValueError):
    """A number is beyond what a float holds."""


def _too_large_number(error: MalformedError, body: bytes) -> MalformedError:
    """Return the error for a number that is out of range, with its path, which msgspec does not know within a map."""
    path = _first(body, _is_endless) if len(body) <= _READ_APART_BYTES else ""
    return _at(path, _BEYOND) if path else error


def _number(text: str) -> None:
    if math.isinf(float(text)):
        raise _EndlessError


def _unique(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        raise _TwiceError


def _first(body: bytes, wrong: Callable[[str, Any, Collection[str]], bool]) -> str:
    """Return the path of the first value that is wrong by its name, itself and the names before it; '' where none is.

    What cannot be read to its end has none.
    """
    try:
        return next(_wrong(_paired.decode(body.decode()), "", wrong), "")
    except (ValueError, RecursionError):
        return ""


def _wrong(value: Any, path: str, wrong: Callable[[str, Any, Collection[str]], bool]) -> Iterator[str]:
    known = set[str]()
    for name, inner in _inside(value):
        step = f"{path}{name}" if name.startswith("[") else f"{path}.{name}".removeprefix(".")
        if wrong(name, inner, known):
            yield step
        known.add(name)
        yield from _wrong(inner, step, wrong)


def _inside(value: Any) -> Iterable[tuple[str, Any]]:
    """Return what an object, as pairs, or an array holds."""
    match value:
        case tuple():
            return cast("tuple[tuple[str, Any], ...]", value)
        case list():
            return ((f"[{index}]", inner) for index, inner in enumerate(cast("Iterable[Any]", value)))
        case _:
            return ()


def _is_endless(_name: str, value: Any, _known: Collection[str]) -> bool:
    return isinstance(value, float) and math.isinf(value)


def _is_twice(name: str, _value: Any, known: Collection[str]) -> bool:
    return name in known


def _at(name: str, complaint: str) -> MalformedError:
    shown = name if len(name) <= MAX_QUOTED_CHARS else f"{name[:MAX_QUOTED_CHARS]}…"
    return MalformedError(fault(Code.VALIDATION_INVALID_REQUEST, f"{shown}: {complaint}", field=shown))


async def _read(request: Request, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """Read a body, and stop where it gets too large, whatever it said of its length."""
    body, more = bytearray(), True
    if _declared(request) > max_bytes:
        raise _too_large(max_bytes)
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
        more = message.get("more_body", False)
    return bytes(body)


def _too_large(max_bytes: int) -> HttpStatusError:
    return invalid(f"The body has more than {max_bytes} bytes", 413)


def _declared(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


_decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_number, parse_float=_number)
_paired = json.JSONDecoder(object_pairs_hook=tuple, parse_int=float)
