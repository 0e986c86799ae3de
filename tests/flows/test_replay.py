"""A recorded conversation is done again from its file, without a network, and what differs is shown."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from bus.recording import GATHER_S
from tests.flows.system import System, refused, weft_up
from tests.site import Site, site_in_thread

pytestmark = [pytest.mark.nats, pytest.mark.slow]

ACTORS = "gateway,navigator,verifier,fetchers.intelligence,runner,keeper,policy,answerer,router,sessions"
KEPT_S = 20.0
WARPED = "How a loom is warped"


@pytest.fixture(scope="module")
def site() -> Generator[Site]:
    with site_in_thread() as served:
        yield served


@pytest.fixture(scope="module")
def weft(tmp_path_factory: pytest.TempPathFactory) -> Generator[System]:
    folder = tmp_path_factory.mktemp("weft")
    with weft_up(folder, "--actors", ACTORS, WEFT_RECORD_CONVERSATIONS="true") as system:
        yield system


def recorded(weft: System, conversation: str) -> dict[str, Any]:
    """Return a recording as soon as all replicas have sent theirs on."""
    entries, until = -1, time.monotonic() + KEPT_S
    while time.monotonic() < until:
        answer = weft.http.get(f"/api/recordings/{conversation}")
        recording: dict[str, Any] = answer.json() if answer.is_success else {"entries": []}
        if recording["entries"] and len(recording["entries"]) == entries:
            return recording
        entries = len(recording["entries"])
        time.sleep(GATHER_S + 0.2)
    pytest.fail(f"{conversation} was not recorded")


def replayed(weft: System, recording: dict[str, Any], folder: Path, *, code: int = 0) -> dict[str, Any]:
    """Replay a file by the command line."""
    path = folder / "recording.json"
    path.write_text(json.dumps(recording))
    done = weft.run("replay", str(path), "--json")
    assert done.returncode == code, done.stdout + done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(("endpoint", "page"), [("browse", "/"), ("browse", "/nowhere"), ("summarize", "/")])
def test_what_was_done_is_done_again_without_a_network(
    weft: System, site: Site, tmp_path: Path, endpoint: str, page: str
) -> None:
    answer = weft.http.post(f"/api/{endpoint}", json={"url": site.url(page)})
    recording = recorded(weft, answer.headers["x-conversation-id"])
    requests = len(site.asked)

    result = replayed(weft, recording, tmp_path)

    asked = {"answerer"} if endpoint == "summarize" else set[str]()
    weighed = {"verifier"} if page == "/" else set[str]()  # what a status says is certain
    assert result["differences"] == []
    assert set(result["actors"]) == asked | weighed | {"navigator", "fetchers.intelligence"}
    assert result["packets"] - result["given"] >= 2 + 2 * len(weighed)
    assert len(site.asked) == requests


def test_a_call_that_nobody_answered_at_first_fails_in_a_replay_too(weft: System, site: Site, tmp_path: Path) -> None:
    os.kill(int(str(weft.replica("fetchers.intelligence")["pid"])), signal.SIGKILL)
    answer = weft.browse(site.url("/"), forceTier="intelligence")
    recording = recorded(weft, answer.headers["x-conversation-id"])
    asked = [entry for entry in recording["entries"] if entry["name"] == "web.fetch.intelligence"]
    assert ["fault" in entry for entry in asked] == [True, False]

    assert replayed(weft, recording, tmp_path)["differences"] == []


def test_a_site_that_had_said_something_else_shows_in_the_packets(weft: System, site: Site, tmp_path: Path) -> None:
    answer = weft.browse(site.url("/"))
    recording = recorded(weft, answer.headers["x-conversation-id"])
    (web,) = (entry for entry in recording["entries"] if entry["name"] == "web.fetch")
    page = web["response"]["content"]
    assert WARPED in page
    web["response"]["content"] = page.replace(WARPED, "How a loom is sold")

    result = replayed(weft, recording, tmp_path, code=4)

    titles = [one for one in result["differences"] if one["place"].endswith(".document.content.title")]
    assert {(one["actor"], one["name"]) for one in titles} >= {
        ("navigator", "web.fetch.intelligence"),
        ("driver", "web.browse"),
    }
    title = titles[0]
    assert (WARPED in title["recorded"], "How a loom is sold" in title["replayed"]) == (True, True)


def test_what_is_read_with_a_login_and_what_is_secret_is_not_in_the_file(
    weft: System, site: Site, tmp_path: Path
) -> None:
    weft.keep_login("weaver")
    with_login = weft.browse(site.url("/"), sessionProfile="weaver")
    secret = weft.browse(site.url("/?api_key=sesame-4711"))

    kept = recorded(weft, with_login.headers["x-conversation-id"])
    (web,) = (entry for entry in kept["entries"] if entry["name"] == "web.fetch")
    assert (web["withheld"], "response" in web, web["request"]) == (True, False, None)
    assert replayed(weft, kept, tmp_path, code=4)["withheld"] == 1
    masked = json.dumps(recorded(weft, secret.headers["x-conversation-id"]))
    assert "sesame-4711" not in masked


def test_recordings_are_for_operators_and_a_conversation_that_has_none_says_why(weft: System) -> None:
    made = weft.run("keys", "add", "reader", "--scope", "browse", "--json")
    key = json.loads(made.stdout)["key"]
    answer = weft.http.get("/api/recordings", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 403
    unknown = refused(weft.http.get("/api/recordings/2f1c0b9e-6d5a-4c3b-8a79-1e2d3c4b5a69"))
    assert unknown.code == "VALIDATION_UNKNOWN_CONVERSATION"
    listed = weft.http.get("/api/recordings").json()
    assert listed["recording"] is True
    for arguments in (("replay", "nowhere.json"), ("report", "/proc/nowhere.json")):
        done = weft.run(*arguments)
        assert (done.returncode, "nowhere.json" in done.stderr, "Traceback" in done.stderr) == (1, True, False)
