"""Servers of others on this machine, and a runner whose tools ask them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import h11
import msgspec
from anyio.abc import SocketAttribute, SocketStream

from actors.actor import grant_of, handlers
from actors.extraction.page import extract
from actors.runner.actor import Runner
from actors.settings import Settings
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal, new_key
from protocol import subjects
from protocol.faults import Code, FaultError, fault
from protocol.pages import Browsed, BrowsePage
from protocol.policy import RunTool, ToolResult
from protocol.search import FoundPassage, Passages, SearchPassages
from tests.unit.actors.gateway_data import browsed

ME = "key_me"
LOOPBACK = 'allow_private = ["127.0.0.0/8"]'


@dataclass(frozen=True)
class Asked:
    """What a server was asked."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Server:
    """A server that answers as it is told, and notes what it was asked."""

    answers: Callable[[Asked], tuple[int, Mapping[str, str], bytes]]
    held: anyio.Event | None = None
    """Until it is set, nobody gets an answer."""

    asked: list[Asked] = field(default_factory=list[Asked])
    url: str = ""

    async def handle(self, stream: SocketStream) -> None:
        """Answer one request, and close."""
        async with stream:
            wire, body = h11.Connection(h11.SERVER), b""
            head: h11.Request | None = None
            while not isinstance(event := wire.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    wire.receive_data(await stream.receive())
                elif isinstance(event, h11.Request):
                    head = event
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                else:
                    return
            assert head is not None
            headers = {name.decode(): value.decode() for name, value in head.headers}
            asked = Asked(head.method.decode(), head.target.decode(), headers, body)
            self.asked.append(asked)
            status, extra, answer = self.answers(asked)
            if self.held is not None:
                await self.held.wait()
            own = [*extra.items(), ("Content-Length", str(len(answer))), ("Connection", "close")]
            sent = wire.send(h11.Response(status_code=status, headers=own)) or b""
            await stream.send(sent + (wire.send(h11.Data(data=answer)) or b""))


@asynccontextmanager
async def serving(
    answers: Callable[[Asked], tuple[int, Mapping[str, str], bytes]], held: anyio.Event | None = None
) -> AsyncGenerator[Server]:
    """Serve on a free port of 127.0.0.1."""
    server = Server(answers, held)
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - this is no Django
        server.url = f"http://127.0.0.1:{port}"
        tasks.start_soon(listener.serve, server.handle)
        yield server
        tasks.cancel_scope.cancel()


def json_of(value: object, status: int = 200) -> tuple[int, Mapping[str, str], bytes]:
    """Return an answer in JSON."""
    return status, {"Content-Type": "application/json"}, msgspec.json.encode(value)


@dataclass
class World:
    """Those who ask a runner, and whom it asks; `live` runs one more replica."""

    bus: Bus
    broker: Broker
    settings: Settings
    environment: Mapping[str, str]
    pages: dict[str, str] = field(default_factory=dict[str, str])
    browsed: list[BrowsePage] = field(default_factory=list[BrowsePage])
    passages: dict[str, tuple[FoundPassage, ...]] = field(default_factory=dict[str, tuple[FoundPassage, ...]])

    @asynccontextmanager
    async def live(self, replica: str) -> AsyncGenerator[None]:
        """Run a replica while the block lasts."""
        async with Bus(self.broker.connect("runner", grant_of(Runner)), "runner", replica).running() as bus:
            bus.seal = self.bus.seal
            actor = Runner(bus=bus, settings=self.settings, environment=self.environment)
            async with actor.open():
                for handler in handlers(Runner):
                    subject, method = handler.subject.answered_by(replica), getattr(actor, handler.method)
                    await bus.serve(subject, method, at_once=actor.room(handler))
                yield

    def hand_out_again(self) -> None:
        """Let the time be over after which a queue hands out what shows no life."""
        for held in self.broker.queues.values():
            for item in held.waiting.values():
                item.visible_at = 0.0

    async def call(
        self, tool: str, caller: str = ME, call: str = "call_0123456789abcdef", **arguments: Any
    ) -> ToolResult:
        """Have a tool run as the gate does."""
        run = RunTool(id=call, name=tool, arguments=arguments, caller=caller)
        return await self.bus.call(subjects.TOOL.at(actor="runner"), run)

    async def browse(self, page: BrowsePage) -> Browsed:
        """Read a page as the tiers do."""
        self.browsed.append(page)
        html = self.pages.get(page.url.partition("?")[0])
        if html is None:
            raise FaultError(fault(Code.BLOCKED_BY_ROBOTS))
        made = browsed()
        summary = extract(html.encode(), "text/html", page.url).summary
        document = msgspec.structs.replace(made.page.document, content=summary)
        return msgspec.structs.replace(made, page=msgspec.structs.replace(made.page, document=document))

    async def search(self, request: SearchPassages) -> Passages:
        """Answer as the keeper does."""
        found = self.passages.get(request.caller, ())
        return Passages(passages=found, indexed=len(found))


@asynccontextmanager
async def world(
    folder: Path,
    *,
    engines: str = "",
    integrations: str = "",
    environment: Mapping[str, str] | None = None,
    alive: bool = True,
) -> AsyncGenerator[World]:
    """Run a runner with those files of its operator."""
    (folder / "search.toml").write_text(engines)
    (folder / "integrations.toml").write_text(integrations)
    with anyio.fail_after(90):
        async with Broker() as broker, Bus(broker.connect("asker"), "asker", "a1").running() as asker:
            asker.seal = Seal.of(new_key())
            here = World(asker, broker, Settings(data_dir=folder), environment or {})
            for bucket in Runner.buckets:
                await asker.prepare(bucket)
            for journal in Runner.journals:
                await asker.prepare(journal)
            for store in Runner.stores:
                await asker.prepare(store)
            await asker.serve(subjects.BROWSE, here.browse, at_once=8)
            await asker.serve(subjects.PASSAGES, here.search, at_once=8)
            Runner.check(here.settings)
            async with here.live("r1") if alive else nullcontext():
                yield here
