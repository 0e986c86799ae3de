"""Pages that a model looks at: a client sends a picture where it is asked for one, and a model is shown it."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from tests.requirements import requirement
from tests.support.behaving_model import ModelQuestion, ModelReply, behaving
from tests.support.models import ScriptedServer
from tests.support.system import RunningWeft, running_weft

pytestmark = [pytest.mark.nats, pytest.mark.slow]

TEST_S: Final = 240.0
PICTURE: Final = b"\xff\xd8\xff\xe0" + b"how the page looks " * 40 + b"\xff\xd9"
IN_BASE64: Final = base64.b64encode(PICTURE).decode()
WISH: Final = "Change the shape to the blue one"
SECRET_WISH: Final = f'{WISH} for the user with the password "hunter2-but-longer"'
ROUND: Final = {
    "query": WISH,
    "url": "https://shop.example/",
    "domMode": "semantic",
    "interactiveTree": [
        {"i": "1", "r": "btn", "n": "", "xy": [40, 40]},
        {"i": "2", "r": "btn", "n": "", "xy": [90, 40]},
    ],
    "viewport": {"width": 1280, "height": 720},
}
SKELETON: Final = {"skeletonDom": "<button></button><button></button>"}


def answer_of(question: ModelQuestion) -> ModelReply:
    """Press the second button, whatever is asked."""
    del question
    action = {"thought": "It is blue.", "action": "click", "element": "2", "to": "", "text": "", "name": ""}
    return ModelReply(data={**action, "confidence": 0.8})


def pictures(server: ScriptedServer, since: int = 0) -> list[list[str]]:
    """Return the pictures that each request had."""
    return [
        [part["image_url"]["url"] for one in asked.body["messages"] for part in one["content"] if "image_url" in part]
        for asked in server.asked[since:]
    ]


async def sent(running: RunningWeft, **more: Any) -> Any:
    """Send a round."""
    async with running.client(TEST_S) as client:
        answer = await client.post("/api/agent/interact", json={**ROUND, **more})
    assert answer.is_success, answer.text
    return answer.json()["data"]


@requirement("001.5.hybrid")
async def test_a_model_is_shown_the_picture_that_was_asked_for_and_the_last_one_where_it_is_as_before(
    tmp_path: Path,
) -> None:
    with anyio.fail_after(TEST_S):
        async with (
            behaving(answer_of) as server,
            running_weft(
                tmp_path,
                ["--actors", "gateway,planner,verifier,policy,keeper,router"],
                OPENAI_COMPATIBLE_API_KEY="sk-planted-9b1e44c07d",
                OPENAI_COMPATIBLE_BASE_URL=server.base_url,
                WEFT_MODEL_HOSTS=server.host,
            ) as running,
        ):
            wanted = await sent(running)
            first = await sent(running, screenshot=IN_BASE64, **SKELETON)
            begun = len(server.asked)
            allowed = {"query": "yes", "taskId": first["taskId"], "sessionId": first["sessionId"]}
            second = await sent(running, screenshot=None, **allowed, **SKELETON)
            later = pictures(server, begun)
            secret = await sent(running, query=SECRET_WISH, screenshot=IN_BASE64, **SKELETON)
            hidden = pictures(server, begun + len(later))

    assert (wanted["status"], wanted["requestedDomMode"], wanted["needsScreenshot"]) == (
        "needs_context",
        "hybrid",
        True,
    )
    assert first["userQuestion"].startswith("May this be done for you: click(2)?")
    assert (second["status"], second["action"]) == ("executing", "click(2)")
    shown = [f"data:image/jpeg;base64,{IN_BASE64}"]
    assert (pictures(server)[:begun], later) == ([shown], [shown])
    assert secret["userQuestion"].startswith("May this be done for you: click(2)?")
    assert hidden == [[]]
    assert [path for path in tmp_path.rglob("*") if path.is_file() and PICTURE[4:60] in path.read_bytes()] == []
