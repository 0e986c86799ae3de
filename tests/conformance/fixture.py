"""The actor that the conformance suite needs: everything it expects a server to have, over the bus."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

import anyio

from actors.offering import LiveOffer, offering
from bus import Bus
from bus.nats.transport import connect
from protocol.offers.offer import AskOffer, CallTool, CancelTask, Complete, GetPrompt, GetTask, ReadResource, UpdateTask
from protocol.offers.results import (
    Completion,
    Contents,
    Embedded,
    LogLevel,
    LogLine,
    Message,
    Messages,
    OfferAnswer,
    OfferedResult,
    OfferNews,
    Outcome,
    Picture,
    Refused,
    ResourceContents,
    Said,
    Step,
    TaskChanged,
    Text,
)
from protocol.replicas import Watch
from protocol.subjects import OFFER_NEWS, OFFER_SAID, OFFERED
from tests.conformance import asking, tasking
from tests.conformance.offer import offer
from tests.conformance.tasking import Running, Tasks
from tests.conformance.tools import PIXEL, TOOLS, said

NAME = "conformance"

PAUSE_S = 0.05

AT_ONCE = 64


@dataclass
class Fixture:
    """Answers what a gateway asks for the suite."""

    bus: Bus
    standing: LiveOffer
    tasks: Tasks
    turn: int = 0

    async def answer(self, asked: AskOffer) -> OfferAnswer:
        """Do what is wanted."""
        said = _Said(self.bus, asked.watch)
        return OfferAnswer(outcome=await self._came(asked, said), messages=said.count)

    async def _came(self, asked: AskOffer, said: _Said) -> Outcome:
        match asked.do:
            case CallTool(name=name, arguments=arguments):
                return await self._call(name, arguments, asked, said)
            case GetTask() | UpdateTask() | CancelTask():
                return await self._task(asked.do, asked.caller)
            case _:
                return _read_or_filled(asked.do, asked)

    async def _task(self, do: GetTask | UpdateTask | CancelTask, caller: str) -> Outcome:
        found = self.tasks.find(do.id, caller)
        if isinstance(found, Refused):
            return found
        match do:
            case GetTask():
                return found.told()
            case UpdateTask(responses=responses):
                return await self.tasks.update(found, responses)
            case CancelTask():
                return await self.tasks.cancel(found)

    async def _call(self, name: str, arguments: dict[str, Any], asked: AskOffer, telling: _Said) -> Outcome:
        match name:
            case "test_tool_with_logging" | "test_logging_tool":
                return await _log(telling)
            case "test_tool_with_progress":
                return await _progress(telling)
            case "test_trigger_tool_change" | "test_trigger_prompt_change":
                return await self._change()
            case "test_missing_capability":
                return _sampling(asked)
            case _ if name in tasking.TOOLS:
                return await self.tasks.call(name, asked)
            case _:
                return TOOLS[name](arguments) if name in TOOLS else asking.ask(name, asked)

    async def _change(self) -> OfferedResult:
        self.turn += 1
        await self.standing.change(offer(self.turn))
        return said(f"Turn {self.turn}")


@dataclass
class _Said:
    """Says things to whoever watches, and counts them."""

    bus: Bus
    watch: Watch | None
    count: int = 0

    async def say(self, says: LogLine | Step) -> None:
        if self.watch is not None:
            self.count += 1
            event = OFFER_SAID.at(replica=self.watch.replica)
            await self.bus.tell(event, Said(token=self.watch.token, says=says))


async def _log(telling: _Said) -> OfferedResult:
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await telling.say(LogLine(level=LogLevel.INFO, data=line))
        await anyio.sleep(PAUSE_S)
    return said("Logged.")


async def _progress(telling: _Said) -> OfferedResult:
    for done in (0, 50, 100):
        await telling.say(Step(done=done, total=100, message=f"{done} of 100"))
        await anyio.sleep(PAUSE_S)
    return said("Done.")


def _sampling(asked: AskOffer) -> OfferedResult | Refused:
    if "sampling" in asked.capabilities:
        return said("The client can sample.")
    needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
    return Refused(code=-32021, message="The client cannot sample", data=needed)


def _read_or_filled(do: ReadResource | GetPrompt | Complete, asked: AskOffer) -> Outcome:
    match do:
        case ReadResource(uri=uri):
            return _read(uri)
        case GetPrompt(name=name, arguments=filled):
            return _prompt(name, filled, asked)
        case Complete(value=value):
            return Completion(values=tuple(f"{value}{end}" for end in ("is", "k", "ty")), total=3)


def _read(uri: str) -> Contents:
    if uri == "test://static-binary":
        return Contents(contents=(ResourceContents(uri=uri, mime_type="image/png", blob=PIXEL),))
    if uri.startswith("test://template/"):
        number = uri.split("/")[3]
        text = f'{{"id":"{number}","templateTest":true,"data":"Data for ID: {number}"}}'
        return Contents(contents=(ResourceContents(uri=uri, mime_type="application/json", text=text),))
    text = "This is the content of the static text resource."
    return Contents(contents=(ResourceContents(uri=uri, mime_type="text/plain", text=text),))


def _prompt(name: str, filled: dict[str, str], asked: AskOffer) -> Outcome:
    match name:
        case "test_input_required_result_prompt":
            return asking.ask_for_prompt(asked)
        case "test_prompt_with_arguments":
            return _said(Text(text=f"Prompt with arguments: arg1='{filled['arg1']}', arg2='{filled['arg2']}'"))
        case "test_prompt_with_embedded_resource":
            text = "Embedded resource content for testing."
            held = ResourceContents(uri=filled["resourceUri"], mime_type="text/plain", text=text)
            return _said(Embedded(resource=held), Text(text="Please process the embedded resource above."))
        case "test_prompt_with_image":
            return _said(Picture(data=PIXEL, mime_type="image/png"), Text(text="Please analyze the image above."))
        case _:
            return _said(Text(text="This is a simple prompt for testing."))


def _said(*content: Text | Picture | Embedded) -> Messages:
    return Messages(messages=tuple(Message(role="user", content=one) for one in content))


@asynccontextmanager
async def fixture(nats_url: str) -> AsyncGenerator[Fixture]:
    """Run the actor on a NATS that asks nobody who he is."""
    async with connect(nats_url, NAME, None) as transport:
        bus = Bus(transport, NAME, token_hex(6))

        async def told(task: Running) -> None:
            news = TaskChanged(actor=NAME, caller=task.caller, task=task.told())
            await bus.tell(OFFER_NEWS, OfferNews(news=news))

        async with bus.running(), anyio.create_task_group() as group, offering(bus, NAME, offer()) as standing:
            actor = Fixture(bus, standing, Tasks(group, told))
            await bus.serve(OFFERED.at(actor=NAME), actor.answer, at_once=AT_ONCE)
            yield actor
            group.cancel_scope.cancel()
