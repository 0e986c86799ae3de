"""Folders of processes: made private, removed, and swept when their maker was killed."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from actors.fetchers.lightweight.engine_process import Folder, sweep


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    with tempfile.TemporaryDirectory() as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        yield Path(short)


def test_a_folder_is_private_and_goes_with_all_that_is_in_it() -> None:
    folder = Folder()
    (folder.path / "deep").mkdir()
    (folder.path / "deep" / "s").touch()

    mode = stat.S_IMODE(folder.path.stat().st_mode)
    folder.remove()
    folder.remove()

    assert (mode, folder.path.exists()) == (0o700, False)


def test_only_deserted_folders_are_swept(place: Path) -> None:
    mine, young, old, other = Folder(), place / "weft-light-1", place / "weft-light-2", place / "other"
    for path in (young, old, other):
        path.mkdir()
    long_ago = time.time() - 3600
    for path in (mine.path, old, other):
        os.utime(path, (long_ago, long_ago))

    sweep()

    assert [path.exists() for path in (mine.path, young, old, other)] == [True, True, False, True]
    mine.remove()


def test_what_only_looks_like_a_folder_is_left(place: Path) -> None:
    (place / "target").mkdir()
    (place / "weft-light-1").symlink_to(place / "target")
    (place / "weft-light-2").touch()

    sweep()

    assert {path.name for path in place.iterdir()} == {"target", "weft-light-1", "weft-light-2"}


def test_a_long_name_of_the_usual_place_is_avoided(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("x" * 90)))

    folder = Folder()

    assert folder.path.parent == Path("/tmp")  # noqa: S108 - a folder of our own in it
    folder.remove()
