"""Another server of push: told in batches, in order and signed, again where it failed, and never waited for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import anyio
import httpx2
import stamina
from structlog.testing import capture_logs

from actors.gateway.push.external import MAX_WAITING, PUSH_POST_DROPPED, PUSH_POST_FAILED, TRIES, ExternalPush
from actors.gateway.push.signatures import PushApp
from protocol.push import PushEvent

APP = PushApp("7", "app-key", "app-secret")
NOW_S = 1_769_767_201


@dataclass
class Server:
    """Answers with the statuses it was given, and then with 200; an error is raised."""

    outcomes: list[int | Exception] = field(default_factory=list[int | Exception])
    posts: int = 0
    took: list[str] = field(default_factory=list[str])

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        self.posts += 1
        APP.check("POST", "/apps/7/batch_events", list(request.url.params.items()), request.content, NOW_S)
        outcome = self.outcomes.pop(0) if self.outcomes else 200
        if isinstance(outcome, Exception):
            raise outcome
        if outcome == 200:
            self.took += [one["name"] for one in json.loads(request.content)["batch"]]
        return httpx2.Response(outcome)


def events(count: int) -> list[PushEvent]:
    return [PushEvent(channel="private-a", event=f"e{number}", data="{}") for number in range(count)]


def poster(server: Server) -> ExternalPush:
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(server.answer))
    return ExternalPush(APP, "https://push.example", client, lambda: NOW_S)


async def posted(server: Server, made: list[PushEvent]) -> None:
    """Post events to the end."""
    external = poster(server)
    external.publish(made)
    with anyio.fail_after(90), stamina.set_testing(True, attempts=TRIES):  # no waiting between tries
        async with external.running():
            pass


async def test_events_are_posted_in_order_and_in_batches() -> None:
    server = Server()
    await posted(server, events(23))

    assert (server.took, server.posts) == ([f"e{number}" for number in range(23)], 3)


async def test_what_failed_is_posted_again_and_given_up_in_the_end() -> None:
    server = Server([503, httpx2.ConnectError("gone"), 200, 503, 503, 503, 503, 400])
    with capture_logs() as logs:
        for number in range(4):
            await posted(server, events(4)[number : number + 1])

    assert server.took == ["e0", "e3"]
    assert [one["event"] for one in logs if one["event"] == PUSH_POST_FAILED] == [PUSH_POST_FAILED] * 2


async def test_nobody_waits_for_a_server_that_does_not_answer() -> None:
    external = poster(Server())
    with anyio.fail_after(90), capture_logs() as logs, anyio.CancelScope() as scope:
        async with external.running():
            external.publish(events(MAX_WAITING + 2))
            scope.cancel()

    assert [one["event"] for one in logs] == [PUSH_POST_DROPPED] * 2
