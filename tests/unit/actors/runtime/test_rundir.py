"""The run folder: one system holds it, and others find that one."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from actors.runtime.rundir import Ready, claimed, read_ready, ready_path, write_ready
from protocol.faults import Code, FaultError

READY = Ready(
    rest="http://127.0.0.1:1",
    mcp="http://127.0.0.1:1/mcp",
    nats="nats://127.0.0.1:2",
    key_file="/data/api-key",
    pid=os.getpid(),
)


def test_what_is_written_is_found(tmp_path: Path) -> None:
    write_ready(ready_path(tmp_path), READY)

    assert read_ready(tmp_path) == READY
    assert [path.name for path in ready_path(tmp_path).parent.iterdir()] == ["ready.json"]


def test_where_it_cannot_be_written_that_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    ready_path(tmp_path).mkdir(parents=True)  # as little to be replaced by a file as a full disk has room for one

    with pytest.raises(FaultError, match=r"ready\.json cannot be written"):
        write_ready(ready_path(tmp_path), READY)

    assert [path.name for path in ready_path(tmp_path).parent.iterdir()] == ["ready.json"]


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o777, 0o2775])
def test_a_folder_that_others_may_look_into_is_closed(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)

    with claimed(tmp_path) as run:
        modes = [stat.S_IMODE(folder.stat().st_mode) & 0o777 for folder in (tmp_path, run)]

    assert modes == [0o700, 0o700]


def test_a_folder_for_everybody_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)

    with pytest.raises(FaultError) as caught, claimed(tmp_path):
        pass

    told = caught.value.fault
    assert (told.code, told.field, stat.S_IMODE(tmp_path.stat().st_mode)) == (Code.CONFIG_INVALID, "data_dir", 0o1777)


def test_it_is_json_for_others(tmp_path: Path) -> None:
    write_ready(tmp_path / "deep" / "ready.json", READY)

    assert json.loads((tmp_path / "deep" / "ready.json").read_text()) == {
        "rest": "http://127.0.0.1:1",
        "mcp": "http://127.0.0.1:1/mcp",
        "nats": "nats://127.0.0.1:2",
        "keyFile": "/data/api-key",
        "pid": os.getpid(),
    }


def test_a_system_whose_process_is_gone_is_not_found(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    write_ready(ready_path(tmp_path), Ready(rest="", mcp="", nats="", key_file="", pid=process.pid))

    assert read_ready(tmp_path) is None


@pytest.mark.parametrize("content", [None, b"", b"{", b'{"rest": 1}', b"\xff"])
def test_a_file_that_cannot_be_read_is_no_system(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        ready_path(tmp_path).parent.mkdir()
        ready_path(tmp_path).write_bytes(content)

    assert read_ready(tmp_path) is None


def test_a_folder_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    with claimed(tmp_path):
        with pytest.raises(FaultError) as caught, claimed(tmp_path):
            pass
        assert (caught.value.fault.code, caught.value.fault.field) == (Code.CONFIG_INVALID, "data_dir")

    with claimed(tmp_path) as folder:
        assert (folder, folder.stat().st_mode & 0o077) == (tmp_path / "run", 0)


def test_a_refused_claim_leaves_the_holder_alone(tmp_path: Path) -> None:
    with claimed(tmp_path):
        write_ready(ready_path(tmp_path), READY)
        with pytest.raises(FaultError), claimed(tmp_path):
            pass

        assert read_ready(tmp_path) == READY


def test_the_ready_file_ends_with_the_claim_however_that_ends(tmp_path: Path) -> None:
    with suppress(RuntimeError), claimed(tmp_path):
        write_ready(ready_path(tmp_path), READY)
        raise RuntimeError

    assert not ready_path(tmp_path).exists()


def test_a_claim_removes_what_a_killed_system_left(tmp_path: Path) -> None:
    write_ready(ready_path(tmp_path), READY)

    with claimed(tmp_path):
        assert read_ready(tmp_path) is None


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no folder")

    with pytest.raises(FaultError, match=r"data_dir: .*/data cannot be written") as caught, claimed(tmp_path / "data"):
        pass
    assert (caught.value.fault.code, caught.value.fault.field) == (Code.CONFIG_INVALID, "data_dir")
