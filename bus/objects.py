"""An object store of the table of subjects as an actor sees it: whole files by name."""

from __future__ import annotations

from dataclasses import dataclass

from bus.seal import Seal, UnsealError
from bus.transport import Blobs
from protocol.subjects import Objects

MAX_NAME_CHARS = 512
"""A name travels in a subject, in base64, and nats-server reads lines of at most 4,096 bytes."""


@dataclass(frozen=True)
class Store:
    """The files of one object store: each is there until it is deleted, too old, or has to make room for newer ones."""

    entry: Objects
    blobs: Blobs
    seal: Seal | None = None

    async def put(self, name: str, data: bytes) -> None:
        """Keep `data`, in place of what has that name.

        Raises:
            ValueError: the name is empty or too long, or the data is more than half of what the store takes.
        """
        _check(name)
        if len(data) > self.entry.max_bytes // 2:
            msg = f"{len(data)} bytes are more than half of the {self.entry.max_bytes} of {self.entry.name}"
            raise ValueError(msg)
        await self.blobs.put(name, data if self.seal is None else self.seal.seal(data, self._place(name)))

    async def get(self, name: str) -> bytes:
        """Return back what was put.

        Raises:
            KeyError: it was never there, is gone, or was sealed with another key.
            ValueError: that is no name.
        """
        _check(name)
        data = await self.blobs.get(name)
        if self.seal is None:
            return data
        try:
            return self.seal.unseal(data, self._place(name))
        except UnsealError:
            raise KeyError(name) from None

    async def delete(self, name: str) -> None:
        """Forget it; nothing happens when it is gone."""
        _check(name)
        await self.blobs.delete(name)

    def _place(self, name: str) -> str:
        return f"{self.entry.name} {name}"


def _check(name: str) -> None:
    if not 0 < len(name.encode()) <= MAX_NAME_CHARS:
        msg = f"a name has 1 to {MAX_NAME_CHARS} bytes"
        raise ValueError(msg)
