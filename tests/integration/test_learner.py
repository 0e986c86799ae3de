"""What learners learn, on a real server: it outlives them and their files, and one of them acts, within its grant."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

from actors.actor import grant_of
from actors.learner.actor import Learner
from actors.learner.beliefs import Beliefs
from actors.learner.call_evidence import CallEvidence
from actors.learner.call_tables import CallTables
from actors.projection.database import Database
from actors.router.actor import Router
from actors.settings import Settings
from bus import Bus
from bus.seal import Seal
from protocol import subjects
from protocol.faults import FaultError
from protocol.models import CallErrorKind, CallModel, ModelMessage, OutputSchema, RouteReason, TextPart
from protocol.routes import override_key
from tests.support.models import ScriptedServer, document, scripted
from tests.support.nats import OVERSEER, NatsServer, serve_nats
from tests.unit.actors.learner.learner_data import (
    HAIKU,
    KEY,
    OPUS,
    READING,
    SONNET,
    TOOL,
    Asking,
    asking,
    called,
    failures,
    judged,
    learning,
)
from tests.unit.actors.router.world import serving

pytestmark = pytest.mark.nats

TEST_S = 240.0
GOODS = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.fixture(autouse=True)
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server have room for the journal, as much as it may take."""
    monkeypatch.setattr("tests.support.nats.STORE_BYTES", 2**31)


@dataclass
class World:
    """A server with calls of models, somebody who writes and asks, and the folder of the learners."""

    server: NatsServer
    asking: Asking
    folder: Path

    @asynccontextmanager
    async def learner(self, replica: str = "r1", **settings: Any) -> AsyncGenerator[Learner]:
        async with (
            self.server.connect("learner") as transport,
            learning(transport, self.folder, replica, **settings) as learner,
        ):
            yield learner

    async def known(self) -> tuple[CallEvidence, Beliefs]:
        """Read what a learner that is stopped has left in its file."""
        database = Database(self.folder / "learner" / "learner-0.sqlite", "actors.learner")
        async with database.open():
            return await CallTables(database).known()

    @asynccontextmanager
    async def router(self, models: ScriptedServer) -> AsyncGenerator[None]:
        """Run a router whose only provider is a server of models."""
        environment = {"OPENAI_API_KEY": "sk-of-nobody", "OPENAI_BASE_URL": models.base_url}
        settings = Settings(data_dir=self.folder, model_hosts=(models.host,))
        async with (
            self.server.connect("router") as transport,
            Bus(transport, "router", "r1").running() as bus,
        ):
            bus.seal = Seal.of(KEY)
            async with serving(Router(bus=bus, settings=settings, environment=environment)):
                await transport.flush()
                yield


@asynccontextmanager
async def world(folder: Path, *, asks_router: bool = False) -> AsyncGenerator[World]:
    """Start a server; somebody answers on it as a router does, unless a real one is to be asked."""
    with anyio.fail_after(TEST_S):
        async with (
            serve_nats(folder, {"learner": grant_of(Learner), "router": grant_of(Router)}) as server,
            server.connect(OVERSEER) as transport,
            asking(transport, routes=not asks_router) as asker,
        ):
            await asker.bus.table(subjects.MODEL_SPEND)
            yield World(server, asker, folder / "data")


@pytest.mark.slow
async def test_what_was_learned_outlives_the_learner_and_its_file(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        asker = place.asking
        async with place.learner():
            wrong = called(name=OPUS, tool="web_answer")
            await asker.write(*(called() for _ in range(6)), *failures(4), wrong, judged(wrong, verified=False))
            learned = await asker.until(lambda row: row is not None)
            await asker.write(called(name=SONNET), called(success=False, error_kind=CallErrorKind.TIMEOUT, name=SONNET))
            before = (await asker.metrics(), await asker.audit())
        stopped = await place.known()
        async with place.learner():
            restarted = (await asker.metrics(), await asker.audit())
            await asker.looked()
        kept = await place.known()
        shutil.rmtree(place.folder)
        async with place.learner():
            rebuilt = (await asker.metrics(), await asker.audit())
            await asker.looked()

        assert stopped[0].tools[TOOL].route == SONNET
        assert before == restarted == rebuilt
        assert stopped == kept == await place.known()
        assert await asker.row() == learned


@pytest.mark.slow
async def test_of_two_learners_one_acts_and_the_other_goes_on_where_it_stopped(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        asker = place.asking
        async with place.learner("one", learning_interval_ms=500):
            await asker.looked()
            async with place.learner("other", learning_interval_ms=500):
                for name, tool in ((HAIKU, TOOL), (SONNET, READING)):
                    await asker.write(*failures(10, name, tool))
                    await asker.until(lambda row: row is not None, override_key(tool))
                await asker.looked()
                turn = await asker.turn.get("turn")
                steps = [(step.tool_name, step.new_model) for step in await asker.audit()]

                assert turn is not None
                assert turn.value is not None
                assert turn.value.replica == "one"
                assert steps == [(READING, OPUS.model), (TOOL, SONNET.model)]
        async with place.learner("third"):
            await asker.write(*failures(10, SONNET))
            await asker.until(lambda row: row is not None and row.name == OPUS)

            assert (await asker.audit())[0].new_model == OPUS.model


async def test_neither_an_outage_nor_a_route_set_by_hand_is_learned_from(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.learner():
        asker = place.asking
        by_hand = await asker.set_by_hand(OPUS, "browser_click")
        await asker.write(*(called(success=False, error_kind=CallErrorKind.OVERLOADED) for _ in range(30)))
        await asker.write(*failures(30, OPUS, "browser_click"))
        await asker.looked()

        assert await asker.overrides.names() == [by_hand.key]
        assert await asker.row(by_hand.key) == by_hand
        assert await asker.audit() == ()


@pytest.mark.slow
async def test_the_router_goes_by_what_the_learner_has_learned(tmp_path: Path) -> None:
    async def answer(stream: SocketStream) -> None:
        text = '{"name": "cup"}' if models.asked[-1].body["model"] == "gpt-4o" else "A cup."
        message = {"role": "assistant", "content": text}
        await document({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})(stream)

    async with world(tmp_path, asks_router=True) as place, scripted(answer) as models, place.router(models):
        call = (
            subjects.CALL_MODEL,
            CallModel(
                tool=TOOL,
                messages=(ModelMessage(role="user", parts=(TextPart(text="What is sold?"),)),),
                output=OutputSchema(name="goods", schema=GOODS),
            ),
        )
        async with place.learner(learning_interval_ms=1_000):
            for _ in range(10):
                with suppress(FaultError):
                    await place.asking.bus.call(*call)
            await place.asking.until(lambda row: row is not None)
        models.asked.clear()
        served = await place.asking.bus.call(*call)

    assert (served.served.model, served.reason) == ("gpt-4o", RouteReason.OPTIMIZED)
    assert [request.body["model"] for request in models.asked] == ["gpt-4o"]
