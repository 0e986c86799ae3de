"""A text that is being made outlives whoever dies meanwhile, and is there once.

A model holds its answer until somebody has died: it is the real server of models that is asked over a real socket.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.flows.system import POLL_S, System, weft_up
from tests.support.processes import session

pytestmark = [pytest.mark.nats, pytest.mark.slow, pytest.mark.timeout(900)]

WAIT_S = 240.0
ACTORS = "gateway,policy,runner=2,keeper,answerer,router"
NOTE = {"type": "note", "title": "Tides", "text": "The first large station was built in 1966. It is in France."}


@dataclass
class HoldingModel:
    """A server of models that answers when it is `open`; `asked` counts what it was asked for."""

    url: str = ""
    host: str = ""
    asked: int = 0
    open: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def serving(self) -> Generator[HoldingModel]:
        """Listen while the block lasts."""
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                model.asked += 1
                model.open.wait(WAIT_S)
                answer = json.dumps(_answer(body)).encode()
                try:
                    self.send_response(200)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                except OSError:
                    return  # who has asked is dead

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base
                del format, args

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{server.server_address[1]}"
        self.url = f"http://{self.host}/v1"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            self.open.set()
            server.shutdown()
            server.server_close()


def _answer(body: str) -> dict[str, Any]:
    """Return the one event of the note, with the number that its sentence has in the prompt."""
    found = re.search(r"\[(\d+)\] The first large", body)
    number = int(found[1]) if found else 1
    content = {"events": [{"date": "1966", "text": "The first large one was built.", "sentences": [number]}]}
    message = {"role": "assistant", "content": json.dumps(content)}
    return {
        "model": "tiny-1",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 1},
    }


@dataclass(frozen=True)
class Making:
    """A Weft with a collection, and the model that it asks."""

    system: System
    model: HoldingModel
    collection: str

    def ask(self, count: int) -> httpx2.Response | None:
        """Have a timeline made; None where the answer was lost."""
        body = {"collectionId": self.collection, "type": "timeline", "config": {"count": count}}
        try:
            return self.system.http.post("/api/tools/transform.run", json=body, timeout=WAIT_S)
        except httpx2.HTTPError:
            return None

    def texts(self) -> list[dict[str, Any]]:
        """Return the texts of the collection, nothing while nobody can say."""
        try:
            answer = self.system.http.get("/api/texts", params={"collection": self.collection})
        except httpx2.HTTPError:
            return []
        listed: list[dict[str, Any]] = answer.json()["artifacts"] if answer.status_code == 200 else []
        return listed

    def made(self, count: int) -> bool:
        """Return whether so many texts are made, and no other is."""
        return [one["status"] for one in self.texts()] == ["completed"] * count

    def is_asked_more(self, before: int) -> bool:
        """Return whether the model was asked since then."""
        return self.model.asked > before

    def pid(self, name: str) -> int:
        """Return the process of an actor that has most in hand."""
        replicas = [one for one in self.system.replicas() if one["actor"] == name]
        return int(str(max(replicas, key=lambda one: int(str(one["inFlight"])))["pid"]))


@contextmanager
def making(folder: Path) -> Generator[Making]:
    """Run a Weft with two runners, and a note in a collection."""
    with HoldingModel().serving() as model:
        settings = {
            "OPENAI_COMPATIBLE_API_KEY": "sk-none-of-ours",
            "OPENAI_COMPATIBLE_BASE_URL": model.url,
            "WEFT_MODEL_HOSTS": model.host,
        }
        with weft_up(folder, "--actors", ACTORS, **settings) as system:
            begun = system.http.post("/api/tools/collection.create", json={"title": "Tides"})
            collection = str(begun.json()["result"]["payload"]["collectionId"])
            body = {"collectionId": collection, "sources": [NOTE]}
            added = system.http.post("/api/tools/collection.add_sources", json=body)
            assert added.status_code == 200, added.text
            yield Making(system, model, collection)


def until(happened: Callable[[], bool]) -> None:
    """Wait for something."""
    deadline = time.monotonic() + WAIT_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(POLL_S)


@pytest.mark.full
def test_a_text_is_made_once_whoever_dies(tmp_path: Path) -> None:
    with making(tmp_path) as here, ThreadPoolExecutor(8) as pool:

        def server() -> int:
            return next(one.pid for one in session(here.system.ready.pid) if one.name == "nats-server")

        victims: list[Callable[[], int]] = [
            lambda: here.pid("runner"),
            lambda: here.pid("keeper"),
            lambda: here.pid("answerer"),
            server,
        ]
        for number, victim in enumerate(victims, 1):
            here.model.open.clear()
            asked = here.model.asked
            waiting = [pool.submit(here.ask, number) for _ in range(2)]
            until(partial(here.is_asked_more, asked))
            os.kill(victim(), signal.SIGKILL)
            here.model.open.set()
            until(partial(here.made, number))
            for one in waiting:
                one.result(WAIT_S)

        # Asked again, each is what it was.
        answers = [here.ask(number) for number in range(1, 5)]
        payloads = [one.json()["result"]["payload"] for one in answers if one is not None]
        assert {one["artifactId"] for one in payloads} == {one["id"] for one in here.texts()}
        assert {one["markdown"] for one in payloads} == {"- **1966:** The first large one was built. [1]"}
        assert here.made(4)
