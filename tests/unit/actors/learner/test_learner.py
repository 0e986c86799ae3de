"""A learner on a bus in memory: its figures, its audit, and the overrides that follow from calls."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from actors.actor import grant_of
from actors.learner.actor import Learner
from actors.learner.turn import ReplicaTurn
from bus.memory import Broker
from protocol.models import CallErrorKind, LearningStep, Provider, RoutesLearned, RouteStep
from protocol.routes import Optimization, Override, RouteMetric, override_key
from tests.requirements import requirement
from tests.unit.actors.learner.learner_data import (
    HAIKU,
    LARGER,
    MINI,
    NOW,
    OPUS,
    READING,
    SONNET,
    TOOL,
    Asking,
    asking,
    called,
    failures,
    judged,
    learning,
)

DAY_MS = 86_400_000


@asynccontextmanager
async def world(folder: Path, *, idle: bool = False, **settings: Any) -> AsyncGenerator[Asking]:
    """Meet in memory, with a learner; `idle`: it answers, and changes nothing."""
    if idle:
        settings["learning_interval_ms"] = DAY_MS
    with anyio.fail_after(90):
        async with (
            Broker() as broker,
            asking(broker.connect("asker")) as asker,
            learning(broker.connect("learner", grant_of(Learner)), folder, **settings),
        ):
            yield asker


@requirement("004.metrics")
async def test_the_figures_are_those_of_the_document(tmp_path: Path) -> None:
    async with world(tmp_path, idle=True) as asker:
        timeout = called(success=False, latency_ms=400, cost_usd=None, error_kind=CallErrorKind.TIMEOUT)
        await asker.write(called(), called(latency_ms=200, cost_usd=0.003, at=NOW + 1), timeout, *failures(1))
        await asker.write(called(name=SONNET), called(name=OPUS, tool="browser_click"))
        row = RouteMetric(
            tool_name=TOOL,
            provider=Provider.ANTHROPIC,
            model=HAIKU.model,
            total_calls=4,
            success_count=2,
            failure_count=2,
            success_rate=0.5,
            avg_latency_ms=200.0,
            total_cost=0.005,
            last_used="2027-01-15T08:00:00.001Z",
            infrastructure_failures=1,
            unpriced_calls=1,
        )
        one = replace(
            row,
            total_calls=1,
            success_count=1,
            failure_count=0,
            success_rate=1.0,
            avg_latency_ms=100.0,
            total_cost=0.001,
            last_used="2027-01-15T08:00:00.000Z",
            infrastructure_failures=0,
            unpriced_calls=0,
        )

        assert await asker.metrics() == (
            replace(one, tool_name="browser_click", model=OPUS.model),
            replace(one, model=SONNET.model),
            row,
        )
        assert await asker.metrics(tool="browser_click") == (replace(one, tool_name="browser_click", model=OPUS.model),)
        assert [(metric.model, metric.total_calls) for metric in await asker.metrics(since=NOW + 1)] == [
            (HAIKU.model, 1)
        ]


async def test_what_a_check_has_found_counts_in_the_figures(tmp_path: Path) -> None:
    async with world(tmp_path, idle=True) as asker:
        wrong, right, failed = called(), called(), *failures(1)
        await asker.write(wrong, right, failed, judged(wrong, verified=False), judged(right, verified=True))
        await asker.write(
            judged(failed, verified=True), judged(called(), verified=True)
        )  # no answers, nothing to check

        (metric,) = await asker.metrics()

        assert (metric.success_count, metric.failure_count, metric.verified_calls) == (1, 2, 2)


@requirement("004.learning.upgrade")
@requirement("004.learning.audit")
async def test_a_failing_model_is_replaced_and_the_audit_says_so(tmp_path: Path) -> None:
    async with world(tmp_path) as asker:
        await asker.write(*(called() for _ in range(6)), *failures(4))
        row = await asker.until(lambda row: row is not None)
        (step,) = await asker.audit()

        assert row == Override(
            pattern=TOOL, name=SONNET, reason="optimized", manual=False, updated_at=row.updated_at if row else 0
        )
        assert step == Optimization(
            tool_name=TOOL,
            old_provider=HAIKU.provider,
            old_model=HAIKU.model,
            new_provider=SONNET.provider,
            new_model=SONNET.model,
            reason="upgraded: 60 % of 10 calls went well, less than 70 %.",
            timestamp=step.timestamp,
            old_success_rate=0.6,
        )


@requirement("004.learning.downgrade")
async def test_a_cheaper_model_is_tested_beside_the_route_and_then_takes_its_place(tmp_path: Path) -> None:
    async with world(tmp_path) as asker:
        route = override_key(READING)
        test = f"{route}.test"
        await asker.write(*(called(name=SONNET, tool=READING) for _ in range(500)))
        tested = await asker.until(lambda row: row is not None, test)
        before = await asker.row(route)
        await asker.write(*(called(name=HAIKU, tool=READING) for _ in range(10)))
        routed = await asker.until(lambda row: row is not None, route)
        ended = await asker.until(lambda row: row is None, test)

        assert tested is not None
        assert routed is not None
        assert (tested.name, tested.reason, tested.manual) == (HAIKU, "downgrade_test", False)
        assert (before, ended) == (None, None)
        assert (routed.name, routed.reason, routed.manual) == (HAIKU, "optimized", False)
        assert [step.reason.partition(":")[0] for step in await asker.audit()] == ["test_passed", "test_started"]


async def test_an_answer_that_turns_out_to_be_wrong_is_a_failure(tmp_path: Path) -> None:
    async with world(tmp_path) as asker:
        calls = [called() for _ in range(10)]
        await asker.write(*calls, *(judged(call, verified=False) for call in calls[:4]))
        row = await asker.until(lambda row: row is not None)

        assert row is not None
        assert row.name == SONNET


async def test_an_outage_sets_no_override(tmp_path: Path) -> None:
    async with world(tmp_path) as asker:
        kinds = (CallErrorKind.OVERLOADED, CallErrorKind.TIMEOUT, CallErrorKind.AUTH, CallErrorKind.NETWORK)
        await asker.write(*(called(success=False, error_kind=kind) for kind in kinds * 25))
        await asker.looked()

        assert (await asker.overrides.names(), await asker.audit()) == ([], ())


@pytest.mark.parametrize("pattern", [TOOL, "browser_*"])
async def test_what_a_person_has_set_is_never_changed(tmp_path: Path, pattern: str) -> None:
    async with world(tmp_path) as asker:
        row = await asker.set_by_hand(HAIKU, pattern)
        await asker.write(*failures(50))
        await asker.looked()

        assert await asker.overrides.names() == [row.key]
        assert await asker.row(row.key) == row


async def test_a_person_takes_over_what_was_learned(tmp_path: Path) -> None:
    async with world(tmp_path) as asker:
        await asker.write(*failures(10))
        await asker.until(lambda row: row is not None)
        by_hand = await asker.set_by_hand(OPUS)
        await asker.looked()
        await asker.write(*failures(50, OPUS))
        await asker.looked()

        assert await asker.row() == by_hand
        assert (await asker.audit())[0].reason == "rerouted: A person has set this route."


async def test_who_removes_a_learned_override_is_obeyed(tmp_path: Path) -> None:
    async with world(tmp_path) as asker:
        await asker.write(*failures(10))
        row = await asker.until(lambda row: row is not None)
        assert row is not None
        await asker.overrides.delete(row.key)
        await asker.looked()

        assert await asker.row() is None
        assert (await asker.audit())[0].reason == "rerouted: A person has taken the learned route back."


async def test_what_was_learned_of_a_substitute_ends_when_the_table_can_be_followed(tmp_path: Path) -> None:
    async with world(tmp_path) as asker:
        asker.available = (Provider.OPENAI,)
        await asker.write(*failures(10, MINI))
        learned = await asker.until(lambda row: row is not None)
        asker.available = (Provider.OPENAI, Provider.ANTHROPIC)
        await asker.until(lambda row: row is None)

        assert learned is not None
        assert learned.name == LARGER
        assert (await asker.audit())[0].reason == "rerouted: The table sends it to another model now."


async def test_of_two_decisions_at_the_same_time_one_is_made(tmp_path: Path) -> None:
    async with world(tmp_path) as asker:
        other = RouteStep(
            tool=TOOL, step=LearningStep.UPGRADED, home=HAIKU, old=HAIKU, new=OPUS, why="By another replica."
        )
        asker.meanwhile.append(RoutesLearned(at=NOW, steps=(other,)))
        await asker.write(*failures(10))
        row = await asker.until(lambda row: row is not None)

        assert row is not None
        assert (row.name, row.updated_at) == (OPUS, NOW)
        assert [step.reason for step in await asker.audit()] == ["upgraded: By another replica."]


async def test_the_turn_of_a_dead_replica_ends() -> None:
    now = [NOW]
    async with Broker() as broker, asking(broker.connect("asker")) as asker:
        one, other = (ReplicaTurn(asker.turn, name, 100, lambda: now[0]) for name in ("one", "other"))
        taken = [await one.take(), await other.take(), await one.take()]
        now[0] += 101
        taken += [await other.take(), await one.take()]
        await other.leave()
        taken.append(await one.take())

    assert taken == [True, False, True, True, False, True]


async def test_a_learner_that_begins_again_writes_where_a_row_was_removed(tmp_path: Path) -> None:
    with anyio.fail_after(90):
        async with Broker() as broker, asking(broker.connect("asker")) as asker:
            async with learning(broker.connect("learner", grant_of(Learner)), tmp_path):
                await asker.write(*failures(10))
                row = await asker.until(lambda row: row is not None)
                assert row is not None
                await asker.overrides.delete(row.key)
                await asker.looked()
            async with learning(broker.connect("learner", grant_of(Learner)), tmp_path):
                await asker.write(*failures(10))
                again = await asker.until(lambda row: row is not None)

                assert again is not None
                assert again.name == row.name


async def test_a_model_that_is_drawn_is_no_change_of_the_route(tmp_path: Path) -> None:
    async with world(tmp_path, learning_policy="economic") as asker:
        await asker.write(called(cost_usd=None), called(cost_usd=None))
        drawn = await asker.until(lambda row: row is not None, f"{override_key(TOOL)}.test")
        await asker.looked()

        assert drawn is not None
        assert drawn.name in {SONNET, OPUS}
        assert await asker.audit() == ()


async def test_the_economic_policy_sets_what_costs_least(tmp_path: Path) -> None:
    async with world(tmp_path, learning_policy="economic") as asker:
        await asker.write(*failures(30))
        row = await asker.until(lambda row: row is not None)

        assert row is not None
        assert row.name in {SONNET, OPUS}
        assert (await asker.audit())[-1].reason == "optimized: Its calls cost less, those that fail included."


async def test_where_learning_is_off_tests_end_and_nothing_else_changes(tmp_path: Path) -> None:
    test = f"{override_key(READING)}.test"
    with anyio.fail_after(90):
        async with Broker() as broker, asking(broker.connect("asker")) as asker:
            async with learning(broker.connect("learner", grant_of(Learner)), tmp_path):
                await asker.write(*(called(name=SONNET, tool=READING) for _ in range(500)))
                await asker.until(lambda row: row is not None, test)
            async with learning(broker.connect("learner", grant_of(Learner)), tmp_path, learning_policy="off"):
                await asker.until(lambda row: row is None, test)
                await asker.write(*failures(50, SONNET, READING))
                await asker.looked()

                assert await asker.overrides.names() == []
