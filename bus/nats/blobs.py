"""Claim checks in an object store in the server's memory: they live for one call."""

from __future__ import annotations

from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import StorageType

from bus.nats import objects
from bus.nats.objects import ObjectStore
from bus.permissions import CLAIMS
from protocol.subjects import Objects

TTL_MS = 600_000
"""Claim checks whose owner died are gone after this."""

MAX_BYTES = 400 * 1024 * 1024

REMADE_S = 1.0
"""How long the overseer gets to make the store anew after a restart of the server, whose memory has forgotten it."""


async def create(stream: JetStreamContext, replicas: int = 1) -> None:
    """Make the store where there is none; the supervisor does it once."""
    await objects.create(stream, Objects(CLAIMS, ttl_ms=TTL_MS, max_bytes=MAX_BYTES), StorageType.MEMORY, replicas)


def claims(client: Client) -> ObjectStore:
    """Return the store of claim checks."""
    return ObjectStore(client, CLAIMS, REMADE_S)
