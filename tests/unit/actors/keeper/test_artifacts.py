"""The files of runs, read in pieces and deleted in their time."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from actors.keeper.artifacts import read_piece
from bus.memory import Broker
from protocol import subjects
from protocol.faults import Code, FaultError
from protocol.runs.events import slice_name
from tests.requirements import requirement
from tests.unit.actors.keeper.ledger_data import (
    ARTIFACT,
    DAY_MS,
    ME,
    NOW,
    YOU,
    Asking,
    World,
    artifact_id,
    asking,
    created,
    success,
    world,
)

TEXT = b"0123456789ab"


async def refused(asker: Asking, name: str = ARTIFACT, caller: str = ME, offset: int = 0) -> tuple[Code, str | None]:
    with pytest.raises(FaultError) as caught:
        await asker.read(name, caller, offset=offset)
    return caught.value.fault.code, caught.value.fault.field


async def with_file(place: World, data: bytes = TEXT) -> None:
    await place.asking.write(*success(artifacts=(await place.asking.keep(data),)))


async def test_a_file_that_fits_comes_whole(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await with_file(place)
        chunk = await place.asking.read()

        assert (chunk.data, chunk.size, chunk.complete, chunk.mime_type) == (TEXT, 12, True, "application/json")
        assert (chunk.offset, chunk.bytes_returned) == (UNSET, UNSET)


@requirement("002.5.artifacts")
async def test_a_larger_one_comes_in_pieces(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await with_file(place)
        first = await place.asking.read(limit=7)
        last = await place.asking.read(offset=7, limit=7)
        end = await place.asking.read(offset=12)

        assert (first.data, first.offset, first.bytes_returned, first.complete) == (TEXT[:7], 0, 7, False)
        assert (last.data, last.offset, last.bytes_returned, last.complete) == (TEXT[7:], 7, 5, True)
        assert (end.data, end.bytes_returned, end.complete) == (b"", 0, True)


async def test_no_answer_has_more_than_the_setting_allows(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper() as keeper:
        most = keeper.settings.artifact_inline_bytes
        data = bytes(most + 1)
        await place.asking.write(*success(artifacts=(await place.asking.keep(data, slice_bytes=200_000),)))
        chunk = await place.asking.read(limit=10**9)

        assert (chunk.bytes_returned, chunk.complete) == (most, False)
        assert await place.asking.read_whole(10**9) == data


@given(data=st.binary(max_size=60), slice_bytes=st.integers(1, 20), limit=st.integers(1, 70))
def test_pieces_of_any_size_make_the_same_file(data: bytes, slice_bytes: int, limit: int) -> None:
    async def read() -> bytes:
        async with Broker() as broker, asking(broker.connect("asker")) as asker:
            kept = await asker.keep(data, slice_bytes=slice_bytes)
            whole = b""
            while True:
                chunk = await read_piece(asker.store, kept, len(whole), limit)
                assert len(chunk.data) <= limit
                whole += chunk.data
                if chunk.complete:
                    return whole

    assert anyio.run(read) == data


@requirement("002.7.artifact-errors")
async def test_what_is_not_there_is_told_from_what_is_there_no_longer(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await with_file(place)

        assert await refused(place.asking, artifact_id(2)) == (Code.ARTIFACT_NOT_FOUND, None)
        assert await refused(place.asking, caller=YOU) == (Code.ARTIFACT_NOT_FOUND, None)
        assert await refused(place.asking, offset=13) == (Code.VALIDATION_INVALID_REQUEST, "offset")
        place.clock.now = NOW + DAY_MS
        assert (await place.asking.read()).complete
        place.clock.now += 1
        assert await refused(place.asking) == (Code.ARTIFACT_EXPIRED, None)
        assert await refused(place.asking, caller=YOU) == (Code.ARTIFACT_NOT_FOUND, None)


async def test_a_file_whose_bytes_are_gone_has_expired(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await with_file(place)
        await place.asking.store.delete(slice_name(ARTIFACT, 1))

        assert (await place.asking.read(limit=5)).data == TEXT[:5]
        assert await refused(place.asking) == (Code.ARTIFACT_EXPIRED, None)


@requirement("002.5.ttl")
async def test_what_has_expired_is_deleted_and_remembered(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        kept = await place.asking.keep(TEXT, artifact_id(2), expires_at=NOW + 10 * DAY_MS)
        await with_file(place)
        other = "run_" + "2" * 22
        await place.asking.write(*success(other, artifacts=(kept,)))
        place.clock.now = NOW + 2 * DAY_MS
        held = place.broker.stores[subjects.ARTIFACTS.name].held
        async with place.keeper():
            while any(name.startswith(ARTIFACT) for name in held):
                await anyio.sleep(0.005)
            assert await refused(place.asking) == (Code.ARTIFACT_EXPIRED, None)
            assert (await place.asking.read(artifact_id(2))).data == TEXT

        async with place.keeper():
            assert await refused(place.asking) == (Code.ARTIFACT_EXPIRED, None)


async def test_a_run_goes_from_the_tables_when_it_has_left_the_ledger(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        await with_file(place)
        other = "run_" + "2" * 22
        await place.asking.write(created(other))
        async with place.keeper():
            assert (await place.asking.list()).total == 2
        del place.broker.journals[subjects.LEDGER.name].held[:6]
        async with place.keeper():
            while (await place.asking.list()).total == 2:
                await anyio.sleep(0.005)

            assert [one.run_id for one in (await place.asking.list()).runs] == [other]
            assert await refused(place.asking) == (Code.ARTIFACT_NOT_FOUND, None)
