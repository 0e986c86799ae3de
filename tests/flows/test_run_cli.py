"""Runs on the command line: from inputs in a file to a file of the result."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protocol.runs.responses import Run, RunList
from tests.flows.system import CALL_S, System, run
from tests.requirements import requirement
from tests.site import Site
from tests.support.system import environment
from tests.support.system import weft as command

pytestmark = pytest.mark.nats

BATCH = "batch_extract_pages"
PARTIAL, NOT_RUNNING, INTERRUPTED = 4, 3, 130


def inputs(folder: Path, urls: list[str], **more: Any) -> str:
    """Write the inputs of a batch."""
    file = folder / "inputs.json"
    file.write_text(json.dumps({"urls": urls, **more}))
    return str(file)


@requirement("002.12.acceptance")
@pytest.mark.slow
def test_a_run_goes_from_its_inputs_to_a_file(weft: System, site: Site, tmp_path: Path) -> None:
    file = inputs(tmp_path, [site.url("/article"), site.url("/table")])

    done = weft.run("run", BATCH, "--input", file, "--artifact", "csv", "--json")

    assert done.returncode == 0, done.stderr
    found = msgspec.json.decode(done.stdout, type=Run)
    assert found.artifacts
    (kept,) = [one for one in found.artifacts if one.type == "csv"]
    saved = weft.run("artifact", kept.artifact_id, "-o", str(tmp_path / "pages.csv"))
    printed = weft.run("artifact", kept.artifact_id, "--output", "-")
    assert (saved.returncode, saved.stdout, saved.stderr) == (0, "", "")
    assert ((tmp_path / "pages.csv").stat().st_size, printed.returncode) == (kept.size, 0)
    assert "How a loom is warped" in printed.stdout


@pytest.mark.slow
def test_what_succeeds_in_part_has_an_exit_code_of_its_own(weft: System, site: Site, tmp_path: Path) -> None:
    file = inputs(tmp_path, [site.url("/article"), site.url("/status/404")])

    done = weft.run("run", BATCH, "--input", file)

    assert (done.returncode, done.stderr.splitlines()[-1]) == (PARTIAL, "2/2 partial_success")
    assert (" partial_success " in done.stdout, "HTTP_NOT_FOUND" in done.stdout) == (True, True)


@pytest.mark.full
@pytest.mark.slow
def test_a_run_is_looked_after_by_its_id(weft: System, site: Site, tmp_path: Path) -> None:
    urls = [site.url(f"/slow?ms=400&cli={number}") for number in range(12)]
    begun = weft.run("run", BATCH, "--input", inputs(tmp_path, urls, concurrency=1), "--async")
    run_id = begun.stdout.strip()

    stopped = weft.run("runs", "cancel", run_id)
    resumed = weft.run("runs", "resume", run_id, "--json") if _over(weft, run_id) else begun
    listed = msgspec.json.decode(weft.run("runs", "--limit", "2", "--json").stdout, type=RunList)

    assert (begun.returncode, stopped.returncode) == (0, 0)
    assert "asked to stop" in stopped.stdout
    assert resumed.returncode == 0, resumed.stderr
    after = msgspec.json.decode(resumed.stdout, type=Run)
    assert (after.resumed_from, after.progress.done_steps) == (run_id, 12)
    assert [one.run_id for one in listed.runs] == [after.run_id, run_id]
    assert run_id in weft.run("runs", "show", run_id).stdout


def _over(weft: System, run_id: str) -> bool:
    """Wait for the end of a run."""
    with weft.http.stream("GET", f"/api/runs/{run_id}/events", timeout=CALL_S) as answer:
        return any(line == "event: end" for line in answer.iter_lines())


@pytest.mark.slow
def test_ctrl_c_stops_the_run(weft: System, site: Site, tmp_path: Path) -> None:
    urls = [site.url(f"/slow?ms=300&ctrl={number}") for number in range(40)]
    words = command("run", BATCH, "--input", inputs(tmp_path, urls, concurrency=1), "--json")
    with subprocess.Popen(
        words, env=environment(weft.data_dir), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert any(line.startswith("1/40 ") for line in process.stderr)
        os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=CALL_S)

    found = msgspec.json.decode(out, type=Run)
    assert (process.returncode, found.status, found.error_code) == (INTERRUPTED, "canceled", "RUN_CANCELED")
    assert 1 <= len(found.result["items"]) < len(urls)


@pytest.mark.slow
def test_ctrl_c_twice_leaves_a_run_that_stops_by_itself(weft: System, site: Site, tmp_path: Path) -> None:
    urls = [site.url(f"/slow?ms=2000&twice={number}") for number in range(40)]
    words = command("run", BATCH, "--input", inputs(tmp_path, urls, concurrency=1))
    with subprocess.Popen(
        words, env=environment(weft.data_dir), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        run_id = process.stderr.readline().split()[0]
        os.kill(process.pid, signal.SIGINT)
        assert any("asked to stop" in line for line in process.stderr)
        os.kill(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=CALL_S)

    last = f"Left. See what becomes of it: weft runs show {run_id}"
    assert (process.returncode, "Traceback" in told, told.splitlines()[-1]) == (INTERRUPTED, False, last)
    assert _over(weft, run_id)
    assert weft.http.get(f"/api/runs/{run_id}").json()["status"] == "canceled"


@requirement("002.9.trust-level")
@pytest.mark.slow
def test_who_sits_at_this_machine_may_run_what_is_local(weft: System) -> None:
    done = weft.run("run", "login_keep_session", "--json")

    told = json.loads(done.stdout)
    assert (done.returncode, told["code"], told["field"].partition(".")[0]) == (
        1,
        "VALIDATION_INVALID_REQUEST",
        "inputs",
    )


@pytest.mark.slow
def test_a_run_brings_its_own_weft_where_none_runs(tmp_path: Path, site: Site) -> None:
    folder = tmp_path / "none"

    done = run(folder, "run", BATCH, "--input", inputs(tmp_path, [site.url("/article")]), "--json")

    assert done.returncode == 0, done.stderr
    assert (msgspec.json.decode(done.stdout, type=Run).status, folder.exists()) == ("succeeded", False)


@pytest.mark.full
@pytest.mark.slow
def test_templates_are_listed_without_a_weft_that_runs(tmp_path: Path) -> None:
    listed = run(tmp_path / "none", "templates")
    schema = run(tmp_path / "none", "templates", BATCH)

    assert {line.split()[0] for line in listed.stdout.splitlines()[1:]} >= {BATCH, "login_keep_session"}
    assert "urls" in json.loads(schema.stdout)["required"]


@pytest.mark.slow
def test_a_run_without_its_inputs_says_how_they_are_given(weft: System) -> None:
    done = run(weft.data_dir, "run", BATCH)

    assert done.returncode == 1
    assert f"weft run {BATCH} --input FILE, or --input - for what comes in" in done.stderr


@pytest.mark.parametrize("words", [("runs",), ("runs", "show", "run_x"), ("artifact", "art_x")])
@pytest.mark.slow
def test_what_is_kept_needs_a_weft_that_runs(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run(tmp_path, *words)

    assert done.returncode == NOT_RUNNING
    assert "weft up" in done.stderr
