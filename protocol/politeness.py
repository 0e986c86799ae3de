"""What replicas share so that all of them together are polite to a host."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from protocol.faults import Code


class Lease(Struct, frozen=True, kw_only=True):
    """How many requests one replica may have open to a host, until when; times in ms since the epoch."""

    count: int
    until_ms: float


class HostPace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a host is being asked: `arrival_ms` is the theoretical arrival time (GCRA), `last_ms` the last slot.

    `leases` are by replica. Until `wait_until_ms` nobody asks, because the host answered `status`; `strikes` counts how
    often it did so in a row.
    """

    arrival_ms: float = 0.0
    last_ms: float = 0.0
    leases: dict[str, Lease] = {}
    wait_until_ms: float = 0.0
    status: int = 0
    strikes: int = 0


class RobotsFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The robots.txt of one origin: its text, or what the lack of one means (RFC 9309 §2.3.1); `fetched_at` in seconds.

    `packed` is the text in UTF-8, deflated by zlib. `unreached` is why the site was not reached, where it
    was not.
    """

    access: Literal["ruled", "allowed", "refused"]
    fetched_at: float
    packed: bytes = b""
    unreached: Code | None = None
