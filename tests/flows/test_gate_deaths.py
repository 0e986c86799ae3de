"""What a person has allowed is done once, whoever answers at the same time and whoever dies in between.

The effect is one outside: a program that is told by `integration.invoke` counts what it was told to do.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.flows.system import POLL_S, System, weft_up
from tests.support.processes import session

pytestmark = [pytest.mark.nats, pytest.mark.slow, pytest.mark.timeout(900)]

WAIT_S = 240.0
ACTORS = "gateway=2,policy=2,runner,keeper"
POLICY = '[surfaces.rest]\nmode = "preapproved"\nask = ["share"]\n'
INTEGRATION = '[[integrations]]\nname = "shop"\nurl = "{}"\noperations = ["order"]\nallow_private = ["127.0.0.0/8"]\n'


@dataclass
class Program:
    """A program that takes orders: `told` counts what it heard by key; while `closed` it holds each order."""

    url: str = ""
    told: Counter[str] = field(default_factory=Counter[str])
    open: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def serving(self) -> Generator[Program]:
        """Listen while the block lasts."""
        program = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                program.told[self.headers["idempotency-key"]] += 1
                program.open.wait(WAIT_S)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base
                del format, args

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_address[1]}/"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            self.open.set()
            server.shutdown()
            server.server_close()


@dataclass(frozen=True)
class Orders:
    """A Weft that asks before it tells the program something."""

    system: System
    program: Program

    def ask(self, number: int) -> str:
        """Ask for an order; returns the approval that it waits for."""
        body = {"integration": "shop", "operation": "order", "payload": {"number": number}}
        answer = self.system.http.post(
            "/api/tools/integration.invoke", json=body, headers={"idempotency-key": f"order-{number}"}
        )
        assert answer.status_code == 202, answer.text
        return str(answer.json()["approval"]["id"])

    def allow(self, approval: str) -> httpx2.Response | None:
        """Allow it; None where the answer was lost."""
        try:
            return self.system.http.post(f"/api/approvals/{approval}", json={"answer": "allow"}, timeout=WAIT_S)
        except httpx2.HTTPError:
            return None

    def stands(self, approval: str) -> dict[str, Any]:
        """Return how an approval stands; nothing while nobody can say."""
        answer = self.system.http.get(f"/api/approvals/{approval}")
        found: dict[str, Any] = answer.json() if answer.status_code == 200 else {}
        return found

    def done(self, approval: str) -> dict[str, Any]:
        """Wait for what came of it."""
        until(lambda: "result" in self.stands(approval))
        return self.stands(approval)

    def pids(self, name: str) -> Iterator[int]:
        """Return the processes of an actor, those that have something in hand first."""
        replicas = [one for one in self.system.replicas() if one["actor"] == name]
        yield from (int(str(one["pid"])) for one in sorted(replicas, key=lambda one: not one["inFlight"]))


def until(happened: Callable[[], bool]) -> None:
    """Wait for something."""
    deadline = time.monotonic() + WAIT_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(POLL_S)


@contextmanager
def orders(folder: Path) -> Generator[Orders]:
    """Run a Weft with two gates and two gateways, and the program that it tells."""
    with Program().serving() as program:
        data = folder / "data"
        data.mkdir()
        (data / "policy.toml").write_text(POLICY)
        (data / "integrations.toml").write_text(INTEGRATION.format(program.url))
        with weft_up(folder, "--actors", ACTORS) as system:
            yield Orders(system, program)


def test_an_allowed_call_is_done_once_whoever_answers_and_whoever_dies(tmp_path: Path) -> None:
    with orders(tmp_path) as here, ThreadPoolExecutor(8) as pool:
        # Two gateways and two gates are asked by eight at the same time.
        here.program.open.set()
        first = here.ask(1)
        answers = [one for one in pool.map(here.allow, [first] * 8) if one is not None]
        assert {(one.status_code, one.json()["state"]) for one in answers} == {(200, "allowed")}
        assert {one.json()["result"]["status"] for one in answers} == {"ok"}

        # The gate dies between the answer and the end of the call, the program has the order in hand.
        here.program.open.clear()
        second = here.ask(2)
        waiting = pool.submit(here.allow, second)
        until(lambda: len(here.program.told) == 2)
        os.kill(next(here.pids("policy")), signal.SIGKILL)
        here.program.open.set()
        assert here.done(second)["result"]["status"] == "ok"
        waiting.result(WAIT_S)

        # The same with the server that all speak over.
        here.program.open.clear()
        third = here.ask(3)
        waiting = pool.submit(here.allow, third)
        until(lambda: len(here.program.told) == 3)
        (server,) = (one.pid for one in session(here.system.ready.pid) if one.name == "nats-server")
        os.kill(server, signal.SIGKILL)
        here.program.open.set()
        assert here.done(third)["result"]["status"] == "ok"
        waiting.result(WAIT_S)

        # What waits when all gates die is still there, and runs when it is allowed.
        fourth = here.ask(4)
        for pid in list(here.pids("policy")):
            os.kill(pid, signal.SIGKILL)
        until(lambda: here.stands(fourth).get("state") == "pending")
        here.allow(fourth)
        assert here.done(fourth)["state"] == "allowed"

        assert list(here.program.told.values()) == [1, 1, 1, 1]
