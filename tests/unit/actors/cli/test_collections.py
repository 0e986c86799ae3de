"""Collections in a terminal."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from actors.cli import collections
from actors.cli.terminal import MAX_TITLE_CHARS
from protocol.collection_views import CollectionInfo, CollectionList

TITLE = "Looms and their heddles " * 21


def test_a_long_title_is_cut_to_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    async def listed(_: object) -> CollectionList:
        return CollectionList(
            total=1, collections=(CollectionInfo(id="col_1", title=TITLE, sources=3, created_at=0, updated_at=0),)
        )

    monkeypatch.setattr(collections, "_list", listed)
    shown = CliRunner().invoke(collections.app, ["list"])

    assert shown.exit_code == 0, shown.output
    last = shown.stdout.splitlines()[-1]
    assert last.split()[:2] == ["col_1", "3"]
    assert last.endswith("…")
    assert len(last.partition("Looms")[2]) < MAX_TITLE_CHARS
