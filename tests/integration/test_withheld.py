"""Keys of providers in the environment of `weft up`: the router has them, and no other process ever had."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.system import running_weft

pytestmark = [
    pytest.mark.nats,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

KEY = "sk-planted-5d1f77ab"


async def test_no_process_but_the_launcher_and_the_router_has_a_key_in_its_environment_or_memory(
    tmp_path: Path,
) -> None:
    async with running_weft(tmp_path, OPENAI_API_KEY=KEY, AWS_SECRET_ACCESS_KEY=KEY) as system:
        pids = tuple(family(system.ready.pid))
        names = {pid: Path(f"/proc/{pid}/comm").read_text().strip() for pid in pids}
        told = [names[pid] for pid in pids if KEY.encode() in Path(f"/proc/{pid}/environ").read_bytes()]
        held = [names[pid] for pid in pids if pid != system.ready.pid and KEY.encode() in memory(pid)]

    assert len(pids) > 8
    assert told == []
    assert held == ["weft:router"]
    assert KEY not in system.log.read_text()
    assert all(KEY.encode() not in path.read_bytes() for path in system.data_dir.rglob("*") if path.is_file())


def family(pid: int) -> Iterator[int]:
    """Yield a process and all that came from it."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            yield from family(child)


def memory(pid: int) -> bytes:
    """Read what a core of a process would hold: all that it may write to."""
    whole = bytearray()
    with Path(f"/proc/{pid}/mem").open("rb", 0) as mem:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            if match := re.match(r"([0-9a-f]+)-([0-9a-f]+) rw.. .*(?<!\[vvar\])$", line):
                begin, end = int(match[1], 16), int(match[2], 16)
                with suppress(OSError, ValueError):
                    mem.seek(begin)
                    whole += mem.read(end - begin)
    return bytes(whole)
