"""Runs on a bus in memory: begun, done, told of."""

from __future__ import annotations

from typing import Any

import anyio
import msgspec
import pytest

from actors.runner import exports
from actors.runner.template import SessionUse
from protocol import subjects
from protocol.browsers.operations import CloseSession, CloseTab, CreateSession, CreateTab
from protocol.faults import Code
from protocol.runs.events import RunCreated, RunTaken
from protocol.runs.requests import ListTemplates
from protocol.runs.responses import RunAccepted
from protocol.runs.states import ArtifactType, Mode, RunStatus, StepStatus
from tests.unit.actors.runner.fakes import CHORES, LOGIN, PAGE_MS, PASSWORD, World, status, world

MINE = "sess_0000000000000000000000"


def kinds(here: World) -> list[type]:
    return [type(asked.do) for asked in here.browser]


async def test_a_run_is_taken_done_step_by_step_and_ended_with_its_result() -> None:
    async with world() as here:
        accepted = await here.create(("a", "b"))
        ended = await here.ended(accepted.run_id)
        lines = await here.lines(accepted.run_id)

        assert accepted == RunAccepted(
            run_id=accepted.run_id,
            status=RunStatus.QUEUED,
            created_at=accepted.created_at,
            mode=Mode.SYNC,
            template_id=CHORES,
        )
        assert isinstance(lines[0], RunCreated)
        assert isinstance(lines[1], RunTaken)
        assert [one.status for one in (await here.steps(accepted.run_id)).values()] == [StepStatus.SUCCEEDED] * 3
        assert status(ended) == (RunStatus.SUCCEEDED, None)
        assert ended.result["summary"] == {"total": 2, "succeeded": 2}
        assert [one.type for one in ended.artifacts] == [ArtifactType.JSON]
        assert msgspec.json.decode(await here.file(ended)) == ended.result


async def test_templates_are_listed_with_what_bounds_all_runs() -> None:
    async with world(runs_at_once=2, run_timeout_max_ms=70_000) as here:
        told = await here.bus.call(subjects.RUN_TEMPLATES, ListTemplates())

        assert [one.template_id for one in told.templates] == [CHORES, LOGIN]
        assert [one.supports_partial_success for one in told.templates] == [True, False]
        assert told.templates[0].inputs_schema["properties"]["chores"]["type"] == "array"
        assert (told.limits.max_concurrent_runs, told.limits.max_run_timeout_ms) == (2, 70_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chores", "template", "expected"),
    [
        (("a", "fail:EXECUTION_ERROR"), CHORES, (RunStatus.PARTIAL_SUCCESS, None)),
        (
            ("a", "fail:EXECUTION_ERROR", "fail:NETWORK_TIMEOUT"),
            CHORES,
            (RunStatus.FAILED, Code.STEP_EXECUTION_FAILED),
        ),
        (("a", "fail:EXECUTION_ERROR", "b"), LOGIN, (RunStatus.FAILED, Code.STEP_EXECUTION_FAILED)),
        (("a", "break", "alone"), CHORES, (RunStatus.PARTIAL_SUCCESS, None)),
    ],
)
async def test_steps_that_fail_count_against_the_threshold(
    chores: tuple[str, ...], template: str, expected: tuple[RunStatus, Code | None]
) -> None:
    async with world() as here:
        more: dict[str, Any] = {"login": {"user": "me", "password": PASSWORD}, "local": True}
        ended = await here.done(chores, template=template, **more if template == LOGIN else {})

        assert status(ended) == expected
        assert ended.result is not None


async def test_a_failure_names_the_part_the_code_of_the_tool_layer_and_what_it_was() -> None:
    async with world() as here:
        ended = await here.done(("fail:NETWORK_TIMEOUT", "alone"))
        step = (await here.steps(ended.run_id))[0]

        assert (ended.failed_step, ended.step_code) == ("inner", "NAVIGATION_TIMEOUT")
        assert ended.fault is not None
        assert ended.fault.message == "inner: The site did not answer within the time allowed."
        assert (step.failed_at, step.step_code, step.tries) == ("inner", "NAVIGATION_TIMEOUT", 1)


@pytest.mark.parametrize(("code", "tries"), [("NETWORK_TIMEOUT", 2), ("EXECUTION_ERROR", 1)])
async def test_a_step_is_tried_again_at_once_for_the_codes_of_its_template(code: str, tries: int) -> None:
    async with world() as here:
        ended = await here.done((f"fail:{code}", "alone"), tries=2)

        assert (await here.steps(ended.run_id))[0].tries == tries
        assert here.chores.begun.count(f"fail:{code}") == tries


async def test_the_code_of_a_login_field_keeps_its_name() -> None:
    async with world() as here:
        ended = await here.done(("fail:TPL_LOGIN_FIELD_NOT_FOUND", "alone"))

        assert ended.step_code == "TPL_LOGIN_FIELD_NOT_FOUND"


async def test_where_every_step_has_to_succeed_none_begins_after_one_that_failed() -> None:
    async with world() as here:
        login = {"user": "me", "password": PASSWORD}
        chores = ("a", "fail:EXECUTION_ERROR", "b", "c")
        ended = await here.done(chores, template=LOGIN, login=login, local=True, at_once=1)

        assert here.login.begun == ["a", "fail:EXECUTION_ERROR"]
        assert [one["status"] for one in ended.result["items"]] == ["succeeded", "failed", "skipped", "skipped"]


async def test_a_window_slides_over_the_steps_and_the_next_stage_sees_what_was_given() -> None:
    async with world() as here:
        ended = await here.done(tuple("abcdefgh"), at_once=3)

        assert status(ended) == (RunStatus.SUCCEEDED, None)
        assert here.chores.most == 3
        assert here.chores.begun[-1] == "last"
        assert {index: one["chore"] for index, one in here.chores.seen[-1].items()} == dict(enumerate("abcdefgh"))
        assert here.chores.seen[0] == {}


async def test_a_page_is_asked_for_within_what_the_run_has_left_and_each_tier_asks_once() -> None:
    async with world() as here:
        await here.done(("page", "alone"), timeout_ms=5_000)
        await here.done(("page", "alone"), timeout_ms=60_000)

        short, long = here.pages
        assert short.options.max_latency_ms <= 5_000
        assert long.options.max_latency_ms == PAGE_MS
        assert (short.obey_robots, short.single_shot) == (True, True)


@pytest.mark.requirement("002.8.architecture")
async def test_a_session_of_the_run_s_own_is_opened_when_it_is_first_needed_and_closed_at_the_end() -> None:
    async with world() as here:
        accepted = await here.create(("tab", "tab", "alone"), use=SessionUse.OWN)
        await here.ended(accepted.run_id)
        while CloseSession not in kinds(here):
            await anyio.sleep(0.002)

        assert kinds(here) == [CreateSession, CreateTab, CreateTab, CloseSession]
        assert {asked.do.session_id for asked in here.browser} == {accepted.session_id}
        assert accepted.session_preserved is False
        assert len({asked.order for asked in here.browser if isinstance(asked.do, CreateTab)}) == 2
        assert all(asked.caller == "somebody" and not asked.local for asked in here.browser)


async def test_a_session_that_is_not_needed_is_not_opened() -> None:
    async with world() as here:
        await here.done(("a", "alone"), use=SessionUse.OWN)

        assert CreateSession not in kinds(here)


@pytest.mark.parametrize("more", [{"session_id": MINE}, {"use": SessionUse.KEPT}])
async def test_a_session_that_was_given_or_is_to_be_kept_is_never_closed(more: dict[str, Any]) -> None:
    async with world() as here:
        here.known.add(MINE)
        accepted = await here.create(("tab", "alone"), **more)
        await here.ended(accepted.run_id)
        await anyio.wait_all_tasks_blocked()

        assert CloseSession not in kinds(here)
        assert accepted.session_preserved is True
        assert (accepted.session_id == MINE) is ("session_id" in more)


@pytest.mark.requirement("002.8.architecture")
@pytest.mark.parametrize(("in_use", "most"), [(0, 5), (17, 3), (20, 1)])
async def test_the_window_of_tabs_is_what_the_session_has_room_for(in_use: int, most: int) -> None:
    async with world() as here:
        here.known.add(MINE)
        here.tabs = in_use
        await here.done(("tab",) * 8, at_once=5, in_tabs=True, session_id=MINE)

        assert here.chores.most == most
        assert CloseTab not in kinds(here)


async def test_a_tab_is_waited_for_while_there_is_no_room() -> None:
    async with world() as here:
        here.busy = 2
        ended = await here.done(("tab", "alone"), use=SessionUse.OWN)
        orders = [asked.order for asked in here.browser if isinstance(asked.do, CreateTab)]

        assert status(ended) == (RunStatus.SUCCEEDED, None)
        assert len(orders) == 3
        assert len(set(orders)) == 1


async def test_a_session_that_stays_full_is_waited_for_no_longer_than_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.runner.browser_session.FULL_S", 0.2)
    async with world() as here:
        here.known.add(MINE)
        here.full = True
        ended = await here.done(("tab", "a"), in_tabs=True, session_id=MINE)

        assert [one["status"] for one in ended.result["items"]] == ["failed", "succeeded"]
        assert len([asked for asked in here.browser if isinstance(asked.do, CreateTab)]) > 1


async def test_a_long_result_is_told_in_short_and_kept_whole_in_slices() -> None:
    async with world(artifact_inline_bytes=2_000) as here:
        forms = (ArtifactType.CSV, ArtifactType.MARKDOWN)
        ended = await here.done(("a", "=b"), size=400_000, artifacts=forms)

        whole = msgspec.json.decode(await here.file(ended))
        assert ended.cut
        assert [one["said"] for one in ended.result["items"]] == [None, None]
        assert [len(one["said"]["words"]) for one in whole["items"]] == [400_000, 400_000]
        assert ended.artifacts[0].size > 3 * exports.SLICE_BYTES
        assert [one.type for one in ended.artifacts] == [ArtifactType.JSON, *forms]
        assert (await here.file(ended, 1)).decode().splitlines() == [
            "name,status",
            "chore a,succeeded",
            "chore =b,succeeded",
        ]
        assert (await here.file(ended, 2)).decode() == "- chore a\n- chore =b\n"
        assert all(one.expires_at >= ended.at + here.settings.artifact_ttl_ms - 60_000 for one in ended.artifacts)


async def test_a_step_that_gives_more_than_can_be_kept_fails() -> None:
    async with world() as here:
        ended = await here.done(("a", "alone"), size=950_000)

        step = (await here.steps(ended.run_id))[0]
        assert step.fault is not None
        assert step.fault.code is Code.CONTENT_TOO_LARGE


async def test_nothing_of_a_run_lies_in_the_open() -> None:
    async with world() as here:
        ended = await here.done(("very-visible-name", "alone"))
        kept = [one.data for journal in here.broker.journals.values() for one in journal.held]
        kept += [data for store in here.broker.stores.values() for data in map(bytes, _values(store))]

        assert ended.result["items"][0]["name"] == "chore very-visible-name"
        assert len(kept) >= 5
        assert not any(b"very-visible" in data for data in kept)


def _values(store: Any) -> list[bytes]:
    return [getattr(one, "data", one) for one in store.held.values()]
