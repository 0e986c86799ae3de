"""What replicas share of sites: how fast a host is asked, its robots.txt, and stored answers (RFC 9111)."""

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


class KeptAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One stored response: `vary` holds what the fields that its Vary names had in the request, None for none.

    `received_at` is in seconds since the epoch, `initial_age` in seconds (RFC 9111 §4.2.3). `body` is as it came over
    the wire, its content coding included; None where it is too large to share: who has it knows it by `id`.
    """

    id: str
    status: int
    headers: tuple[tuple[str, str], ...]
    received_at: float
    initial_age: float = 0.0
    vary: tuple[tuple[str, str | None], ...] = ()
    body: bytes | None = None

    def header(self, name: str) -> str | None:
        """Return every value of a field, joined; its name in lower case."""
        values = [value for field, value in self.headers if field == name]
        return ", ".join(values) if values else None


class KeptAnswers(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one place of the shared cache holds: the variants of one key, the newest last."""

    key: str
    variants: tuple[KeptAnswer, ...] = ()
