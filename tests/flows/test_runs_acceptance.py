"""Runs of templates through the whole system, as their contract wants them accepted (002 §12)."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from msgspec import UNSET

from protocol.runs.responses import Run, RunAccepted
from protocol.runs.states import ArtifactType, Mode, RunStatus
from tests.flows.runs import ACCEPTED, BATCH, COMPARE, Runs, items, refusing_url, wrong
from tests.flows.system import System
from tests.requirements import requirement
from tests.site import Site
from tests.site.answers import HTML, Reply
from tests.site.notes import title
from tests.site.rehearsed import ARRANGED
from tests.support.scale import first

pytestmark = [pytest.mark.nats, pytest.mark.full]

INTELLIGENCE = "intelligence"
SCRIPTED = {"lightweight", "playwright"}
ENOUGH = 0.95
AT_ONCE = 2
ALL_FORMS = [form.value for form in ArtifactType]


@pytest.fixture
def runs(weft: System) -> Runs:
    """Return the runs of the system that all share."""
    return Runs(weft)


def notes(site: Site, first: int, count: int, query: str = "") -> list[str]:
    """Return the addresses of some articles: each test has numbers of its own, so that it can count who asked."""
    return [site.url(f"/note/{number}{query}") for number in range(first, first + count)]


def hits(site: Site, first: int, count: int) -> list[int]:
    """Return how often the site was asked for each of some articles."""
    return [site.hits[f"/note/{number}"] for number in range(first, first + count)]


def mixed(site: Site, first: int, shells: int) -> tuple[list[str], set[str]]:
    """Return a hundred addresses and those of them that are dead: spread over the whole, as they are on the web."""
    dead = [refusing_url(), site.url("/status/404"), site.url("/status/500"), site.url("/hangup"), site.url("/reset")]
    slow = [site.url(f"/note/{first + 100 + at}?ms={1_000 + 400 * at}") for at in range(6)]
    scripted = [site.url(f"/note-shell/{first + at}") for at in range(shells)]
    special = [*dead, *slow, *scripted]
    plain = notes(site, first, 100 - len(special))
    every = len(plain) // len(special)
    urls: list[str] = []
    for at, url in enumerate(plain):
        urls.append(url)
        if at % every == 0 and special:
            urls.append(special.pop())
    return [*urls, *special], set(dead)


@pytest.mark.full
@requirement("002.12.batch")
@requirement("002.6.partial")
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("shells", first(1, [pytest.param(8, marks=pytest.mark.browser), 0]))
def test_a_hundred_pages_are_read_although_some_are_dead(runs: Runs, site: Site, shells: int) -> None:
    first = 1_000 + 1_000 * shells
    urls, dead = mixed(site, first, shells)

    run = runs.ended(runs.begun(BATCH, {"urls": urls, "concurrency": 5}, artifacts=ALL_FORMS).run_id)

    assert (run.status, run.progress.total_steps, run.progress.done_steps) == (RunStatus.PARTIAL_SUCCESS, 100, 100)
    kept = msgspec.json.decode(runs.file(run, ArtifactType.JSON))
    read = kept["items"]
    assert [item["url"] for item in read] == urls
    assert [item["index"] for item in read] == list(range(100))
    assert [item["url"] for item in read if not item["success"] and item["url"] not in dead] == []
    assert {item["url"] for item in read if not item["success"]} == dead
    assert sum(item["success"] for item in read) >= ENOUGH * len(urls)
    assert all(item["error"]["errorCode"] and item["error"]["failedStep"] for item in read if not item["success"])
    _check_tiers(read, kept["summary"], shells)
    assert set(hits(site, first, 100 - 11 - shells)) == {1}
    _check_files(runs, run, read)


def _check_tiers(read: Sequence[dict[str, Any]], summary: dict[str, Any], shells: int) -> None:
    tiers = Counter(item["tier"] for item in read if item["success"])
    static = [item["tier"] for item in read if item["success"] and "/note/" in item["url"]]
    scripted = [item["tier"] for item in read if "/note-shell/" in item["url"]]
    assert set(static) == {INTELLIGENCE}
    assert len(scripted) == shells
    assert set(scripted) <= SCRIPTED
    assert all(item["title"] == title(_number(item["url"])) for item in read if item["success"])
    assert summary == {"total": 100, "succeeded": tiers.total(), "failed": 5, "byTier": dict(sorted(tiers.items()))}


def _number(url: str) -> int:
    return int(url.partition("?")[0].rpartition("/")[2])


def _check_files(runs: Runs, run: Run, read: Sequence[dict[str, Any]]) -> None:
    """See that each file is the same however it is read, and that all three tell of the same pages."""
    whole = {form: runs.file(run, form) for form in ArtifactType}
    assert {form: runs.file(run, form, limit=17_001) for form in ArtifactType} == whole
    rows = list(csv.DictReader(io.StringIO(whole[ArtifactType.CSV].decode())))
    assert [row["url"] for row in rows] == [item["url"] for item in read]
    assert [row["tier"] for row in rows] == [item.get("tier", "") for item in read]
    written = whole[ArtifactType.MARKDOWN].decode()
    assert [item["title"] for item in read if item["success"] and item["title"] not in written] == []
    shown = items(run)
    assert [item["url"] for item in shown] == [item["url"] for item in read[: len(shown)]]
    assert run.result_truncated is True


@requirement("002.4.modes")
@pytest.mark.slow
def test_a_few_pages_are_waited_for_and_more_are_not(runs: Runs, site: Site) -> None:
    few = runs.ask(BATCH, {"urls": notes(site, 20_000, 10)})
    more = runs.ask(BATCH, {"urls": notes(site, 20_100, 11)})

    told = msgspec.json.decode(few.content, type=Run)
    accepted = msgspec.json.decode(more.content, type=RunAccepted)
    assert (few.status_code, told.status, len(items(told))) == (200, RunStatus.SUCCEEDED, 10)
    assert (more.status_code, accepted.status, accepted.mode) == (ACCEPTED, RunStatus.QUEUED, Mode.ASYNC)
    assert told == runs.get(told.run_id)
    assert runs.ended(accepted.run_id).status is RunStatus.SUCCEEDED


PANEL = {"title": "A panel of the loom", "buttons": "3", "heads": "Warp,Weft,Reed"}


@requirement("002.12.compare")
@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "different"),
    first(
        1,
        [
            ([{}, {"title": "a PANEL of the loom "}], set[str]()),
            ([{}, {"title": "Another panel"}], {"title"}),
            ([{}, {"buttons": "5"}, {}], {"elementCount"}),
            ([{}, {}, {"heads": "Warp,Heddle,Reed"}], {"topSections"}),
            ([{}, {"title": "2nd"}, {"buttons": "9"}, {}, {"heads": "Warp"}], {"title", "elementCount", "topSections"}),
        ],
    ),
    ids=["same", "title", "elements", "sections", "all"],
)
def test_known_differences_are_found_and_no_others(
    runs: Runs, site: Site, changes: list[dict[str, str]], different: set[str]
) -> None:
    urls = [f"{site.url('/panel')}?{urlencode({**PANEL, **change, 'at': at})}" for at, change in enumerate(changes)]

    run = runs.done(COMPARE, {"urls": urls, "compare": {"topSections": 8}, "concurrency": 5})

    assert run.status is RunStatus.SUCCEEDED, run
    diffs = {diff["field"]: diff for diff in run.result["diffs"]}
    assert set(diffs) == {"title", "elementCount", "topSections"}
    assert {name for name, diff in diffs.items() if not diff["same"]} == different
    assert [page["url"] for page in run.result["snapshots"]] == urls
    counts = [page["elementCount"] for page in run.result["snapshots"]]
    assert counts == [int({**PANEL, **change}["buttons"]) for change in changes]
    assert (diffs["elementCount"]["values"], diffs["elementCount"]["delta"]) == (counts, max(counts) - min(counts))
    sections: list[list[str]] = diffs["topSections"]["values"]
    changed = [place for place, texts in enumerate(zip_longest(*sections)) if len(set(texts)) > 1]
    assert diffs["topSections"]["changedPositions"] == changed


@requirement("002.4.cancel")
@requirement("002.6.cancel")
@requirement("002.8.window")
@pytest.mark.slow
def test_a_run_that_is_canceled_keeps_what_it_has_and_is_gone_on_with(runs: Runs, site: Site) -> None:
    first, count = 21_000, 16
    urls = notes(site, first, count, "?ms=150")
    begun = runs.begun(BATCH, {"urls": urls, "concurrency": AT_ONCE})
    asked = [0]

    def two_are_done(run: Run) -> bool:
        """See too that no more pages were asked for before than are done now and those in hand."""
        assert asked[-1] <= run.progress.done_steps + AT_ONCE
        asked.append(sum(hits(site, first, count)))
        return run.progress.done_steps >= 2

    runs.until(begun.run_id, two_are_done)

    told = runs.canceled(begun.run_id)
    run = runs.ended(begun.run_id)
    again = runs.canceled(begun.run_id)

    assert (told.cancel_requested, told.current_status) == (True, RunStatus.RUNNING)
    assert (again.cancel_requested, again.current_status) == (False, RunStatus.CANCELED)
    assert (run.status, run.error_code) == (RunStatus.CANCELED, "RUN_CANCELED")
    read = items(run)
    done = len(read)
    assert 2 <= done < count
    assert all(item["success"] for item in read)
    assert run.result["summary"] == {
        "total": count,
        "succeeded": done,
        "failed": 0,
        "skipped": count - done,
        "byTier": {INTELLIGENCE: done},
    }
    assert sum(hits(site, first, count)) == done
    assert len(msgspec.json.decode(runs.file(run, ArtifactType.JSON))["items"]) == done

    resumed = runs.resumed(begun.run_id)
    whole = runs.ended(resumed.run_id)

    assert (whole.status, whole.resumed_from) == (RunStatus.SUCCEEDED, begun.run_id)
    assert [item["url"] for item in items(whole)] == urls
    assert hits(site, first, count) == [1] * count


@pytest.fixture
def shaky(site: Site) -> Iterator[str]:
    """Arrange a page that fails the first time."""
    path = "/rehearsed/shaky"
    whole = Reply(200, b"<title>At last</title><main><p>" + b"The cloth holds. " * 60, (("Content-Type", HTML),))
    ARRANGED[path] = [lambda _: Reply(500), lambda _: whole]
    yield site.url(path)
    del ARRANGED[path]


def test_what_failed_is_tried_again_and_nothing_else(runs: Runs, site: Site, shaky: str) -> None:
    first, count = 22_000, 3
    before = runs.done(BATCH, {"urls": [*notes(site, first, count), shaky]})

    after = runs.ended(runs.resumed(before.run_id).run_id)

    assert (before.status, after.status) == (RunStatus.PARTIAL_SUCCESS, RunStatus.SUCCEEDED)
    assert [item["success"] for item in items(before)] == [True, True, True, False]
    assert items(after)[:count] == items(before)[:count]
    assert items(after)[count]["title"] == "At last"
    assert hits(site, first, count) == [1] * count
    assert runs.get(before.run_id) == before


@requirement("002.7.run-timeout")
@pytest.mark.slow
def test_a_run_out_of_time_keeps_what_it_has(runs: Runs, site: Site) -> None:
    first = 23_000
    late = [site.url(f"/slow?ms=60000&at={at}") for at in range(40)]

    run = runs.done(BATCH, {"urls": [*notes(site, first, 2), *late], "concurrency": 2}, timeoutMs=2_000)

    assert (run.status, run.error_code) == (RunStatus.FAILED, "RUN_TIMEOUT")
    assert run.recover_hint is not UNSET
    assert [item["title"] for item in items(run) if item["success"]] == [title(first), title(first + 1)]
    assert run.result["summary"]["total"] == 42
    assert msgspec.json.decode(runs.file(run, ArtifactType.JSON)) == run.result


def test_the_same_key_begins_one_run(runs: Runs, site: Site) -> None:
    first = 24_000
    inputs = {"urls": notes(site, first, 2)}

    begun = runs.begun(BATCH, inputs, idempotencyKey="acceptance-1")
    again = runs.begun(BATCH, inputs, idempotencyKey="acceptance-1")
    run = runs.ended(begun.run_id)
    late = runs.begun(BATCH, inputs, idempotencyKey="acceptance-1")
    other = wrong(runs.ask(BATCH, {"urls": notes(site, first, 1)}, idempotencyKey="acceptance-1", mode="async"))

    assert (again.run_id, again.deduplicated, begun.deduplicated) == (begun.run_id, True, UNSET)
    assert (late.run_id, late.status, run.status) == (begun.run_id, RunStatus.SUCCEEDED, RunStatus.SUCCEEDED)
    assert hits(site, first, 2) == [1, 1]
    assert (other.error_code, other.details.field) == ("INVALID_PARAMETER", "idempotencyKey")
