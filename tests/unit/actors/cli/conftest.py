"""Every verb is tried alone: with a data folder of its own and the logging left as it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from actors.router.providers.table import VARIABLES
from tests.unit.actors.cli.cli_data import FakeLaunch


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_DATA_DIR", str(tmp_path / "data"))
    for name in VARIABLES:  # `up` would start this process anew without them
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("bus.telemetry.configure", _quiet)


def _quiet(level: str, form: str) -> None:
    """Leave the logging of this process as it is."""


@pytest.fixture
def launch(monkeypatch: pytest.MonkeyPatch) -> FakeLaunch:
    fake = FakeLaunch()
    monkeypatch.setitem(sys.modules, "actors.runtime.launch", fake)
    return fake
