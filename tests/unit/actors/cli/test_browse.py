"""`weft browse`: a page on a terminal, in a pipe and as JSON, from the system that runs."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.cli import connection, doctor, terminal
from actors.cli.checks import CheckState
from actors.cli.connection import read_response
from actors.cli.main import run
from actors.gateway.errors import to_error
from actors.runtime.rundir import Ready, ready_path, write_ready
from actors.settings import Settings
from protocol.actions import Action
from protocol.browse import BrowseResult
from protocol.faults import Code, FaultError, fault
from tests.unit.actors.cli.cli_data import MARK, RESULT

Json = dict[str, Any] | None

# -- the terminal -----------------------------------------------------------------------------------------------------


@given(st.text())
def test_no_text_commands_the_terminal(text: str) -> None:
    shown = terminal.plain(text)

    assert [char for char in shown if (ord(char) < 32 and char not in "\n\t") or 0x7F <= ord(char) < 0xA0] == []
    assert terminal.plain(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mred\x1b[0m", "ared"),
        ("\x1b]0;title\x07a", "a"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;ZXZpbA==\x07", ""),
        ("\x1bP1$q\x1b\\a", "a"),
        ("\x1b]0;never closed", "0;never closed"),
        ("over\rwrite\x08", "over\nwrite"),
        ("a\u202eb\u2066c", "abc"),
        ("mis\x9dread", "misread"),
        ("äöü 漢字 🎉\tx\n", "äöü 漢字 🎉\tx\n"),
    ],
)
def test_sequences_are_taken_out_whole(text: str, shown: str) -> None:
    assert terminal.plain(text) == shown


@pytest.mark.parametrize(
    ("tool", "parameters", "line"),
    [
        (
            "browse",
            {"url": "https://a.test/?q=a b", "options": {"forceTier": "playwright", "attempt": ["retry", "retry"]}},
            "weft browse 'https://a.test/?q=a b' --tier playwright --attempt retry --attempt retry",
        ),
        (
            "browse",
            {"url": "https://a.test/", "options": {"followPagination": True, "scrollToLoad": True}},
            "weft browse https://a.test/ --scroll --pages 5",
        ),
        ("browse", {"url": "https://a.test/", "options": {"maxChars": 900}}, None),
        ("refresh_session", {"domain": "a.test", "profile": "me"}, "weft sessions refresh a.test --profile me"),
        ("create_session", {}, None),
        (None, None, None),
    ],
)
def test_an_action_is_a_command_line_where_there_is_one(tool: str | None, parameters: Json, line: str | None) -> None:
    action = Action(action="go_on", description="Go on.", tool_to_use=tool, parameters=parameters)

    assert terminal.command_line(action) == line


def test_entities_of_markdown_bring_no_control_character_back() -> None:
    assert terminal.plain_markdown("&#27;[2J &#x9b; &#8238;x &amp; &lt; &auml;") == "[2J  x &amp; &lt; &auml;"


@given(st.text())
def test_json_is_readable_and_free_of_control_characters(text: str) -> None:
    shown = terminal.json_text({"a": text})

    assert json.loads(shown) == {"a": text}
    assert [char for char in shown if 0x7F <= ord(char) < 0xA0 or "\u202a" <= char <= "\u202e"] == []


# -- browse -----------------------------------------------------------------------------------------------------------


def test_an_answer_is_read() -> None:
    assert read_response(200, msgspec.json.encode(RESULT), BrowseResult) == RESULT


def test_an_error_of_the_edge_is_raised_as_it_was_told() -> None:
    told = fault(Code.RATE_LIMIT_EXCEEDED, "Slower", http_status=429)

    with pytest.raises(FaultError) as caught:
        read_response(429, msgspec.json.encode(to_error(told)), BrowseResult)

    assert caught.value.fault == told


@pytest.mark.parametrize(("status", "body"), [(200, b""), (502, b"<html>"), (200, b"\xff"), (500, b"{}")])
def test_an_answer_of_something_else_is_an_error(status: int, body: bytes) -> None:
    with pytest.raises(FaultError) as caught:
        read_response(status, body, BrowseResult)

    assert caught.value.fault.code is Code.INTERNAL_ERROR


@pytest.fixture
def _browsed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def result(loaded: object, url: str, options: object) -> BrowseResult:
        return msgspec.structs.replace(RESULT, url=url)

    monkeypatch.setattr("actors.cli.browse._result", result)


@pytest.mark.usefixtures("_browsed")
def test_in_a_pipe_a_page_is_plain_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["browse", "a.example"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "# Head\n\ntext 31m &#x9b;x\n"
    assert shown.err == ""


@pytest.mark.usefixtures("_browsed")
def test_the_whole_result_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["browse", "a.example", "--json"]) == 0
    shown = capsys.readouterr().out
    assert json.loads(shown)["url"] == "a.example"
    assert "\x9b" not in shown


@pytest.mark.usefixtures("_browsed")
def test_on_a_terminal_a_page_has_a_header(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")

    assert run(["browse", "a.example"]) == 0
    shown = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert shown.splitlines()[0] == "Title  https://a.example/ · intelligence · 12 ms"
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)


# -- the running system -----------------------------------------------------------------------------------------------


async def test_no_record_means_nothing_runs(tmp_path: Path) -> None:
    assert await connection.find(Settings(data_dir=tmp_path)) is None


@pytest.mark.parametrize("record", [b"", b"{}", b'{"rest":"","mcp":"","nats":"","keyFile":"","pid":1}'])
async def test_a_record_that_names_no_edge_means_nothing_runs(record: bytes, tmp_path: Path) -> None:
    ready_path(tmp_path).parent.mkdir()
    ready_path(tmp_path).write_bytes(record)

    assert await connection.find(Settings(data_dir=tmp_path)) is None


def record(folder: Path, rest: str) -> Settings:
    key = folder / "api-key"
    key.write_text(f"{MARK}\n", encoding="ascii")
    write_ready(ready_path(folder), Ready(rest=rest, mcp="", nats="", key_file=str(key), pid=os.getpid()))
    return Settings(data_dir=folder)


async def test_a_system_whose_edge_is_silent_does_not_run(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        rest = f"http://127.0.0.1:{closed.getsockname()[1]}"
    settings = record(tmp_path, rest)

    assert await connection.find(settings) is None
    assert doctor.running(settings, answers=False).state is CheckState.WARNING


def test_the_running_system_is_asked_over_rest_with_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with edge() as (rest, seen):
        monkeypatch.setenv("WEFT_DATA_DIR", str(record(tmp_path, rest).data_dir))
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # what stands there is not for us

        code = run(["browse", "a.example", "--json", "--max-tier", "intelligence", "--trace"])

    assert (code, json.loads(capsys.readouterr().out)["title"]) == (0, RESULT.title)
    assert seen == [
        ("/healthz", None, None),
        (
            "/api/browse",
            f"Bearer {MARK}",
            {"url": "a.example", "options": {"maxCostTier": "intelligence", "includeDecisionTrace": True}},
        ),
    ]


Seen = list[tuple[str, str | None, object]]


@contextmanager
def edge() -> Generator[tuple[str, Seen], None, None]:
    """Open a REST edge that gives one result, and remember what it was asked."""
    seen: Seen = []

    class Edge(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, self.headers["Authorization"], None))
            self._answer(b"{}")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.path, self.headers["Authorization"], json.loads(body)))
            self._answer(msgspec.json.encode(RESULT))

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

        def _answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Edge) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()
        thread.join()
