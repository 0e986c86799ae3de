"""What the tools of the runner work with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from actors.settings import Settings
from bus import Bus
from bus.stores import JournalLog
from protocol.collections import CollectionLine


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """What a tool works with: the bus, the journal of collections, settings, and what is secret of the operator's."""

    bus: Bus
    settings: Settings
    collections: JournalLog[CollectionLine]
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
