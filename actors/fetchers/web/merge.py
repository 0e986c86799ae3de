"""Lets those who ask the same at the same time share one answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio

from protocol.faults import Code, Fault, FaultError

A = TypeVar("A")


@dataclass
class _Flight(Generic[A]):
    """Something that is being asked: how it ended, where it ended well or in a fault."""

    landed: anyio.Event = field(default_factory=anyio.Event)
    answer: A | None = None
    fault: Fault | None = None


class Merged(Generic[A]):
    """What is being asked at the moment, by its key; a fault is shared as an answer is."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[A]] = {}

    async def once(self, key: Hashable, ask: Callable[[], Awaitable[A]]) -> tuple[A, bool]:
        """Ask, or wait for somebody else's answer: which, is told by the second, true for one's own.

        Whoever asks may be cancelled or run out of time: then the next who waits asks instead.

        Raises:
            FaultError: what asking ended in.
        """
        while (flight := self._flights.get(key)) is not None:
            await flight.landed.wait()
            if flight.answer is not None:
                return flight.answer, False
            if flight.fault is not None:
                raise FaultError(flight.fault)
        return await self._ask(key, ask), True

    async def _ask(self, key: Hashable, ask: Callable[[], Awaitable[A]]) -> A:
        flight = self._flights[key] = _Flight[A]()
        try:
            flight.answer = await ask()
        except FaultError as error:
            if error.fault.code is not Code.NETWORK_TIMEOUT:
                flight.fault = error.fault
            raise
        finally:
            del self._flights[key]
            flight.landed.set()
        return flight.answer
