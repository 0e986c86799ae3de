"""A step of a flow that is not done: its page is another one's, asks something first, or has another focus."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import anyio
import pytest
from msgspec import structs

from actors.runner.flows.replaying import ELSEWHERE, IN_THE_WAY, OTHER_FOCUS, StepReplay
from actors.runner.template import StepContext
from protocol.acting.tree import PageTree
from protocol.faults import Code, FaultError, fault
from protocol.flows import FlowStep, FlowTarget
from tests.unit.actors.flows.test_recording import PAGE, URL

FILL = FlowStep(
    tool="type_text", target=FlowTarget(role="inp", name="Full name"), parameter="full_name", site="club.example"
)
PRESS = FlowStep(tool="press_key", arguments={"key": "Enter"}, site="club.example")


@dataclass
class Watched:
    """A page, and what is called on it."""

    page: PageTree
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])

    async def tree(self) -> PageTree:
        return self.page

    async def call_tool(self, tool: str, arguments: dict[str, Any], *, brisk: bool = False) -> None:
        del brisk
        self.calls.append((tool, arguments))
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE))


@pytest.mark.parametrize(
    ("step", "page", "why"),
    [
        (PRESS, structs.replace(PAGE, url="https://club.example.evil.example/login"), ELSEWHERE),
        (PRESS, structs.replace(PAGE, url="about:blank"), ELSEWHERE),
        (FILL, PageTree(url=URL, dialog="Really?"), IN_THE_WAY),
        (PRESS, structs.replace(PAGE, focused="3"), OTHER_FOCUS),
        (structs.replace(PRESS, target=FILL.target), structs.replace(PAGE, focused="3"), OTHER_FOCUS),
    ],
)
async def test_nothing_is_done_on_a_page_that_is_not_its_own(step: FlowStep, page: PageTree, why: str) -> None:
    here = Watched(page)
    with anyio.fail_after(90), pytest.raises(FaultError) as failure:
        await StepReplay(cast("StepContext", here), step, {"full_name": "Ann"}, {}).run()

    assert (failure.value.fault.code, failure.value.fault.message) == ("STEP_VERIFICATION_FAILED", why)
    assert here.calls == []


async def test_keys_name_no_element() -> None:
    here = Watched(structs.replace(PAGE, focused="2"))
    with anyio.fail_after(90), pytest.raises(FaultError):
        await StepReplay(cast("StepContext", here), structs.replace(PRESS, target=FILL.target), {}, {}).run()

    assert here.calls == [("press_key", {"key": "Enter"})]
