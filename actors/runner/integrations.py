"""Sends other programs what they are to do: signed, each thing once, and again until they have taken it.

What is to be told is written down before anything is sent, with the key that it has for good: whoever goes on with it
after a death sends the same again. What nobody takes is a dead letter, kept for its caller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import anyio
import msgspec
from msgspec.structs import replace
from standardwebhooks import Webhook

from actors.redact import text as redacted
from actors.runner.outside import OutsideAnswer, OutsideClient
from actors.toml_file import Watched
from bus import Bus
from bus.clock import now_ms
from bus.context import account
from bus.fairness import Account
from bus.outages import wait_out
from bus.stores import KeyTable
from protocol.faults import Code, Fault, FaultError, fault, rate_limited
from protocol.integrations import (
    MAX_ANSWER_CHARS,
    MAX_PAYLOAD_BYTES,
    MAX_TRIES,
    Delivery,
    DeliveryState,
    Integration,
    ListDeliveries,
    NamedDelivery,
    SendDelivery,
    deliveries_of,
    delivery_id,
    delivery_key,
)
from protocol.subjects import DELIVER

_LOOK_S: Final = 0.02
"""After which time is looked whether something was delivered; then less and less often."""

_MOST_LOOK_S: Final = 0.5
_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")

_DELAYS_MS: Final = (500, 2_000, 8_000, 30_000)
"""Before the second try and those after it, unless the other program names a time."""

_RACES: Final = 8

_OUTAGE_S: Final = 30.0
"""How long the bus may be away while a try ends: what another program took is not sent again for that."""


class KeptDelivery(NamedTuple):
    """A delivery as it is kept, and the revision of that."""

    value: Delivery
    revision: int


@dataclass
class Integrations:
    """The integrations of the operator, and what they were told.

    `secrets` are variables of the environment; `clock` is the time in ms since the epoch.
    """

    bus: Bus
    outside: OutsideClient
    file: Watched[Mapping[str, Integration]]
    table: KeyTable[Delivery]
    secrets: Mapping[str, str] = field(repr=False)
    clock: Callable[[], int] = now_ms

    def check(self, integration: str, operation: str) -> None:
        """See to it that a program may be told something.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, when there is no such integration or operation.
        """
        self._check(integration, operation, {})

    async def notify(
        self, caller: str, integration: str, operation: str, payload: dict[str, Any], key: str
    ) -> Delivery:
        """Have a program told something, once for each `key` of a caller; it is delivered after this returns.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, when there is no such integration or operation, the payload is too
                large, or the key has told something else before.
        """
        self._check(integration, operation, payload)
        if not _KEY.fullmatch(key):
            message = "An idempotency key is 1 to 255 visible characters of ASCII."
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="idempotencyKey"))
        now = self.clock()
        own = Delivery(
            id=delivery_id(caller, integration, key),
            caller=caller,
            integration=integration,
            operation=operation,
            idempotency_key=key,
            payload=payload,
            created_at=now,
            updated_at=now,
        )
        place = delivery_key(caller, own.id)
        kept = await self.table.get(place)
        if kept is None:
            try:
                await self.table.put(place, own, revision=await self.table.revision(place))
            except ValueError:  # somebody else asks for the same
                kept = await self.table.get(place)
        delivery = own if kept is None or kept.value is None else kept.value
        if (delivery.operation, delivery.payload) != (operation, payload):
            message = "The idempotency key was used before, for something else."
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="idempotencyKey"))
        if delivery.state is DeliveryState.PENDING:
            await self._queue(place, delivery, delivery.created_at)
        return delivery

    async def settled(self, delivery: Delivery, wait_s: float) -> Delivery:
        """Return a delivery when it has an end, or as it stands after some seconds."""
        with anyio.move_on_after(wait_s):
            pause_s = _LOOK_S
            while delivery.state is DeliveryState.PENDING:
                await anyio.sleep(pause_s)
                pause_s = min(1.5 * pause_s, _MOST_LOOK_S)
                kept = await self.table.get(delivery_key(delivery.caller, delivery.id))
                delivery = delivery if kept is None or kept.value is None else kept.value
        return delivery

    async def list(self, request: ListDeliveries) -> tuple[Delivery, ...]:
        """Return the deliveries of a caller, or of all, the newest first."""
        own = deliveries_of(request.caller) if request.caller is not None else ""
        entries = [await self.table.get(name) for name in await self.table.names() if name.startswith(own)]
        values = [one.value for one in entries if one is not None and one.value is not None]
        wanted = [one for one in values if request.state in (None, one.state)]
        wanted.sort(key=lambda one: (-one.created_at, one.id))
        return tuple(replace(one, payload={}, answer="") for one in wanted[: request.limit])

    async def get(self, request: NamedDelivery) -> Delivery:
        """Return a delivery whole.

        Raises:
            FaultError: ARTIFACT_NOT_FOUND where the caller has no such delivery.
        """
        return (await self._find(request))[1].value

    async def drop(self, request: NamedDelivery) -> Delivery:
        """Forget what is dead, and return it; its key may be used anew then.

        Raises:
            FaultError: ARTIFACT_NOT_FOUND where the caller has no such delivery; VALIDATION_INVALID_REQUEST where it is
                not dead, or somebody has just sent it again.
        """
        place, kept = await self._find(request)
        _check_dead(kept.value, "dropped")
        try:
            await self.table.delete(place, revision=kept.revision)
        except ValueError:
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, "It was just changed.", field="id")) from None
        return kept.value

    async def resend(self, request: NamedDelivery) -> Delivery:
        """Send again what is dead.

        Raises:
            FaultError: ARTIFACT_NOT_FOUND where the caller has no such delivery; VALIDATION_INVALID_REQUEST where it is
                not dead.
        """
        place, _ = await self._find(request)

        def revived(kept: Delivery) -> Delivery:
            _check_dead(kept, "sent again")
            return replace(kept, state=DeliveryState.PENDING, tries=0, error=None, updated_at=self.clock())

        delivery = await self._change(place, revived)
        if delivery is None:
            raise _no_delivery()
        await self._queue(place, delivery, delivery.updated_at)
        return delivery

    async def deliver(self, request: SendDelivery) -> None:
        """Try once to deliver what is pending.

        Raises:
            FaultError: it is to be tried again, after the time that the fault names.
        """
        delivery = await self._change(
            request.key,
            lambda kept: (
                kept
                if kept.state is not DeliveryState.PENDING
                else replace(kept, tries=kept.tries + 1, updated_at=self.clock())
            ),
        )
        if delivery is None or delivery.state is not DeliveryState.PENDING:
            return
        try:
            answer = await self._send(delivery)
        except FaultError as error:
            await self._failed(request.key, error.fault)
            return
        await self._end(request.key, lambda kept: self._delivered(kept, answer))

    async def _queue(self, place: str, delivery: Delivery, since: int) -> None:
        """Put a delivery into the line of its caller, also where nobody asks who has a line, such as a watch."""
        with account(Account(delivery.caller)):
            await self.bus.enqueue(DELIVER, SendDelivery(key=place), packet_id=f"{place}.{since}")

    async def _find(self, request: NamedDelivery) -> tuple[str, KeptDelivery]:
        """Return where a delivery is kept, and how it stands.

        Raises:
            FaultError: ARTIFACT_NOT_FOUND.
        """
        if request.caller is not None:
            places = [delivery_key(request.caller, request.id)]
        else:
            places = [name for name in await self.table.names() if name.endswith(f".{request.id}")]
        for place in places:
            kept = await self.table.get(place)
            if kept is not None and kept.value is not None:
                return place, KeptDelivery(kept.value, kept.revision)
        raise _no_delivery()

    async def _failed(self, place: str, why: Fault) -> None:
        """Write down that a try has failed, and have it tried again where that may help."""

        def ended(kept: Delivery) -> Delivery:
            given_up = not why.retryable or kept.tries >= MAX_TRIES
            state = DeliveryState.DEAD if given_up else DeliveryState.PENDING
            return replace(kept, state=state, error=why, http_status=why.http_status, updated_at=self.clock())

        delivery = await self._end(place, ended)
        if delivery is not None and delivery.state is DeliveryState.PENDING:
            named = why.retry_after_ms if why.code is Code.RATE_LIMIT_EXCEEDED else 0
            raise FaultError(rate_limited(why.message, max(named or 0, _DELAYS_MS[min(delivery.tries, 4) - 1])))

    def _delivered(self, kept: Delivery, answer: OutsideAnswer) -> Delivery:
        return replace(
            kept,
            state=DeliveryState.DELIVERED,
            http_status=answer.status,
            answer=redacted(answer.body.decode(answer.encoding, "replace"))[:MAX_ANSWER_CHARS],
            error=None,
            updated_at=self.clock(),
        )

    async def _end(self, place: str, end: Callable[[Delivery], Delivery]) -> Delivery | None:
        """Write down how a try ended, also where the bus is away at first."""
        return await wait_out(lambda: self._change(place, end), _OUTAGE_S)

    async def _change(self, place: str, change: Callable[[Delivery], Delivery]) -> Delivery | None:
        """Change a delivery by compare-and-set, and return it; None where it is gone."""
        for _ in range(_RACES):
            kept = await self.table.get(place)
            if kept is None or kept.value is None:
                return None
            changed = change(kept.value)
            try:
                await self.table.put(place, changed, revision=kept.revision)
            except ValueError:
                continue
            return changed
        raise FaultError(fault(Code.INTERNAL_BUSY))

    async def _send(self, delivery: Delivery) -> OutsideAnswer:
        integration = self.file.value.get(delivery.integration)
        if integration is None or delivery.operation not in integration.operations:
            message = f"The integration {delivery.integration} is set up no longer for {delivery.operation}."
            raise FaultError(fault(Code.CONFIG_INVALID, message))
        body = _body(delivery)
        return await self.outside.ask(
            "POST",
            integration.url,
            headers=self._headers(integration, delivery, body),
            content=body,
            private=integration.allow_private,
            timeout_ms=integration.timeout_ms,
            max_bytes=4 * MAX_ANSWER_CHARS,
        )

    def _headers(self, integration: Integration, delivery: Delivery, body: bytes) -> dict[str, str]:
        """Return the headers of Standard Webhooks; the key is the same whenever the same is sent."""
        headers = {
            **integration.headers,
            "Content-Type": "application/json",
            "Idempotency-Key": delivery.idempotency_key,
            "webhook-id": delivery.id,
        }
        if integration.secret_variable is None:
            return headers
        secret = self.secrets.get(integration.secret_variable)
        if not secret:
            message = f"The variable {integration.secret_variable} of the integration {integration.name} is not set."
            raise FaultError(fault(Code.CONFIG_INVALID, message))
        at = datetime.fromtimestamp(self.clock() / 1_000, UTC)
        signer = Webhook(secret if secret.startswith("whsec_") else secret.encode())
        signature = signer.sign(delivery.id, at, body.decode())
        return {**headers, "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": signature}

    def _check(self, integration: str, operation: str, payload: dict[str, Any]) -> None:
        known = self.file.value
        if integration not in known:
            there = f"There are: {', '.join(known)}." if known else "None is set up: see the setting integrations_file."
            message = f"There is no integration {integration}. {there}"
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="integration"))
        if operation not in known[integration].operations:
            allowed = ", ".join(known[integration].operations)
            message = f"{integration} may not be told {operation}, but: {allowed}."
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="operation"))
        if len(msgspec.json.encode(payload)) > MAX_PAYLOAD_BYTES:
            message = f"The payload is larger than {MAX_PAYLOAD_BYTES} bytes."
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="payload"))


def _check_dead(delivery: Delivery, what: str) -> None:
    if delivery.state is not DeliveryState.DEAD:
        message = f"It is {delivery.state}; only what is dead is {what}."
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="id"))


def _no_delivery() -> FaultError:
    return FaultError(fault(Code.ARTIFACT_NOT_FOUND, "There is no such delivery.", field="id"))


def _body(delivery: Delivery) -> bytes:
    """Write what is sent, in the form that Standard Webhooks advises: the same bytes at each try."""
    at = datetime.fromtimestamp(delivery.created_at / 1_000, UTC)
    body = {"type": delivery.operation, "timestamp": at.isoformat(), "data": delivery.payload}
    return msgspec.json.encode(body, order="deterministic")
