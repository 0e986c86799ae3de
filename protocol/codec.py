"""Packets and bytes: strict, size-capped, with one error (003 "Robustness")."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Generic, TypeVar, cast, get_origin

import msgspec
from msgspec import inspect

from protocol.faults import Code, FaultError, fault
from protocol.shapes import in_words

T = TypeVar("T")

MAX_PACKET_BYTES = 64 * 1024 * 1024
"""The largest packet anybody reads: a page of 20 MB with its text, twice, and room."""

MAX_QUOTED_CHARS = 200
"""How much a fault repeats of a malformed message."""

NO_CHOICE = "Invalid enum value"
"""How msgspec begins its complaint of a word that is none of those to choose from."""

_STEP = re.compile(r"\.([^.\[\]]+)|\[[^\]]*\]")
_FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_UNKNOWN = "contains unknown"


class MalformedError(FaultError):
    """Bytes that are not the message they should be; the fault names the field."""


_encoder = msgspec.json.Encoder()


def encode(message: Any) -> bytes:
    """Write a message as JSON; for halves of surrogate pairs, which pages may write and UTF-8 cannot, stands U+FFFD."""
    try:
        return _encoder.encode(message)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(message, str_keys=True, enc_hook=msgspec.json.decode)  # the hook reads what is Raw
        return _encoder.encode(_paired(plain))


class Decoder(Generic[T]):
    """Reads one type of message.

    `code` is the code of the fault for bytes that are something else: a packet's on the bus, a request's at the edge.
    """

    def __init__(
        self, kind: Any, code: Code = Code.VALIDATION_INVALID_PACKET, max_bytes: int = MAX_PACKET_BYTES
    ) -> None:
        """Prepare to read `kind`, a type that msgspec knows."""
        self._decoder = msgspec.json.Decoder(kind)
        self._kind = kind
        self._code = code
        self._max_bytes = max_bytes

    def decode(self, payload: bytes | bytearray | memoryview) -> T:
        """Read one message.

        Raises:
            MalformedError: whatever the bytes are; never anything else.
        """
        if len(payload) > self._max_bytes:
            message = f"{len(payload)} bytes are more than the {self._max_bytes} allowed"
            raise MalformedError(fault(self._code, message))
        try:
            read: T = self._decoder.decode(payload)
        except msgspec.ValidationError as error:
            raise malformed(self._code, str(error), self._kind) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise MalformedError(fault(self._code, f"Not JSON: {error}")) from None
        except RecursionError:
            raise MalformedError(fault(self._code, "Nested too deeply")) from None
        return read


def malformed(code: Code, complaint: str, kind: Any = None) -> MalformedError:
    """Return the error for a complaint of msgspec, whose text ends in the path of the field (`… - at `$.a.b``).

    With the `kind` that was to be read, a request is told the words or fields to choose from where another one stands.
    """
    reason, path = parted(complaint)
    absent = _FIELD.fullmatch(reason)
    name = f"{path}.{absent[2]}" if absent else path
    name = _shortened(name.removeprefix("."))
    field = name.partition("[...]")[0]  # msgspec does not say which key of a map it was
    words: tuple[str, ...] = ()
    if kind is not None and code is Code.VALIDATION_INVALID_REQUEST:
        if reason.startswith(NO_CHOICE):
            words = choices(kind, path)
        elif absent and absent[1] == _UNKNOWN:
            words = fields(kind, path)
    reason = in_words(reason)
    reason = f"{_shortened(reason)}; there are {', '.join(words)}" if words else _shortened(reason)
    message = f"{name}: {reason}" if field else reason
    return MalformedError(fault(code, message, field=field or None))


def parted(complaint: str) -> tuple[str, str]:
    """Part a complaint of msgspec into its reason and the path of the field, such as `.a.b[0]`."""
    reason, marker, path = complaint.rpartition(" - at `$")
    return (reason, path.removesuffix("`")) if marker else (complaint, "")


def choices(kind: Any, path: str) -> tuple[str, ...]:
    """Return the words that a type allows at a path; none where it allows others, too."""
    words: dict[str, None] = {}
    for one in _at(kind, path):
        if isinstance(one, inspect.EnumType):
            words |= dict.fromkeys(str(member.value) for member in one.cls)
        elif isinstance(one, inspect.LiteralType):
            words |= dict.fromkeys(str(value) for value in one.values)
    return tuple(words)


def fields(kind: Any, path: str) -> tuple[str, ...]:
    """Return the names of the fields that a type has at a path."""
    structs = [one for one in _at(kind, path) if isinstance(one, inspect.StructType)]
    return tuple(dict.fromkeys(field.encode_name for one in structs for field in one.fields))


def _paired(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case dict():
            return {_paired(name): _paired(inner) for name, inner in cast("dict[str, Any]", value).items()}
        case list() | tuple():
            return [_paired(inner) for inner in cast("Iterable[Any]", value)]
        case _:
            return value


def _at(kind: Any, path: str) -> list[inspect.Type]:
    kinds = _alternatives(inspect.type_info(kind))
    for step in _STEP.finditer(path):
        kinds = [inner for outer in kinds for inner in _inside(outer, step[1])]
    return kinds


def _alternatives(info: inspect.Type) -> list[inspect.Type]:
    if isinstance(info, inspect.Metadata):
        return _alternatives(info.type)
    if isinstance(info, inspect.UnionType):
        return [inner for one in info.types for inner in _alternatives(one)]
    return [info]


def _inside(info: inspect.Type, name: str | None) -> list[inspect.Type]:
    """Return the types of the field `name`, or of the items where there is no name."""
    match info:
        case inspect.StructType():
            return [inner for one in info.fields if one.encode_name == name for inner in _alternatives(one.type)]
        case inspect.VarTupleType() | inspect.ListType():
            return _alternatives(info.item_type)
        case inspect.DictType():
            return _alternatives(info.value_type)
        case _:
            return []


def _shortened(text: str) -> str:
    """Keep what the sender wrote from growing the fault: msgspec quotes names and values whole."""
    return text if len(text) <= MAX_QUOTED_CHARS else f"{text[:MAX_QUOTED_CHARS]}…"


class _NoPacket(msgspec.Struct, frozen=True, tag_field="type", tag="none"):
    """What no packet is: as one of two, the other must say its `type`, which msgspec lets a lone one leave out."""

    def __post_init__(self) -> None:
        msg = "Invalid value 'none'"
        raise ValueError(msg)


@cache
def decoder(kind: Any) -> Decoder[Any]:
    """Return the decoder of a type of message, made once; a packet must say which it is (003 "Required fields")."""
    struct = get_origin(kind) or kind
    is_packet = issubclass(struct, msgspec.Struct) and struct.__struct_config__.tag_field == "type"
    return Decoder(kind | _NoPacket if is_packet else kind)
