"""Changes what replicas share about a host, one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import anyio
import stamina

from bus.stores import KeyChange
from protocol.web import HostPace

_CHANGE_S = 5.0
"""How long replicas may be in each other's way."""

_BUS_S = 1.0
"""How long the bus may take before a replica goes on by itself."""

T = TypeVar("T")


class Paces(Protocol):
    """What is used of the bucket PACE."""

    async def get(self, key: str) -> KeyChange[HostPace] | None:
        """Return the value of a key with its revision, if it has one."""
        ...

    async def put(self, key: str, value: HostPace, *, revision: int | None = None) -> int:
        """Set a key; ValueError when `revision` is no longer the last."""
        ...


class OwnPaces:
    """The paces of a replica that shares them with nobody."""

    def __init__(self) -> None:
        self._held: dict[str, KeyChange[HostPace]] = {}

    async def get(self, key: str) -> KeyChange[HostPace] | None:
        """Return the value of a key with its revision, if it has one."""
        return self._held.get(key)

    async def put(self, key: str, value: HostPace, *, revision: int | None = None) -> int:
        """Set a key; ValueError when `revision` is no longer the last."""
        last = held.revision if (held := self._held.get(key)) else 0
        if revision not in (None, last):
            raise ValueError(key)
        self._held[key] = KeyChange(key, value, last + 1)
        return last + 1


@dataclass
class Seen:
    """What a replica last saw of a host."""

    last: KeyChange[HostPace] | None = None

    @property
    def pace(self) -> HostPace:
        """The pace as it was then."""
        return (self.last.value if self.last else None) or HostPace()


async def changed(paces: Paces, host: str, seen: Seen, turn: Callable[[HostPace], tuple[HostPace, T]]) -> T:
    """Change the pace of a host; where somebody else was faster, look again and try again.

    Raises:
        ValueError: others were faster for seconds.
        TransportError, TimeoutError: the bus is away.
    """
    async for attempt in stamina.retry_context(
        on=ValueError, attempts=None, timeout=_CHANGE_S, wait_initial=0.001, wait_max=0.05, wait_jitter=0.01
    ):
        with attempt, anyio.fail_after(_BUS_S):
            return await _change(paces, key_of(host), seen, turn)
    raise AssertionError  # pragma: no cover - it returns or raises


async def _change(paces: Paces, key: str, seen: Seen, turn: Callable[[HostPace], tuple[HostPace, T]]) -> T:
    """Change a pace by what was last seen of it, or by what is there where that would change nothing."""
    last, seen.last = seen.last, None
    if last is not None and last.value is not None:
        after, result = turn(last.value)
        if after != last.value:
            seen.last = KeyChange(key, after, await paces.put(key, after, revision=last.revision))
            return result
    found = await paces.get(key)
    before = (found.value if found else None) or HostPace()
    after, result = turn(before)
    revision = found.revision if found else 0
    if after != before:
        revision = await paces.put(key, after, revision=revision)
    seen.last = KeyChange(key, after, revision)
    return result


def key_of(host: str) -> str:
    """Write a host as a key: an IPv6 address has colons."""
    return host.lower().rstrip(".").replace(":", "_") or "_"
