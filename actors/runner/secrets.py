"""What is secret in the inputs of runs: kept in the memory of one replica, and told to whoever does the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import structlog

from actors.runner.run_log import Histories
from bus import Bus, TransportError
from bus.clock import now_ms
from bus.seal import UnsealError
from protocol.codec import encode
from protocol.faults import FaultError
from protocol.runs.events import RunCreated
from protocol.runs.requests import AskSecrets, inputs_of
from protocol.subjects import RUN_SECRETS

log = structlog.stdlib.get_logger()

SECRETS_GONE = "run_secrets_gone"

MAX_KEPT: Final = 1_000
KEEP_MS: Final = 86_400_000
"""How long what is secret is kept for a run that does not end."""

_read = msgspec.json.Decoder(dict[str, Any])


@dataclass(eq=False)
class Vault:
    """The secrets of the runs that were asked for at this replica, sealed in memory, too."""

    bus: Bus
    _kept: dict[str, tuple[int, bytes]] = field(default_factory=dict[str, tuple[int, bytes]], repr=False)

    def keep(self, run_id: str, secrets: Mapping[str, Any]) -> None:
        """Keep what is secret in the inputs of a run; the oldest makes room."""
        if self.bus.seal is None:
            return
        self._kept[run_id] = (now_ms(), self.bus.seal.seal(encode(secrets), inputs_of(run_id)))
        while len(self._kept) > MAX_KEPT:
            del self._kept[next(iter(self._kept))]

    def told(self, run_id: str) -> bytes | None:
        """Return it as it travels, if it is here."""
        kept = self._kept.get(run_id)
        return None if kept is None else kept[1]

    def forget(self, run_id: str) -> None:
        """Forget it."""
        self._kept.pop(run_id, None)

    async def find(self, run: RunCreated) -> dict[str, Any]:
        """Ask whoever has it; nothing where it is gone, or there was never anything."""
        if not run.secrets_at or self.bus.seal is None:
            return {}
        sealed = self.told(run.run_id)
        if sealed is None and run.secrets_at != self.bus.replica:
            sealed = await self._asked(run)
        if sealed is None:
            log.warning(SECRETS_GONE, run=run.run_id, replica=run.secrets_at)
            return {}
        try:
            return _read.decode(self.bus.seal.unseal(sealed, inputs_of(run.run_id)))
        except UnsealError:
            log.warning(SECRETS_GONE, run=run.run_id, replica=run.secrets_at)
            return {}

    async def sweep(self, histories: Histories) -> None:
        """Forget what belongs to runs that are over, or too old."""
        for run_id, (kept_at, _) in list(self._kept.items()):
            try:
                over = (await histories.stands(run_id)).final
            except TransportError:
                return
            if over or kept_at < now_ms() - KEEP_MS:
                self.forget(run_id)

    async def _asked(self, run: RunCreated) -> bytes | None:
        try:
            call = RUN_SECRETS.at(replica=run.secrets_at)
            return (await self.bus.call(call, AskSecrets(run_id=run.run_id))).sealed
        except FaultError:
            return None
