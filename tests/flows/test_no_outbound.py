"""A Weft calls nobody whom it was not asked to: it does all of its work where nothing leads out, and tries nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.flows.outbound_inside import STRANGER, Outbound
from tests.support import namespace
from tests.support.scale import first

pytestmark = [
    pytest.mark.skipif(bool(namespace.refusal()), reason=namespace.refusal() or "there is a namespace"),
    pytest.mark.browser,
    pytest.mark.nats,
    pytest.mark.slow,
    pytest.mark.timeout(900),
]

CHROMIUMS = [path for name in ("chromium-headless-shell", "chromium") if (path := shutil.which(name))]


def running(folder: Path, route: str, browser: str) -> Outbound:
    """Run a system in a namespace of its own."""
    file = folder / "outbound.json"
    command = namespace.within(
        sys.executable, "-m", "tests.flows.outbound_inside", str(folder), str(file), route, browser
    )
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    assert file.exists(), done.stderr[-4_000:]
    return msgspec.json.decode(file.read_bytes(), type=Outbound)


@pytest.mark.full
def test_everything_works_without_a_route(tmp_path: Path) -> None:
    found = running(tmp_path, "none", "")

    assert [what for what, succeeded in found.done.items() if not succeeded] == []


@pytest.mark.parametrize("browser", first(1, CHROMIUMS), ids=lambda path: Path(path).name)
@pytest.mark.full
def test_nobody_is_called_who_was_not_asked_for(tmp_path: Path, browser: str) -> None:
    found = running(tmp_path, "route", browser)

    assert found.tried == ()
    assert [what for what, succeeded in found.done.items() if not succeeded] == []
    # What the system was asked for, and what the control did, were seen.
    assert found.wanted > 0
    assert f"tcp {STRANGER[0]} {STRANGER[1]}" in found.control
    assert any(one.startswith("udp") for one in found.control)
