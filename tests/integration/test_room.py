"""The room of JetStream: shared among what is bounded, followed when it changes, and named where there is none."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from nats.js.errors import APIError

from actors.settings import Settings
from bus import Bus
from bus.errors import JournalFullError, NoRoomError, StorageFullError
from bus.nats import room
from bus.nats.server import store_bytes, streams_on_disk
from bus.nats.transport import NatsTransport, connect
from bus.stores import JournalLog, KeyTable
from protocol.faults import Code
from protocol.subject_kinds import Journal, Objects
from protocol.subjects import table
from tests.contract.world import PLACES, Ask
from tests.support.nats import OVERSEER, STORE_BYTES, serve_nats, serve_open_nats

pytestmark = pytest.mark.nats

TEST_S = 240.0
MB = 1024 * 1024

LINES = Journal("lines", Ask, ttl_ms=None, max_bytes=32 * MB)
NEWS = Journal("news", Ask, ttl_ms=60_000, max_bytes=32 * MB)
FILES = Objects("files", ttl_ms=60_000, max_bytes=64 * MB)
BOUNDED = (LINES, NEWS, FILES)


async def sizes(transport: NatsTransport) -> dict[str, int | None]:
    """Return how much each stream may hold, by its name, of those that are bounded and on disk."""
    return {one.name: one.max_bytes for one in await transport.streams() if one.max_bytes and one.name != "CLAIMS"}


async def filled(places: KeyTable[Ask]) -> None:
    """Write until there is no room."""
    for number in range(200):
        await places.put(f"key-{number}", Ask(text="x" * (MB // 2)))


def shared(share: float) -> dict[str, int]:
    return {room.stream_of(one): int(one.max_bytes * share) for one in BOUNDED}


def test_the_least_that_is_set_has_room_for_all_that_is_bounded() -> None:
    bounded = [entry for _, entry in table() if isinstance(entry, Objects | Journal)]
    least = 160_000_000

    assert room.least_bytes(bounded) <= least <= Settings().jetstream_max_bytes
    assert room.share_of(bounded, Settings().jetstream_max_bytes) == 1


async def test_what_is_bounded_shares_a_server_and_follows_its_limit(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, {}) as server, server.connect(OVERSEER) as transport:
            await transport.allot(BOUNDED, STORE_BYTES)
            first = await sizes(transport)
            await transport.allot(BOUNDED, STORE_BYTES // 2)
            less = await sizes(transport)
            lines = await transport.records(LINES)
            for number in range(8):
                await lines.append(f"line.{number}", bytes(MB // 2))
            held = next(one.size_bytes for one in await transport.streams() if one.name == room.stream_of(LINES))
            await transport.allot(BOUNDED, STORE_BYTES // 8)
            least = await sizes(transport)

        assert first == shared(0.375)
        assert less == shared(0.1875)
        assert least == {**shared(0.375 / 8), room.stream_of(LINES): held + held // 8}
        assert store_bytes(tmp_path, MB) == sum(filter(None, least.values()))
        assert {one.name for one in streams_on_disk(tmp_path)} == set(shared(1))


async def test_a_server_that_does_not_say_its_room_is_shared_all_the_same(tmp_path: Path) -> None:
    limits = tmp_path / "limits.conf"
    limits.write_text(f"jetstream {{ max_file_store: {64 * MB} }}")
    with anyio.fail_after(TEST_S):
        async with (
            serve_open_nats(tmp_path / "nats", "-c", str(limits)) as url,
            connect(url, "supervisor") as transport,
        ):
            await transport.allot(BOUNDED, None)
            made = await sizes(transport)
            large = Journal("large", Ask, ttl_ms=None, max_bytes=64 * 64 * MB)
            with pytest.raises(NoRoomError) as refused:
                await transport.allot((*BOUNDED, large), None)

        assert made == shared(0.75**4)
        assert refused.value.wanted_bytes == room.least_bytes([large])


async def overfilled(lines: JournalLog[Ask], size: int) -> None:
    """Write lines of one size until they are refused."""
    for number in range(1_000):
        await lines.append(f"line.{number}", Ask(text="x" * size))


async def brimful(transport: NatsTransport, size: int) -> None:
    """Write lines as a Weft does that leaves no spare room."""
    for number in range(1_000):
        await transport.jetstream.publish(f"{LINES.name}.brim.{size}.{number}", bytes(size))


@asynccontextmanager
async def kept_lines(folder: Path) -> AsyncGenerator[tuple[NatsTransport, JournalLog[Ask]]]:
    """Open a journal that is kept for good, on a server of its own."""
    async with (
        serve_nats(folder, {}) as server,
        server.connect(OVERSEER) as transport,
        Bus(transport, OVERSEER, "r1").running() as bus,
    ):
        await transport.allot(BOUNDED, STORE_BYTES // 2)
        yield transport, await bus.journal(LINES)


async def test_a_journal_that_is_full_has_room_to_forget_the_smallest_line(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with kept_lines(tmp_path) as (transport, lines):
            await lines.append("small", Ask(text="x"))
            for size in (MB // 4, 1_000, 1):
                with pytest.raises(JournalFullError):
                    await overfilled(lines, size)
            await transport.allot(BOUNDED, STORE_BYTES // 16)
            gone = await lines.append("small", Ask(text="gone" * 1_000), forget=True)
            last = await lines.last("small")

        assert last is not None
        assert (last.sequence, last.value) == (gone, Ask(text="gone" * 1_000))


async def test_what_would_not_fit_in_its_place_is_not_forgotten(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with kept_lines(tmp_path) as (transport, lines):
            await lines.append("small", Ask(text="kept"))
            for size in (MB // 4, 1_000, 1):
                with pytest.raises(APIError):
                    await brimful(transport, size)
            with pytest.raises(JournalFullError):
                await lines.append("small", Ask(text="gone" * 1_000), forget=True)
            last = await lines.last("small")

        assert last is not None
        assert last.value == Ask(text="kept")


async def test_a_server_without_room_is_named_at_once(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, {}) as server, server.connect(OVERSEER) as transport:
            async with Bus(transport, OVERSEER, "r1").running() as bus:
                places = await bus.table(PLACES)
                lines = await bus.journal(LINES)
                forgotten = await lines.append("topic", Ask(text="x" * (MB // 2)))
                with pytest.raises(StorageFullError) as full:
                    await filled(places)
                with pytest.raises(StorageFullError):
                    await lines.append("other", Ask(text="x"))
                gone = await lines.append("topic", Ask(text="gone"), forget=True)

            assert full.value.fault.code is Code.CONFIG_STORAGE_FULL
            assert gone > forgotten
