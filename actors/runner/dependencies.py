"""What the parts of the runner work with."""

from __future__ import annotations

from dataclasses import dataclass

from actors.runner.inputs import Vault
from actors.runner.run_log import Histories
from actors.runner.templates.table import Catalogue
from actors.settings import Settings
from bus import Bus
from bus.stores import FileStore, KeyTable
from protocol.runs.keys import KeyedRun


@dataclass(frozen=True)
class Means:
    """One replica's way to the ledger, the stores and everybody else."""

    bus: Bus
    settings: Settings
    templates: Catalogue
    histories: Histories
    artifacts: FileStore
    keys: KeyTable[KeyedRun]
    vault: Vault
