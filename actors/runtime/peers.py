"""What those who take part on a NATS tell a host that joins it: whether it has their vault key, and their clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bus import Bus
from bus.stats import Replica

WAIT_MS = 1_000
"""How long the first of them gets to answer."""

CLOCKS_APART_MS = 5_000
"""By how much clocks may differ before somebody should hear of it; an answer takes less."""


async def first_peers(bus: Bus) -> tuple[Replica, ...]:
    """Return those who answer until one has said which vault key he has."""
    return await bus.replicas(WAIT_MS, enough=lambda live: any(one.vault for one in live))


def with_another_vault(live: Iterable[Replica], fingerprint: str) -> Replica | None:
    """Return one whose vault key is another than the one with this fingerprint."""
    return next((one for one in live if one.vault not in {"", fingerprint}), None)


def clocks_apart(live: Iterable[Replica], now_ms: int) -> Mapping[str, int]:
    """Return by how many ms the clock of each host is ahead of ours, where it is by more than it should."""
    ahead = {one.host: one.clock_ms - now_ms for one in live if one.clock_ms}
    return {host: ms for host, ms in ahead.items() if abs(ms) > CLOCKS_APART_MS}
