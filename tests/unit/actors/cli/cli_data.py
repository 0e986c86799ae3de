"""Fakes and answers that the tests of the command line share."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import pytest

from actors.settings import Loaded, Settings
from bus.stats import Replica
from bus.transport import BusMessage
from protocol.browse import BrowseContent, BrowseMetadata, BrowseResult
from protocol.tiers import RenderTier

MARK = "S3cr3tV4lu3"

RESULT = BrowseResult(
    url="https://a.example/",
    title="T\x1b[2Jitle",
    content=BrowseContent(markdown="# Head\x1b]0;owned\x07\n\ntext \x9b31m\u202e &#x9b;x", text="text"),
    metadata=BrowseMetadata(load_time=12, timestamp=0, final_url="https://a.example/", tier=RenderTier.INTELLIGENCE),
)

REPLICA = Replica(
    actor="navigator",
    replica="r1",
    host="h",
    pid=7,
    version="0.1.0",
    started=1_000,
    in_flight=1,
    queued=2,
    served=3,
    errors=0,
    slow=0,
    p50_ms=1.5,
    p99_ms=9.25,
    endpoints=(),
)


class FakeBus:
    """A bus of answers that are known before."""

    def __init__(self, *, replicas: tuple[Replica, ...] = (), messages: tuple[BusMessage, ...] = ()) -> None:
        self._replicas = replicas
        self._messages = messages

    async def replicas(self) -> tuple[Replica, ...]:
        return self._replicas

    async def tap(self, subject: str = ">") -> AsyncIterator[BusMessage]:
        for message in self._messages:
            yield message


class FakeLaunch(ModuleType):
    """Stands where `actors.runtime.launch` would be, and remembers what `up` was asked for."""

    def __init__(self, bus: FakeBus | None = None, error: Exception | None = None, status: int = 0) -> None:
        super().__init__("actors.runtime.launch")
        self.asked: dict[str, Any] = {}
        self._bus = bus
        self._error = error
        self._status = status

    def up(self, loaded: Loaded, **choices: object) -> int:
        self.asked = {"settings": loaded.settings, **choices}
        if self._error:
            raise self._error
        return self._status

    @asynccontextmanager
    async def connect(self, settings: Settings, *, stdio: bool = False) -> AsyncGenerator[FakeBus | None, None]:
        if self._error:
            raise self._error
        yield self._bus


def connected_to(monkeypatch: pytest.MonkeyPatch, bus: FakeBus | None, error: Exception | None = None) -> None:
    monkeypatch.setitem(sys.modules, "actors.runtime.launch", FakeLaunch(bus, error))
