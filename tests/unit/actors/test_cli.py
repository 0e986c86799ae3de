"""The command `weft`, driven as a person drives it, with fakes for everything behind it."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import msgspec
import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from actors.cli import checks, errors, masking, running, terminal
from actors.cli.browse import read_answer
from actors.cli.main import app, run
from actors.cli.status import duration_text
from actors.cli.tap import as_line, as_object_line, listen
from actors.cli.up import parse_actors
from actors.gateway.translate import to_error
from actors.registry import ACTORS
from actors.runtime.rundir import Ready, ready_path, write_ready
from actors.settings import Settings
from bus.stats import Replica
from bus.transport import Message
from protocol import schemas
from protocol.browse import BrowseContent, BrowseMetadata, BrowseResult, RenderTier
from protocol.faults import Code, FaultError, fault

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
MARK = "S3cr3tV4lu3"

RESULT = BrowseResult(
    url="https://a.example/",
    title="T\x1b[2Jitle",
    content=BrowseContent(markdown="# Head\x1b]0;owned\x07\n\ntext \x9b31m\u202e &#x9b;x", text="text"),
    metadata=BrowseMetadata(load_time=12, timestamp=0, final_url="https://a.example/", tier=RenderTier.INTELLIGENCE),
)

REPLICA = Replica(
    actor="navigator",
    replica="r1",
    host="h",
    pid=7,
    version="0.1.0",
    started=1_000,
    in_flight=1,
    queued=2,
    served=3,
    errors=0,
    slow=0,
    p50_ms=1.5,
    p99_ms=9.25,
    endpoints=(),
)


class FakeBus:
    """A bus of answers that are known before."""

    def __init__(self, *, replicas: tuple[Replica, ...] = (), messages: tuple[Message, ...] = ()) -> None:
        self._replicas = replicas
        self._messages = messages

    async def replicas(self) -> tuple[Replica, ...]:
        return self._replicas

    async def tap(self, subject: str = ">") -> AsyncIterator[Message]:
        for message in self._messages:
            yield message


class FakeLaunch(ModuleType):
    """Stands where `actors.runtime.launch` would be, and remembers what `up` was asked for."""

    def __init__(self, bus: FakeBus | None = None, error: Exception | None = None, status: int = 0) -> None:
        super().__init__("actors.runtime.launch")
        self.asked: dict[str, Any] = {}
        self._bus = bus
        self._error = error
        self._status = status

    def up(self, settings: Settings, **choices: object) -> int:
        self.asked = {"settings": settings, **choices}
        if self._error:
            raise self._error
        return self._status

    @asynccontextmanager
    async def connect(self, settings: Settings) -> AsyncGenerator[FakeBus | None, None]:
        if self._error:
            raise self._error
        yield self._bus


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr("bus.logs.configure", _quiet)


def _quiet(level: str, form: str) -> None:
    """Leave the logging of this process as it is."""


@pytest.fixture
def launch(monkeypatch: pytest.MonkeyPatch) -> FakeLaunch:
    fake = FakeLaunch()
    monkeypatch.setitem(sys.modules, "actors.runtime.launch", fake)
    return fake


def connected_to(monkeypatch: pytest.MonkeyPatch, bus: FakeBus | None, error: Exception | None = None) -> None:
    monkeypatch.setitem(sys.modules, "actors.runtime.launch", FakeLaunch(bus, error))


# -- help, usage, exit codes ------------------------------------------------------------------------------------------

VERBS = ("up", "browse", "status", "tap", "mcp", "doctor", "schema")


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_explains_itself_and_each_of_its_options(verb: str) -> None:
    shown = CliRunner().invoke(app, [verb, "--help"])

    assert shown.exit_code == 0
    assert f"Usage: weft {verb}" in shown.output
    options = re.findall(r"^  (-\S.*?)(?:\s{2,}(\S.*))?$", shown.output, re.MULTILINE)
    assert options


def test_the_help_names_every_verb() -> None:
    shown = CliRunner().invoke(app, ["--help"])

    assert [verb for verb in VERBS if not re.search(rf"^  {verb} ", shown.output, re.MULTILINE)] == []
    assert "..." not in shown.output.replace("[ARGS]...", "")


@pytest.mark.parametrize(
    "arguments", [["--wrong"], ["nothing"], ["up", "--port", "x"], ["browse", "u", "--fresh", "x"]]
)
def test_wrong_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert "Usage: weft" in capsys.readouterr().err


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        return "1.2.3"

    monkeypatch.setattr("importlib.metadata.version", version)

    assert run(["--version"]) == 0
    assert capsys.readouterr().out == "weft 1.2.3\n"


def test_a_bad_setting_ends_with_1_and_its_cure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_PROT", "1")

    assert run(["status"]) == 1
    assert "[CONFIG_INVALID]" in (shown := capsys.readouterr().err)
    assert "  1. Did you mean WEFT_PORT?" in shown


def test_an_error_has_a_message_a_code_and_numbered_steps(capsys: pytest.CaptureFixture[str]) -> None:
    errors.show(fault(Code.CONTENT_REQUIRES_JS, "No\x1b[2J text"), as_json=False)

    shown = capsys.readouterr()
    assert shown.out == ""
    lines = shown.err.splitlines()
    assert lines[0] == "error: No text [CONTENT_REQUIRES_JS]"
    assert [line[:5] for line in lines[1:]] == ["  1. ", "  2. "]


def test_an_error_is_json_where_json_was_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connected_to(monkeypatch, None, FaultError(fault(Code.INTERNAL_UNAVAILABLE)))

    assert run(["status", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert (told["code"], told["recommendedActions"][0]["action"]) == ("INTERNAL_UNAVAILABLE", "start")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FaultError(fault(Code.INTERNAL_UNAVAILABLE)), 3),
        (FaultError(fault(Code.INTERNAL_DISCONNECTED)), 3),
        (ConnectionRefusedError(), 3),
        (ExceptionGroup("tasks", [ConnectionRefusedError()]), 3),
        (FaultError(fault(Code.CONFIG_INVALID)), 1),
        (ExceptionGroup("tasks", [FaultError(fault(Code.CONFIG_INVALID))]), 1),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 3),
    ],
)
def test_the_exit_code_tells_what_happened(
    error: Exception, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    connected_to(monkeypatch, None, error)

    assert run(["status"]) == code


def test_an_unmeant_error_is_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    connected_to(monkeypatch, None, ZeroDivisionError())

    with pytest.raises(ZeroDivisionError):
        run(["status"])


# -- up ---------------------------------------------------------------------------------------------------------------


def test_up_hands_over_what_was_chosen(launch: FakeLaunch, tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    options = [
        "--nats",
        "nats://a:1",
        "--port",
        "0",
        "--host",
        "::1",
        "--data-dir",
        str(tmp_path),
        "--log-level",
        "error",
    ]

    code = run(["up", "--single-process", "--actors", "gateway,navigator=3", "--ready-file", str(ready), *options])

    assert code == 0
    assert launch.asked == {
        "settings": Settings(nats_url="nats://a:1", port=0, host="::1", data_dir=tmp_path, log_level="error"),
        "single_process": True,
        "actors": {"gateway": 1, "navigator": 3},
        "ready_file": ready,
    }


def test_up_runs_every_actor_once_by_default(launch: FakeLaunch) -> None:
    assert run(["up"]) == 0
    assert launch.asked["actors"] == dict.fromkeys(ACTORS, 1)


def test_up_ends_as_the_system_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "actors.runtime.launch", FakeLaunch(status=1))

    assert run(["up"]) == 1


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("gateway", {"gateway": 1}),
        (" navigator = 2 , gateway,", {"navigator": 2, "gateway": 1}),
        ("fetchers.intelligence=256", {"fetchers.intelligence": 256}),
    ],
)
def test_actors_are_chosen_by_name_and_number(text: str, chosen: dict[str, int]) -> None:
    assert parse_actors(text, ACTORS) == chosen


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "There are: fetchers.intelligence, gateway, navigator"),
        ("gatewy", "Did you mean gateway?"),
        ("zzz", "There are:"),
        ("gateway,gateway=2", "named twice"),
        *((f"gateway={number}", "from 1 to 256") for number in ("", "0", "-1", "257", "x", "1.5", "²", "9" * 5000)),
    ],
)
def test_a_wrong_choice_of_actors_is_explained(text: str, told: str) -> None:
    with pytest.raises(typer.BadParameter, match=re.escape(told)):
        parse_actors(text, ACTORS)


def test_a_wrong_choice_of_actors_is_wrong_usage(launch: FakeLaunch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["up", "--actors", "navigtor"]) == 2
    assert "Did you mean navigator?" in capsys.readouterr().err


# -- status -----------------------------------------------------------------------------------------------------------


def test_status_lists_the_replicas(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    connected_to(monkeypatch, FakeBus(replicas=(REPLICA,)))

    assert run(["status", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row.pop("uptimeMs") > 0
    assert row == {
        "actor": "navigator",
        "replica": "r1",
        "host": "h",
        "pid": 7,
        "version": "0.1.0",
        "started": 1_000,
        "inFlight": 1,
        "queued": 2,
        "served": 3,
        "errors": 0,
        "p50Ms": 1.5,
        "p99Ms": 9.25,
    }


def test_status_is_a_table_without_colours_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    connected_to(monkeypatch, FakeBus(replicas=(REPLICA,)))

    assert run(["status"]) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header.startswith("ACTOR")
    assert row.split()[:5] == ["navigator", "r1", "h", "7", "0.1.0"]
    assert "\x1b" not in header + row


def test_status_without_any_actor_is_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    connected_to(monkeypatch, FakeBus())

    assert run(["status"]) == 3


@pytest.mark.parametrize(
    ("ms", "text"), [(0, "0s"), (59_999, "59s"), (60_000, "1m 0s"), (3_725_000, "1h 2m"), (90_000_000, "1d 1h")]
)
def test_a_duration_has_two_units(ms: int, text: str) -> None:
    assert duration_text(ms) == text


# -- tap --------------------------------------------------------------------------------------------------------------


def message(packet: object, subject: str = "web.browse", headers: Mapping[str, str] | None = None) -> Message:
    return Message(subject=subject, payload=msgspec.json.encode(packet), headers=headers or {})


REQUEST = {
    "type": "request",
    "conversation": {"id": "0123456789abcdef"},
    "sender": {"role": "agent", "actor": "gateway/r1"},
    "input": {"task": {"name": "web.browse", "args": {"url": f"https://u:{MARK}@a/?api_key={MARK}"}}},
}


def test_a_packet_is_one_line() -> None:
    assert as_line(message(REQUEST), NOW).split() == [
        NOW.astimezone().strftime("%H:%M:%S.678"),
        "web.browse",
        "web.browse",
        "gateway/r1",
        "01234567",
        f"{len(message(REQUEST).payload)}",
        "B",
    ]


def test_an_answer_says_what_it_answers_and_its_error() -> None:
    answer = {"type": "response", "in_reply_to": {"request_id": "abcdefghijk"}, "error": {"code": "CONTENT_EMPTY"}}

    assert "re abcdefgh CONTENT_EMPTY" in as_line(message(answer), NOW)


@pytest.mark.parametrize(
    "payload", [b"", b"\xff\x1b[2J", b"[]", b"1", b"[" * 100_000, b'{"sender":1,"conversation":[]}']
)
def test_what_is_no_packet_is_a_line_all_the_same(payload: bytes) -> None:
    line = as_line(Message(subject="a.b", payload=payload), NOW)

    assert "\x1b" not in line
    assert line.endswith(f"{len(payload)} B")
    assert json.loads(as_object_line(Message(subject="a.b", payload=payload), NOW))["size"] == len(payload)


def test_json_lines_hold_the_masked_packet() -> None:
    shown = json.loads(as_object_line(message(REQUEST, headers={"Weft-Token": MARK, "traceparent": "00-1"}), NOW))

    assert shown["time"] == "2026-01-02T03:04:05.678+00:00"
    assert shown["headers"] == {"Weft-Token": "***", "traceparent": "00-1"}
    assert shown["packet"]["input"]["task"]["args"] == {"url": "https://***@a/?api_key=***"}


async def test_tap_ends_after_the_count(capsys: pytest.CaptureFixture[str]) -> None:
    bus = FakeBus(messages=(message(1), message(2), message(3)))

    await listen(bus, ">", as_json=True, count=2)

    assert len(capsys.readouterr().out.splitlines()) == 2


def test_the_verb_tap_prints_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    connected_to(monkeypatch, FakeBus(messages=(message(REQUEST),)))

    assert run(["tap", "web.>", "--count", "1", "--seconds", "60"]) == 0
    assert "gateway/r1" in capsys.readouterr().out


# -- masking ----------------------------------------------------------------------------------------------------------

SECRET_NAMES = st.sampled_from(
    ["api_key", "apiKey", "X-Api-Key", "Authorization", "proxy_authorization", "Cookie", "set-cookie", "password",
     "token", "access_token", "client_secret", "NKEY_SEED", "seed", "private_key", "credentials", "X-Amz-Signature"]
)  # fmt: skip
SECRET_TEXTS = st.sampled_from(
    [
        f"https://user:{MARK}@host/path",
        f"nats://{MARK}@host:4222,tls://u:{MARK}@other",
        f"see https://a/?x=1&api_key={MARK}&y=2 there",
        f"https://a/?sig={MARK}",
        f"https://a/cb?code={MARK}#access_token={MARK}",
        f"Authorization: Bearer {MARK}",
        f"authorization: Basic {MARK}\r\nAccept: */*",
        f"curl -H 'Authorization: Token {MARK}'",
        f"Set-Cookie: sid={MARK}; Path=/",
        f'{{"password": "{MARK}"}}',
        f'{{"a": "{{\\"token\\": \\"{MARK}\\"}}"}}',
        f"user=x&password={MARK}",
        f"password = '{MARK} and more {MARK}'",
        f'user[password]="{MARK} {MARK}"',
        f"bearer {MARK}",
    ]
)
OTHERS = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=20))
SECRET_VALUES = st.one_of(
    st.just(MARK), st.just([MARK]), st.just({"a": {"b": MARK}}), st.text(max_size=9).map(lambda text: text + MARK)
)
HIDING = st.one_of(
    SECRET_TEXTS,
    st.tuples(st.text(max_size=9), SECRET_TEXTS).map(lambda parts: f"{parts[0]} {parts[1]}"),
    st.dictionaries(SECRET_NAMES, SECRET_VALUES, min_size=1),
    st.tuples(SECRET_NAMES, SECRET_VALUES),
    st.fixed_dictionaries({"name": SECRET_NAMES, "value": SECRET_VALUES}),
    SECRET_TEXTS.map(lambda text: {text: 1}),
)
PACKETS = st.recursive(
    HIDING | OTHERS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(PACKETS)
@example({"Authorization": {"deep": [MARK]}})
def test_no_secret_survives_at_any_depth(packet: object) -> None:
    told = message(packet)

    assert MARK not in as_object_line(told, NOW)
    assert MARK not in as_line(told, NOW)


PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.text("abc äö\n.,!?", max_size=20))


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abcd"), inner)))
def test_what_hides_nothing_stays_as_it_is(value: object) -> None:
    assert masking.mask(value) == value


@pytest.mark.parametrize(
    "value",
    [
        "a plain sentence: nothing here",
        "https://a.example/b?page=2&q=x#top",
        "mail@a.example",
        {"url": "x", "timeout_ms": 1},
    ],
)
def test_what_is_no_secret_stays(value: object) -> None:
    assert masking.mask(value) == value


def test_nothing_is_hidden_where_there_is_nothing() -> None:
    assert masking.mask({"token": None, "api_key": "", "seed": 7}) == {"token": None, "api_key": "", "seed": "***"}


@pytest.mark.parametrize("text", ["a" * 900_000, "token" * 180_000, "://" * 300_000, "\\" * 900_000, "?key=" * 180_000])
def test_masking_takes_linear_time(text: str) -> None:
    masking.mask_text(text)  # the timeout of the test is the assertion


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


def test_entities_of_markdown_bring_no_control_character_back() -> None:
    assert terminal.plain_markdown("&#27;[2J &#x9b; &#8238;x &amp; &lt; &auml;") == "[2J  x &amp; &lt; &auml;"


@given(st.text())
def test_json_is_readable_and_free_of_control_characters(text: str) -> None:
    shown = terminal.json_text({"a": text})

    assert json.loads(shown) == {"a": text}
    assert [char for char in shown if 0x7F <= ord(char) < 0xA0 or "\u202a" <= char <= "\u202e"] == []


# -- browse -----------------------------------------------------------------------------------------------------------


def test_an_answer_is_read() -> None:
    assert read_answer(200, msgspec.json.encode(RESULT)) == RESULT


def test_an_error_of_the_edge_is_raised_as_it_was_told() -> None:
    told = fault(Code.RATE_LIMIT_EXCEEDED, "Slower", http_status=429)

    with pytest.raises(FaultError) as caught:
        read_answer(429, msgspec.json.encode(to_error(told)))

    assert caught.value.fault == told


@pytest.mark.parametrize(("status", "body"), [(200, b""), (502, b"<html>"), (200, b"\xff"), (500, b"{}")])
def test_an_answer_of_something_else_is_an_error(status: int, body: bytes) -> None:
    with pytest.raises(FaultError) as caught:
        read_answer(status, body)

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
    assert json.loads(shown)["url"] == "https://a.example"
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
    assert await running.find(Settings(data_dir=tmp_path)) is None


@pytest.mark.parametrize("record", [b"", b"{}", b'{"rest":"","mcp":"","nats":"","keyFile":"","pid":1}'])
async def test_a_record_that_names_no_edge_means_nothing_runs(record: bytes, tmp_path: Path) -> None:
    ready_path(tmp_path).parent.mkdir()
    ready_path(tmp_path).write_bytes(record)

    assert await running.find(Settings(data_dir=tmp_path)) is None


def record(folder: Path, rest: str) -> Settings:
    key = folder / "api-key"
    key.write_text(f"{MARK}\n", encoding="ascii")
    write_ready(ready_path(folder), Ready(rest=rest, mcp="", nats="", key_file=str(key), pid=os.getpid()))
    return Settings(data_dir=folder)


async def test_a_system_whose_edge_is_silent_does_not_run(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        rest = f"http://127.0.0.1:{closed.getsockname()[1]}"
    settings = record(tmp_path, rest)

    assert await running.find(settings) is None
    assert checks.running(settings, answers=False).state is checks.State.WARNING


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
            {"url": "https://a.example", "options": {"maxCostTier": "intelligence", "includeDecisionTrace": True}},
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


# -- doctor, schema ---------------------------------------------------------------------------------------------------


def test_the_doctor_shows_every_setting_and_its_origin(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_API_KEY", MARK)
    monkeypatch.setenv("WEFT_PORT", "0")

    code = run(["doctor", "--json"])

    shown = capsys.readouterr().out
    told = json.loads(shown)
    assert code == (0 if told["ok"] else 1)
    assert [row["name"] for row in told["settings"]] == list(Settings.__struct_fields__)
    assert next(row for row in told["settings"] if row["name"] == "port")["origin"] == "WEFT_PORT"
    assert {"config", "python", "nats", "chromium", "port", "data_dir", "disk"} <= {
        row["name"] for row in told["checks"]
    }
    assert MARK not in shown


def test_the_doctor_ends_with_1_and_the_cure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_PROT", "1")

    assert run(["doctor"]) == 1
    shown = capsys.readouterr().out
    assert "missing config" in shown
    assert "cure: Did you mean WEFT_PORT?" in shown


def test_an_old_python_is_missing_something() -> None:
    assert checks.python((3, 10, 9)).state is checks.State.MISSING
    assert checks.python((3, 11, 0)).state is checks.State.OK


def test_a_port_that_is_taken_is_fine_only_for_the_weft_that_runs() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = Settings(port=taken.getsockname()[1], data_dir=Path())

        assert checks.port(settings, running=False).state is checks.State.MISSING
        assert checks.port(settings, running=True).state is checks.State.OK


def test_a_data_folder_under_a_file_is_missing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert checks.data_dir(tmp_path / "file" / "data").state is checks.State.MISSING
    assert checks.data_dir(tmp_path / "new" / "data").state is checks.State.OK


def test_a_key_that_others_can_read_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "api-key"
    path.touch(0o644)
    path.chmod(0o644)

    check = checks.api_key(Settings(data_dir=tmp_path))

    assert (check.state, check.cure) == (checks.State.WARNING, f"chmod 600 {path}")


def test_schema_prints_all_or_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema"]) == 0
    everything = json.loads(capsys.readouterr().out)
    assert run(["schema", "edge.browse.result"]) == 0
    one = json.loads(capsys.readouterr().out)

    assert everything == json.loads(json.dumps(schemas.messages()))
    assert one == everything["edge.browse.result"]


def test_a_schema_that_is_not_there_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "edge.browse.resul"]) == 2
    assert "Did you mean edge.browse.result?" in capsys.readouterr().err
