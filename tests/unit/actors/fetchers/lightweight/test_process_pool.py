"""The engine gives rooms to pages, with processes that only seem to be ones."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
from anyio import Event

from actors.fetchers.lightweight import process_pool as module
from actors.fetchers.lightweight.cdp import ClosedError
from actors.fetchers.lightweight.engine_process import EngineProcess, StartError
from actors.fetchers.lightweight.process_pool import FULL_BYTES, ProcessPool
from actors.settings import Settings
from tests.unit.actors.fetchers.lightweight.fake_engine import FakeProcess


@dataclass
class Making:
    """An engine, and every process that it made."""

    engine: ProcessPool
    made: list[FakeProcess] = field(default_factory=list[FakeProcess])

    def living(self) -> list[int]:
        return [process.pid for process in self.made if not process.ended.is_set()]

    async def until_living(self, *expected: int) -> None:
        while self.living() != list(expected):
            await anyio.sleep(0.005)


@asynccontextmanager
async def making(processes: int = 2) -> AsyncGenerator[Making]:
    numbers = itertools.count(1)

    def make() -> FakeProcess:
        process = FakeProcess(next(numbers))
        found.made.append(process)
        return process

    with anyio.fail_after(90):
        async with ProcessPool(Settings(light_processes=processes), make) as engine:
            found = Making(engine)
            yield found
    assert found.living() == []


async def test_a_page_has_a_connection_of_its_own() -> None:
    async with making() as found, found.engine.page("a") as place:
        answer = await place.connection.call("A.a")

        assert (answer["method"], place.alone, place.alive, found.engine.pids) == ("A.a", True, True, (1,))


async def test_nothing_starts_before_the_first_page() -> None:
    async with making() as found:
        assert found.engine.pids == ()


async def test_a_process_is_used_again_by_its_tenant_alone() -> None:
    async with making(processes=1) as found:
        for tenant in ("a", "a", "b"):
            async with found.engine.page(tenant):
                pass

        await found.until_living(2)
        assert len(found.made) == 2


async def test_two_pages_share_a_process_and_a_third_waits() -> None:
    entered: list[str] = []
    async with making(processes=1) as found, anyio.create_task_group() as tasks:

        async def third() -> None:
            async with found.engine.page("a"):
                entered.append("third")

        async with found.engine.page("a") as first, found.engine.page("a") as second:
            tasks.start_soon(third)
            await anyio.wait_all_tasks_blocked()
            entered.append("second leaves")

        assert (first.alone, second.alone) == (False, False)
    assert entered == ["second leaves", "third"]


async def test_nobody_who_waits_is_overtaken() -> None:
    order: list[str] = []
    async with making(processes=1) as found, anyio.create_task_group() as tasks:

        async def load(tenant: str) -> None:
            async with found.engine.page(tenant):
                order.append(tenant)

        async with found.engine.page("a"):
            for tenant in ("b", "a", "c"):
                tasks.start_soon(load, tenant)
                await anyio.wait_all_tasks_blocked()

    assert order == ["b", "a", "c"]


async def test_who_has_every_process_keeps_nobody_waiting() -> None:
    order: list[str] = []
    async with making(processes=2) as found, anyio.create_task_group() as tasks:

        async def load(account: str, done: Event) -> None:
            async with found.engine.page("", account=account):
                order.append(account)
                await done.wait()

        over = Event()
        for _ in range(6):
            tasks.start_soon(load, "key-greedy", over)
        while len(order) < 4:
            await anyio.sleep(0.005)
        tasks.start_soon(load, "key-modest", over)
        while len(order) < 5:
            await anyio.sleep(0.005)
        over.set()

    assert order == [*["key-greedy"] * 4, "key-modest", *["key-greedy"] * 2]


async def test_keys_share_no_process() -> None:
    async with (
        making(processes=2) as found,
        found.engine.page("", account="key-a") as first,
        found.engine.page("", account="key-b") as second,
    ):
        assert (first.alone, second.alone, found.engine.pids) == (True, True, (1, 2))


async def test_a_page_that_wants_to_be_alone_is() -> None:
    async with making(processes=1) as found, anyio.create_task_group() as tasks:
        over = Event()

        async def late() -> None:
            async with found.engine.page("a"):
                over.set()

        async with found.engine.page("a", alone=True) as place:
            tasks.start_soon(late)
            await anyio.wait_all_tasks_blocked()
            assert (place.alone, over.is_set()) == (True, False)


async def test_who_gives_up_waiting_leaves_the_queue() -> None:
    async with making(processes=1) as found:
        async with found.engine.page("a", alone=True):
            with anyio.move_on_after(0.02):
                async with found.engine.page("a"):
                    pytest.fail("there was no room")
        async with found.engine.page("a"):
            pass

        assert len(found.made) == 1


async def test_a_page_that_ended_ill_takes_its_process_with_it() -> None:
    async with making() as found:
        async with found.engine.page("a") as place:
            place.mark_failed()
        await found.until_living()
        async with found.engine.page("a"):
            assert found.engine.pids == (2,)


async def test_so_do_one_that_was_cancelled_one_that_lost_its_connection_and_one_that_left_it_full() -> None:
    async with making() as found:
        with anyio.CancelScope() as scope:
            async with found.engine.page("a"):
                scope.cancel()
                await anyio.sleep(1)
        await found.until_living()

        async with found.engine.page("a") as place:
            place.connection.closed.set()
        await found.until_living()

        async with found.engine.page("a"):
            found.made[-1].resident_bytes = FULL_BYTES + 1
        await found.until_living()


async def test_an_error_of_the_caller_harms_no_process() -> None:
    async with making() as found:
        with pytest.raises(LookupError, match="mine"):
            async with found.engine.page("a"):
                raise LookupError("mine")

        assert found.living() == [1]


async def test_a_neighbour_finishes_within_a_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.05)
    async with making(processes=1) as found, found.engine.page("a") as neighbour:
        async with found.engine.page("a") as ill:
            ill.mark_failed()

        assert neighbour.alive
        await neighbour.connection.closed.wait()
        assert not await neighbour.outlived()


async def test_a_process_has_a_number_of_pages_in_its_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.fetchers.lightweight.placement.PAGES_IN_A_LIFE", 2)
    async with making(processes=1) as found:
        for _ in range(5):
            async with found.engine.page("a"):
                pass

        await found.until_living(3)


async def test_processes_that_idle_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.04)
    async with making() as found:
        async with found.engine.page("a"):
            await anyio.sleep(0.1)
            assert found.living() == [1]
        await found.until_living()


async def test_a_process_that_dies_is_replaced() -> None:
    async with making() as found:
        async with found.engine.page("a") as place:
            found.made[0].kill()
            await place.connection.closed.wait()
            assert not await place.outlived()
            with pytest.raises(ClosedError):
                await place.connection.call("A.a")
        async with found.engine.page("a") as place:
            assert await place.connection.call("A.a")


async def test_a_program_that_cannot_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> EngineProcess:
        return EngineProcess(Path("/nowhere/program"), lenient=False)

    with anyio.fail_after(90):
        async with ProcessPool(Settings(), missing) as engine:
            for _ in range(3):
                with pytest.raises(StartError, match="No such file"):
                    async with engine.page("a"):
                        pytest.fail("there was a page")
            assert engine.pids == ()
