"""Goals that a whole Weft reaches on pages, asked over REST, by MCP and at the command line, without any model."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any, Final

import msgspec
import pytest

from actors.gateway.act import ActResult
from actors.gateway.http import EVENTS
from tests.flows.mcp_clients import connected, text_of
from tests.flows.system import System, refused
from tests.integration.playwright.browsing import page
from tests.site import Site

pytestmark = [pytest.mark.nats, pytest.mark.browser, pytest.mark.slow]

CALL_S: Final = 240.0
SECRET: Final = "warp-and-weft-88"
FORM: Final = """<title>Loom</title><h1>Order</h1><form><label>Name <input id=name></label>
<label>Password <input id=key type=password></label><button>Save</button></form><p id=said role=status></p>
<script>document.forms[0].onsubmit = (event) => {
  event.preventDefault();
  const value = (id) => document.getElementById(id).value;
  sessionStorage.times = Number(sessionStorage.times || 0) + 1;
  said.textContent = `Saved ${value('name')}, ${value('key').length} signs, ${sessionStorage.times} times`;
};</script>"""
GOAL: Final = 'Type "Ada" into the Name field, type {password} into the Password field, and click Save'
ALIKE: Final = """<title>Cart</title><h1>Cart</h1><ul>
<li>Red thread <button onclick="said.textContent = 'Removed red thread'">Remove</button></li>
<li>Blue thread <button onclick="said.textContent = 'Removed blue thread'">Remove</button></li>
</ul><p id=said role=status></p>"""
Json = dict[str, Any]


def act(weft: System, **body: object) -> ActResult:
    answer = weft.http.post("/api/act", json={"localOnly": True, **body}, timeout=CALL_S)
    assert answer.status_code == 200, answer.text
    assert SECRET not in answer.text
    return msgspec.json.decode(answer.content, type=ActResult)


def words_of(weft: System, session: str) -> str:
    """Read the page that a task has left."""
    answer = weft.http.post("/api/tools/get_page_content", json={"sessionId": session}, timeout=CALL_S)
    return answer.text


def test_a_form_is_filled_once_with_what_is_secret_told_nowhere(weft: System, site: Site) -> None:
    task = str(uuid.uuid4())
    body: Json = {"goal": GOAL, "url": site.url(page(FORM)), "values": {"password": SECRET}, "taskId": task}

    result = act(weft, **body)
    again = act(weft, **body)
    kept = weft.http.get(f"/api/act/{task}")

    assert (result.status, [re.sub(r"\d+", "N", one.action) for one in result.steps]) == (
        "completed",
        ['setValue(N, "Ada", true)', 'setValue(N, "{password}", true)', "click(N)"],
    )
    assert f"Saved Ada, {len(SECRET)} signs, 1 times" in words_of(weft, result.session)
    assert again == result
    assert msgspec.json.decode(kept.content, type=ActResult) == result
    assert SECRET not in kept.text
    assert SECRET not in weft.log.read_text(encoding="utf-8")


def test_what_only_the_user_can_say_is_asked_and_then_done(weft: System, site: Site) -> None:
    asked = act(weft, goal="Click Remove", url=site.url(page(ALIKE)))

    words = {"words": "the second one"}
    answer = weft.http.post(f"/api/act/{asked.task_id}/resume", json=words, timeout=CALL_S)
    result = msgspec.json.decode(answer.content, type=ActResult)

    assert (asked.status, asked.waits, bool(asked.question), asked.steps) == ("needs_user_input", True, True, ())
    assert result.status == "completed"
    assert "Removed blue thread" in words_of(weft, result.session)


def test_steps_are_told_while_they_are_taken(weft: System, site: Site) -> None:
    body = {"goal": 'Type "Ada" into the Name field', "url": site.url(page(FORM)), "localOnly": True}
    with weft.http.stream("POST", "/api/act", json=body, headers={"Accept": EVENTS}, timeout=CALL_S) as answer:
        lines = list(answer.iter_lines())

    names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    told = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert (names[0], names[-1], set(names[1:-1])) == ("started", "result", {"progress"})
    assert "Step 1: setValue" in [one.get("message") for one in told]
    assert told[-1]["status"] == "completed"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"goal": " "}, "goal"),
        ({"goal": "x", "url": "ftp://loom.example"}, "url"),
        ({"goal": "x", "url": "//[loom"}, "url"),
        ({"goal": "x", "taskId": "mine"}, "taskId"),
        ({"goal": "x", "maxSteps": 0}, "maxSteps"),
        ({"goal": "x", "speed": 3}, "speed"),
    ],
)
def test_what_is_no_goal_is_refused_with_the_field(weft: System, body: Json, field: str) -> None:
    error = refused(weft.http.post("/api/act", json=body))

    assert (str(error.code), field in str(error.field)) == ("VALIDATION_INVALID_REQUEST", True)


def test_who_has_no_page_open_is_asked_for_one(weft: System) -> None:
    key = weft.http.post("/api/keys", json={"name": "newcomer", "scopes": ["browser"]}).json()["key"]

    answer = weft.http.post("/api/act", json={"goal": "Click Buy"}, headers={"Authorization": f"Bearer {key}"})

    error = refused(answer)
    assert (error.code, error.field, "name the one to begin at" in error.error) == (
        "VALIDATION_INVALID_REQUEST",
        "url",
        True,
    )


def test_a_task_that_there_is_not_is_not_found(weft: System) -> None:
    answers = [
        weft.http.get(f"/api/act/{uuid.uuid4()}"),
        weft.http.post(f"/api/act/{uuid.uuid4()}/resume", json={}),
    ]

    assert [(one.status_code, refused(one).code) for one in answers] == [(404, "VALIDATION_UNKNOWN_TASK")] * 2


async def test_a_client_of_mcp_observes_a_page_and_acts_on_it(weft: System, site: Site) -> None:
    async with connected(weft, query="?toolsets=acting,browser") as client:
        await client.call_tool("navigate", {"url": site.url(page(FORM))})
        seen = await client.call_tool("observe", {})
        acted = await client.call_tool("act", {"goal": 'Type "Grace" into the Name field', "localOnly": True})
        after = await client.call_tool("observe", {})

    assert '"n":"Save"' in text_of(seen)
    assert "i: element id" in text_of(seen)
    assert acted.structured_content is not None
    assert (acted.structured_content["status"], acted.is_error) == ("completed", False)
    assert '"v":"Grace"' in text_of(after)


@pytest.mark.full
def test_the_command_line_acts_saves_a_picture_and_shows_the_run_again(weft: System, site: Site) -> None:
    picture = weft.data_dir.parent / "end.jpg"
    url = site.url(page(FORM))

    done = weft.run("do", GOAL, url, "--value", f"password={SECRET}", "--local", "--screenshot", str(picture), "--json")
    result = msgspec.json.decode(done.stdout, type=ActResult)
    shown = weft.run("do", "--replay", result.task_id)
    again = weft.run("do", "--replay", result.task_id, "--again")
    left = words_of(weft, result.session)
    asking = weft.run("do", "Click Remove", site.url(page(ALIKE)), "--local")

    assert (done.returncode, result.status, picture.read_bytes()[:2]) == (0, "completed", b"\xff\xd8")
    assert (shown.returncode, 'setValue(1, "Ada", true)' in shown.stdout, "done (" in shown.stdout) == (0, True, True)
    assert (again.returncode, "click(" in again.stderr) == (0, True)
    assert f"Saved Ada, {len(SECRET)} signs, 2 times" in left
    assert (asking.returncode, "--task" in asking.stderr) == (4, True)
    assert SECRET not in done.stdout + done.stderr + shown.stdout + shown.stderr + again.stdout + again.stderr
