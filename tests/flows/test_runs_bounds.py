"""What bounds runs from outside: how many there are at once, hosts that never answer, how long files are kept."""

from __future__ import annotations

import time
from collections.abc import Generator

import msgspec
import pytest
from msgspec import UNSET

from actors.gateway.errors import RunFault
from protocol.runs.states import ArtifactType, RunStatus
from tests.flows.runs import BATCH, RUN_S, Runs, deaf_host, items, wrong
from tests.flows.system import POLL_S, weft_up
from tests.requirements import requirement
from tests.site import Site

pytestmark = [pytest.mark.nats, pytest.mark.slow]

STATIC = "gateway,navigator,verifier,sessions,runner,keeper,fetchers.intelligence"
TTL_MS = 2_000
MAX_TIMEOUT_MS = 8_000
CLOCK_MS = 20
"""How far two clocks of one machine may disagree over seconds."""


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Generator[Runs]:
    """Run a Weft without browsers that does one run at once, keeps files for two seconds and waits little for hosts."""
    with weft_up(
        tmp_path_factory.mktemp("narrow"),
        "--actors",
        STATIC,
        WEFT_RUNS_AT_ONCE="1",
        WEFT_ARTIFACT_TTL_MS=str(TTL_MS),
        WEFT_RUN_TIMEOUT_MAX_MS=str(MAX_TIMEOUT_MS),
        WEFT_FETCH_CONNECT_TIMEOUT_MS="500",
    ) as system:
        yield Runs(system)


@requirement("002.10.concurrent-runs")
@requirement("002.2.runtime")
@requirement("002.6.transitions")
def test_a_run_waits_for_its_turn(narrow: Runs, site: Site) -> None:
    slow = [site.url(f"/note/{number}?ms=300") for number in range(30_000, 30_004)]
    first = narrow.begun(BATCH, {"urls": slow, "concurrency": 1})
    narrow.until(first.run_id, lambda run: run.status is RunStatus.RUNNING)
    second = narrow.begun(BATCH, {"urls": [site.url("/note/30010")]})
    third = narrow.begun(BATCH, {"urls": [site.url("/note/30020")]})

    stopped = narrow.canceled(third.run_id)
    canceled = narrow.ended(third.run_id)
    waiting = narrow.get(second.run_id)
    working = narrow.get(first.run_id)

    assert (stopped.cancel_requested, canceled.status) == (True, RunStatus.CANCELED)
    assert (canceled.progress.done_steps, site.hits["/note/30020"]) == (0, 0)
    assert (waiting.status, working.status) == (RunStatus.QUEUED, RunStatus.RUNNING)
    assert narrow.ended(first.run_id).status is RunStatus.SUCCEEDED
    done = narrow.ended(second.run_id)
    assert (done.status, done.metrics.queued_ms is not UNSET) == (RunStatus.SUCCEEDED, True)
    assert {run.run_id for run in narrow.listed(status="canceled").runs} == {third.run_id}
    profile = msgspec.json.decode(narrow.system.http.get("/api/runtime-profile").content)
    assert profile["limits"] == {
        "maxConcurrentRuns": 1,
        "maxRunTimeoutMs": MAX_TIMEOUT_MS,
        "maxArtifactInlineBytes": 262_144,
    }


@requirement("002.6.partial")
def test_a_host_that_never_answers_costs_its_item_alone(narrow: Runs, site: Site) -> None:
    with deaf_host() as deaf:
        run = narrow.done(BATCH, {"urls": [site.url("/note/30100"), deaf, site.url("/note/30101")]})

    assert run.status is RunStatus.PARTIAL_SUCCESS
    assert [item["success"] for item in items(run)] == [True, False, True]
    error = items(run)[1]["error"]
    told = (error["failedStep"], error["errorCode"], error["code"], bool(error["recoverHint"]))
    assert told == ("navigate", "NAVIGATION_TIMEOUT", "NETWORK_TIMEOUT", True)


@requirement("002.10.timeout")
@pytest.mark.parametrize(("asked", "allowed_ms"), [({"timeoutMs": 600}, 600), ({"timeoutMs": 60_000}, MAX_TIMEOUT_MS)])
def test_the_least_time_that_anybody_allows_counts(
    narrow: Runs, site: Site, asked: dict[str, int], allowed_ms: int
) -> None:
    late = [site.url(f"/slow?ms=60000&at={at}") for at in range(20)]

    run = narrow.done(BATCH, {"urls": late}, **asked)

    assert (run.status, run.error_code) == (RunStatus.FAILED, "RUN_TIMEOUT")
    assert allowed_ms - CLOCK_MS <= run.metrics.elapsed_ms < 60_000
    assert run.progress.done_steps < len(late)


@requirement("002.5.ttl")
@requirement("002.7.artifact-errors")
def test_a_file_that_is_kept_no_longer_differs_from_one_that_never_was(narrow: Runs, site: Site) -> None:
    run = narrow.done(BATCH, {"urls": [site.url("/note/30200")]})
    whole = narrow.file(run, ArtifactType.JSON)
    assert run.artifacts is not UNSET
    (kept,) = run.artifacts

    expired = _gone(narrow, kept.artifact_id)
    unknown = wrong(narrow.piece(kept.artifact_id[:-4] + "AAAA"))
    strange = wrong(narrow.piece("art_1"))

    assert msgspec.json.decode(whole) == run.result
    assert kept.expires_at == run.updated_at + TTL_MS
    assert (expired.error_code, expired.details.artifact_id) == ("ARTIFACT_EXPIRED", kept.artifact_id)
    assert (unknown.error_code, strange.error_code) == ("ARTIFACT_NOT_FOUND", "ARTIFACT_NOT_FOUND")
    assert expired.recover_hint
    assert narrow.get(run.run_id).result == run.result


def _gone(runs: Runs, artifact_id: str) -> RunFault:
    """Ask for a file until there is none."""
    deadline = time.monotonic() + RUN_S
    while (answer := runs.piece(artifact_id)).is_success:
        assert time.monotonic() < deadline
        time.sleep(POLL_S)
    assert answer.status_code == 410
    return wrong(answer)
