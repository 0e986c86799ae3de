"""A disk without room: what would be kept is refused in words that help, all else goes on, and so does that later."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from protocol.faults import Code
from tests.support.system import running_weft

DISK = "size=60m,mode=0700"
FILLED, EMPTIED = "storage_filled", "storage_has_room"
TEST_S = 400

RUN = {"templateId": "batch_extract_pages", "inputs": {"urls": ["http://127.0.0.1:9/"]}}
COLLECTION = {"title": "Looms"}


@contextmanager
def small_disk(folder: Path) -> Generator[None]:
    """Mount a disk of its own while the block lasts."""
    folder.mkdir(parents=True)
    mounted = subprocess.run(
        ["/usr/bin/mount", "-t", "tmpfs", "-o", DISK, "tmpfs", str(folder)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("no disk may be mounted here")
    try:
        yield
    finally:
        subprocess.run(["/usr/bin/umount", "-l", str(folder)], check=True)


def fill(file: Path) -> None:
    """Write until there is no room."""
    with file.open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(bytes(1 << 20))
        except OSError:
            return


async def refused(client: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> bool:
    """Ask for what has to be kept, and return whether that was refused for want of room."""
    response = await client.post(path, json=body)
    assert response.status_code in {200, 202, 507}, response.text
    if response.status_code != 507:
        return False
    told = response.json()
    actions = [one["action"] for one in told["recommendedActions"]]
    assert (told["code"], told["retryable"], actions[0]) == (Code.CONFIG_STORAGE_FULL, True, "make_room")
    return True


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.nats
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a disk")
async def test_a_full_disk_is_named_and_passes(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S), small_disk(tmp_path / "data"):
        async with running_weft(tmp_path) as weft, weft.client() as client:
            assert not await refused(client, "/api/collections", COLLECTION)
            fill(tmp_path / "data" / "fill")
            # What a server has room for in its own buffers it still takes.
            while not await refused(client, "/api/collections", COLLECTION):
                pass
            for _ in range(2):
                assert await refused(client, "/api/collections", COLLECTION)
            while not await refused(client, "/api/runs", RUN):
                pass
            page = await client.post("/api/browse", json={"url": f"{weft.ready.rest}/healthz"})

            (tmp_path / "data" / "fill").unlink()
            while EMPTIED not in weft.log_text():
                await anyio.sleep(0.1)
            while await refused(client, "/api/collections", COLLECTION):
                await anyio.sleep(0.1)

        assert page.status_code == 200
        assert FILLED in weft.log_text()
