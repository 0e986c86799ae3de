"""What models may cost is kept to by all replicas together, whatever each spends at the same time."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from msgspec import structs

from actors.router.budget import ModelBudget
from actors.settings import Settings
from bus import Bus
from bus.memory import Broker
from protocol.faults import Code, FaultError
from protocol.subjects import MODEL_SPEND

DAY_MS = 86_400_000
TODAY = "1970-01-01"


@asynccontextmanager
async def replicas(count: int = 1, clock_ms: int = 0, **limits: int) -> AsyncGenerator[list[ModelBudget]]:
    """Open the budgets of some replicas on one bus."""
    settings = structs.replace(Settings(data_dir=Path("unused"), model_day_cents=0, model_unpriced_calls=0), **limits)
    with anyio.fail_after(90):
        async with Broker() as broker, AsyncExitStack() as stack:
            budgets = list[ModelBudget]()
            for number in range(count):
                bus = await stack.enter_async_context(Bus(broker.connect("router"), "router", f"r{number}").running())
                budgets.append(await stack.enter_async_context(ModelBudget(bus, settings, lambda: clock_ms).open()))
            yield budgets


async def spend(budget: ModelBudget, usd: float | None, caller: str = "", run: str = "") -> None:
    (await budget.hold(caller, run, usd)).settle(usd)


async def refused(budget: ModelBudget, usd: float | None, caller: str = "", run: str = "") -> bool:
    try:
        await spend(budget, usd, caller, run)
    except FaultError as error:
        return error.fault.code is Code.RATE_LIMIT_BUDGET
    return False


async def taken(budget: ModelBudget, key: str) -> float:
    row = await (await budget.bus.table(MODEL_SPEND)).get(key)
    return 0.0 if row is None or row.value is None else round(row.value.taken, 6)


async def test_a_limit_is_for_all_replicas_and_never_exceeded() -> None:
    async with replicas(3, model_day_cents=100) as budgets:
        spent = list[float]()

        async def worker(budget: ModelBudget, seed: int) -> None:
            draw = random.Random(seed)
            for _ in range(40):
                usd = draw.uniform(0.001, 0.02)
                if not await refused(budget, usd):
                    spent.append(usd)

        async with anyio.create_task_group() as tasks:
            for seed, budget in enumerate(budgets * 2):
                tasks.start_soon(worker, budget, seed)

        assert 0.9 < sum(spent) <= 1.0
        assert await taken(budgets[0], f"{TODAY}/all") <= 1.0


async def test_what_is_held_is_as_good_as_spent_until_it_is_settled() -> None:
    async with replicas(model_day_cents=100) as (budget,):
        hold = await budget.hold("", "", 0.7)
        while_held = await refused(budget, 0.5)
        hold.settle(0.1)
        hold.settle(0.9)

        assert while_held
        assert not await refused(budget, 0.9)
        assert await refused(budget, 0.05)


async def test_a_call_that_costs_more_than_was_thought_is_made_up_for_by_the_next() -> None:
    async with replicas(model_day_cents=100) as (budget,):
        (await budget.hold("", "", 0.1)).settle(0.9)

        assert await refused(budget, 0.2)
        assert not await refused(budget, 0.09)


async def test_each_key_and_each_run_has_its_own_limit_and_a_refusal_holds_nothing() -> None:
    async with replicas(model_day_cents=1_000, model_key_day_cents=100, model_run_cents=10) as (budget,):
        assert not await refused(budget, 0.9, caller="ann")
        assert await refused(budget, 0.2, caller="ann")
        assert not await refused(budget, 0.2, caller="ben")
        assert not await refused(budget, 0.09, caller="cid", run="r1")
        assert await refused(budget, 0.02, caller="cid", run="r1")
        assert not await refused(budget, 0.02, caller="cid", run="r2")
        assert sum(share.held for share in budget._shares.values()) == pytest.approx(0)  # pyright: ignore[reportPrivateUsage] # noqa: SLF001 - nothing else shows it


async def test_what_has_no_price_is_counted_and_what_is_free_is_not() -> None:
    async with replicas(model_day_cents=1, model_unpriced_calls=3) as (budget,):
        (await budget.hold("", "", None)).settle(0.0)  # it failed
        outcomes = [await refused(budget, None) for _ in range(3)]

        assert outcomes == [False, False, True]
        assert [await refused(budget, 0.0) for _ in range(4)] == [False] * 4


async def test_what_a_replica_has_not_spent_it_gives_back() -> None:
    async with replicas(2, model_day_cents=100) as (one, other):
        async with one.open():
            await spend(one, 0.01)
            before = await taken(other, f"{TODAY}/all")

        assert (before, await taken(other, f"{TODAY}/all")) == (0.05, 0.01)


async def test_a_day_has_its_own_money() -> None:
    async with replicas(model_day_cents=100) as (budget,):
        await spend(budget, 1.0)
        today = await refused(budget, 0.5)
        budget.clock = lambda: DAY_MS

        assert today
        assert not await refused(budget, 0.5)
