"""Following a run: what a keeper tells of it as it happens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio

from protocol.faults import Code, fault
from protocol.runs.events import LedgerLine
from protocol.runs.requests import RunNews
from protocol.runs.responses import RunEvent
from protocol.runs.states import RunStatus, StepStatus
from tests.unit.actors.keeper.ledger_data import NOW, RUN, created, ended, run_id, step, success, taken, world

WAIT_MS = 20_000


async def test_every_event_is_told_once_in_its_order(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        asker = place.asking
        await asker.write(created(steps=("open", "read")), taken())
        first = await asker.follow()
        await asker.write(
            taken(attempt=2, at=NOW + 190),
            step(0),
            step(1, status=StepStatus.FAILED, fault=fault(Code.PAGE_CRASHED), step_code="PAGE_CRASHED"),
            ended(status=RunStatus.PARTIAL_SUCCESS),
        )
        second = await asker.follow(after=first.events[-1].id)

        assert [(one.id, one.event, one.at, one.status) for one in first.events] == [
            (1, "queued", NOW, RunStatus.QUEUED),
            (2, "started", NOW + 100, RunStatus.RUNNING),
        ]
        running: dict[str, Any] = {"status": RunStatus.RUNNING, "total_steps": 2}
        assert second.events == (
            RunEvent(id=3, event="resumed", at=NOW + 190, done_steps=0, **running),
            RunEvent(
                id=4,
                event="step",
                at=NOW + 200,
                done_steps=1,
                step=0,
                name="open",
                step_status=StepStatus.SUCCEEDED,
                **running,
            ),
            RunEvent(
                id=5,
                event="step",
                at=NOW + 201,
                done_steps=2,
                step=1,
                name="read",
                step_status=StepStatus.FAILED,
                error_code="PAGE_CRASHED",
                **running,
            ),
            RunEvent(
                id=6,
                event="partial_success",
                at=NOW + 1_100,
                status=RunStatus.PARTIAL_SUCCESS,
                total_steps=2,
                done_steps=2,
            ),
        )
        assert second.run.status is RunStatus.PARTIAL_SUCCESS


async def test_who_waits_is_woken_by_the_run_alone_and_by_nothing_before_it(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        heard = list[RunNews]()

        async def wait() -> None:
            heard.append(await place.asking.follow(after=1, wait_ms=WAIT_MS))

        await place.asking.write(created(), created(run_id(2)))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            tasks.start_soon(wait)
            await place.asking.write(taken(run_id(2)))
            await place.asking.get(run_id(2))
            assert heard == []
            await place.asking.write(taken())

        assert [[one.event for one in news.events] for news in heard] == [["started"], ["started"]]


async def test_without_news_it_answers_when_time_is_up(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await place.asking.write(created())
        news = await place.asking.follow(after=1, wait_ms=50)

        assert (news.events, news.run.run_id, news.run.status) == ((), RUN, RunStatus.QUEUED)


async def test_a_run_that_is_over_keeps_nobody_waiting(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        last = await place.asking.write(*success(result={"items": []}))
        with anyio.fail_after(WAIT_MS / 2_000):
            news = await place.asking.follow(after=last, wait_ms=WAIT_MS)

        assert (news.events, news.run.status) == ((), RunStatus.SUCCEEDED)


async def test_a_long_run_is_told_in_pieces(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        number = 700
        lines: list[LedgerLine] = [step(index) for index in range(number)]
        await place.asking.write(created(steps=tuple(map(str, range(number)))), taken(), *lines, ended())
        told, after = list[int](), 0
        while news := (await place.asking.follow(after=after)).events:
            assert len(news) <= 500
            told += [one.id for one in news]
            after = told[-1]

        assert told == list(range(1, number + 4))
