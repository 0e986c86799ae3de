"""Seals anew, once, what an earlier version has sealed with the root: each purpose has a key of its own by now."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import structlog

from bus import Bus
from bus.seal import Seal, UnsealError
from protocol.access import OWNER_NAME
from protocol.subject_kinds import Bucket
from protocol.subjects import BROWSER_SESSIONS, KEYS, SESSIONS

log = structlog.stdlib.get_logger()

RESEALED = "vault_resealed"
LEFT = "vault_value_left"

MARKER: Final = "vault-divided"
"""The file of the data folder that says that there is nothing left to be sealed anew."""

_BUCKETS: tuple[Bucket[Any], ...] = (SESSIONS, KEYS, BROWSER_SESSIONS)
"""What lasts. Cached answers are got again; runs of before the update can neither be gone on with nor downloaded."""


async def reseal(bus: Bus, root: Seal, data_dir: Path) -> None:
    """Seal every value anew that the root has sealed, unless that was done before; `bus` is the supervisor's.

    Logins become those of the owner of the machine. What was begun and broken off is gone on with.
    """
    marker = data_dir / MARKER
    if marker.exists():
        return
    counts = {bucket.name: await _reseal(bus, root, bucket) for bucket in _BUCKETS}
    if any(counts.values()):
        log.warning(RESEALED, detail="runs of the earlier version cannot be resumed or downloaded", **counts)
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.touch(mode=0o600)


async def _reseal(bus: Bus, root: Seal, bucket: Bucket[Any]) -> int:
    keys, count = await bus.transport.keys(bucket), 0
    for name in await keys.names():
        entry = await keys.get(name)
        if entry is None or entry.value is None:
            continue
        try:
            value = root.unseal_undivided(entry.value, f"{bucket.name} {name}")
        except UnsealError:
            continue  # sealed anew already, or by a key that is lost
        target = _renamed(bucket, name)
        try:
            written = root.seal(value, f"{bucket.name} {target}")
            await keys.put(target, written, revision=entry.revision if target == name else 0)
        except ValueError:  # another host was faster
            log.warning(LEFT, bucket=bucket.name)
        if target != name:
            await keys.delete(name)
        count += 1
    return count


def _renamed(bucket: Bucket[Any], name: str) -> str:
    """Return the key that a value has by now: that of a login begins with its owner."""
    is_nobodys = bucket.name == SESSIONS.name and name.count("/") == 1
    return f"{OWNER_NAME}/{name}" if is_nobodys else name
