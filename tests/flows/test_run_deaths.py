"""A run outlives whatever dies while it is at work, and asks no page twice but those that were in hand."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from protocol.runs.responses import Run
from protocol.runs.states import ArtifactType, RunStatus
from tests.flows.runs import BATCH, Runs
from tests.flows.system import POLL_S, Json, System, weft_up
from tests.requirements import requirement
from tests.site import Site
from tests.support.processes import session
from tests.support.scale import first, sized

pytestmark = [pytest.mark.nats, pytest.mark.slow, pytest.mark.timeout(900)]

COUNT, AT_ONCE, PAGE_MS = sized(40, 100), 5, 300
KILL_AT = sized(15, 40)
"""So many pages have been asked for when somebody dies."""

RUN_S = 240.0
FETCHER, RUNNER, KEEPER = "fetchers.intelligence", "runner", "keeper"


@dataclass(frozen=True)
class Batch:
    """A run that reads many pages, and what the site hears of it."""

    system: System
    site: Site
    first: int
    run_id: str

    def hits(self) -> Counter[int]:
        """Return how often each page was asked for."""
        hits = {number: self.site.hits[f"/note/{number}"] for number in range(self.first, self.first + COUNT)}
        return Counter({number: count for number, count in hits.items() if count})

    def until(self, reached: Callable[[], bool]) -> None:
        """Wait for something."""
        deadline = time.monotonic() + RUN_S
        while not reached():
            assert time.monotonic() < deadline, f"{self.hits().total()} pages asked for"
            time.sleep(POLL_S)

    def now(self) -> Run | None:
        """Ask how the run stands; None while nobody can say."""
        answer = self.system.http.get(f"/api/runs/{self.run_id}")
        if answer.status_code >= 500:
            return None
        assert answer.status_code == 200, answer.text
        return msgspec.json.decode(answer.content, type=Run)

    def ended(self) -> Run:
        """Ask how the run stands until it is over; its progress never falls."""
        seen: list[Run] = []

        def over() -> bool:
            if (run := self.now()) is not None:
                assert not seen or run.progress.done_steps >= seen[-1].progress.done_steps
                seen.append(run)
            return bool(seen) and seen[-1].status.final

        self.until(over)
        return seen[-1]


def begun(system: System, site: Site, first: int) -> Batch:
    """Begin the batch."""
    urls = [site.url(f"/note/{number}?ms={PAGE_MS}") for number in range(first, first + COUNT)]
    accepted = Runs(system).begun(BATCH, {"urls": urls, "concurrency": AT_ONCE})
    return Batch(system, site, first, accepted.run_id)


def is_complete(batch: Batch, run: Run) -> None:
    """See that every page was read and told."""
    assert (run.status, run.progress.done_steps) == (RunStatus.SUCCEEDED, COUNT)
    kept = msgspec.json.decode(Runs(batch.system).file(run, ArtifactType.JSON))
    assert [item["index"] for item in kept["items"] if item["success"]] == list(range(COUNT))
    assert [item["title"] for item in kept["items"]] == [f"Note {batch.first + at}" for at in range(COUNT)]


def pid_of(system: System, actor: str, *, at_work: bool) -> int:
    """Find a replica of an actor, one that has something in hand where that is wanted."""
    while True:
        found = [one for one in system.replicas() if one["actor"] == actor and (not at_work or one["inFlight"])]
        if found:
            return int(str(found[0]["pid"]))
        time.sleep(POLL_S)


def events(system: System, event: str) -> list[Json]:
    """Find the log lines of one event."""
    lines = [msgspec.json.decode(line, type=Json) for line in system.log.read_bytes().splitlines() if line[:1] == b"{"]
    return [line for line in lines if line["event"] == event]


def kill_in_the_middle(batch: Batch, pid: int, who: str) -> float:
    """Kill a process when the run is in the middle; gives how long it took until the site was asked again, in s."""
    batch.until(lambda: batch.hits().total() >= KILL_AT)
    os.kill(pid, signal.SIGKILL)
    killed_at, asked = time.monotonic(), batch.hits().total()
    assert asked < COUNT
    batch.until(lambda: batch.hits().total() > asked + AT_ONCE)
    pause = time.monotonic() - killed_at
    print(f"{who} killed after {asked} pages, the next came {pause:.1f} s later")  # noqa: T201 - a figure
    return pause


def again(batch: Batch) -> Counter[int]:
    """Count the pages that were asked for more than once, and how often."""
    counts = Counter({number: count - 1 for number, count in batch.hits().items() if count > 1})
    print(f"asked again: {dict(counts)}")  # noqa: T201 - a figure
    return counts


@requirement("002.8.architecture")
@pytest.mark.parametrize("replicas", first(1, [1, 2]))
def test_a_run_outlives_its_runner(tmp_path: Path, site: Site, replicas: int) -> None:
    actors = f"gateway,navigator,verifier,{FETCHER},{RUNNER}={replicas},{KEEPER}"
    with weft_up(tmp_path, "--actors", actors) as system:
        batch = begun(system, site, 50_000 + 1_000 * replicas)
        kill_in_the_middle(batch, pid_of(system, RUNNER, at_work=True), RUNNER)
        run = batch.ended()

        is_complete(batch, run)
        assert again(batch).total() <= AT_ONCE
        taken = events(system, "run_taken")
        assert [line["attempt"] for line in taken] == [1, 2]
        assert len({line["replica"] for line in taken}) == len(taken)


@requirement("002.8.architecture")
@pytest.mark.full
def test_a_run_goes_on_while_the_keeper_is_away(tmp_path: Path, site: Site) -> None:
    actors = f"gateway,navigator,verifier,{FETCHER},{RUNNER},{KEEPER}"
    with weft_up(tmp_path, "--actors", actors) as system:
        batch = begun(system, site, 53_000)
        kill_in_the_middle(batch, pid_of(system, KEEPER, at_work=False), KEEPER)
        run = batch.ended()

        is_complete(batch, run)
        assert again(batch) == Counter()


@requirement("002.8.architecture")
@pytest.mark.full
def test_a_run_outlives_a_fetcher(tmp_path: Path, site: Site) -> None:
    actors = f"gateway,navigator,verifier,{FETCHER}=2,{RUNNER},{KEEPER}"
    with weft_up(tmp_path, "--actors", actors) as system:
        batch = begun(system, site, 54_000)
        kill_in_the_middle(batch, pid_of(system, FETCHER, at_work=True), FETCHER)
        run = batch.ended()

        is_complete(batch, run)
        assert again(batch).total() <= AT_ONCE


@pytest.mark.full
@requirement("002.8.architecture")
def test_a_run_outlives_the_nats_server(tmp_path: Path, site: Site) -> None:
    actors = f"gateway,navigator,verifier,{FETCHER},{RUNNER},{KEEPER}"
    with weft_up(tmp_path, "--actors", actors) as system:
        batch = begun(system, site, 55_000)
        (server,) = (one.pid for one in session(system.ready.pid) if one.name == "nats-server")
        kill_in_the_middle(batch, server, "nats-server")
        run = batch.ended()

        is_complete(batch, run)
        assert again(batch).total() <= AT_ONCE


@pytest.mark.full
@requirement("002.8.architecture")
@pytest.mark.parametrize("sent", first(1, [signal.SIGKILL, signal.SIGTERM]))
def test_a_run_goes_on_when_everything_is_started_again(tmp_path: Path, site: Site, sent: signal.Signals) -> None:
    actors = ("--actors", f"gateway,navigator,verifier,{FETCHER},{RUNNER},{KEEPER}")
    first = 56_000 + 1_000 * sent
    with weft_up(tmp_path, *actors, WEFT_DRAIN_MS="300") as system:
        batch = begun(system, site, first)
        batch.until(lambda: batch.hits().total() >= KILL_AT)
        lives = session(system.ready.pid)
        os.kill(system.ready.pid, sent)
        batch.until(lambda: not lives & session(system.ready.pid))
        assert batch.hits().total() < COUNT
    with weft_up(tmp_path, *actors) as system:
        batch = Batch(system, site, first, batch.run_id)
        run = batch.ended()

        is_complete(batch, run)
        assert again(batch).total() <= AT_ONCE
        assert [line["attempt"] for line in events(system, "run_taken")] == [1, 2]
