"""Waits for the server that begin anew when the connection comes back, for what they wait for may be lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar
from weakref import WeakSet

import anyio

from bus.errors import TransportError

T = TypeVar("T")


class Waits:
    """The waits that are under way; nats-py by itself would let each run into its timeout of seconds."""

    def __init__(self) -> None:
        """Wait for nothing."""
        self.connections = 1
        self._scopes: WeakSet[anyio.CancelScope] = WeakSet()

    async def reconnected(self) -> None:
        """End every wait."""
        self.connections += 1
        for scope in list(self._scopes):
            scope.cancel()

    def cut(self) -> anyio.CancelScope:
        """Return a block that is left early, and silently, when the connection comes back."""
        scope = anyio.CancelScope()
        self._scopes.add(scope)
        return scope

    async def again(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask what may be asked twice, until an answer comes."""
        while True:
            with self.cut():
                return await ask()

    async def once(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask what must not be asked twice.

        Raises:
            TransportError: the connection broke meanwhile, so nobody knows what came of it.
        """
        with self.cut():
            return await ask()
        msg = "the connection broke while the answer was awaited"
        raise TransportError(msg)
