"""Push over two gateways of which one is killed, and over another server: every message once, or read by polling."""

from __future__ import annotations

import json
import os
import signal
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from actors.gateway.push.signatures import PushApp
from tests.flows.system import System, weft_up

pytestmark = [pytest.mark.nats, pytest.mark.timeout(900)]

ACTORS: Final = "gateway=2,planner,verifier,policy,keeper"
CREDENTIALS: Final = {"WEFT_PUSH_APP_ID": "4711", "WEFT_PUSH_KEY": "weft-key", "WEFT_PUSH_SECRET": "weft-secret"}
UNLIMITED: Final = {
    "WEFT_INTERACT_PER_MINUTE": "0",
    "WEFT_CHAT_PER_MINUTE": "0",
    "WEFT_RATE_ANONYMOUS_PER_MINUTE": "0",
    "WEFT_RATE_PER_MINUTE": "0",
    "WEFT_CONNECTIONS_PER_ADDRESS": "0",
}
AT_ONCE: Final = 6
CHANNELS_OF_A_SOCKET: Final = 20
SOCKETS: Final = 1_000
WAIT_S: Final = 240.0
Json = dict[str, Any]


@pytest.fixture(scope="module")
def weft(tmp_path_factory: pytest.TempPathFactory) -> Generator[System]:
    with weft_up(tmp_path_factory.mktemp("weft"), "--actors", ACTORS, **CREDENTIALS, **UNLIMITED) as system:
        yield system


@dataclass
class Subscriber:
    """A client with one socket for several sessions, which connects again, and then reads what it has missed."""

    http: httpx2.AsyncClient
    config: Json
    sessions: list[str]
    pushed: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    rounds: Counter[str] = field(default_factory=Counter[str])
    read: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    ready: anyio.Event = field(default_factory=anyio.Event)
    lost: int = 0

    async def run(self) -> None:
        """Hear until cancelled."""
        url = f"ws://{self.config['host']}:{self.config['port']}/app/{self.config['key']}?protocol=7"
        while True:
            try:
                async with connect(url, proxy=None) as socket:
                    await self._hear(socket)
            except (ConnectionClosed, OSError, InvalidHandshake, InvalidMessage):
                self.lost += 1
                await anyio.sleep(0.05)

    async def _hear(self, socket: ClientConnection) -> None:
        hello = json.loads(json.loads(await socket.recv())["data"])
        for session in self.sessions:
            channel = f"private-session-{session}"
            form = {"socket_id": hello["socket_id"], "channel_name": channel}
            signed = await answered(self.http, "POST", "/api/pusher/auth", data=form)
            await socket.send(json.dumps({"event": "pusher:subscribe", "data": {"channel": channel, **signed}}))
        missing = set(self.sessions)
        async for text in socket:
            frame = json.loads(text)
            session = frame.get("channel", "").removeprefix("private-session-")
            match frame["event"]:
                case "pusher_internal:subscription_succeeded":
                    missing.discard(session)
                    if not missing and self.lost:
                        await self.poll()
                    if not missing:
                        self.ready.set()
                case "new_message":
                    self.pushed[session, json.loads(frame["data"])["message"]["messageId"]] += 1
                case "interact_response":
                    self.rounds[session] += 1
                case _:
                    pass

    async def poll(self) -> None:
        """Read the messages of all sessions, as a client does that was away."""
        for session in self.sessions:
            told = await answered(self.http, "GET", f"/api/session/{session}/messages?since=0")
            self.read |= {(session, one["messageId"]) for one in told["messages"]}

    async def catch_up(self, truth: set[tuple[str, str]]) -> None:
        """Know all there is: what was pushed, and where the line broke what can be read; under the test's deadline."""
        mine = {one for one in truth if one[0] in self.sessions}
        while self.lost and not self.known >= mine:
            await self.poll()
        while not self.known >= mine or (not self.lost and len(self.rounds) < len(self.sessions)):
            await anyio.sleep(0.01)

    @property
    def known(self) -> set[tuple[str, str]]:
        return set(self.pushed) | self.read


async def answered(http: httpx2.AsyncClient, method: str, path: str, **given: Any) -> Json:
    """Ask until a gateway answers: one of them is killed meanwhile."""
    with anyio.fail_after(WAIT_S):
        while True:
            try:
                answer = await http.request(method, path, **given)
            except httpx2.TransportError:
                await anyio.sleep(0.02)
                continue
            if answer.status_code < 500:
                assert answer.is_success, answer.text
                told: Json = answer.json()
                return told


async def play(http: httpx2.AsyncClient, session: str) -> None:
    body = {
        "sessionId": session,
        "query": "Click Search",
        "url": "https://shop.example/",
        "interactiveTree": [{"i": "6", "r": "btn", "n": "Search"}],
    }
    await answered(http, "POST", "/api/agent/interact", json=body)


async def each(sessions: list[str], work: Callable[[str], Awaitable[object]]) -> None:
    """Do something for each session, some of them at once."""
    places = anyio.Semaphore(AT_ONCE)

    async def one(session: str) -> None:
        async with places:
            await work(session)

    async with anyio.create_task_group() as tasks:
        for session in sessions:
            tasks.start_soon(one, session)


async def begin(http: httpx2.AsyncClient, session: str) -> None:
    await answered(http, "POST", "/api/session/init", json={"sessionId": session})


def kill_the_busier_gateway(weft: System) -> None:
    pids = [int(str(one["pid"])) for one in weft.replicas() if one["actor"] == "gateway"]
    os.kill(max(pids, key=lambda pid: len(list(Path(f"/proc/{pid}/fd").iterdir()))), signal.SIGKILL)


async def heard_with_a_death(weft: System, sessions: list[str]) -> tuple[list[Subscriber], Subscriber]:
    """Play a round of each session, and kill a gateway meanwhile; return who heard what, and what there is to read."""
    headers = {"Authorization": f"Bearer {weft.key}"}
    limits = httpx2.Limits(max_keepalive_connections=0)  # so that both gateways are asked
    early = len(sessions) // 3
    async with httpx2.AsyncClient(
        base_url=weft.ready.rest, headers=headers, trust_env=False, timeout=60, limits=limits
    ) as http:
        config = await answered(http, "GET", "/api/pusher/config")
        await each(sessions, partial(begin, http))
        parts = range(0, len(sessions), CHANNELS_OF_A_SOCKET)
        subscribers = [Subscriber(http, config, sessions[one : one + CHANNELS_OF_A_SOCKET]) for one in parts]
        truth = Subscriber(http, config, sessions)
        async with anyio.create_task_group() as tasks:
            for subscriber in subscribers:
                tasks.start_soon(subscriber.run)
            for subscriber in subscribers:
                await subscriber.ready.wait()
            await each(sessions[:early], partial(play, http))
            async with anyio.create_task_group() as rounds:
                rounds.start_soon(each, sessions[early:], partial(play, http))
                await anyio.to_thread.run_sync(kill_the_busier_gateway, weft)
            await truth.poll()
            for subscriber in subscribers:
                await subscriber.catch_up(truth.read)
            tasks.cancel_scope.cancel()
    return subscribers, truth


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("count", [60, pytest.param(1_000, marks=[pytest.mark.full, pytest.mark.timeout(600)])])
async def test_every_message_is_pushed_once_or_read_though_a_gateway_is_killed(weft: System, count: int) -> None:
    sessions = [str(uuid.uuid4()) for _ in range(count)]
    with anyio.fail_after(500):
        subscribers, truth = await heard_with_a_death(weft, sessions)

    undisturbed = [one for one in subscribers if not one.lost]
    assert len(truth.read) == 2 * count
    assert set().union(*(one.known for one in subscribers)) == truth.read
    assert {times for one in subscribers for times in one.pushed.values()} == {1}
    assert {times for one in subscribers for times in one.rounds.values()} <= {1}
    assert all(not one.read and len(one.pushed) == 2 * len(one.sessions) for one in undisturbed)
    assert len(undisturbed) < len(subscribers)
    assert undisturbed or count < 1_000


@pytest.mark.full
async def test_a_thousand_sockets_of_one_gateway_hear_each_event_once(tmp_path: Path) -> None:
    app = PushApp(*CREDENTIALS.values())
    ready, done = anyio.Event(), anyio.Event()
    counts = Counter[str]()

    async def hear(url: str, channel: str, places: anyio.Semaphore) -> None:
        async with places:
            socket = await connect(url, proxy=None, open_timeout=WAIT_S)
        async with socket:
            socket_id = json.loads(json.loads(await socket.recv())["data"])["socket_id"]
            auth = app.channel_auth(socket_id, channel)
            await socket.send(json.dumps({"event": "pusher:subscribe", "data": {"channel": channel, "auth": auth}}))
            async for text in socket:
                counts[json.loads(text)["event"]] += 1
                if counts["pusher_internal:subscription_succeeded"] == SOCKETS:
                    ready.set()
                if counts["last"] == SOCKETS:
                    done.set()

    channels = [f"private-{number}" for number in range(SOCKETS // CHANNELS_OF_A_SOCKET)]
    settings = {**CREDENTIALS, **UNLIMITED}
    with weft_up(tmp_path, "--actors", "gateway,policy,keeper", **settings) as alone, anyio.fail_after(250):
        base, places = alone.ready.rest.removeprefix("http://"), anyio.Semaphore(50)
        url = f"ws://{base}/app/{app.key}?protocol=7"
        async with (
            httpx2.AsyncClient(base_url=alone.ready.rest, trust_env=False, timeout=60) as http,
            anyio.create_task_group() as tasks,
        ):
            for number in range(SOCKETS):
                tasks.start_soon(hear, url, channels[number % len(channels)], places)
            await ready.wait()
            for name in ("first", "second", "last"):
                body = json.dumps({"name": name, "channels": channels, "data": "{}"}).encode()
                query = app.signed("POST", f"/apps/{app.id}/events", body, int(time.time()))
                assert (await http.post(f"/apps/{app.id}/events", params=query, content=body)).is_success
            await done.wait()
            tasks.cancel_scope.cancel()

    assert counts == dict.fromkeys(("pusher_internal:subscription_succeeded", "first", "second", "last"), SOCKETS)


@pytest.mark.slow
async def test_another_server_is_told_each_event_once_by_one_of_the_gateways(weft: System, tmp_path: Path) -> None:
    """A second Weft has its clients connected to the first one, which stands for any server of the protocol."""
    settings = {**CREDENTIALS, "WEFT_PUSH_URL": weft.ready.rest}
    with weft_up(tmp_path, "--actors", ACTORS, **settings, **UNLIMITED) as other, anyio.fail_after(WAIT_S):
        headers = {"Authorization": f"Bearer {other.key}"}
        async with httpx2.AsyncClient(base_url=other.ready.rest, headers=headers, trust_env=False, timeout=30) as http:
            config = await answered(http, "GET", "/api/pusher/config")
            sessions = [str(uuid.uuid4()) for _ in range(4)]
            for session in sessions:
                await begin(http, session)
            subscriber = Subscriber(http, config, sessions)
            own = await http.get("/apps/4711/channels")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(subscriber.run)
                await subscriber.ready.wait()
                await each(sessions, partial(play, http))
                while subscriber.rounds.total() < 4:
                    await anyio.sleep(0.01)  # under the deadline
                tasks.cancel_scope.cancel()
            url = f"ws://{other.ready.rest.removeprefix('http://')}/app/{config['key']}?protocol=7"
            async with connect(url, proxy=None) as refused:
                frame = json.loads(await refused.recv())

    assert f"http://{config['host']}:{config['port']}" == weft.ready.rest
    assert (len(subscriber.pushed), set(subscriber.pushed.values())) == (8, {1})
    assert (own.status_code, frame["data"]["code"]) == (404, 4001)
