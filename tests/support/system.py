"""A whole Weft as its users run it: `weft up` in processes of its own, on free ports and a folder of its own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
import msgspec
from anyio.abc import Process

from actors.router.providers.table import VARIABLES
from actors.runtime.rundir import Ready
from tests.support import scale, warm
from tests.support.nats import SYNC_MS

NO_LIMITS = {f"WEFT_RATE_{what}PER_MINUTE": "0" for what in ("", "ANONYMOUS_", "FAILED_")}
"""A test asks as often as it likes, unless limits are what it is about."""

START_S = 240.0
STOP_S = 90.0
CALL_S = 240.0


@dataclass(frozen=True)
class RunningWeft:
    """A system that serves; `process` is the launcher, `log` what it wrote to stderr, `out` to stdout."""

    ready: Ready
    data_dir: Path
    process: Process
    log: Path
    out: Path

    @property
    def key(self) -> str:
        """The API key that it made."""
        return Path(self.ready.key_file).read_text().strip()

    def client(self, timeout_s: float = CALL_S) -> httpx2.AsyncClient:
        """Return a client of its REST API."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx2.AsyncClient(base_url=self.ready.rest, headers=headers, timeout=timeout_s, trust_env=False)

    def log_text(self) -> str:
        """Everything that it logged so far."""
        return self.log.read_text()

    async def replicas(self) -> list[dict[str, object]]:
        """Return what `weft status --json` says."""
        done = await anyio.run_process(
            weft("status", "--json"), env=environment(self.data_dir), check=False, stderr=None
        )
        return msgspec.json.decode(done.stdout, type=list[dict[str, object]])


def weft(*arguments: str) -> list[str]:
    """Return the command line of the program; what tests run of it need not import anything (`warm.py`)."""
    return warm.command(*arguments) or new_weft(*arguments)


def new_weft(*arguments: str) -> list[str]:
    """Return the command line of the program in an interpreter of its own, whose pid is that of the program."""
    return [sys.executable, "-c", "from actors.cli.main import main; main()", *arguments]


def environment(data_dir: Path, **settings: str) -> dict[str, str]:
    """Return the environment of a program that knows no other Weft; `settings` are WEFT_* variables or others."""
    others = ("WEFT_", "OTEL_")
    clean = {name: one for name, one in os.environ.items() if not name.startswith(others) and name not in VARIABLES}
    own = {"WEFT_DATA_DIR": str(data_dir), "WEFT_PORT": "0", "WEFT_ALLOW_PRIVATE": "127.0.0.0/8"}
    if scale.is_chosen():
        own["WEFT_JETSTREAM_SYNC_MS"] = str(SYNC_MS)
    return clean | own | NO_LIMITS | settings


@asynccontextmanager
async def running_weft(
    folder: Path, arguments: Iterable[str] = (), *, stop: bool = True, **settings: str
) -> AsyncGenerator[RunningWeft]:
    """Run `weft up` until the block ends; fails with its log when it does not get ready."""
    data_dir, ready_file = folder / "data", folder / "ready.json"
    log, out = folder / "weft.log", folder / "weft.out"
    folder.mkdir(parents=True, exist_ok=True)
    ready_file.unlink(missing_ok=True)
    with log.open("ab") as errors, out.open("ab") as output:
        process = await anyio.open_process(
            weft("up", "--ready-file", str(ready_file), *arguments),
            stdin=None,
            stdout=output,
            stderr=errors,
            env=environment(data_dir, **settings),
            start_new_session=True,
        )
    try:
        ready = await _wait_ready(process, ready_file, log)
        yield RunningWeft(ready, data_dir, process, log, out)
    finally:
        with anyio.CancelScope(shield=True):
            if stop and process.returncode is None:
                await stop_process(process)


async def stop_process(process: Process, sent: signal.Signals = signal.SIGTERM) -> int:
    """Ask a process to stop and wait for it; returns its exit status."""
    process.send_signal(sent)
    with anyio.move_on_after(STOP_S):
        return await process.wait()
    process.kill()
    return await process.wait()


async def _wait_ready(process: Process, ready_file: Path, log: Path) -> Ready:
    with anyio.move_on_after(START_S):
        while process.returncode is None:
            if ready_file.exists():
                return msgspec.json.decode(ready_file.read_bytes(), type=Ready)
            await anyio.sleep(0.01)
    msg = f"weft up is not ready (exit status {process.returncode}):\n{log.read_text()[-4000:]}"
    raise AssertionError(msg)
