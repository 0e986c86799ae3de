"""A transport that sends what is written at once in one piece: the head of an answer and its body cost one call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, TypeAlias

Data: TypeAlias = bytes | bytearray | memoryview


class Together(asyncio.Transport):
    """Holds the first piece until the next is written, or the loop has its turn."""

    def __init__(self, inner: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._inner = inner
        self._loop = loop
        self._held: Data = b""
        self._turn: asyncio.Handle | None = None

    def write(self, data: Data) -> None:
        """Send, sooner or later in this turn of the loop."""
        if not data:
            return
        if self._turn is not None:
            self._held = b"".join((self._held, data))
            self._flush()
        else:
            self._held = data
            self._turn = self._loop.call_soon(self._flush)

    def writelines(self, list_of_data: Iterable[Data]) -> None:
        """Send all of them."""
        self.write(b"".join(list_of_data))

    def write_eof(self) -> None:
        """Send what is held, and say that it was the last."""
        self._flush()
        self._inner.write_eof()

    def can_write_eof(self) -> bool:
        """Tell whether there is a way to say so."""
        return self._inner.can_write_eof()

    def close(self) -> None:
        """Send what is held, and close."""
        self._flush()
        self._inner.close()

    def abort(self) -> None:
        """Close at once."""
        self._forget()
        self._inner.abort()

    def is_closing(self) -> bool:
        """Tell whether it is closed, or about to be."""
        return self._inner.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Tell of the connection."""
        return self._inner.get_extra_info(name, default)

    def is_reading(self) -> bool:
        """Tell whether it takes in."""
        return self._inner.is_reading()

    def pause_reading(self) -> None:
        """Take in no more for now."""
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        """Take in again."""
        self._inner.resume_reading()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Choose when whoever writes has to wait."""
        self._inner.set_write_buffer_limits(high, low)

    def get_write_buffer_size(self) -> int:
        """Tell how much is still to be sent."""
        return self._inner.get_write_buffer_size() + len(self._held)

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """Tell when whoever writes has to wait."""
        return self._inner.get_write_buffer_limits()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Give the connection to another protocol."""
        self._inner.set_protocol(protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Tell whose it is."""
        return self._inner.get_protocol()

    def _flush(self) -> None:
        held = self._held
        self._forget()
        if held:
            self._inner.write(held)

    def _forget(self) -> None:
        self._held = b""
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None
