"""Goals reached on real pages in a real browser, whoever dies meanwhile; what a site was told, it was told once."""

from __future__ import annotations

import uuid
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import pytest

from protocol.acting.tasks import ActingStatus, ActionChosen, ActionJudged, ActionPerformed, TaskState, task_topic
from protocol.subjects import TASKS
from tests.site.server import serve_site
from tests.site.shop import PASSWORD, shop_changes
from tests.support.acting import ActingWorld, acting_world
from tests.support.scale import is_full

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TEST_S = 240.0
LOGIN: Final = 'Enter "ann" into "User name", enter "{}" as password, click "Log in"'
BASKET: Final = 'search for "lamp", click "Add to cart" for the Blue lamp'
ORDER: Final = (
    'click "Cart", set "Quantity" to "2", click "Update", '
    'click "Check out", enter "Ann Bell" into "Full name", select "Express" as Delivery, check "I accept the terms", '
    'click "Place order"'
)
ONCE: Final = {
    f"/shop/login user=ann&password={PASSWORD}": 1,
    "/shop/add item=blue": 1,
}
ORDERED_ONCE: Final = {
    "/shop/quantity count=2": 1,
    "/shop/order name=Ann+Bell&delivery=Express&terms=on": 1,
}
DEATHS: Final = ((ActionChosen, 1), (ActionPerformed, 4), (ActionJudged, 8), (ActionChosen, 13))
"""Behind which line of which action whoever acts is killed."""


async def reached_in_spite_of_deaths(world: ActingWorld, goal: str, session: str, url: str) -> TaskState:
    """Have a goal reached by one planner after the other, each of which is killed behind a certain line."""
    task = str(uuid.uuid4())
    for kind, number in DEATHS if is_full() else DEATHS[:2]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(world.act, goal, session, task, url=url))
            await _line_of(world, task, kind, number)
            await world.planners[-1].dies()
            tasks.cancel_scope.cancel()
        await world.begin_planner()
    return (await world.act(goal, session, task, url=url)).state


async def _line_of(world: ActingWorld, task: str, kind: type, number: int) -> None:
    journal = await world.asker.journal(TASKS)
    async with journal.follow() as lines:
        async for line in lines:
            value = line.value
            at = value.taken.number if isinstance(value, ActionChosen) else getattr(value, "number", -1)
            if line.topic == task_topic(task) and isinstance(value, kind) and at == number:
                return


@pytest.mark.full
async def test_a_shop_task_is_finished_whoever_dies(tmp_path: Path) -> None:
    """Log in, search, fill the basket (and order): nothing is done twice, and the password stands in no line."""
    goal = ", ".join((LOGIN.format(PASSWORD), BASKET, *((ORDER,) if is_full() else ())))
    with anyio.fail_after(TEST_S):
        async with serve_site() as site, acting_world(tmp_path) as world:
            session = await world.session()
            state = await reached_in_spite_of_deaths(world, goal, session, site.url("/shop"))

    assert state.status is ActingStatus.COMPLETED, (state.question, state.text)
    assert shop_changes(site.asked) == (ONCE | ORDERED_ONCE if is_full() else ONCE)
    assert all(one.verdict is not None and one.verdict.succeeded for one in state.actions)
    assert state.confidence >= 0.7
    assert state.screenshot is not None
    assert PASSWORD not in str(state)
