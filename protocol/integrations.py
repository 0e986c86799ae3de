"""Integrations: what other programs are told to do, each once, and what came of it (003 `integration.invoke`)."""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from protocol.browse import SCHEMA_VERSION
from protocol.documents import NonEmpty
from protocol.faults import Fault

MAX_PAYLOAD_BYTES: Final = 65_536
MAX_ANSWER_CHARS: Final = 16_384
"""What is kept of the answer of another program."""

MAX_TRIES: Final = 5
DELIVERY_PREFIX: Final = "dlv_"
DELIVERY_MS: Final = 30 * 86_400_000
"""How long is known what was delivered, and what was not."""

SECRET_FAMILY: Final = "INTEGRATION_SECRET_"  # noqa: S105 - how a name begins
"""How the variables begin that hold the secrets of integrations: no process but the runner has them."""

DeliveryId = Annotated[str, Meta(pattern=r"^dlv_[0-9a-f]{32}$(?!\n)")]


class DeliveryState(StrEnum):
    """How a delivery stands."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"
    """It was given up; it can be sent again."""


class Delivery(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What another program is told once; times in ms since the epoch.

    `tries` counts since it was last asked for. `answer` is the other program's, cut, and not to be trusted. A list
    leaves `payload` and `answer` out.
    """

    id: DeliveryId
    caller: str
    integration: str
    operation: str
    idempotency_key: str
    state: DeliveryState = DeliveryState.PENDING
    payload: dict[str, Any] = {}
    tries: int = 0
    created_at: int
    updated_at: int
    http_status: int | None = None
    answer: str = ""
    error: Fault | None = None


class SendDelivery(Struct, frozen=True, kw_only=True):
    """DELIVER: send what is pending."""

    key: str


class ListDeliveries(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """DELIVERY_LIST: deliveries, the newest first: a caller's, or all; those in one state alone where it is named."""

    caller: str | None
    state: DeliveryState | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


class DeliveryList(Struct, frozen=True, kw_only=True, rename="camel"):
    """Deliveries, the newest first."""

    deliveries: tuple[Delivery, ...]
    schema_version: str = SCHEMA_VERSION


class NamedDelivery(Struct, frozen=True, kw_only=True):
    """DELIVERY_GET, DELIVERY_RESEND, DELIVERY_DROP: one delivery of a caller, or of whomever.

    Sent again, with the same key, or dropped is only what is dead.
    """

    caller: str | None
    id: DeliveryId


class Integration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program that may be told to do something, as its operator describes it.

    `operations` are all that it may be told. `allow_private` are networks in CIDR form that it may lie in although they
    are private.
    """

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$(?!\n)")]
    url: Annotated[str, Meta(pattern=r"^https?://[^\s@]+$(?!\n)", max_length=2_000)]
    operations: Annotated[tuple[NonEmpty, ...], Meta(min_length=1)]
    secret_variable: Annotated[str, Meta(pattern=r"^INTEGRATION_SECRET_[A-Z0-9_]{1,64}$(?!\n)")] | None = None
    headers: dict[str, str] = {}
    allow_private: tuple[NonEmpty, ...] = ()
    timeout_ms: Annotated[int, Meta(ge=100, le=60_000)] = 10_000


class IntegrationsFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of integrations."""

    integrations: tuple[Integration, ...] = ()


def delivery_key(caller: str, delivery: str) -> str:
    """Name where a delivery is kept."""
    return f"{deliveries_of(caller)}{delivery}"


def deliveries_of(caller: str) -> str:
    """Return how the names of all deliveries of a caller begin."""
    return f"{sha256(caller.encode()).hexdigest()[:32]}."


def delivery_id(caller: str, integration: str, idempotency_key: str) -> str:
    """Return the id that the same delivery always has."""
    parts = (caller, integration, idempotency_key)
    return DELIVERY_PREFIX + sha256(repr(parts).encode()).hexdigest()[:32]
