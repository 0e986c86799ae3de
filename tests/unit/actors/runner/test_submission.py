"""What is asked for a run: judged before anything begins, begun once, gone on with after a failure."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from actors.runner.template import SessionUse
from bus.permissions import stream_name
from protocol import subjects
from protocol.faults import Code, Fault, FaultError
from protocol.runs.events import RunCreated
from protocol.runs.states import ArtifactType, Mode, RunStatus
from tests.unit.actors.runner.fakes import LOGIN, PASSWORD, World, hand_out_again, status, world

SOMEBODY_ELSE = "somebody else"
KEY = "the-key-1"
SECRET = {"user": "me", "password": PASSWORD}


async def refused(here: World, **more: Any) -> Fault:
    with pytest.raises(FaultError) as caught:
        await here.create(more.pop("chores", ("a",)), **more)
    assert await here.ledger.end() == 0
    return caught.value.fault


async def created(here: World, run_id: str) -> RunCreated:
    line = (await here.lines(run_id))[0]
    assert isinstance(line, RunCreated)
    return line


@pytest.mark.requirement("002.9.trust-level")
@pytest.mark.parametrize(
    ("asked", "code", "field"),
    [
        ({"template": "nothing"}, Code.TEMPLATE_NOT_FOUND, "templateId"),
        ({"template_version": "2"}, Code.TEMPLATE_VERSION_UNSUPPORTED, "templateVersion"),
        ({"template_version": "1.0.00"}, Code.TEMPLATE_VERSION_UNSUPPORTED, "templateVersion"),
        ({"template": LOGIN, "login": SECRET}, Code.TRUST_LEVEL_NOT_ALLOWED, "templateId"),
        ({"template": LOGIN, "local": True}, Code.VALIDATION_INVALID_REQUEST, "inputs.login"),
        ({"inputs": {}}, Code.VALIDATION_INVALID_REQUEST, "inputs.chores"),
        ({"inputs": {"chores": ["a", 1]}}, Code.VALIDATION_INVALID_REQUEST, "inputs.chores[1]"),
        ({"inputs": {"chores": ["a"], "size": "1"}}, Code.VALIDATION_INVALID_REQUEST, "inputs.size"),
        ({"inputs": {"chores": ["a"], "what": 1}}, Code.VALIDATION_INVALID_REQUEST, "inputs.what"),
        ({"inputs": ["a"]}, Code.VALIDATION_INVALID_REQUEST, "inputs"),
        ({"inputs": {"chores": ["a" * 700_000]}}, Code.VALIDATION_INVALID_REQUEST, "inputs"),
        ({"inputs": {"chores": ["a"] * 150_000}}, Code.VALIDATION_INVALID_REQUEST, "inputs"),
        ({"session_id": "sess_0000000000000000000000"}, Code.SESSION_NOT_FOUND, "sessionId"),
        ({"resume": "run_9999999999999999999999", "inputs": {}}, Code.RUN_NOT_FOUND, None),
    ],
)
async def test_what_cannot_be_done_is_refused_with_the_field_named(
    asked: dict[str, Any], code: Code, field: str | None
) -> None:
    async with world() as here:
        told = await refused(here, **asked)

        assert (told.code, told.field) == (code, field)
        assert told.actions


async def test_inputs_that_are_sealed_for_another_run_are_refused() -> None:
    async with world() as here:
        asked = replace(here.asked(), run_id=here.new_id())
        with pytest.raises(FaultError) as caught:
            await here.bus.call(subjects.RUN_CREATE, asked)

        assert caught.value.fault.field == "inputs"


@pytest.mark.parametrize("wrong", [{"user": "me", "password": 12345678}, {"user": "me", PASSWORD: 1}, PASSWORD])
async def test_what_is_wrong_with_a_secret_is_told_without_it(
    wrong: object, capsys: pytest.CaptureFixture[str]
) -> None:
    async with world() as here:
        told = await refused(here, template=LOGIN, login=wrong, local=True)

        assert told.field == "inputs.login"
        assert PASSWORD not in str(told)
        assert "12345678" not in str(told)
        assert PASSWORD not in capsys.readouterr().out


@pytest.mark.parametrize("version", ["1", "1.0", "1.0.0", None])
async def test_a_version_may_be_named_as_exactly_as_one_likes(version: str | None) -> None:
    async with world() as here:
        assert status(await here.done(template_version=version)) == (RunStatus.SUCCEEDED, None)


@pytest.mark.requirement("002.10.limits")
@pytest.mark.parametrize(
    ("asked_ms", "expected_ms"), [(None, 60_000), (10_000, 10_000), (80_000, 60_000), (60_000, 60_000)]
)
async def test_the_time_that_counts_is_the_least_of_three(asked_ms: int | None, expected_ms: int) -> None:
    async with world() as here:
        accepted = await here.create(timeout_ms=asked_ms)

        assert (await created(here, accepted.run_id)).timeout_ms == expected_ms


async def test_the_runtime_bounds_the_time_too() -> None:
    async with world(run_timeout_max_ms=5_000) as here:
        assert (await created(here, (await here.create()).run_id)).timeout_ms == 5_000


@pytest.mark.parametrize(
    ("chores", "mode", "expected"),
    [
        (("a",), Mode.AUTO, Mode.SYNC),
        (("a", "b", "c"), Mode.AUTO, Mode.ASYNC),
        (("a", "b", "c"), Mode.SYNC, Mode.SYNC),
        (("a",), Mode.ASYNC, Mode.ASYNC),
    ],
)
async def test_the_template_says_what_auto_means(chores: tuple[str, ...], mode: Mode, expected: Mode) -> None:
    async with world() as here:
        assert (await here.create(chores, mode=mode)).mode is expected


async def test_the_same_request_twice_begins_one_run() -> None:
    async with world() as here:
        asked = here.asked()
        first = await here.bus.call(subjects.RUN_CREATE, asked)
        await here.ended(first.run_id)
        second = await here.bus.call(subjects.RUN_CREATE, asked)

        assert (second.run_id, second.status) == (first.run_id, RunStatus.SUCCEEDED)
        assert here.chores.begun == ["a", "b", "last"]


async def test_a_request_with_the_id_of_somebody_else_s_run_finds_nothing() -> None:
    async with world() as here:
        accepted = await here.create()
        with pytest.raises(FaultError) as caught:
            await here.create(run_id=accepted.run_id, caller=SOMEBODY_ELSE)

        assert caught.value.fault.code is Code.RUN_NOT_FOUND


async def test_a_run_that_was_written_down_and_not_queued_is_queued_by_the_second_request() -> None:
    async with world(replicas=()) as here:
        async with here.runner("r1"):
            asked = here.asked()
            await here.bus.call(subjects.RUN_CREATE, asked)
            held = here.broker.queues[stream_name(subjects.RUN)]
            assert held.waiting
            await here.ended(asked.run_id)
        held.identities.clear()
        fresh = here.asked(("c",))
        async with here.runner("r2") as bus:
            del bus
            await here.bus.call(subjects.RUN_CREATE, fresh)
            held.waiting.clear()
            held.identities.clear()
            await here.bus.call(subjects.RUN_CREATE, fresh)

            assert status(await here.ended(fresh.run_id)) == (RunStatus.SUCCEEDED, None)


async def test_an_idempotency_key_stands_for_the_run_that_it_began() -> None:
    async with world() as here:
        first = await here.create(idempotency_key=KEY)
        await here.ended(first.run_id)
        again = await here.create(idempotency_key=KEY)
        other_caller = await here.create(idempotency_key=KEY, caller=SOMEBODY_ELSE)
        other_key = await here.create(idempotency_key=KEY + "2")

        assert (again.run_id, again.deduplicated, again.status) == (first.run_id, True, RunStatus.SUCCEEDED)
        assert len({first.run_id, other_caller.run_id, other_key.run_id}) == 3


@pytest.mark.parametrize("other", [{"chores": ("b",)}, {"timeout_ms": 9_000}])
async def test_a_key_that_stands_for_something_else_is_refused(other: dict[str, Any]) -> None:
    async with world() as here:
        await here.create(("a",), idempotency_key=KEY)
        with pytest.raises(FaultError) as caught:
            await here.create(other.pop("chores", ("a",)), idempotency_key=KEY, **other)

        assert (caught.value.fault.code, caught.value.fault.field) == (
            Code.VALIDATION_INVALID_REQUEST,
            "idempotencyKey",
        )


async def test_a_secret_is_no_part_of_what_a_key_stands_for() -> None:
    async with world() as here:
        more: dict[str, Any] = {"template": LOGIN, "local": True, "idempotency_key": KEY}
        first = await here.create(login=SECRET, **more)
        again = await here.create(login={"user": "me", "password": "another"}, **more)

        assert again.run_id == first.run_id


async def test_a_key_whose_run_was_never_written_down_begins_it() -> None:
    async with world() as here:
        first = await here.create(idempotency_key=KEY)
        await here.ended(first.run_id)
        here.broker.journals["ledger"].held.clear()  # as if its replica had died between the two
        held = here.broker.queues[stream_name(subjects.RUN)]
        held.identities.clear()
        again = await here.create(idempotency_key=KEY)

        assert again.run_id == first.run_id
        assert status(await here.ended(again.run_id)) == (RunStatus.SUCCEEDED, None)


async def test_a_run_that_failed_goes_on_after_the_steps_that_were_done() -> None:
    async with world() as here:
        old = await here.done(("a", "fail:NETWORK_TIMEOUT", "fail:EXECUTION_ERROR"), artifacts=(ArtifactType.CSV,))
        here.chores.begun.clear()
        new = await here.create(resume=old.run_id, inputs={}, template="")
        await here.ended(new.run_id)
        line, steps = await created(here, new.run_id), await here.steps(new.run_id)

        assert new.resumed_from == old.run_id
        assert (line.template_id, line.timeout_ms) == ("chores", 60_000)
        assert line.artifacts == (ArtifactType.JSON, ArtifactType.CSV)
        assert [(steps[0].carried, steps[0].output["chore"]), steps[1].carried] == [(True, "a"), False]
        assert sorted(here.chores.begun) == ["fail:EXECUTION_ERROR", "fail:NETWORK_TIMEOUT"]


async def test_a_run_is_resumed_only_by_its_caller_and_only_when_it_is_over_and_no_success() -> None:
    async with world() as here:
        done = await here.done()
        held = await here.create(("hold",))
        codes = list[tuple[Code, str | None]]()
        for run_id, more in ((done.run_id, {}), (held.run_id, {}), (done.run_id, {"caller": SOMEBODY_ELSE})):
            with pytest.raises(FaultError) as caught:
                await here.create(resume=run_id, inputs={}, **more)
            codes.append((caught.value.fault.code, caught.value.fault.field))

        assert codes == [
            (Code.VALIDATION_INVALID_REQUEST, "runId"),
            (Code.VALIDATION_INVALID_REQUEST, "runId"),
            (Code.RUN_NOT_FOUND, None),
        ]


async def test_a_run_with_a_secret_is_resumed_with_the_secret_alone() -> None:
    async with world() as here:
        more: dict[str, Any] = {"local": True}
        old = await here.done(("a", "fail:EXECUTION_ERROR"), template=LOGIN, login=SECRET, **more)
        fields = list[str | None]()
        for inputs in ({}, {"login": SECRET, "size": 2}):
            with pytest.raises(FaultError) as caught:
                await here.create(resume=old.run_id, inputs=inputs, **more)
            fields.append(caught.value.fault.field)
        with pytest.raises(FaultError) as remote:
            await here.create(resume=old.run_id, inputs={"login": SECRET})
        new = await here.create(resume=old.run_id, inputs={"login": SECRET}, **more)
        await here.ended(new.run_id)

        assert fields == ["inputs.login", "inputs.size"]
        assert remote.value.fault.code is Code.TRUST_LEVEL_NOT_ALLOWED
        assert (await here.steps(new.run_id))[0].carried


@pytest.mark.parametrize("use", [SessionUse.OWN, SessionUse.KEPT])
async def test_a_resumed_run_goes_on_in_the_session_that_is_still_there(use: SessionUse) -> None:
    async with world() as here:
        is_same = use is SessionUse.KEPT
        old = await here.create(("tab", "fail:NETWORK_TIMEOUT", "fail:EXECUTION_ERROR"), use=use)
        await here.ended(old.run_id)
        new = await here.create(resume=old.run_id, inputs={})

        assert (new.session_id == old.session_id) is is_same
        assert new.session_preserved is is_same


@pytest.mark.parametrize("gone", [False, True])
async def test_what_was_done_in_a_kept_session_is_done_anew(gone: bool) -> None:  # noqa: FBT001
    async with world() as here:
        old = await here.create(("tab", "fail:NETWORK_TIMEOUT", "fail:EXECUTION_ERROR"), use=SessionUse.KEPT)
        await here.ended(old.run_id)
        if gone:
            here.known.clear()
        new = await here.create(resume=old.run_id, inputs={})
        await here.ended(new.run_id)

        assert (new.session_id != old.session_id) is gone
        assert not (await here.steps(new.run_id))[0].carried


async def test_a_run_of_which_the_ledger_has_lost_the_beginning_is_none() -> None:
    async with world() as here:
        run = await here.create(("hold", "b"), at_once=1)
        while not here.chores.at_work:
            await anyio.sleep(0.002)
        held = here.broker.journals["ledger"].held
        del held[0]
        with pytest.raises(FaultError) as caught:
            await here.cancel(run.run_id)

        assert caught.value.fault.code is Code.RUN_NOT_FOUND


async def test_whoever_is_asked_again_keeps_the_secret_too() -> None:
    async with world(replicas=()) as here:
        asked = here.asked(("hold", "secret"), LOGIN, login=SECRET, local=True, at_once=1)
        here.login.let_go = here.chores.let_go
        async with here.runner("r1"):
            await here.bus.call(subjects.RUN_CREATE, asked)
            while "hold" not in here.login.begun:
                await anyio.sleep(0.002)
        here.chores.let_go.set()
        async with here.runner("r2"):
            await here.bus.call(subjects.RUN_CREATE, asked)
            hand_out_again(here)

            assert (await here.ended(asked.run_id)).status is RunStatus.SUCCEEDED
