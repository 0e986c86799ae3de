"""A gateway that answers the rounds of the extension as a test says, and keeps what was sent to it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Final

import msgspec

from actors.gateway.access.rules import EXTENSION_ORIGIN

Round = dict[str, Any]
Answer = dict[str, Any]
Script = Callable[[Round], Answer | int]
"""What a round is answered with: a number refuses it with that status."""

WAIT_S: Final = 240.0
DONE: Final[Answer] = {"status": "completed", "action": "finish()", "thought": "Done."}


def act(action: str, thought: str = "", **args: str) -> Script:
    """Have an action done, whose `ID` is that of what is called `on` in the round."""
    on = args.pop("on", "")

    def answer(asked: Round) -> Answer:
        done = action.replace("ID", _id_of(asked, on)) if on else action
        return {"status": "executing", "action": done, "thought": thought, "actionDetails": {"args": args}}

    return answer


def _id_of(asked: Round, name: str) -> str:
    ids = [node["i"] for node in asked["interactiveTree"] if node["n"] == name and node["r"] != "text"]
    return str(ids[0])


@dataclass
class ScriptedGateway:
    """Answers one round after the other by `script`; those after its last are told that all is done.

    A round whose tree is that of the one before has it in `rounds`. While `held` is clear no answer is given.
    """

    url: str = ""
    script: list[Script] = field(default_factory=list[Script])
    rounds: list[Round] = field(default_factory=list[Round])
    asked: Event = field(default_factory=Event)
    held: Event = field(default_factory=Event)

    def begin(self, *script: Script) -> None:
        """Answer by another script from now on."""
        self.script, self.rounds = list(script), []
        self.asked.clear()
        self.held.set()

    def answer(self, body: bytes) -> tuple[int, Any]:
        """Answer a round."""
        asked = msgspec.json.decode(body, type=dict[str, Any])
        if "interactiveTreeHash" in asked:
            asked["interactiveTree"] = self.rounds[-1]["interactiveTree"]
        self.rounds.append(asked)
        self.asked.set()
        self.held.wait(WAIT_S)
        given = self.script.pop(0)(asked) if self.script else DONE
        if isinstance(given, int):
            return given, {"code": "REFUSED", "message": "No."}
        return 200, {"data": {"taskId": "task", "sessionId": asked["sessionId"], **given}}


class _Handler(BaseHTTPRequestHandler):
    """Answers one request; what is no round is not there."""

    protocol_version = "HTTP/1.1"
    gateway: ScriptedGateway

    def do_GET(self) -> None:
        """Answer that there is nothing."""
        self.reply(404, {})

    def do_POST(self) -> None:
        """Answer a round."""
        body = self.rfile.read(int(self.headers["content-length"] or 0))
        if self.path == "/api/agent/interact":
            self.reply(*self.gateway.answer(body))
        else:
            self.reply(404, {})

    def do_OPTIONS(self) -> None:
        """Say that an extension may ask."""
        self.reply(200, {})

    def reply(self, status: int, content: object) -> None:
        """Send an answer."""
        body = msgspec.json.encode(content)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("access-control-allow-origin", EXTENSION_ORIGIN)
        self.send_header("access-control-allow-headers", "*, authorization")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name is the library's
        """Say nothing."""


@contextmanager
def scripted_gateway() -> Generator[ScriptedGateway]:
    """Serve one while the block lasts."""
    gateway = ScriptedGateway()
    handler = type("Handler", (_Handler,), {"gateway": gateway})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        gateway.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield gateway
        gateway.held.set()
        server.shutdown()
        thread.join()
