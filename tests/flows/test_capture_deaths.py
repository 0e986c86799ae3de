"""Captures outlive whatever dies while pages are read: no source is lost, none is there twice, none read twice."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protocol.collection_views import CollectionView
from tests.flows.system import POLL_S, System, weft_up
from tests.flows.test_run_deaths import FETCHER, KEEPER, RUNNER, pid_of
from tests.requirements import requirement
from tests.site import Site
from tests.support.processes import session
from tests.support.scale import sized

pytestmark = [pytest.mark.nats, pytest.mark.slow, pytest.mark.timeout(900)]

COUNT, AT_ONCE, PAGE_MS = sized(16, 60), 8, 400
WAIT_S = 240.0
ACTORS = f"gateway,policy,navigator,verifier,{FETCHER},{RUNNER},{KEEPER}"


def tool(system: System, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool over REST, and return what it answers."""
    answer = system.http.post(f"/api/tools/{name}", json=arguments)
    assert answer.status_code == 200, answer.text
    outcome = answer.json()
    assert outcome["status"] == "ok", outcome
    payload: dict[str, Any] = outcome["result"]["payload"]
    return payload


def until(reached: Callable[[], bool]) -> None:
    """Wait for something."""
    deadline = time.monotonic() + WAIT_S
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(POLL_S)


def view(system: System, collection: str) -> CollectionView | None:
    """Ask how a collection stands; None while nobody can say."""
    answer = system.http.post("/api/tools/collection.list_sources", json={"collectionId": collection})
    if answer.status_code >= 500:
        return None
    assert answer.status_code == 200, answer.text
    return msgspec.convert(answer.json()["result"]["payload"], CollectionView)


def begun(system: System, site: Site, first: int) -> tuple[str, Callable[[], Counter[int]]]:
    """Have many pages captured, and return the collection and what counts how often each was asked for."""
    collection = tool(system, "collection.create", title=f"Notes from {first}")["collectionId"]
    urls = [site.url(f"/note/{number}?ms={PAGE_MS}") for number in range(first, first + COUNT)]
    tool(
        system,
        "collection.add_sources",
        collectionId=collection,
        sources=[{"type": "url", "url": url} for url in urls],
    )

    def hits() -> Counter[int]:
        return Counter({number: site.hits[f"/note/{number}"] for number in range(first, first + COUNT)})

    return collection, hits


def is_whole(system: System, collection: str, hits: Counter[int]) -> None:
    """See that every page was captured, once."""
    answered = view(system, collection)
    assert answered is not None
    assert [(one.status.value, one.version) for one in answered.sources] == [("captured", 1)] * COUNT
    again = sum(count - 1 for count in hits.values())
    print(f"asked again: {again}")  # noqa: T201 - a figure
    assert again <= 2 * COUNT  # what was in hand, what waited for the bus, and what a busy machine has taken for dead


def over(system: System, collection: str) -> bool:
    """Whether nothing of a collection is under way."""
    answered = view(system, collection)
    return answered is not None and not any(one.job_id for one in answered.sources)


@pytest.mark.full
@requirement("003.tools.collections")
def test_captures_outlive_runner_keeper_and_nats_server(tmp_path: Path, site: Site) -> None:
    with weft_up(tmp_path, "--actors", ACTORS) as system:
        for number, who in enumerate((RUNNER, KEEPER, "nats-server")):
            _outlives(system, site, 80_000 + 1_000 * number, who)


def _outlives(system: System, site: Site, first: int, who: str) -> None:
    collection, hits = begun(system, site, first)
    if who == "nats-server":
        (pid,) = (one.pid for one in session(system.ready.pid) if one.name == who)
    else:
        pid = pid_of(system, who, at_work=False)
    until(lambda: hits().total() >= COUNT // 3)
    os.kill(pid, signal.SIGKILL)
    assert hits().total() < COUNT + AT_ONCE
    until(lambda: over(system, collection))

    is_whole(system, collection, hits())


@pytest.mark.full
def test_captures_go_on_when_everything_is_started_again(tmp_path: Path, site: Site) -> None:
    with weft_up(tmp_path, "--actors", ACTORS, WEFT_DRAIN_MS="300") as system:
        collection, hits = begun(system, site, 90_000)
        until(lambda: hits().total() >= COUNT // 3)
        lives = session(system.ready.pid)
        os.kill(system.ready.pid, signal.SIGKILL)
        until(lambda: not lives & session(system.ready.pid))
    with weft_up(tmp_path, "--actors", ACTORS) as system:
        until(lambda: over(system, collection))

        is_whole(system, collection, hits())
