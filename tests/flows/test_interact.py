"""Tasks on pages that a client has itself: finished whoever dies meanwhile, negotiated, and its caller's alone."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

import pytest

from tests.flows.system import System, weft_up
from tests.requirements import requirement
from tests.site import Site
from tests.site.shop import ORDERED, PASSWORD, shop_changes
from tests.support.reference_client import Json, ReferenceClient, reference_client

pytestmark = [pytest.mark.nats, pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(240)]

ACTORS: Final = "gateway=2,planner=2,verifier,policy,keeper"
GOAL: Final = (
    f'Enter "ann" into "User name", enter "{PASSWORD}" as password, click "Log in", search for "lamp", '
    'click "Add to cart" for the Blue lamp, click "Cart", set "Quantity" to "2", click "Update", click "Check out", '
    'enter "Ann Bell" into "Full name", select "Express" as Delivery, check "I accept the terms", click "Place order"'
)
ONCE: Final = {
    f"/shop/login user=ann&password={PASSWORD}": 1,
    "/shop/add item=blue": 1,
    "/shop/quantity count=2": 1,
    "/shop/order name=Ann+Bell&delivery=Express&terms=on": 1,
}
DEATHS: Final = {2: "planner", 6: "gateway", 10: "planner"}
"""Who is killed while which round is in hand."""


@pytest.fixture(scope="module")
def weft(tmp_path_factory: pytest.TempPathFactory) -> Generator[System]:
    """Run a Weft with two of those who answer clients, and as many rounds as they like."""
    with weft_up(tmp_path_factory.mktemp("weft"), "--actors", ACTORS, WEFT_INTERACT_PER_MINUTE="0") as system:
        yield system


@dataclass
class Killing:
    """Sends the rounds of a client, and kills who may be at work on some of them."""

    system: System
    client: ReferenceClient
    sent: int = 0
    killed: list[str] = field(default_factory=list[str])

    def post(self, body: Json) -> Json:
        """Send a round; whoever is to die dies while it is in hand."""
        self.sent += 1
        actor = DEATHS.get(self.sent, "")
        pids = [int(str(one["pid"])) for one in self.system.replicas() if one["actor"] == actor] if actor else []
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(self.client.http.post, "/api/agent/interact", json=body) if pids else None
            for pid in pids[:1]:
                os.kill(pid, signal.SIGKILL)
                self.killed.append(actor)
            if answer is not None:
                answer.exception()
        return self.client.post(body)


@pytest.mark.full
def test_a_shop_task_is_finished_whoever_dies_and_nothing_is_done_twice(weft: System, site: Site) -> None:
    begun = len(site.asked)
    with reference_client(weft.ready.rest, weft.key) as client:
        client.page.goto(site.url("/shop"))
        killing = Killing(weft, client)
        end = client.reach(GOAL, killing.post)

        assert (end["status"], end["action"]) == ("completed", "finish()")
        assert ORDERED in client.page.inner_text("main")
        assert shop_changes(site.asked[begun:]) == ONCE
        assert killing.killed == list(DEATHS.values())
        assert client.rounds[-1][1] == client.post(client.rounds[-1][0])
        details = [data["actionDetails"] for _, data in client.rounds if data["status"] == "executing"]
        assert all(one["selectorPath"] for one in details if "elementId" in one)
        assert end["plan"]["createdAt"].endswith("Z")
        assert [one["id"] for one in end["plan"]["steps"]] == [f"step_{one}" for one in range(end["totalSteps"])]

        messages = weft.http.get(f"/api/session/{client.session}/messages?limit=200").json()
        kept = messages["messages"]
        assert [one["sequenceNumber"] for one in kept] == list(range(len(kept)))
        assert [one["role"] for one in kept] == ["user"] + ["assistant"] * (len(client.done) + 1)
        assert PASSWORD not in str(kept)
        latest = weft.http.get("/api/session/latest").json()
        assert (latest["sessionId"], latest["status"], latest["domain"]) == (client.session, "completed", "127.0.0.1")
        assert latest["title"].startswith("127.0.0.1: Enter")


@requirement("001.1.verification")
def test_what_a_tree_does_not_say_is_asked_for_and_answered(weft: System, site: Site) -> None:
    """A tree of controls alone has no prices: the page is asked for, and says it."""
    with reference_client(weft.ready.rest, weft.key, only_controls=True) as client:
        client.page.goto(site.url("/shop"))
        client.reach(f'Enter "ann" into "User name", enter "{PASSWORD}" as password, click "Log in"')
        client.page.goto(site.url("/shop/search?q=lamp"))
        client.session = "7f8b1f9e-0000-4000-8000-000000000001"
        client.rounds.clear()
        end = client.reach("What is the price of the Blue lamp?")

        statuses = [(data["status"], data.get("requestedDomMode")) for _, data in client.rounds]
        assert statuses[0] == ("needs_context", "full")
        assert (end["status"], end["action"]) == ("completed", "finish()")
        assert "24.00" in end["thought"]
        again = client.post(client.rounds[0][0])
        assert again["status"] == "needs_context"


def test_callers_see_their_own_tasks_and_sessions_alone(weft: System, site: Site) -> None:
    made = weft.http.post("/api/keys", json={"name": "other", "scopes": ["browser"]}).json()
    with reference_client(weft.ready.rest, weft.key) as mine:
        mine.page.goto(site.url("/shop"))
        body = {**mine.look(), "query": 'Click "Log in"'}
        first = mine.post(body)
        mine.http.headers["Authorization"] = f"Bearer {made['key']}"
        foreign = mine.http.post("/api/agent/interact", json=body)
        task = mine.http.post("/api/agent/interact", json={**body, "sessionId": None, "taskId": first["taskId"]})
        messages = mine.http.get(f"/api/session/{mine.session}/messages").json()
        renamed = mine.http.patch(f"/api/session/{mine.session}", json={"title": "Mine"})
        latest = mine.http.get("/api/session/latest")

    assert (foreign.status_code, foreign.json()["code"]) == (403, "FORBIDDEN")
    assert (task.status_code, task.json()["code"]) == (404, "TASK_NOT_FOUND")
    assert (messages["messages"], messages["sessionExists"]) == ([], False)
    assert (renamed.status_code, renamed.json()["code"]) == (403, "FORBIDDEN")
    assert (latest.status_code, latest.json()["code"]) == (404, "SESSION_NOT_FOUND")
