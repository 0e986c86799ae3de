"""A crawl in a whole Weft: by its command, through a kill of who does it, and in the log of events."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protocol.runs.responses import Run
from protocol.runs.states import ArtifactType, RunStatus
from tests.flows.runs import Runs
from tests.flows.system import CALL_S, POLL_S, System
from tests.site import Site, site_in_thread
from tests.site.answers import Answer, Ask, Reply
from tests.site.large import LargeSite
from tests.support.scale import sized
from tests.support.system import environment
from tests.support.system import weft as command

pytestmark = [pytest.mark.nats, pytest.mark.slow, pytest.mark.timeout(900)]

CRAWL = "crawl_site"
AT_ONCE = 3
SIZE, PAGES = sized(80, 2_000), sized(250, 5_000)
RUN_S = sized(120.0, 800.0)
INTERRUPTED = 130


@pytest.fixture(scope="module")
def large() -> LargeSite:
    """Make a site up."""
    return LargeSite(SIZE)


@pytest.fixture(scope="module")
def astray(large: LargeSite) -> Generator[Site]:
    """Serve it."""
    with site_in_thread(large.answer) as site:
        yield site


def until(reached: Callable[[], bool], limit_s: float = RUN_S) -> None:
    deadline = time.monotonic() + limit_s
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(POLL_S)


def logged(system: System, **ids: str) -> list[dict[str, Any]]:
    """Read what the log of events has of some ids."""
    lines = (system.data_dir / "events.jsonl").read_bytes().splitlines()
    events = [msgspec.json.decode(line, type=dict[str, Any]) for line in lines]
    return [event for event in events if ids.items() <= event.items()]


@pytest.mark.full
def test_a_crawl_outlives_the_kill_of_its_runner_and_keeps_each_page_once(
    weft: System, large: LargeSite, astray: Site
) -> None:
    runs, pid = Runs(weft), int(str(weft.replica("runner")["pid"]))
    inputs = {"url": astray.url("/"), "languages": ["en"], "pages": PAGES, "concurrency": AT_ONCE, "to": "collection"}
    begun = runs.begun(CRAWL, inputs)
    until(lambda: len(astray.asked) >= len(large.wanted) // 3)
    os.kill(pid, signal.SIGKILL)
    until(lambda: runs.get(begun.run_id).status.final)
    run = runs.get(begun.run_id)

    result = msgspec.json.decode(runs.file(run, ArtifactType.JSON))
    print(f"{result['summary']} in {run.metrics.elapsed_ms} ms")  # noqa: T201 - a figure
    assert (run.status, result["summary"]["complete"]) == (RunStatus.SUCCEEDED, True)
    titles = Counter(item["title"] for item in result["items"])
    assert large.wanted <= set(titles)
    assert {title for title, count in titles.items() if count > 1} == set()
    assert len(set(titles) - large.wanted) <= 0.03 * len(large.wanted) + 2
    hits = Counter(f"{ask.path}?{ask.query}" for ask in astray.asked if ask.path.startswith(("/articles/", "/goods/")))
    assert sum(count - 1 for count in hits.values()) <= AT_ONCE + 1  # one more by a redirect
    collection = result["summary"]["collectionId"]
    until(lambda: captured_of(weft, collection) == len(result["items"]))
    until(lambda: len(logged(weft, type="source.captured", collection_id=collection)) == len(result["items"]))
    until(lambda: bool(logged(weft, type="run.succeeded", run_id=begun.run_id)))
    of_run = [event["type"] for event in logged(weft, run_id=begun.run_id) if event["type"] != "run.step"]
    assert of_run == ["run.created", "run.started", "run.resumed", "run.succeeded", "artifact.created"]
    assert [one["line"] for one in logged(weft, journal="ledger")] == sorted(
        one["line"] for one in logged(weft, journal="ledger")
    )


def captured_of(system: System, collection: str) -> int:
    """Count the sources of a collection that were read, as a tool lists them."""
    answer = system.http.post("/api/tools/collection.list_sources", json={"collectionId": collection}, timeout=CALL_S)
    assert answer.status_code == 200, answer.text
    listed: dict[str, Any] = answer.json()["result"]["payload"]
    assert listed["total"] == listed["collection"]["sources"]
    return int(listed["collection"]["captured"])


def test_a_site_becomes_a_folder_and_its_addresses_a_list(weft: System, astray: Site, tmp_path: Path) -> None:
    url, out = astray.url("/"), tmp_path / "looms"

    done = weft.run(
        *("crawl", url, "--pages", "30", "--include", "/articles/*", "--exclude", "*-1*", "--language", "en"),
        *("--out", str(out)),
    )
    lines = weft.run("crawl", url, "--pages", "5", "--to", "jsonl", "--out", str(out), "--json")
    listed = weft.run("map", url, "--pages", "3")
    kept = weft.run("crawl", url, "--pages", "3", "--to", "collection", "--json")

    assert done.returncode == 0, done.stderr
    assert f" {astray.url('/articles/0-5')} succeeded" in done.stderr
    files = sorted(str(file.relative_to(out)) for file in out.rglob("*.md"))
    assert {"index.md", "articles/0-0.md", "articles/0-5.md"} <= set(files)
    assert not [name for name in files if "-1" in name]
    written = (out / "articles" / "0-5.md").read_text()
    assert f"url: {astray.url('/articles/0-5')}" in written
    assert "title: Article 0-5" in written
    assert lines.returncode == 0, lines.stderr
    pages = [json.loads(line) for line in (out / "pages.jsonl").read_text().splitlines()]
    run = msgspec.json.decode(lines.stdout, type=Run)
    assert (len(pages), pages[0]["title"]) == (run.result["summary"]["kept"], "Looms")
    assert kept.returncode == 0, kept.stderr
    summary = msgspec.json.decode(kept.stdout, type=Run).result["summary"]
    assert captured_of(weft, summary["collectionId"]) == summary["kept"]
    assert listed.returncode == 0, listed.stderr
    assert {url, astray.url("/articles/0-5"), astray.url("/shop")} <= set(listed.stdout.split())


def test_a_crawl_that_keeps_no_page_makes_no_folder(weft: System, astray: Site, tmp_path: Path) -> None:
    done = weft.run("crawl", astray.url("/status/404"), "--pages", "1", "--out", str(tmp_path / "none"))

    assert (done.returncode, "The pages are in" in done.stdout, (tmp_path / "none").exists()) == (1, False, False)


@pytest.mark.full
def test_ctrl_c_leaves_a_crawl_that_can_be_resumed(weft: System, large: LargeSite, tmp_path: Path) -> None:
    def slow(ask: Ask) -> Answer:
        reply = large.answer(ask)
        return replace(reply, after_ms=200) if isinstance(reply, Reply) else reply

    with site_in_thread(slow) as site:
        words = command("crawl", site.url("/"), "--pages", "40", "--out", str(tmp_path / "out"))
        with subprocess.Popen(
            words, env=environment(weft.data_dir), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            until(lambda: len(site.asked) > 12)
            os.kill(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=CALL_S)
        (resume,) = [line for line in err.splitlines() if "weft runs resume" in line]
        asked = Counter(ask.path for ask in site.asked)
        again = weft.run("runs", "resume", resume.rpartition(" ")[2], "--json")

    assert (process.returncode, " canceled " in out) == (INTERRUPTED, True)
    assert again.returncode == 0, again.stderr
    assert msgspec.json.decode(again.stdout, type=Run).result["summary"]["requested"] == 40
    twice = [path for path in asked if path.startswith("/articles/") and site.hits[path] > asked[path]]
    assert len(twice) <= AT_ONCE
