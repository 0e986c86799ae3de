"""What `weft doctor` says on a host that joins a NATS where others take part already."""

from __future__ import annotations

import time
from pathlib import Path

import anyio
import pytest

from actors.cli.checks import CheckState
from actors.cli.peer_checks import joined
from actors.settings import Settings
from bus import Bus
from bus import bus as bus_module
from bus.nats.transport import connect
from bus.seal import Seal, new_key
from tests.support.nats import serve_open_nats

pytestmark = pytest.mark.nats

TEST_S = 240.0


async def test_the_doctor_names_what_keeps_a_host_from_working_with_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = new_key()
    with anyio.fail_after(TEST_S):
        async with serve_open_nats(tmp_path / "nats") as url, connect(url, "keeper") as transport:
            keeper = Bus(transport, "keeper", "k1")
            keeper.vault = Seal.of(theirs).fingerprint
            async with keeper.running():
                await keeper.open_discovery()
                await transport.flush()
                said: dict[str, list[CheckState]] = {}
                for key in (theirs, new_key(), ""):
                    checks = await joined(Settings(nats_url=url, vault_key=key, data_dir=tmp_path))
                    said[key] = [check.state for check in checks]
                monkeypatch.setattr(bus_module, "now_ms", lambda: int(time.time() * 1000) + 420_000)
                ahead = (await joined(Settings(nats_url=url, vault_key=theirs, data_dir=tmp_path)))[-1]
        away = await joined(Settings(nats_url="nats://127.0.0.1:1", data_dir=tmp_path))

    ok, missing = CheckState.OK, CheckState.MISSING
    assert list(said.values()) == [[ok, ok, ok], [ok, missing, ok], [ok, missing, ok]]
    assert (ahead.state, ahead.detail.endswith("ahead")) == (CheckState.WARNING, True)
    assert [(check.state, "no nats-server listens there" in check.detail) for check in away] == [(missing, True)]
