"""How `weft` is asked, and what it ends in: help, usage, exit codes, up and status."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from actors.cli import terminal
from actors.cli.main import STARTING, run
from actors.cli.terminal import duration_text
from actors.cli.up import app as starting
from actors.cli.up import parse_actors
from actors.cli.verbs import app
from actors.registry import ACTORS
from actors.runtime import launch
from actors.runtime.rundir import Ready, ready_path, write_ready
from actors.runtime.withheld import Withheld
from actors.settings import Settings
from bus.errors import UnconnectedError
from protocol.faults import Code, FaultError, fault
from tests.support.scale import one_in
from tests.unit.actors.cli.cli_data import REPLICA, FakeBus, FakeLaunch, connected_to

# -- help, usage, exit codes ------------------------------------------------------------------------------------------

VERBS = (
    "up",
    "browse",
    "extract",
    "extension",
    "status",
    "tap",
    "mcp",
    "doctor",
    "schema",
    "nats",
    "sessions",
    "run",
    "runs",
    "templates",
    "artifact",
    "summarize",
    "ask",
    "do",
    "pull",
    "conversations",
    "routes",
)


@pytest.mark.parametrize("verb", one_in(4, VERBS))
def test_each_verb_explains_itself_and_each_of_its_options(verb: str) -> None:
    shown = CliRunner().invoke(app, [verb, "--help"])

    assert shown.exit_code == 0
    assert f"Usage: weft {verb}" in shown.output
    options = re.findall(r"^  (-\S.*?)(?:\s{2,}(\S.*))?$", shown.output, re.MULTILINE)
    assert options


@pytest.mark.parametrize("verb", STARTING)
def test_a_verb_that_starts_is_the_same_without_the_others(verb: str) -> None:
    alone, among_all = (CliRunner().invoke(one, [verb, "--help"], prog_name="weft") for one in (starting, app))

    assert alone.exit_code == 0
    assert alone.output == among_all.output


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
    terminal.show(fault(Code.CONTENT_REQUIRES_JS, "No\x1b[2J text"), as_json=False)

    shown = capsys.readouterr()
    assert shown.out == ""
    lines = shown.err.splitlines()
    assert lines[0] == "error: No text [CONTENT_REQUIRES_JS]"
    assert [line[:5] for line in lines[1:]] == [f"  {number}. " for number in range(1, 5)]


def test_an_error_is_json_where_json_was_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connected_to(monkeypatch, None, FaultError(fault(Code.INTERNAL_UNAVAILABLE)))

    assert run(["status", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert (told["code"], told["recommendedActions"][0]["action"]) == ("INTERNAL_UNAVAILABLE", "start")


@pytest.mark.parametrize(
    ("error", "code"),
    one_in(
        3,
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
    ),
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
        "withheld": Withheld(),
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["up", "--data-dir", ""], "data_dir, set by --data-dir"),
        (["up", "--ready-file", "/proc/nowhere"], "name a place that can be written"),
        (["up", "--ready-file", ""], "--ready-file"),
        (["artifact", "art_1", "--output", "/nowhere/x"], "name a place that can be written"),
        (["artifact", "art_1", "--output", "."], "name a place that can be written"),
        (["extension", __file__], "name a place that can be written"),
        (["extension", "/proc/nowhere"], "name a place that can be written"),
        (["report", __file__], "DIR"),
        (["crawl", "https://a.example/", "--out", __file__], "name a place that can be written"),
        (["do", "Log in", "--screenshot", "/nowhere/x"], "name a place that can be written"),
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_any_work(
    launch: FakeLaunch, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(arguments) in (1, 2)
    assert (said in capsys.readouterr().err, launch.asked) == (True, {})


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
        ("", f"There are: {', '.join(sorted(ACTORS))}"),
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


@pytest.mark.slow
def test_help_waits_for_no_library_that_only_some_verbs_need() -> None:
    heavy = ("anyio._backends", "bus", "mcp", "nats", "starlette", "structlog", "turbohtml", "websockets")
    code = f"import sys, actors.cli.verbs; print([name for name in sys.modules if name.startswith({heavy})])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_a_start_takes_nothing_that_draws_on_terminals_which_other_verbs_still_find(tmp_path: Path) -> None:
    arguments = ["up", "--actors", "nobody", "--data-dir", str(tmp_path)]
    code = (
        f"import sys; from actors.cli.main import run; assert run({arguments}) == 2; "
        "assert 'structlog' in sys.modules; print({'rich', 'pygments'} & sys.modules.keys()); import rich.console"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"


def test_a_weft_on_a_nats_that_is_not_reached_is_told_from_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    connected_to(monkeypatch, None, FaultError(fault(Code.INTERNAL_UNAVAILABLE)))
    monkeypatch.delenv("WEFT_NATS_URL", raising=False)
    nats = "nats://127.0.0.1:4222"
    write_ready(ready_path(tmp_path), Ready(rest="", mcp="", nats=nats, key_file="", pid=os.getpid()))

    assert run(["status", "--data-dir", str(tmp_path)]) == 3
    said = " ".join(capsys.readouterr().err.split())
    assert (f"cannot be reached at {nats}" in said, "WEFT_NATS_KEYS" in said) == (True, True)


def test_a_nats_that_cannot_be_joined_says_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect_nats(url: str, *_: object, **__: object) -> None:
        raise UnconnectedError(f"no connection to NATS at {url}: it knows no such key")

    monkeypatch.setenv("WEFT_NATS_URL", "nats://127.0.0.1:1")
    monkeypatch.setattr(launch, "connect_nats", connect_nats)

    assert run(["status"]) == 3

    said = capsys.readouterr().err
    assert "nats_url: no connection to NATS at nats://127.0.0.1:1: it knows no such key" in said
    assert "weft doctor" in said


def test_a_key_that_is_not_that_of_the_weft_which_runs_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    connected_to(monkeypatch, None, FaultError(fault(Code.INTERNAL_UNAVAILABLE)))
    monkeypatch.delenv("WEFT_NATS_URL", raising=False)
    monkeypatch.setenv("WEFT_API_KEY", "of-another-weft")
    key_file = tmp_path / "api-key"
    key_file.write_text("its-own")
    ready = Ready(rest="", mcp="", nats="nats://127.0.0.1:4222", key_file=str(key_file), pid=os.getpid())
    write_ready(ready_path(tmp_path), ready)

    assert run(["status", "--data-dir", str(tmp_path)]) == 3
    said = " ".join(capsys.readouterr().err.split())
    assert "The API key that WEFT_API_KEY sets is not that of the Weft that runs" in said
    assert f"Leave WEFT_API_KEY unset, or set what stands in {key_file}." in said
