"""Credentials of providers at a running Weft: the router uses them, and no other process ever has them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec
import pytest

from bus.seal import new_key
from protocol.models import Provider
from protocol.routes import ProviderState
from tests.support.model_dialects import answer_of
from tests.support.models import scripted
from tests.support.system import RunningWeft, environment, running_weft, weft

pytestmark = [
    pytest.mark.nats,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.full,
]

GIVEN = "sk-planted-5d1f77ab"
STORED = "sk-planted-90e2c4d1"


async def test_the_router_alone_has_what_the_environment_and_the_operator_give(tmp_path: Path) -> None:
    async with (
        scripted(answer_of(Provider.LMSTUDIO, "yes")) as server,
        running_weft(
            tmp_path, OPENAI_API_KEY=GIVEN, AWS_SECRET_ACCESS_KEY=GIVEN, WEFT_MODEL_HOSTS=server.host
        ) as system,
    ):
        lmstudio = ("lmstudio", "--base-url", server.base_url, "--with-key")
        await providers(system, "add", *lmstudio, typed=STORED, WEFT_MODEL_HOSTS=server.host)
        with anyio.fail_after(90):
            while not (await providers(system, "test", "lmstudio", "--model", "small")).works:
                await anyio.sleep(0.1)
        pids = tuple(family(system.ready.pid))
        names = {pid: Path(f"/proc/{pid}/comm").read_text().strip() for pid in pids}
        told = [names[pid] for pid in pids if GIVEN.encode() in Path(f"/proc/{pid}/environ").read_bytes()]
        others = [pid for pid in pids if pid != system.ready.pid]  # the launcher has what it gives a router
        held = [(names[pid], key) for pid in others for key in sorted(kept(pid, GIVEN, STORED))]

    assert server.asked[0].headers["authorization"] == f"Bearer {STORED}"
    assert told == []
    assert held == [("weft:router", GIVEN), ("weft:router", STORED)]
    files = [path for path in (system.log, *system.data_dir.rglob("*")) if path.is_file()]
    assert [path for path in files for key in (GIVEN, STORED) if key.encode() in path.read_bytes()] == []


async def test_no_actor_has_the_root_of_all_keys_that_the_environment_gives(tmp_path: Path) -> None:
    """As on many hosts, which need the same; what an actor seals with is derived from it."""
    vault, edge = new_key(), "edge-planted-7c41d0aa"
    async with running_weft(
        tmp_path,
        WEFT_VAULT_KEY=vault,
        WEFT_API_KEY=edge,
        WEFT_PUSH_APP_ID="1",
        WEFT_PUSH_KEY="seen",
        WEFT_PUSH_SECRET="push-planted-1f0b",
    ) as system:
        pids = tuple(family(system.ready.pid))
        names = {pid: Path(f"/proc/{pid}/comm").read_text().strip() for pid in pids}
        told = [names[pid] for pid in pids if planted(Path(f"/proc/{pid}/environ").read_bytes(), vault, edge)]
        others = [pid for pid in pids if pid != system.ready.pid]  # the launcher has what it derives from, and hands on
        held = [(names[pid], key) for pid in others for key in sorted(kept(pid, vault, edge))]

    assert told == []
    assert held == [("weft:gateway", edge)]


async def providers(system: RunningWeft, *words: str, typed: str = "", **settings: str) -> ProviderState:
    """Run `weft providers` with a running Weft, and return how the provider stands."""
    done = await anyio.run_process(
        weft("providers", *words, "--json"),
        input=typed.encode(),
        env=environment(system.data_dir, **settings),
        stderr=subprocess.PIPE,
        check=False,
    )
    assert done.stdout, done.stderr
    return msgspec.json.decode(done.stdout, type=ProviderState)


def planted(data: bytes, *words: str) -> bool:
    """Return whether one of the words is there."""
    return any(word.encode() in data for word in words)


def family(pid: int) -> Iterator[int]:
    """Yield a process and all that came from it."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            yield from family(child)


def kept(pid: int, *words: str) -> set[str]:
    """Return the words that a core of a process would hold: they are in what it may write to."""
    held = set[str]()
    with Path(f"/proc/{pid}/mem").open("rb", 0) as mem:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            if match := re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line):
                begin, end = int(match[1], 16), int(match[2], 16)
                with suppress(OSError, ValueError):  # the kernel's own
                    mem.seek(begin)
                    data = mem.read(end - begin)
                    held |= {word for word in words if word.encode() in data}
    return held
