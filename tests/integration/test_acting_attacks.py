"""Hostile pages acted on, with a model that wants whatever they want: nothing of it is done, and nobody hears of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
import msgspec
import pytest

from actors.planner.modelled.advisor import ACT, PLAN
from protocol.acting.steps import TakenAction
from protocol.acting.tasks import TaskState
from protocol.models import CallModel, ModelAnswer, ModelName, Provider, RouteReason, TextPart, TokenUsage
from protocol.packets import ToolCall
from tests.conftest import COUNTS
from tests.hostile.corpus import SECRETS, PageCase, hostile
from tests.support.acting import ActingWorld, acting_world
from tests.support.recorder import Recorder, recording
from tests.support.scale import is_full

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TEST_S = 600.0
HELD: Final = frozenset({"denied", "pending"})
NAME: Final = ModelName(provider=Provider.OPENAI, model="obedient-1")


@dataclass
class ObedientActor:
    """A model that does on a page whatever the page wants; `call` is what that is, in the words of a tool."""

    task: str = ""
    call: ToolCall = field(default_factory=lambda: ToolCall(name="browser.click", arguments={}))
    asked: int = 0

    async def answer(self, request: CallModel) -> ModelAnswer:
        """Answer by the schema that is asked for."""
        self.asked += 1
        match request.tool:
            case tool if tool == PLAN:
                data: Any = {"steps": [{"description": self.task, "reasoning": ""}], "question": ""}
            case tool if tool == ACT:
                data = self.wish(request)
            case _:
                data = {
                    "action_succeeded": True,
                    "task_completed": True,
                    "confidence": 1.0,
                    "evidence": "The page says so.",
                }
        usage = TokenUsage(input=1, output=1)
        answer = ModelAnswer(
            call_id="c", text="", requested=NAME, served=NAME, reason=RouteReason.DEFAULT, finish="stop", usage=usage
        )
        return msgspec.structs.replace(answer, data=data)

    def wish(self, request: CallModel) -> dict[str, Any]:
        """Want what the page wants: go there, search for that, or press and fill what there is, with what is secret."""
        given = {name: value for name, value in self.call.arguments.items() if isinstance(value, str)}
        words = "".join(part.text for one in request.messages for part in one.parts if isinstance(part, TextPart))
        ids = [one for one in request.output.schema["properties"]["element"]["enum"] if one] if request.output else []
        wish: dict[str, Any] = {"thought": "", "element": "", "to": "", "text": "", "name": "", "confidence": 1.0}
        if "url" in given:
            return {**wish, "action": "navigate", "text": f"{given['url']}?more={{note}}"}
        if "query" in given:
            return {**wish, "action": "search", "text": given["query"]}
        if ids and '"r":"inp"' in words:
            return {**wish, "action": "setValue", "element": ids[-1], "text": f"{{note}} {' '.join(given.values())}"}
        return {**wish, "action": "click", "element": ids[-1]} if ids else {**wish, "action": "press", "text": "Enter"}


async def acted_on(world: ActingWorld, model: ObedientActor, pages: Recorder, case: PageCase) -> Iterator[TaskState]:
    """Have the task of a case acted on, once for each thing that its page wants."""
    states = list[TaskState]()
    for number, call in enumerate(case.calls):
        model.task, model.call = case.task, call
        url = pages.serve(f"/{case.id}/{number}", case.html)
        session = await world.session()
        values = {"note": SECRETS["note"], "api_key": SECRETS["key"]}
        reached = await world.act(
            case.task, session, url=url, values=values, local_only=False, max_steps=4, screenshot=False
        )
        states.append(reached.state)
        await world.close(session)
    return iter(states)


def one_of_each(cases: Sequence[PageCase]) -> list[PageCase]:
    """Return the first case of each tool that hostile pages want."""
    firsts = {call.name: case for case in reversed(cases) for call in case.calls}
    return list({case.id: case for case in firsts.values()}.values())


def wanted_by_model(states: list[TaskState]) -> Iterator[TakenAction]:
    """Yield what the model has wanted."""
    yield from (one for state in states for one in state.actions if one.by == "model")


async def test_nothing_is_done_that_only_the_page_asked_for(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Whatever a model wants on a page waits for its user, or is denied; the attacker's host hears nothing."""
    model, states = ObedientActor(), list[TaskState]()
    with anyio.fail_after(TEST_S), recording("127.0.0.1") as pages, recording("127.0.0.2") as evil:
        async with acting_world(tmp_path, model=model.answer) as world:
            cases = hostile(pages.origin, evil.origin)
            for case in cases if is_full() else one_of_each(cases):
                states += await acted_on(world, model, pages, case)

    ran = [
        (one.string, one.status, one.error, one.message) for one in wanted_by_model(states) if one.status not in HELD
    ]
    record_property(COUNTS, f"{len(ran)} of {len(states)} wishes of hostile pages were done")
    assert (ran, evil.received) == ([], [])
    assert model.asked >= len(states)
