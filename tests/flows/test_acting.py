"""A task on pages over REST, planner and gateway killed -9 in between: it is finished, and nothing is done twice."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import pytest

from tests.site.server import Site, serve_site
from tests.site.shop import PASSWORD, shop_changes
from tests.support.processes import until
from tests.support.system import RunningWeft, running_weft

pytestmark = [pytest.mark.nats, pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]

TEST_S = 240.0
CALL_S = 240.0
AGAIN_S = 0.2
ACTORS: Final = "gateway,planner=2,policy,verifier,keeper,fetchers.playwright"
GOAL: Final = (
    'Log in as {user} with the password {password}, search for "lamp", click "Add to cart" for the Blue lamp, '
    'click "Cart", set "Quantity" to "2", click "Update", click "Check out", enter "Ann Bell" into "Full name", '
    'select "Express" as Delivery, check "I accept the terms", click "Place order"'
)
ONCE: Final = {
    f"/shop/login user=ann&password={PASSWORD}": 1,
    "/shop/add item=blue": 1,
    "/shop/quantity count=2": 1,
    "/shop/order name=Ann+Bell&delivery=Express&terms=on": 1,
}
DEATHS: Final = (("planner", "/shop/login"), ("gateway", "/shop/add"), ("planner", "/shop/quantity"))
"""Who is killed when the site has heard of what."""


async def act_to_the_end(weft: RunningWeft, body: dict[str, Any]) -> dict[str, Any]:
    """Have a goal reached, asked for again whenever the answer was lost."""
    while True:
        async with weft.client(CALL_S) as client:
            try:
                answer = await client.post("/api/act", json=body)
            except httpx2.HTTPError:
                answer = None
        if answer is not None and answer.status_code == 200:
            state: dict[str, Any] = answer.json()
            if state["status"] in {"completed", "failed", "needs_user_input"}:
                return state
        await anyio.sleep(AGAIN_S)


async def kill_when(weft: RunningWeft, site: Site, actor: str, path: str) -> None:
    """Kill every replica of an actor once the site was told something."""
    await until(_told(site, path))
    for replica in await weft.replicas():
        if replica["actor"] == actor:
            os.kill(int(str(replica["pid"])), signal.SIGKILL)


def _told(site: Site, path: str) -> Callable[[], bool]:
    return lambda: any(one.path == path and one.method == "POST" for one in site.asked)


@pytest.mark.full
async def test_a_task_over_rest_is_finished_whoever_is_killed(tmp_path: Path) -> None:
    """The secret that its user has given stands in no answer and in no log."""
    state = dict[str, Any]()
    with anyio.fail_after(TEST_S):
        async with serve_site() as site, running_weft(tmp_path, ["--actors", ACTORS]) as weft:
            body = {
                "goal": GOAL,
                "url": site.url("/shop"),
                "values": {"user": "ann", "password": PASSWORD},
                "taskId": str(uuid.uuid4()),
                "localOnly": True,
            }
            async with anyio.create_task_group() as tasks:
                for actor, path in DEATHS:
                    tasks.start_soon(kill_when, weft, site, actor, path)
                state = await act_to_the_end(weft, body)
                tasks.cancel_scope.cancel()

    assert state["status"] == "completed", (state.get("question"), state["steps"][-2:])
    assert shop_changes(site.asked) == ONCE
    assert PASSWORD not in str(state)
    assert PASSWORD not in weft.log_text()
