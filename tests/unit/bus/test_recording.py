"""What a recording unpacks to is bounded: it was packed by whoever sent it."""

from __future__ import annotations

import msgspec
import pytest

from bus.recording import read_entries, write_entries
from protocol.recordings import RecordedEntry

ENTRY = RecordedEntry(
    kind="outside", name="web.fetch", sender="a/1", at_us=1, request=msgspec.Raw(b'"' + b"a" * 9_000 + b'"')
)
PACKED = write_entries([ENTRY] * 10)


def test_entries_are_unpacked_as_they_were() -> None:
    assert [bytes(one.request) for one in read_entries(PACKED, 200_000)] == [bytes(ENTRY.request)] * 10


@pytest.mark.parametrize("room", [50_000, 1, 0, -1])
def test_more_than_there_is_room_for_is_refused(room: int) -> None:
    with pytest.raises(ValueError, match=r"more than|no room"):
        read_entries(PACKED, room)


def test_what_is_not_packed_is_refused() -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_entries(b"nothing of the kind", 1_000)
