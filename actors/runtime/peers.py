"""What a NATS tells a host that starts: whether it has the vault key of what is kept and of those who take part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from actors.settings import env_name
from actors.settings.loading import invalid
from bus import Bus
from bus.stats import Replica
from protocol.replicas import VaultKeyMark
from protocol.subjects import VAULT

WAIT_MS = 1_000
"""How long the first of them gets to answer."""

CLOCKS_APART_MS = 5_000
"""By how much clocks may differ before somebody should hear of it; an answer takes less."""


_ROOT = "root"


async def keep_vault_key(bus: Bus, fingerprint: str) -> None:
    """Note by what the vault key is known, or see that it is the one that everything was sealed with.

    Raises:
        FaultError: CONFIG_INVALID: it is another one, with which nothing that is kept can be opened.
    """
    table = await bus.table(VAULT)
    kept = await table.get(_ROOT)
    if kept is None:
        await table.put(_ROOT, VaultKeyMark(fingerprint=fingerprint))
    elif kept.value is not None and kept.value.fingerprint != fingerprint:
        what = "vault_key: what is kept here was sealed with another one, as where the file vault-key was not restored"
        cure = f"Bring back that file or {env_name('vault_key')}, or begin anew with an empty store (nats/)."
        raise invalid("vault_key", what, cure)


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
