"""The dependencies that the parts of the runner share."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from actors.runner.flows.shelf import FlowShelf
from actors.runner.inputs import Vault
from actors.runner.run_log import RunLog
from actors.runner.template import SourceKeeper
from actors.runner.templates.table import Catalogue
from actors.settings import Settings
from actors.usage import UsageLedger
from actors.web.client import WebClient
from bus import Bus
from bus.stores import FileStore, KeyTable
from protocol.runs.requests import IdempotencyEntry


class RunnerDependencies(Struct, frozen=True):
    """One replica's access to the bus, the ledger, the stores, the templates and the secrets."""

    bus: Bus
    settings: Settings
    templates: Catalogue
    run_log: RunLog
    artifacts: FileStore
    keys: KeyTable[IdempotencyEntry]
    vault: Vault
    web: WebClient | None = None
    sources: SourceKeeper | None = None
    flows: FlowShelf | None = None
    has_ended: Callable[[str], bool] = lambda _: False
    """Whether the key of a caller has ended."""

    usage: UsageLedger = field(default_factory=UsageLedger)
