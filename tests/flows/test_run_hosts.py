"""Runs on several hosts that share one NATS: no more at once than are allowed, and the run of a dead host goes on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio.from_thread
import msgspec
import pytest

from actors.runtime.natskeys import write_accounts
from bus.seal import new_key
from protocol.runs.states import RunStatus
from tests.flows.runs import BATCH, Runs
from tests.flows.system import POLL_S, Json, System, weft_up
from tests.requirements import requirement
from tests.site import Site
from tests.support.nats import serve_open_nats
from tests.support.processes import session

pytestmark = [pytest.mark.nats, pytest.mark.slow, pytest.mark.timeout(900)]

PAGES, RUNS, PLACES = 12, 6, 2
RUN_S = 240.0
EDGE = "gateway,navigator,verifier,fetchers.intelligence,keeper,runner=2"


@dataclass(frozen=True)
class Hosts:
    """Two hosts, of which the first is asked."""

    one: System
    other: System

    def takers(self) -> list[str]:
        """Return which replicas have taken runs, on both hosts."""
        return [str(line["replica"]) for host in (self.one, self.other) for line in taken(host)]


@contextmanager
def hosts(folder: Path) -> Generator[Hosts]:
    """Run two hosts on one NATS."""
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_open_nats(folder / "nats")) as url,
    ):
        shared = {"WEFT_NATS_URL": url, "WEFT_VAULT_KEY": new_key(), "WEFT_RUNS_AT_ONCE": str(PLACES)}
        with (
            weft_up(folder / "one", "--actors", EDGE, **shared) as one,
            weft_up(folder / "other", "--actors", "runner=2,fetchers.intelligence", **shared) as other,
        ):
            yield Hosts(one, other)


@contextmanager
def known_hosts(folder: Path) -> Generator[Hosts]:
    """Run two hosts on a NATS that knows each participant by its key, of which each host has its own."""
    accounts, secrets = write_accounts(folder / "keys")
    seeds = msgspec.json.decode(secrets.read_bytes(), type=dict[str, str])
    there = {"host", "runner", "fetchers.intelligence"}
    for name, kept in (("one", seeds.keys() - {"fetchers.intelligence"}), ("other", there)):
        (folder / f"{name}.json").write_bytes(msgspec.json.encode({who: seeds[who] for who in kept}))
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_open_nats(folder / "nats", "-c", str(accounts))) as url,
    ):
        shared = {"WEFT_NATS_URL": url, "WEFT_VAULT_KEY": new_key()}
        edge, far = "gateway,navigator,verifier,keeper,runner", "runner,fetchers.intelligence"
        with (
            weft_up(folder / "one", "--actors", edge, **shared, WEFT_NATS_KEYS=str(folder / "one.json")) as one,
            weft_up(folder / "other", "--actors", far, **shared, WEFT_NATS_KEYS=str(folder / "other.json")) as other,
        ):
            yield Hosts(one, other)


def taken(host: System) -> list[Json]:
    """Find where runs were taken in the log of a host."""
    lines = [msgspec.json.decode(line, type=Json) for line in host.log.read_bytes().splitlines() if line[:1] == b"{"]
    return [line for line in lines if line["event"] == "run_taken"]


def urls(site: Site, first: int, count: int = PAGES) -> list[str]:
    """Return the addresses of some slow pages."""
    return [site.url(f"/note/{number}?ms=300") for number in range(first, first + count)]


@pytest.mark.full
@requirement("002.10.concurrent-runs")
def test_all_hosts_together_work_on_no_more_runs_than_are_allowed(tmp_path: Path, site: Site) -> None:
    with hosts(tmp_path) as both:
        runs = Runs(both.one)
        for number in range(RUNS):
            runs.begun(BATCH, {"urls": urls(site, 80_000 + 100 * number), "concurrency": 3})
        at_work: list[int] = []
        deadline = time.monotonic() + RUN_S
        while (listed := runs.listed()).total < RUNS or not all(run.status.final for run in listed.runs):
            assert time.monotonic() < deadline, listed
            at_work.append(sum(run.status is RunStatus.RUNNING for run in listed.runs))
            time.sleep(POLL_S)

        assert {run.status for run in listed.runs} == {RunStatus.SUCCEEDED}
        assert max(at_work) == PLACES
        takers = both.takers()
        print(f"{len(takers)} runs were taken by {len(set(takers))} of 4 replicas")  # noqa: T201 - a figure
        assert len(takers) == RUNS


@requirement("002.8.architecture")
@pytest.mark.full
def test_the_run_of_a_host_that_died_goes_on_elsewhere(tmp_path: Path, site: Site) -> None:
    with hosts(tmp_path) as both:
        runs = Runs(both.one)
        first, run_id = begun_elsewhere(both, runs, site)
        for life in session(both.other.ready.pid):
            os.kill(life.pid, signal.SIGKILL)
        run = runs.ended(run_id)

        assert (run.status, run.progress.done_steps) == (RunStatus.SUCCEEDED, 40)
        hits = [site.hits[f"/note/{number}"] for number in range(first, first + 40)]
        assert sum(hits) - 40 <= 3


def begun_elsewhere(both: Hosts, runs: Runs, site: Site) -> tuple[int, str]:
    """Begin runs until the other host has one; gives the number of its first page, and its id."""
    for first in range(85_000, 89_000, 100):
        accepted = runs.begun(BATCH, {"urls": urls(site, first, 40), "concurrency": 3})
        runs.until(accepted.run_id, lambda run: run.progress.done_steps > 0)
        if taken(both.other):
            return first, accepted.run_id
    raise AssertionError


def test_hosts_that_are_known_by_the_keys_of_their_actors_work_together(tmp_path: Path, site: Site) -> None:
    with known_hosts(tmp_path) as both:
        page = both.one.page(site.url("/note/81000"))
        run = Runs(both.one).done(BATCH, {"urls": urls(site, 82_000, 4)})

        assert page.content is not None
        assert run.status is RunStatus.SUCCEEDED
