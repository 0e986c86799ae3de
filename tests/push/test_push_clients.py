"""Push through two gateways by real clients: each hears what it may, once and in order, and nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, Final

import httpx2
import pytest
from playwright.sync_api import Worker, sync_playwright
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.flows.system import System, weft_up
from tests.push import HERE, clients
from tests.push.listeners import node_listener
from tests.requirements import requirement

pytestmark = [pytest.mark.nats, pytest.mark.browser, pytest.mark.timeout(180)]

APP: Final = {"id": "4711", "key": "weft-test-key", "secret": "weft-test-secret"}
pusher: Any = import_module("pusher")
pysher: Any = import_module("pysher")
"""They have no types."""

ACTORS: Final = "gateway=2,planner,verifier,policy,keeper"
PUSH: Final = {f"WEFT_PUSH_{name.upper().replace('ID', 'APP_ID')}": value for name, value in APP.items()}
UNLIMITED: Final = {
    "WEFT_INTERACT_PER_MINUTE": "0",
    "WEFT_CHAT_PER_MINUTE": "0",
    "WEFT_RATE_ANONYMOUS_PER_MINUTE": "0",
    "WEFT_RATE_PER_MINUTE": "0",
    "WEFT_CONNECTIONS_PER_ADDRESS": "0",
}
WAIT_S: Final = 90.0
BRIEF_S: Final = 30
"""How long a key is good that expires in a test: what comes before takes a part of that."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Pages:
    """A folder that is served for the browser: a page with pusher-js, and an extension with it."""

    origin: str
    folder: Path

    @property
    def extension(self) -> Path:
        return self.folder / "extension"

    @property
    def extension_origin(self) -> str:
        """The origin of an unpacked extension: Chromium makes its id of the folder that it lies in."""
        digest = hashlib.sha256(str(self.extension).encode()).hexdigest()[:32]
        return "chrome-extension://" + "".join(chr(ord("a") + int(digit, 16)) for digit in digest)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is its base's
        del format, args


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Generator[Pages]:
    """Serve pusher-js for a page, and lay out an extension whose worker has it."""
    folder, dist = tmp_path_factory.mktemp("pages"), clients() / "pusher-js" / "dist"
    shutil.copy(dist / "web" / "pusher.min.js", folder)
    (folder / "page.html").write_text("<title>Push</title><script src=pusher.min.js></script>")
    (folder / "extension").mkdir()
    shutil.copy(dist / "worker" / "pusher.worker.min.js", folder / "extension")
    (folder / "extension" / "worker.js").write_text("importScripts('pusher.worker.min.js')")
    manifest = {
        "manifest_version": 3,
        "name": "Push",
        "version": "1",
        "background": {"service_worker": "worker.js"},
        "host_permissions": ["http://127.0.0.1/*"],
    }
    (folder / "extension" / "manifest.json").write_text(json.dumps(manifest))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield Pages(f"http://127.0.0.1:{server.server_port}", folder)
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def weft(tmp_path_factory: pytest.TempPathFactory, pages: Pages) -> Generator[System]:
    """Run a Weft with two gateways that know a page and an extension."""
    origins = f"{pages.origin},{pages.extension_origin}"
    folder = tmp_path_factory.mktemp("weft")
    with weft_up(folder, "--actors", ACTORS, WEFT_ALLOWED_ORIGINS=origins, **PUSH, **UNLIMITED) as system:
        yield system


def config_of(weft: System) -> Json:
    answer = weft.http.get("/api/pusher/config")
    assert answer.status_code == 200, answer.text
    config: Json = answer.json()
    return config


def begun(weft: System, key: str = "") -> str:
    """Begin a chat session, and return its id."""
    session = str(uuid.uuid4())
    body = {"sessionId": session, "url": "https://shop.example/"}
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    assert weft.http.post("/api/session/init", json=body, headers=headers).status_code == 200
    return session


def round_of(weft: System, session: str, query: str = "Click Search", key: str = "") -> Json:
    body = {"sessionId": session, "query": query, "url": "https://shop.example/", "domMode": "semantic"}
    body["interactiveTree"] = [{"i": "6", "r": "btn", "n": "Search"}]  # type: ignore[assignment] # JSON
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    answer = weft.http.post("/api/agent/interact", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    data: Json = answer.json()["data"]
    return data


def made_key(weft: System, name: str, good_s: int = 0) -> Json:
    body = {"name": name, "scopes": ["browser"], **({"expiresIn": good_s} if good_s else {})}
    answer = weft.http.post("/api/keys", json=body)
    assert answer.status_code == 200, answer.text
    made: Json = answer.json()
    return made


def auth(weft: System, socket_id: str, channel: str, key: str = "") -> httpx2.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return weft.http.post("/api/pusher/auth", data={"socket_id": socket_id, "channel_name": channel}, headers=headers)


@pytest.mark.full
@requirement("001.3.chat")
def test_pusher_js_in_node_and_the_official_rest_client_pass(weft: System) -> None:
    stranger = made_key(weft, "stranger")["key"]
    given = {
        "base": weft.ready.rest,
        "key": weft.key,
        "config": config_of(weft),
        "app": {"id": APP["id"], "secret": APP["secret"]},
        "sessions": [begun(weft), begun(weft)],
        "foreign": begun(weft, stranger),
    }
    clients()
    done = subprocess.run(
        ["/usr/bin/env", "node", "clients.mjs", json.dumps(given)],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    outcomes = {one["name"]: one["failure"] for one in map(json.loads, done.stdout.splitlines())}
    assert {name: failure for name, failure in outcomes.items() if failure} == {}, done.stderr
    assert len(outcomes) == 18, done.stdout + done.stderr


IN_A_BROWSER: Final = """([config, channel, auth]) => new Promise((done, fail) => {
  const heard = []
  const pusher = new Pusher(config.key, {
    wsHost: config.host, wsPort: config.port, wsPath: config.path, forceTLS: config.tls, enabledTransports: ['ws'],
    cluster: 'local', channelAuthorization: { customHandler: ({ socketId, channelName }, done) => {
      const body = new URLSearchParams({ socket_id: socketId, channel_name: channelName })
      fetch(auth.endpoint, { method: 'POST', headers: { Authorization: `Bearer ${auth.key}` }, body })
        .then((answer) => answer.json()).then((data) => done(null, data), (error) => done(error, null))
    } },
  })
  const subscribed = pusher.subscribe(channel)
  subscribed.bind_global((name, data) => {
    if (name === 'pusher:subscription_succeeded') fetch(auth.round.url, auth.round.request)
    if (name === 'pusher:subscription_error') fail(new Error(JSON.stringify(data)))
    if (name.startsWith('pusher:')) return
    heard.push([name, data.sessionId])
    if (heard.length === 3) { pusher.disconnect(); done(heard) }
  })
})"""


@pytest.mark.full
@pytest.mark.slow
@requirement("001.3.chat")
def test_pusher_js_in_chromium_hears_a_session(weft: System, pages: Pages, tmp_path: Path) -> None:
    """In a page of an allowed origin, and in the service worker of an extension of Manifest V3."""
    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("an extension needs a Chromium that is not the headless shell")
    extension = [f"--disable-extensions-except={pages.extension}", f"--load-extension={pages.extension}"]
    arguments = ["--no-sandbox", "--disable-features=DisableLoadExtensionCommandLineSwitch"]
    sessions = [begun(weft), begun(weft)]
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(tmp_path / "profile"),
            executable_path=executable,
            headless=False,
            args=["--headless=new", *arguments, *extension],
        )
        page = context.pages[0]
        page.goto(f"{pages.origin}/page.html")
        worker: Worker = (context.service_workers or [context.wait_for_event("serviceworker")])[0]
        heard = [
            page.evaluate(IN_A_BROWSER, browser_case(weft, sessions[0])),
            worker.evaluate(IN_A_BROWSER, browser_case(weft, sessions[1])),
        ]
        context.close()

    told = ("new_message", "new_message", "interact_response")
    assert heard == [[[event, session] for event in told] for session in sessions]


def browser_case(weft: System, session: str) -> list[Any]:
    """Return what a script in a browser needs to hear of a session: how to connect, and the round that it sends."""
    body = {
        "sessionId": session,
        "query": "Click Search",
        "url": "https://shop.example/",
        "interactiveTree": [{"i": "6", "r": "btn", "n": "Search"}],
    }
    headers = {"Authorization": f"Bearer {weft.key}", "Content-Type": "application/json"}
    request = {"method": "POST", "headers": headers, "body": json.dumps(body)}
    rounds = {"url": f"{weft.ready.rest}/api/agent/interact", "request": request}
    signing = {"endpoint": f"{weft.ready.rest}/api/pusher/auth", "key": weft.key, "round": rounds}
    return [config_of(weft), f"private-session-{session}", signing]


@pytest.mark.slow
def test_pysher_hears_what_the_official_python_client_triggers(weft: System) -> None:
    config, session = config_of(weft), begun(weft)
    channel = f"private-session-{session}"
    events: Queue[tuple[str, Any]] = Queue()
    listener = pysher.Pusher(config["key"], custom_host=config["host"], port=config["port"], secure=False, daemon=True)

    def on_subscribed(_data: str) -> None:
        events.put(("subscribed", None))

    def on_triggered(data: str) -> None:
        events.put(("from-python", json.loads(data)))

    def on_message(data: str) -> None:
        events.put(("new_message", json.loads(data)["message"]["role"]))

    def on_connected(_data: str) -> None:
        token = auth(weft, listener.connection.socket_id, channel).json()["auth"]
        subscribed = listener.subscribe(channel, token)
        subscribed.bind("pusher_internal:subscription_succeeded", on_subscribed)
        subscribed.bind("from-python", on_triggered)
        subscribed.bind("new_message", on_message)

    listener.connection.bind("pusher:connection_established", on_connected)
    listener.connect()
    assert events.get(timeout=WAIT_S) == ("subscribed", None)
    server = server_of(weft)
    server.trigger(channel, "from-python", {"text": "grüß dich"})
    server.trigger_batch([{"channel": channel, "name": "from-python", "data": {"n": n}} for n in range(3)])
    heard = [events.get(timeout=WAIT_S) for _ in range(4)]
    info = server.channel_info(channel, ["subscription_count"])
    listed = server.channels_info("private-session-")
    round_of(weft, session)
    messages = [events.get(timeout=WAIT_S) for _ in range(2)]
    with pytest.raises(pusher.errors.PusherBadAuth):
        server_of(weft, "wrong").trigger(channel, "from-python", {})
    listener.disconnect(1)  # its thread is not always told; it is a daemon

    assert heard == [("from-python", {"text": "grüß dich"}), *(("from-python", {"n": n}) for n in range(3))]
    assert (info, channel in listed["channels"]) == ({"occupied": True, "subscription_count": 1}, True)
    assert messages == [("new_message", "user"), ("new_message", "assistant")]


def test_a_page_of_another_origin_opens_no_socket(weft: System) -> None:
    config = config_of(weft)
    url = f"ws://{config['host']}:{config['port']}/app/{config['key']}?protocol=7"
    for origin in ("https://evil.example", "chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba"):
        with pytest.raises(InvalidStatus) as caught, connect(url, origin=Origin(origin), proxy=None):
            pass
        assert caught.value.response.status_code == 403


def test_what_is_signed_and_for_whom(weft: System) -> None:
    mine, other = made_key(weft, "mine"), made_key(weft, "other")
    narrow = weft.http.post("/api/keys", json={"name": "narrow", "scopes": ["browse"]}).json()["key"]
    channel = f"private-session-{begun(weft, mine['key'])}"

    def refused(answer: httpx2.Response) -> tuple[int, str]:
        return answer.status_code, answer.json()["code"]

    assert auth(weft, "1.1", channel, mine["key"]).json()["auth"].startswith(f"{APP['key']}:")
    assert refused(auth(weft, "1.1", channel, other["key"])) == (403, "SESSION_NOT_FOUND")
    assert refused(auth(weft, "1.1", f"private-session-{uuid.uuid4()}")) == (403, "SESSION_NOT_FOUND")
    assert refused(auth(weft, "1.1", "private-anything")) == (403, "CHANNEL_FORBIDDEN")
    assert refused(auth(weft, "1.1", "presence-session-x")) == (403, "CHANNEL_FORBIDDEN")
    assert refused(auth(weft, "1.1", channel, narrow)) == (403, "FORBIDDEN")
    assert refused(auth(weft, "1.1", channel, "wrong")) == (401, "UNAUTHORIZED")
    assert refused(auth(weft, "1:1", channel)) == (400, "VALIDATION_ERROR")
    assert refused(weft.http.post("/api/pusher/auth", data={"socket_id": "1.1"})) == (400, "VALIDATION_ERROR")
    assert refused(weft.http.post("/api/pusher/auth", json={})) == (415, "INVALID_REQUEST")


@pytest.mark.parametrize("end", ["revoked", pytest.param("expired", marks=pytest.mark.full)])
def test_the_channels_of_a_key_end_with_it_and_its_signatures_open_none_again(weft: System, end: str) -> None:
    made, config = made_key(weft, end, BRIEF_S if end == "expired" else 0), config_of(weft)
    session = begun(weft, made["key"])
    channel = f"private-session-{session}"
    url = f"ws://{config['host']}:{config['port']}/app/{config['key']}?protocol=7"
    sockets = [connect(url, proxy=None, legacy=True) for _ in range(4)]  # some at either gateway
    requests = list[str]()
    try:
        for socket in sockets:
            hello = json.loads(json.loads(socket.recv(WAIT_S))["data"])
            token = auth(weft, hello["socket_id"], channel, made["key"]).json()["auth"]
            requests.append(json.dumps({"event": "pusher:subscribe", "data": {"channel": channel, "auth": token}}))
            socket.send(requests[-1])
            assert json.loads(socket.recv(WAIT_S))["event"] == "pusher_internal:subscription_succeeded"
        round_of(weft, session, key=made["key"])
        told = [[json.loads(socket.recv(WAIT_S))["event"] for _ in range(3)] for socket in sockets]
        if end == "revoked":
            assert weft.http.delete(f"/api/keys/{made['id']}").status_code == 200
        ended = [json.loads(socket.recv(WAIT_S + BRIEF_S)) for socket in sockets]
        for socket, request in zip(sockets, requests, strict=True):
            socket.send(request)
        again = [json.loads(socket.recv(WAIT_S)) for socket in sockets]
    finally:
        for socket in sockets:
            socket.close()

    assert told == [["new_message", "new_message", "interact_response"]] * 4
    assert [(one["event"], json.loads(one["data"])["status"]) for one in [*ended, *again]] == [
        ("pusher:subscription_error", 401)
    ] * 8


def server_of(weft: System, secret: str = APP["secret"]) -> Any:
    config = config_of(weft)
    return pusher.Pusher(APP["id"], config["key"], secret, ssl=False, host=config["host"], port=config["port"])


def gateways(weft: System) -> dict[str, int]:
    return {str(one["replica"]): int(str(one["pid"])) for one in weft.replicas() if one["actor"] == "gateway"}


@pytest.mark.full
def test_pusher_js_connects_again_when_gateways_stop_and_hears_what_comes_then(weft: System) -> None:
    """Every gateway is stopped, so that whichever has the socket sends it elsewhere (4200)."""
    session = begun(weft)
    channel = f"private-session-{session}"
    given = {"base": weft.ready.rest, "key": weft.key, "config": config_of(weft), "channel": channel}
    with node_listener(given) as listener:
        listener.next_of("pusher:subscription_succeeded")
        stopped = gateways(weft)
        for pid in stopped.values():
            os.kill(pid, signal.SIGTERM)
        code = listener.next_of("error")["data"]
        while len(live := gateways(weft)) < len(stopped) or stopped.keys() & live.keys():
            pass  # the test has its time
        while not server_of(weft).channel_info(channel)["occupied"]:
            pass
        round_of(weft, session)
        told = [listener.next_of("new_message", "interact_response") for _ in range(3)]

    assert code == 4200
    assert [one["name"] for one in told] == ["new_message", "new_message", "interact_response"]
