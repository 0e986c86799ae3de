"""The two worlds of the contract."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest

from tests.contract.world import FURNITURE, MakeWorld, memory_world, nats_world


@pytest.fixture(params=["memory", pytest.param("nats", marks=pytest.mark.nats)])
def make_world(request: pytest.FixtureRequest, tmp_path: Path) -> MakeWorld:
    """Open a world in the test, once for each kind; on NATS it has what the module of the test names."""
    if request.param == "memory":
        return memory_world
    named = {id(value) for value in vars(cast("ModuleType", cast("Any", request).module)).values()}
    return partial(nats_world, tmp_path, [entry for entry in FURNITURE if id(entry) in named])
