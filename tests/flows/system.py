"""A Weft as outsiders meet it: `weft up` in processes of its own, its REST API and its command line."""

from __future__ import annotations

import subprocess
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import anyio
import anyio.abc
import httpx2
import msgspec
from anyio.abc import SocketAttribute
from msgspec import UNSET, UnsetType

from actors.runtime.rundir import Ready
from protocol.browse import BrowseResult, StructuredError
from tests.support.system import START_S, STOP_S, environment, weft

CALL_S = 240.0
"""What one call from outside may take before the test fails."""

RAPID_S = 90.0
"""The same for a call that must not wait for what the site does."""

POLL_S = 0.05

Json = dict[str, object]
T = TypeVar("T")


@dataclass(frozen=True)
class System:
    """A Weft that serves, with a client of its REST API that sends the key."""

    ready: Ready
    data_dir: Path
    log: Path
    http: httpx2.Client

    @property
    def key(self) -> str:
        """The API key that it made."""
        return key_of(self.ready)

    def browse(self, url: str, timeout_s: float = CALL_S, /, **options: object) -> httpx2.Response:
        """Ask for a page over REST."""
        return self.http.post("/api/browse", json={"url": url, "options": options}, timeout=timeout_s)

    def page(self, url: str, **options: object) -> BrowseResult:
        """Ask for a page that is to be had."""
        answer = self.browse(url, **options)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json"
        assert UUID(answer.headers["x-conversation-id"]).version is not None
        return msgspec.json.decode(answer.content, type=BrowseResult)

    def keep_login(self, profile: str, host: str = "127.0.0.1") -> None:
        """Save a login for the site, with nothing of use in it yet."""
        cookie = {"name": "begun", "value": "1", "domain": host, "path": "/nowhere"}
        body = {"domain": host, "profile": profile, "state": {"cookies": [cookie]}}
        answer = self.http.post("/api/sessions", json=body)
        assert answer.status_code == 200, answer.text

    def forget_logins(self) -> None:
        """Delete the logins that other tests have left: an error names those of its site."""
        for one in self.http.get("/api/sessions").json()["sessions"]:
            self.http.delete(f"/api/sessions/{one['domain']}", params={"profile": one["profile"]})

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command line with the data folder of this system."""
        return run(self.data_dir, *arguments)

    def replicas(self) -> list[Json]:
        """Ask `weft status` who lives."""
        return msgspec.json.decode(self.run("status", "--json").stdout, type=list[Json])

    def replica(self, actor: str) -> Json:
        """Return the one replica of an actor."""
        (found,) = (replica for replica in self.replicas() if replica["actor"] == actor)
        return found


def run(data_dir: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end, whatever its exit code."""
    return subprocess.run(
        weft(*arguments),
        env=environment(data_dir, **settings),
        capture_output=True,
        text=True,
        timeout=CALL_S,
        check=False,
    )


def refused(answer: httpx2.Response) -> StructuredError:
    """Read an answer that is an error, and what every error has."""
    assert not answer.is_success, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert UUID(answer.headers["x-conversation-id"]).version is not None
    error = msgspec.json.decode(answer.content, type=StructuredError)
    assert (error.schema_version, bool(error.error), bool(error.recommended_actions)) == ("1.0", True, True)
    return error


def only(rows: tuple[T, ...] | UnsetType) -> T:
    """Return the one row of a part of a result."""
    assert rows is not UNSET
    (row,) = rows
    return row


def key_of(ready: Ready) -> str:
    """Read the API key of a system."""
    return Path(ready.key_file).read_text(encoding="ascii").strip()


@contextmanager
def weft_up(folder: Path, *arguments: str, **settings: str) -> Generator[System]:
    """Run `weft up` while the block lasts; `settings` are WEFT_* variables."""
    data_dir, ready_file, log = folder / "data", folder / "ready.json", folder / "weft.log"
    folder.mkdir(parents=True, exist_ok=True)
    ready_file.unlink(missing_ok=True)
    command = weft("up", "--ready-file", str(ready_file), *arguments)
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            env=environment(data_dir, **settings),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    with _stopped_in_the_end(process):
        ready = _wait_ready(process, ready_file, log)
        headers = {"Authorization": f"Bearer {key_of(ready)}"}
        with httpx2.Client(base_url=ready.rest, headers=headers, trust_env=False, timeout=CALL_S) as http:
            yield System(ready, data_dir, log, http)


@contextmanager
def _stopped_in_the_end(process: subprocess.Popen[bytes]) -> Generator[None]:
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_ready(process: subprocess.Popen[bytes], ready_file: Path, log: Path) -> Ready:
    until = time.monotonic() + START_S
    while not ready_file.exists():
        assert process.poll() is None, f"weft up ended with {process.returncode}:\n{log.read_text()[-4000:]}"
        assert time.monotonic() < until, f"weft up is not ready:\n{log.read_text()[-4000:]}"
        time.sleep(POLL_S)
    return msgspec.json.decode(ready_file.read_bytes(), type=Ready)


@dataclass
class Silence:
    """A site that hears a request and never answers: `asked` when one came in, `left` when the client hung up."""

    url: str
    asked: anyio.Event = field(default_factory=anyio.Event)
    left: anyio.Event = field(default_factory=anyio.Event)


@asynccontextmanager
async def silent_site() -> AsyncGenerator[Silence]:
    """Serve silence while the block lasts."""
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        port = int(listener.extra(SocketAttribute.local_port))  # noqa: S610 - no Django here
        silence = Silence(f"http://127.0.0.1:{port}/silence")

        async def listen(stream: anyio.abc.ByteStream) -> None:
            async with stream:
                await stream.receive()
                silence.asked.set()
                try:
                    await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    silence.left.set()

        tasks.start_soon(listener.serve, listen)
        yield silence
        tasks.cancel_scope.cancel()
