"""Calls of models over real sockets: servers that are slow, break off, refuse or are left, and what the router does."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from actors.router import tries
from actors.router.providers.table import PROVIDERS
from protocol import subjects
from protocol.faults import Code
from protocol.models import CallErrorKind, ModelCalled, Provider
from tests.support.models import EVENTS_HEAD, Reply, ScriptedServer, document, event_bytes, events, raw, scripted
from tests.support.models import silence_after as falls_silent_after
from tests.unit.actors.router.world import WATCH, World, call, running

FIRST, SECOND = Provider.OPENAI_COMPATIBLE, Provider.OLLAMA
K = CallErrorKind


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back off in no time."""
    monkeypatch.setattr(tries, "FIRST_PAUSE_S", 0.001)


@asynccontextmanager
async def servers(*first: Reply, second: Reply) -> AsyncGenerator[tuple[World, ScriptedServer]]:
    """Run a router with two servers of OpenAI's dialect, the first of which is asked first."""
    async with scripted(*first) as one, scripted(second) as other:
        environment = {
            "OPENAI_COMPATIBLE_API_KEY": "any",
            "OPENAI_COMPATIBLE_BASE_URL": one.base_url,
            "OLLAMA_BASE_URL": other.base_url,
        }
        async with running(PROVIDERS, environment, {"model_hosts": (one.host, other.host)}) as world:
            yield world, one


def piece(text: str, finish: str | None = None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


WHOLE = events(piece("one "), piece("two"), piece("", "stop"))


@pytest.mark.parametrize(
    ("reply", "kind", "tried", "before"),
    [
        (document({}, status=500), K.OVERLOADED, 3, []),
        (document({}, status=429, retry_after="60"), K.RATE_LIMIT, 1, []),
        (document({}, status=401), K.AUTH, 1, []),
        (raw(b"no HTTP at all\r\n\r\n"), K.NETWORK, 3, []),
        (raw(), K.NETWORK, 3, []),
        (raw(EVENTS_HEAD, *event_bytes([piece("wrong ")])), K.NETWORK, 3, ["wrong "] * 3),
    ],
)
async def test_another_server_answers_for_one_that_does_not(
    reply: Reply, kind: K, tried: int, before: list[str]
) -> None:
    async with servers(reply, second=WHOLE) as (world, _):
        answer = await world.ask(watch=WATCH)
        await anyio.wait_all_tasks_blocked()

    assert (answer.served.provider, answer.text) == (SECOND, "one two")
    assert [attempt.error for attempt in answer.attempts] == [*[kind] * tried, None]
    assert [text.text for text in world.texts] == [*before, "one ", "two"]
    assert [text.index for text in world.texts if text.restarted] == list(range(1, len(before) + 1))


async def test_a_server_that_never_begins_does_not_take_all_the_time_that_is_left() -> None:
    async with servers(falls_silent_after(), second=WHOLE) as (world, server):
        answer = await world.bus.call(subjects.CALL_MODEL, call(), timeout_ms=3_000)
        await server.left.wait()

    assert (answer.served.provider, [one.error for one in answer.attempts]) == (SECOND, [K.TIMEOUT, None])


async def test_a_caller_who_leaves_in_the_middle_closes_the_connection_to_the_server() -> None:
    silent = falls_silent_after(EVENTS_HEAD, *event_bytes([piece("one ")]))
    async with servers(silent, second=WHOLE) as (world, server):
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                await world.ask(watch=WATCH)

            tasks.start_soon(ask)
            while not world.texts:
                await anyio.sleep(0.002)
            tasks.cancel_scope.cancel()
        await server.left.wait()
        while not (lines := await world.lines()):
            await anyio.sleep(0.002)

    (line,) = lines
    assert isinstance(line, ModelCalled)
    assert (line.provider, line.success, line.error_kind) == (FIRST, False, K.CANCELLED)


async def test_servers_that_are_all_down_are_named_and_nothing_of_what_they_say() -> None:
    gossip = document({"error": {"message": "the prompt was: secret"}}, status=400)
    async with servers(gossip, second=gossip) as (world, _):
        fault = await world.refused(subjects.CALL_MODEL, call())

    assert (fault.code, fault.retryable) == (Code.NETWORK_MODEL_FAILED, True)
    assert "openai-compatible/default: " in fault.message
    assert "ollama/qwen3:8b: " in fault.message
    assert "secret" not in fault.message


async def test_a_server_that_writes_its_key_back_tells_nobody_of_it() -> None:
    key = "sk-planted-4471-c0ffee"
    said = f"My key is {key}, I say. It begins with {key[:9]}"
    reply = events(*(piece(said[at : at + 7]) for at in range(0, len(said), 7)), piece("", "stop"))
    async with scripted(reply) as server:
        environment = {"OPENAI_COMPATIBLE_API_KEY": key, "OPENAI_COMPATIBLE_BASE_URL": server.base_url}
        async with running(PROVIDERS, environment, {"model_hosts": (server.host,)}) as world:
            answer = await world.ask(watch=WATCH)
            await anyio.wait_all_tasks_blocked()

    told = "My key is [redacted], I say. It begins with sk-plante"
    assert [asked.headers["authorization"] for asked in server.asked] == [f"Bearer {key}"]
    assert (answer.text, "".join(text.text for text in world.texts)) == (told, told)
