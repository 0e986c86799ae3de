"""`weft run`, `runs`, `templates` and `artifact`: what is asked, what is printed, and how each ends."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from actors.cli.main import run
from bus.seal import Seal
from protocol.faults import Code, FaultError, fault
from protocol.runs.requests import AskRun, ListRuns, RunNews, RunOptions, inputs_of
from protocol.runs.responses import ArtifactChunk, CancelAnswer, Run, RunList, RunProgress, RunSummary
from protocol.runs.states import ArtifactType, Mode, RunStatus
from protocol.subjects import (
    ARTIFACT_READ,
    RUN_CANCEL,
    RUN_CREATE,
    RUN_FOLLOW,
    RUN_GET,
    RUN_LIST,
    RUN_TEMPLATES,
)
from tests.unit.actors.cli.cli_data import FakeBus, connected_to
from tests.unit.actors.gateway.run_data import (
    ACCEPTED,
    ARTIFACT_ID,
    BATCH,
    DONE,
    FAILED,
    RUN_ID,
    TEMPLATES,
    RunBus,
    news,
)
from tests.unit.actors.gateway_data import VAULT_KEY

PARTIAL = msgspec.structs.replace(DONE, status=RunStatus.PARTIAL_SUCCESS)
CANCELED = msgspec.structs.replace(DONE, status=RunStatus.CANCELED)
SUMMARY = RunSummary(
    run_id=RUN_ID,
    template_id=BATCH,
    status=RunStatus.RUNNING,
    created_at=1_000,
    updated_at=2_000,
    progress=RunProgress(total_steps=20, done_steps=8),
)

Shown = pytest.CaptureFixture[str]


@pytest.fixture
def inputs(tmp_path: Path) -> str:
    file = tmp_path / "inputs.json"
    file.write_text('{"urls": ["https://example.com/"], "password": "hunter2"}')
    return str(file)


def bus_of(monkeypatch: pytest.MonkeyPatch, answers: dict[Any, Any]) -> RunBus:
    """Have a system run whose actors answer so."""
    bus = RunBus(answers)
    monkeypatch.setenv("WEFT_NATS_URL", "nats://127.0.0.1:1")
    connected_to(monkeypatch, cast("FakeBus", bus))
    return bus


def ending(end: Run) -> dict[Any, Any]:
    return {RUN_CREATE: ACCEPTED, RUN_FOLLOW: [news(1, 2), news(20, run=end)], RUN_GET: end}


# -- run ------------------------------------------------------------------------------------------------------------


def test_a_run_is_begun_as_the_owner_at_this_machine(monkeypatch: pytest.MonkeyPatch, inputs: str) -> None:
    bus = bus_of(monkeypatch, ending(DONE))

    options = ("--timeout-ms", "900", "--artifact", "csv", "--idempotency-key", "k", "--session", "sess_" + "c" * 22)
    code = run(["run", BATCH, "--input", inputs, *options])

    (order,) = bus.every(RUN_CREATE)
    opened = Seal.of(VAULT_KEY).unseal(order.inputs, inputs_of(order.run_id))
    assert (code, order.caller, order.local) == (0, "owner", True)
    assert (b"hunter2" in order.inputs, json.loads(opened)["password"]) == (False, "hunter2")
    assert order.options == RunOptions(mode=Mode.SYNC, timeout_ms=900, artifacts=(ArtifactType.CSV,))
    assert (order.idempotency_key, order.session_id) == ("k", "sess_" + "c" * 22)


@pytest.mark.parametrize(("end", "code"), [(DONE, 0), (PARTIAL, 4), (FAILED, 1), (CANCELED, 1)])
def test_the_exit_code_tells_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: Shown, inputs: str, end: Run, code: int
) -> None:
    bus_of(monkeypatch, ending(end))

    assert run(["run", BATCH, "--input", inputs, "--json"]) == code
    assert msgspec.json.decode(capsys.readouterr().out, type=Run) == end


def test_in_a_pipe_each_event_is_a_line_beside_the_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: Shown, inputs: str
) -> None:
    bus_of(monkeypatch, ending(DONE))

    run(["run", BATCH, "--input", inputs])

    shown = capsys.readouterr()
    assert [line.split()[0] for line in shown.err.splitlines()] == [RUN_ID, "1/20", "2/20", "20/20"]
    lines = shown.out.splitlines()
    assert lines[0] == f"{RUN_ID} {BATCH} succeeded · 20 of 20 steps · 5.2 s"
    assert next(line.split() for line in lines if line.startswith("summary.")) == ["summary.total", "2"]
    assert "\x1b" not in shown.out


def test_on_a_terminal_there_is_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: Shown, inputs: str) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    bus_of(monkeypatch, ending(DONE))

    assert run(["run", BATCH, "--input", inputs, "--json"]) == 0
    shown = capsys.readouterr()
    assert "20/20" in re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", shown.err)
    assert json.loads(shown.out)["status"] == "succeeded"


def test_a_terminal_that_moves_no_cursor_gets_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: Shown, inputs: str
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    bus_of(monkeypatch, ending(DONE))

    assert run(["run", BATCH, "--input", inputs, "--json"]) == 0
    assert "20/20 succeeded" in capsys.readouterr().err


def test_a_failed_run_says_where_and_what_to_do(monkeypatch: pytest.MonkeyPatch, capsys: Shown, inputs: str) -> None:
    bus_of(monkeypatch, ending(FAILED))

    run(["run", BATCH, "--input", inputs])

    assert capsys.readouterr().err.splitlines()[-3:] == [
        "error: A step of the run failed. [STEP_EXECUTION_FAILED]",
        "  at the step navigate [NAVIGATION_TIMEOUT]",
        "  1. `details` name the step that failed and its code.",
    ]


def test_who_does_not_wait_gets_the_id_alone(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    bus = bus_of(monkeypatch, {RUN_CREATE: ACCEPTED})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"urls": []}')))

    assert run(["run", BATCH, "--input", "-", "--async"]) == 0
    (order,) = bus.every(RUN_CREATE)
    assert (capsys.readouterr().out, order.options.mode) == (f"{RUN_ID}\n", Mode.ASYNC)
    assert bus.every(RUN_FOLLOW) == []


@pytest.mark.parametrize("text", ["", "hunter2", '["hunter2"]', '{"password": "hunter2"', "\udcff"])
def test_inputs_that_are_none_are_refused_without_a_word_of_them(tmp_path: Path, capsys: Shown, text: str) -> None:
    file = tmp_path / "inputs.json"
    file.write_bytes(text.encode(errors="surrogateescape"))

    assert run(["run", BATCH, "--input", str(file)]) == 1
    shown = capsys.readouterr().err
    assert ("no JSON object" in shown, "hunter2" in shown) == (True, False)


def test_a_file_that_is_not_there_is_named(capsys: Shown, tmp_path: Path) -> None:
    assert run(["run", BATCH, "--input", str(tmp_path / "inputs.json")]) == 1
    assert "inputs.json: No such file" in capsys.readouterr().err


def test_a_value_that_breaks_the_contract_is_named(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    bus = bus_of(monkeypatch, {})

    assert run(["run", BATCH, "--idempotency-key", "a b"]) == 1
    assert ("idempotencyKey" in capsys.readouterr().err, bus.calls) == (True, [])


def interrupting(times: int) -> Callable[[Any], RunNews]:
    """Press Ctrl-C at the first questions, and have the run end when it was asked to stop."""
    pressed = list[int]()

    def told(_asked: Any) -> RunNews:
        if len(pressed) < times:
            pressed.append(1)
            os.kill(os.getpid(), signal.SIGINT)
        return news()

    return told


def test_ctrl_c_asks_the_run_to_stop_and_waits_for_it(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    bus = bus_of(monkeypatch, {RUN_CREATE: ACCEPTED, RUN_GET: CANCELED})
    interrupted, said = interrupting(1), CancelAnswer(cancel_requested=True, current_status=RunStatus.RUNNING)

    def told(asked: Any) -> RunNews:
        return news(20, run=CANCELED) if bus.every(RUN_CANCEL) else interrupted(asked)

    bus.answers |= {RUN_FOLLOW.pattern: told, RUN_CANCEL.pattern: said}

    assert run(["run", BATCH, "--json"]) == 130
    shown = capsys.readouterr()
    assert bus.every(RUN_CANCEL) == [AskRun(run_id=RUN_ID, caller="owner")]
    assert ("asked to stop" in shown.err, json.loads(shown.out)["status"]) == (True, "canceled")


def test_ctrl_c_twice_leaves(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    said = CancelAnswer(cancel_requested=True, current_status=RunStatus.RUNNING)
    bus = bus_of(monkeypatch, {RUN_CREATE: ACCEPTED, RUN_CANCEL: said})
    first, second = interrupting(1), interrupting(1)

    def told(asked: Any) -> RunNews:
        return (second if bus.every(RUN_CANCEL) else first)(asked)

    bus.answers[RUN_FOLLOW.pattern] = told

    assert run(["run", BATCH]) == 130
    assert f"weft runs show {RUN_ID}" in capsys.readouterr().err


# -- runs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["runs"], ["runs", "list"]])
def test_runs_lists(monkeypatch: pytest.MonkeyPatch, capsys: Shown, words: list[str]) -> None:
    bus = bus_of(monkeypatch, {RUN_LIST: RunList(runs=(SUMMARY,), total=1)})

    assert run([*words, "--status", "running", "--template", BATCH, "--limit", "3"]) == 0
    heads, row = capsys.readouterr().out.splitlines()
    asked = ListRuns(caller="owner", status=RunStatus.RUNNING, template_id=BATCH, limit=3)
    assert (heads.split()[:4], row.split()[:4]) == (
        ["RUN", "TEMPLATE", "STATUS", "STEPS"],
        [RUN_ID, BATCH, "running", "8/20"],
    )
    assert bus.every(RUN_LIST) == [asked]


def test_a_run_is_shown_without_the_power_of_its_words(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    error: dict[str, object] = {"code": "CONTENT_EMPTY", "errorCode": "EXECUTION_ERROR"}
    items: list[dict[str, Any]] = [
        {"index": 0, "title": "T\x1b[2Jitle", "content": "x" * 1_000, "error": error},
        {"index": 0, "title": "Second", "error": {"errorCode": "PAGE_CRASHED"}},
    ]
    items += [{"index": number, "title": "more"} for number in range(1, 59)]
    bus_of(monkeypatch, {RUN_GET: msgspec.structs.replace(DONE, result={"items": items}, result_truncated=True)})

    assert run(["runs", "show", RUN_ID]) == 0
    shown = capsys.readouterr().out
    assert ("\x1b" in shown, "x" * 300 in shown, "EXECUTION_ERROR" in shown) == (False, False, False)
    assert all(word in shown for word in ("CONTENT_EMPTY", "PAGE_CRASHED", "Title"))
    assert "10 more of items" in shown
    assert "shortened" in shown
    assert ARTIFACT_ID in shown


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (CancelAnswer(cancel_requested=True, current_status=RunStatus.RUNNING), "asked to stop"),
        (CancelAnswer(cancel_requested=False, current_status=RunStatus.SUCCEEDED), "nothing to stop"),
    ],
)
def test_a_cancel_says_what_comes_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: Shown, answer: CancelAnswer, said: str
) -> None:
    bus_of(monkeypatch, {RUN_CANCEL: answer})

    assert run(["runs", "cancel", RUN_ID]) == 0
    assert said in capsys.readouterr().out


def test_a_run_is_gone_on_with(monkeypatch: pytest.MonkeyPatch, capsys: Shown, inputs: str) -> None:
    bus = bus_of(monkeypatch, ending(DONE))

    assert run(["runs", "resume", RUN_ID, "--input", inputs, "--json"]) == 0
    (order,) = bus.every(RUN_CREATE)
    assert (order.resume, json.loads(capsys.readouterr().out)["status"]) == (RUN_ID, "succeeded")


def test_a_run_that_there_is_not_is_an_error(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    bus_of(monkeypatch, {RUN_GET: FaultError(fault(Code.RUN_NOT_FOUND))})

    assert run(["runs", "show", RUN_ID]) == 1
    assert "[RUN_NOT_FOUND]" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["runs"], ["runs", "show", RUN_ID], ["run", BATCH, "--async"], ["artifact", ARTIFACT_ID]]
)
def test_what_outlives_the_call_needs_a_weft_that_runs(arguments: list[str], tmp_path: Path, capsys: Shown) -> None:
    assert run([*arguments, "--data-dir", str(tmp_path)]) == 3
    assert "weft up" in capsys.readouterr().err


# -- templates and files --------------------------------------------------------------------------------------------


def test_templates_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    bus_of(monkeypatch, {RUN_TEMPLATES: TEMPLATES})

    assert run(["templates"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == [BATCH, "1.0.0", "auto"]
    assert run(["templates", BATCH]) == 0
    assert json.loads(capsys.readouterr().out)["required"] == ["urls"]
    assert run(["templates", "batch_extract_page"]) == 2
    assert f"Did you mean {BATCH}?" in capsys.readouterr().err


def piece(data: bytes, *, complete: bool) -> ArtifactChunk:
    return ArtifactChunk(artifact_id=ARTIFACT_ID, mime_type="text/csv", size=6, data=data, complete=complete)


def test_a_file_is_put_together_and_appears_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bus = bus_of(monkeypatch, {ARTIFACT_READ: [piece(b"abc", complete=False), piece(b"def", complete=True)]})
    file = tmp_path / "out.csv"
    file.write_text("before")

    assert run(["artifact", ARTIFACT_ID, "-o", str(file)]) == 0
    assert (file.read_bytes(), list(tmp_path.glob(".out*"))) == (b"abcdef", [])
    assert [asked.offset for asked in bus.every(ARTIFACT_READ)] == [0, 3]


@pytest.mark.parametrize("then", [FaultError(fault(Code.ARTIFACT_EXPIRED)), piece(b"", complete=False)])
def test_a_file_that_cannot_be_had_whole_leaves_what_was_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, then: Any
) -> None:
    bus_of(monkeypatch, {ARTIFACT_READ: [piece(b"abc", complete=False), then]})
    file = tmp_path / "out.csv"
    file.write_text("before")

    assert run(["artifact", ARTIFACT_ID, "-o", str(file)]) == 1
    assert (file.read_text(), list(tmp_path.glob(".out*"))) == ("before", [])


def test_a_place_that_cannot_be_written_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: Shown, tmp_path: Path
) -> None:
    bus_of(monkeypatch, {ARTIFACT_READ: [piece(b"abcdef", complete=True)]})

    assert run(["artifact", ARTIFACT_ID, "-o", str(tmp_path / "none" / "out.csv")]) == 1
    assert "out.csv: No such file" in capsys.readouterr().err


def test_a_file_is_printed_as_it_is_into_a_pipe(monkeypatch: pytest.MonkeyPatch, capfdbinary: Any) -> None:
    bus_of(monkeypatch, {ARTIFACT_READ: [piece(b"a\xff\x00b", complete=True)]})

    assert run(["artifact", ARTIFACT_ID]) == 0
    assert capfdbinary.readouterr().out == b"a\xff\x00b"


def test_a_secret_of_a_flow_that_nobody_gives_is_asked_for_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))

    assert run(["flows", "replay", "flow_Zk9rT2VxYw0pQmJtS1dHcA", "--secret", "password"]) == 1
    assert "--secret password: say NAME=TEXT" in capsys.readouterr().err
