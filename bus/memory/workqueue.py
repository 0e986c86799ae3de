"""Durable work in a dict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio

from bus.transport import Message, Taken
from protocol.subjects import Work

POLL_S = 0.005


@dataclass
class Waiting:
    """One piece of work, and from when on it may be handed out."""

    message: Message
    visible_at: float = 0.0
    deliveries: int = 0


@dataclass
class HeldWork:
    """The work of one stream in the order in which it came, and the ids that were ever put."""

    work: Work[Any]
    waiting: dict[str, Waiting] = field(default_factory=dict[str, Waiting])
    seen: set[str] = field(default_factory=set[str])

    def add(self, message: Message) -> None:
        """Add work, once for each id."""
        identity = message.headers.get("Nats-Msg-Id", f"#{len(self.seen)}")
        if identity not in self.seen:
            self.seen.add(identity)
            self.waiting[identity] = Waiting(message)

    def visible(self, limit: int) -> list[tuple[str, Waiting]]:
        """Hand out up to `limit` pieces: first what was handed out before, then as much that is new as has a place."""
        now = anyio.current_time()
        placed = [one for one in self.waiting.items() if one[1].deliveries and not self._dead(one[1], now)]
        new = [one for one in self.waiting.items() if not one[1].deliveries]
        if self.work.at_once is not None:
            new = new[: max(0, self.work.at_once - len(placed))]
        taken = [*(one for one in placed if one[1].visible_at <= now), *new][:limit]
        for _, item in taken:
            item.visible_at = now + self.ack_wait_s
            item.deliveries += 1
        return taken

    @property
    def ack_wait_s(self) -> float:
        """For how long a piece stays with who shows no life."""
        return self.work.ack_wait_ms / 1000

    def _dead(self, item: Waiting, now: float) -> bool:
        most = self.work.max_deliver
        return most is not None and item.deliveries >= most and item.visible_at <= now


@dataclass(frozen=True)
class MemoryTaken:
    """One piece of work in hand."""

    item: Waiting
    key: str
    inner: HeldWork
    check_connected: Callable[[], None]

    @property
    def message(self) -> Message:
        """The work."""
        return self.item.message

    @property
    def deliveries(self) -> int:
        """How often it was handed out."""
        return self.item.deliveries

    async def alive(self) -> None:
        """Say that it is still being worked on."""
        self.check_connected()
        self.item.visible_at = anyio.current_time() + self.inner.ack_wait_s

    async def done(self) -> None:
        """Take it out."""
        self.check_connected()
        self.inner.waiting.pop(self.key, None)

    async def again(self, delay_s: float) -> None:
        """Put it back."""
        self.check_connected()
        self.item.visible_at = anyio.current_time() + delay_s


@dataclass(frozen=True)
class MemoryQueue:
    """A queue of work as one participant reaches it."""

    inner: HeldWork
    name: str
    check_connected: Callable[[], None]
    check_publish: Callable[[str], None]

    async def put(self, subject: str, message: Message) -> None:
        """Add work, once for each id."""
        self.check_connected()
        self.check_publish(subject)
        self.inner.add(message)

    async def take(self, limit: int, timeout_s: float) -> list[Taken]:
        """Take up to `limit` pieces of work."""
        self.check_publish(f"$JS.API.CONSUMER.MSG.NEXT.{self.name}.{self.name}")
        with anyio.move_on_after(timeout_s):
            while True:
                self.check_connected()
                if found := self.inner.visible(limit):
                    return [MemoryTaken(item, key, self.inner, self.check_connected) for key, item in found]
                await anyio.sleep(POLL_S)
        return []
