"""What is asked at the same time is asked once; nobody's end is another's."""

from __future__ import annotations

import anyio
import pytest

from actors.web.exchange import RequestCoalescer
from protocol.faults import Code, FaultError, fault


class Oracle:
    """Answers with the number of the question once it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.speak = anyio.Event()
        self.fault: Code | None = None

    async def __call__(self) -> int:
        """Answer."""
        self.asked += 1
        await self.speak.wait()
        if self.fault is not None and self.asked == 1:
            raise FaultError(fault(self.fault))
        return self.asked


async def ask(merged: RequestCoalescer[int], oracle: Oracle, found: list[tuple[int, bool]], key: str = "key") -> None:
    found.append(await merged.once(key, oracle))


async def test_one_asks_and_all_hear() -> None:
    merged, oracle, found = RequestCoalescer[int](), Oracle(), list[tuple[int, bool]]()
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(ask, merged, oracle, found)
        await anyio.wait_all_tasks_blocked()
        oracle.speak.set()

    assert sorted(found) == [(1, False), (1, False), (1, True)]
    assert await merged.once("key", oracle) == (2, True)


async def test_other_keys_are_other_questions() -> None:
    merged, oracle, found = RequestCoalescer[int](), Oracle(), list[tuple[int, bool]]()
    oracle.speak.set()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, merged, oracle, found, "one")
        tasks.start_soon(ask, merged, oracle, found, "other")

    assert (oracle.asked, [own for _, own in found]) == (2, [True, True])


async def test_when_who_asks_goes_away_the_next_one_asks() -> None:
    merged, oracle, found = RequestCoalescer[int](), Oracle(), list[tuple[int, bool]]()
    impatient = anyio.CancelScope()

    async def goes() -> None:
        with impatient:
            await ask(merged, oracle, found)

    with anyio.fail_after(90):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(goes)
            await anyio.wait_all_tasks_blocked()
            for _ in range(2):
                tasks.start_soon(ask, merged, oracle, found)
            await anyio.wait_all_tasks_blocked()
            impatient.cancel()
            await anyio.wait_all_tasks_blocked()
            oracle.speak.set()

    assert sorted(found) == [(2, False), (2, True)]


@pytest.mark.parametrize(("code", "asked"), [(Code.NETWORK_DNS_FAILED, 1), (Code.NETWORK_TIMEOUT, 2)])
async def test_a_fault_is_shared_unless_only_time_ran_out(code: Code, asked: int) -> None:
    merged, oracle, found, faults = RequestCoalescer[int](), Oracle(), list[tuple[int, bool]](), list[Code]()
    oracle.fault = code

    async def guarded() -> None:
        try:
            await ask(merged, oracle, found)
        except FaultError as error:
            faults.append(error.fault.code)

    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(guarded)
        await anyio.wait_all_tasks_blocked()
        oracle.speak.set()

    assert (oracle.asked, faults) == (asked, [code] * (3 - asked))
