"""What passes on the bus, as an operator sees it: packets without their secrets, as fast as they are read."""

from __future__ import annotations

from typing import Any, Final, Literal

import anyio
import msgspec
from anyio import to_thread
from msgspec import UNSET, Raw, Struct, UnsetType
from starlette.types import Receive, Scope, Send

from actors.gateway.app_context import AppContext
from actors.gateway.errors import to_error
from actors.gateway.http import event_message, refusal
from actors.gateway.http_input import drain
from actors.gateway.rest.streaming import EventResponse
from actors.masking import mask_headers, mask_packet
from bus.observing import Tap, TappedMessage
from protocol.faults import Code, FaultError, fault

MAX_SHOWN_BYTES: Final = 16_384
"""The largest packet that is shown whole; of larger ones no more is told than what they are."""

MAX_BATCH: Final = 200
"""Packets of one event."""

BATCH_EVERY_S: Final = 0.1

TAP_S: Final = 600.0
"""How long one tap lasts: whoever wants more asks again, by a key that is looked at again."""


class TappedPacket(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A packet that has passed, at a time in ms since the epoch; `size` in bytes.

    What is no packet has nothing beside its subject, size and headers. `packet` is left out where it is too large.
    """

    at: int
    subject: str
    size: int
    type: Literal["request", "response", ""] = ""
    id: str = ""
    task: str = ""
    sender: str = ""
    conversation_id: str = ""
    in_reply_to: str = ""
    error: str = ""
    headers: dict[str, str] = {}
    packet: Raw | UnsetType = UNSET


class TappedPackets(Struct, frozen=True, kw_only=True):
    """What has passed since the last event, in its order; `lost` is how much this reader has missed since the start."""

    packets: tuple[TappedPacket, ...]
    lost: int


class _Named(Struct, frozen=True):
    name: str = ""


class _Input(Struct, frozen=True):
    task: _Named = _Named()


class _Sender(Struct, frozen=True):
    actor: str = ""


class _Identified(Struct, frozen=True):
    id: str = ""


class _Answered(Struct, frozen=True):
    request_id: str = ""


class _Error(Struct, frozen=True):
    code: str = ""


class _Head(Struct, frozen=True):
    """What a packet says of itself, whatever it asks or answers."""

    type: Literal["request", "response", ""] = ""
    id: str = ""
    input: _Input = _Input()
    sender: _Sender = _Sender()
    conversation: _Identified = _Identified()
    in_reply_to: _Answered = _Answered()
    error: _Error = _Error()


_head = msgspec.json.Decoder(_Head).decode


def tapped(passed: TappedMessage) -> TappedPacket:
    """Return a message as it is shown."""
    message, at = passed
    try:
        head = _head(message.payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        head = _Head()
    return TappedPacket(
        at=at,
        subject=message.subject,
        size=len(message.payload),
        type=head.type,
        id=head.id,
        task=head.input.task.name,
        sender=head.sender.actor,
        conversation_id=head.conversation.id,
        in_reply_to=head.in_reply_to.request_id,
        error=head.error.code,
        headers=mask_headers(message.headers),
        packet=_masked(message.payload),
    )


def _masked(payload: bytes) -> Raw | UnsetType:
    if not payload or len(payload) > MAX_SHOWN_BYTES:
        return UNSET
    try:
        decoded: Any = msgspec.json.decode(payload)
        return Raw(msgspec.json.encode(mask_packet(decoded)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return UNSET


class TapStream(EventResponse):
    """What passes on a subject from now on; it is taken from the bus no faster than the client reads."""

    def __init__(self, app: AppContext, subject: str) -> None:
        super().__init__()
        self._app = app
        self._subject = subject
        self._failure: FaultError | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the client leaves, the time is over, or this gateway stops."""
        await drain(receive)
        try:
            self._app.taps.acquire_nowait()
        except anyio.WouldBlock:
            busy = fault(Code.INTERNAL_BUSY, "As many clients tap the bus by this gateway as may: close one of those.")
            await refusal(FaultError(busy))(scope, receive, send)
            return
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._app.taps.release()

    async def send_events(self, send: Send) -> None:
        """Send what passes."""
        try:
            async with self._app.bus.observer() as observer, observer.tap(self._subject) as tap:
                await send({"type": "http.response.body", "body": b": follows\n\n", "more_body": True})
                with anyio.move_on_after(TAP_S):
                    await _pass_on(tap, send)
        except FaultError as error:
            self._failure = error

    async def send_last(self, send: Send) -> None:
        """Send why it cannot go on, if so."""
        if self._failure is not None:
            await send(event_message("error", to_error(self._failure.fault)))


async def _pass_on(tap: Tap, send: Send) -> None:
    while True:
        taken = await tap.take(MAX_BATCH)
        packets = await to_thread.run_sync(lambda: tuple(tapped(one) for one in taken))  # noqa: B023 - awaited at once
        await send(event_message("packets", TappedPackets(packets=packets, lost=tap.lost)))
        await anyio.sleep(BATCH_EVERY_S)
