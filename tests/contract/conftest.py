"""The two worlds of the contract."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.contract.world import MakeWorld, memory_world, nats_world


@pytest.fixture(params=["memory", pytest.param("nats", marks=pytest.mark.nats)])
def make_world(request: pytest.FixtureRequest, tmp_path: Path) -> MakeWorld:
    """Open a world in the test, once for each kind."""
    return memory_world if request.param == "memory" else partial(nats_world, tmp_path)
