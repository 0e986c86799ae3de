"""What is written at once leaves in one piece, and nothing is kept back."""

from __future__ import annotations

import asyncio
from typing import cast

from anyio.lowlevel import checkpoint

from actors.gateway.http.together import Together


class Sent(asyncio.Transport):
    """Keeps what was sent, piece by piece; `closed` is how many there were at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[bytes] = []
        self.closed: int | None = None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.pieces.append(bytes(data))

    def close(self) -> None:
        self.closed = len(self.pieces)

    def abort(self) -> None:
        self.closed = len(self.pieces)


def together() -> tuple[Sent, Together]:
    sent = Sent()
    return sent, Together(sent, asyncio.get_running_loop())


async def test_a_head_and_its_body_leave_together_and_at_once() -> None:
    sent, transport = together()

    transport.write(b"head ")
    transport.write(b"body")

    assert sent.pieces == [b"head body"]
    await checkpoint()
    assert sent.pieces == [b"head body"]


async def test_a_piece_alone_leaves_in_the_same_turn() -> None:
    sent, transport = together()

    transport.write(b"event")
    transport.write(b"")
    await checkpoint()
    transport.writelines([b"an", b"other"])
    await checkpoint()

    assert sent.pieces == [b"event", b"another"]


async def test_what_is_held_leaves_before_the_end() -> None:
    sent, transport = together()

    transport.write(b"last")
    transport.close()

    assert (sent.pieces, sent.closed) == ([b"last"], 1)


async def test_nothing_leaves_what_is_aborted() -> None:
    sent, transport = together()

    transport.write(b"lost")
    transport.abort()
    await checkpoint()

    assert (sent.pieces, sent.closed) == (cast("list[bytes]", []), 0)
