"""Runs of templates, as a client of the REST API asks for them, looks after them and reads what they leave."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2
import msgspec
from msgspec import UNSET

from actors.gateway.errors import RunFault
from protocol.runs.responses import ArtifactChunk, CancelAnswer, Run, RunAccepted, RunList
from protocol.runs.states import ArtifactType, RunStatus
from tests.flows.system import POLL_S, System

BATCH, COMPARE = "batch_extract_pages", "multi_tab_compare"
RUN_S = 240.0
"""What a run of a test may take before the test fails."""

ACCEPTED = 202

T = TypeVar("T")


@dataclass(frozen=True)
class Runs:
    """The runs of one system."""

    system: System

    def ask(self, template: str, inputs: Mapping[str, object], /, **more: object) -> httpx2.Response:
        """Ask for a run; `more` are the options of the run, and an `idempotencyKey`."""
        key = {} if (given := more.pop("idempotencyKey", None)) is None else {"idempotencyKey": given}
        body = {"templateId": template, "inputs": inputs, "options": more, **key}
        return self.system.http.post("/api/runs", json=body, timeout=RUN_S)

    def done(self, template: str, inputs: Mapping[str, object], /, **more: object) -> Run:
        """Ask for a run and wait for its end in the answer."""
        return _read(self.ask(template, inputs, mode="sync", **more), Run, 200)

    def begun(self, template: str, inputs: Mapping[str, object], /, **more: object) -> RunAccepted:
        """Ask for a run, and wait for nothing."""
        return _read(self.ask(template, inputs, mode="async", **more), RunAccepted, ACCEPTED)

    def resumed(self, run_id: str) -> RunAccepted:
        """Have a run gone on with."""
        return _read(self.system.http.post(f"/api/runs/{run_id}/resume"), RunAccepted, ACCEPTED)

    def get(self, run_id: str) -> Run:
        """Return how a run stands."""
        return _read(self.system.http.get(f"/api/runs/{run_id}"), Run, 200)

    def listed(self, **query: str) -> RunList:
        """List runs."""
        return _read(self.system.http.get("/api/runs", params=query), RunList, 200)

    def canceled(self, run_id: str) -> CancelAnswer:
        """Ask a run to stop."""
        return _read(self.system.http.post(f"/api/runs/{run_id}/cancel"), CancelAnswer, 200)

    def ended(self, run_id: str) -> Run:
        """Ask how a run stands until it is over."""
        return self.until(run_id, lambda run: run.status.final)

    def until(self, run_id: str, reached: Callable[[Run], bool]) -> Run:
        """Ask how a run stands until it stands so, and see that it never goes back."""
        last, deadline = self.get(run_id), time.monotonic() + RUN_S
        while not reached(last):
            assert time.monotonic() < deadline, last
            time.sleep(POLL_S)
            run = self.get(run_id)
            assert run.progress.done_steps >= last.progress.done_steps
            assert not (last.status is RunStatus.RUNNING and run.status is RunStatus.QUEUED)
            last = run
        return last

    def piece(self, artifact_id: str, **query: int) -> httpx2.Response:
        """Ask for a piece of a file."""
        return self.system.http.get(f"/api/artifacts/{artifact_id}", params=query)

    def file(self, run: Run, form: ArtifactType, limit: int | None = None) -> bytes:
        """Read a file of a run piece by piece, and put it together."""
        assert run.artifacts is not UNSET
        (kept,) = (one for one in run.artifacts if one.type is form)
        data, bound = b"", {} if limit is None else {"limit": limit}
        while True:
            chunk = _read(self.piece(kept.artifact_id, offset=len(data), **bound), ArtifactChunk, 200)
            data += chunk.data
            assert (chunk.size, chunk.mime_type) == (kept.size, form.media_type)
            if chunk.complete:
                break
            assert chunk.bytes_returned == len(chunk.data) <= (limit or kept.size)
        assert len(data) == kept.size
        return data


def wrong(answer: httpx2.Response) -> RunFault:
    """Read an answer that is an error about runs."""
    assert not answer.is_success, answer.text
    return msgspec.json.decode(answer.content, type=RunFault)


def items(run: Run) -> list[dict[str, Any]]:
    """Return the pages of the result of a batch."""
    assert run.result is not UNSET, run
    found: list[dict[str, Any]] = run.result["items"]
    return found


def _read(answer: httpx2.Response, kind: type[T], status: int) -> T:
    assert answer.status_code == status, answer.text
    return msgspec.json.decode(answer.content, type=kind)


@contextmanager
def deaf_host() -> Generator[str]:
    """Return the address of a host that never answers to who wants to connect: its queue is full and nobody takes."""
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        for client in (first, second):
            client.setblocking(False)  # noqa: FBT003 - its only argument
            client.connect_ex(address)
        yield f"http://127.0.0.1:{address[1]}/"


def refusing_url() -> str:
    """Return an address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/"
