"""Packets and bytes: strict, size-capped, with one error (003 "Robustness")."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Generic, TypeVar, get_origin

import msgspec

from protocol.faults import Code, FaultError, fault

T = TypeVar("T")

MAX_PACKET_BYTES = 64 * 1024 * 1024
"""The largest packet anybody reads: a page of 20 MB with its text, twice, and room."""

MAX_QUOTED_CHARS = 200
"""How much a fault repeats of a malformed message."""

_FIELD = re.compile(r"Object (?:missing required|contains unknown) field `(.*)`", re.DOTALL)


class MalformedError(FaultError):
    """Bytes that are not the message they should be; the fault names the field."""


_encoder = msgspec.json.Encoder()


def encode(message: Any) -> bytes:
    """Write a message as JSON."""
    return _encoder.encode(message)


class Decoder(Generic[T]):
    """Reads one type of message.

    `code` is the code of the fault for bytes that are something else: a packet's on the bus, a request's at the edge.
    """

    def __init__(
        self, kind: Any, code: Code = Code.VALIDATION_INVALID_PACKET, max_bytes: int = MAX_PACKET_BYTES
    ) -> None:
        """Prepare to read `kind`, a type that msgspec knows."""
        self._decoder = msgspec.json.Decoder(kind)
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
            raise malformed(self._code, str(error)) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise MalformedError(fault(self._code, f"Not JSON: {error}")) from None
        except RecursionError:
            raise MalformedError(fault(self._code, "Nested too deeply")) from None
        return read


def malformed(code: Code, complaint: str) -> MalformedError:
    """Return the error for a complaint of msgspec, whose text ends in the path of the field (`… - at `$.a.b``)."""
    reason, marker, path = complaint.rpartition(" - at `$")
    if not marker:
        reason, path = complaint, ""
    absent = _FIELD.fullmatch(reason)
    name = f"{path.removesuffix('`')}.{absent[1]}" if absent else path.removesuffix("`")
    name = _shortened(name.removeprefix("."))
    message = f"{name}: {_shortened(reason)}" if name else _shortened(reason)
    return MalformedError(fault(code, message, field=name or None))


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
