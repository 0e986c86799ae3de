"""Packets as they travel: made, written, carried as a claim check when they are too large, and read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any, TypeVar

from msgspec import UNSET, Struct

from bus.context import current_conversation, new_id
from bus.errors import TransportError
from bus.permissions import claim_scope
from bus.recording import Recorder
from bus.seal import KEY_BYTES, Seal, UnsealError
from bus.transport import Blobs, BusMessage
from protocol.codec import MalformedError, decoder
from protocol.faults import Code, Fault, fault
from protocol.packets import (
    PROTOCOL_NAME,
    PROTOCOL_VERSION,
    Input,
    InReplyTo,
    Protocol,
    Request,
    Response,
    Role,
    Sender,
    Task,
)
from protocol.subject_kinds import Subject

CLAIM = "Weft-Claim"
"""Header that names the claim check which holds the packet; the payload is empty then."""

CLAIM_KEY = "Weft-Claim-Key"
"""Header with the key of that claim check, in hex: whoever reads the store without the message reads nothing."""

_CLAIMED = "claim"
"""The purpose that a claim check is sealed for, by the key of its message."""

TIMEOUT = "Weft-Timeout-Ms"
"""Header with the time that is left to answer, relative as in gRPC, so that clocks need not agree."""

ACCOUNT = "Weft-Account"
"""Header with the account that a request is for, and its weight."""

PATIENCE = "Weft-Patience-Ms"
"""Header with the time that a request may wait for room before the replica refuses it; without it, none."""

NOTED = "Weft-Noted"
"""Header of a request that its sender notes, where conversations are recorded: else whoever answers it does."""

REFUSED = "Weft-Refused"
"""Header of an answer by which a replica refuses for want of room, so that another is asked."""

UNREADABLE = "unreadable"
"""The request id in the answer to a packet that could not be read."""

_HEADROOM = 4_096
"""Bytes of a message that are left to its headers."""

_PROTOCOL = Protocol(name=PROTOCOL_NAME, version=PROTOCOL_VERSION)

A = TypeVar("A")


class Packed(Struct, frozen=True):
    """A packet ready to send; `claim` is the full name of the blob that holds it, if one does."""

    payload: bytes
    headers: dict[str, str]
    claim: str | None = None


def claim_of(message: BusMessage) -> str | None:
    """Return the full name of the claim check of a message, if it has one, among those for its receiver."""
    identity = message.headers.get(CLAIM)
    return None if identity is None else f"{claim_scope(message.subject)}.{identity}"


class PacketCodec:
    """Makes and reads the packets of one participant."""

    def __init__(self, sender: str, blobs: Blobs, max_payload: int) -> None:
        """Sign as `sender`; what is larger than `max_payload` goes through `blobs`."""
        self._sender = Sender(role=Role.AGENT, actor=sender)
        self._blobs = blobs
        self._limit = max_payload - _HEADROOM
        self.recorder: Recorder | None = None
        """Who notes the packets of this participant, if they are noted."""

    def request(self, subject: Subject[A], args: A, packet_id: str = "") -> Request[A]:
        """Make the packet of a request or an event, in the current conversation."""
        return Request(
            protocol=_PROTOCOL,
            id=packet_id or new_id(),
            created_at=datetime.now(UTC),
            conversation=current_conversation(),
            sender=self._sender,
            input=Input(task=Task(name=subject.task, args=args)),
        )

    def answer(self, request: Request[Any] | None, body: Any) -> Response[Any]:
        """Return the packet that answers `request` with a result or a Fault; None is one nobody could read."""
        failed = isinstance(body, Fault)
        return Response(
            protocol=_PROTOCOL,
            id=new_id(),
            created_at=datetime.now(UTC),
            conversation=request.conversation if request else current_conversation(),
            sender=self._sender,
            in_reply_to=InReplyTo(request_id=request.id if request else UNREADABLE),
            result=UNSET if failed else body,
            error=body if failed else UNSET,
        )

    async def pack(self, payload: bytes, to: str, headers: Mapping[str, str] | None = None) -> Packed:
        """Pack an encoded packet for `to`; a large one is put among the blobs, for those who get that subject."""
        own = dict(headers or {})
        if len(payload) <= self._limit:
            return Packed(payload, own)
        identity = token_hex(16)
        claim = f"{claim_scope(to)}.{identity}"
        key = os.urandom(KEY_BYTES)
        await self._blobs.put(claim, Seal({_CLAIMED: key}).seal(payload, f"{_CLAIMED} {claim}"))
        return Packed(b"", {**own, CLAIM: identity, CLAIM_KEY: key.hex()}, claim)

    async def unpack(self, message: BusMessage, kind: Any) -> Any:
        """Read a packet of type `kind`.

        Raises:
            MalformedError: it is not one, or its claim check is gone.
        """
        return decoder(kind).decode(await self._payload(message))

    async def _payload(self, message: BusMessage) -> bytes:
        claim = claim_of(message)
        if claim is None:
            return message.payload
        try:
            key = bytes.fromhex(message.headers.get(CLAIM_KEY, ""))
            sealed = await self._blobs.get(claim)
            return Seal({_CLAIMED: key}).unseal(sealed, f"{_CLAIMED} {claim}")
        except (KeyError, ValueError, UnsealError):
            gone = fault(Code.VALIDATION_INVALID_PACKET, "The claim check of this packet is gone")
            raise MalformedError(gone) from None

    async def redeem(self, message: BusMessage) -> bytes:
        """Return the encoded packet of a message and remove its claim check, which nobody else needs.

        Raises:
            MalformedError: the claim check is gone.
        """
        try:
            return await self._payload(message)
        finally:
            await self.forget(claim_of(message))

    async def forget(self, claim: str | None) -> None:
        """Remove a claim check, if there is one."""
        if claim is not None:
            with suppress(TransportError):  # those that stay are gone when their time is over
                await self._blobs.delete(claim)
