"""The answerer on a bus in memory, between a navigator that has some pages and a router whose model does as told."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import anyio
from msgspec import structs

from actors.actor import grant_of, handlers
from actors.answerer.actor import Answerer
from actors.settings import Settings
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal
from protocol import subjects
from protocol.answers import AnswerText, ChatEvent
from protocol.browse import DecisionTrace, TraceSummary
from protocol.confidence import FieldConfidence, Source, confidence
from protocol.documents import WebObservationSummary, untrusted
from protocol.faults import Code, Fault, FaultError, fault
from protocol.models import (
    CallModel,
    CallOutcome,
    ModelAnswer,
    ModelName,
    ModelText,
    Provider,
    RouteReason,
    TextPart,
    TokenUsage,
)
from protocol.pages import Browsed, BrowsePage
from protocol.policy import Decision, ToolOutcome, ToolRequest
from protocol.replicas import Progress, Watch
from protocol.subject_kinds import Call, Event
from tests.unit.actors.page_data import fetched

R = TypeVar("R")

KEY = "A" * 43
MODEL = ModelName(provider=Provider.OPENAI, model="teller-1")
GATEWAY = "gateway-1"
WATCH = Watch(replica=GATEWAY, token="t")
NO_MODEL = fault(Code.CONFIG_NO_MODEL, "No provider has credentials.")


@dataclass(frozen=True)
class Prompt:
    """What a model is asked, as it could read it."""

    request: CallModel

    @property
    def words(self) -> str:
        return "\n".join(part.text for one in self.request.messages for part in one.parts if isinstance(part, TextPart))

    def number(self, words: str) -> int:
        """Return the number of the sentence that has these words."""
        found = re.search(rf"^\[(\d+)\] .*{re.escape(words)}", self.words, re.MULTILINE)
        assert found is not None, words
        return int(found[1])


Gate = Callable[[ToolRequest], ToolOutcome | Fault | Awaitable[ToolOutcome]]
"""Decides about a call, and says what came of it."""

Model = Callable[[Prompt], Any]
"""Returns the data of an answer, its text where no schema was given, or a fault."""


@dataclass
class World:
    """What the answerer meets: pages by address, a model, and what was told.

    No page comes before `together` are asked for at the same time.
    """

    bus: Bus
    pages: Mapping[str, str | Fault]
    model: Model | None
    gate: Gate | None = None
    requests: list[ToolRequest] = field(default_factory=list[ToolRequest])
    prompts: list[Prompt] = field(default_factory=list[Prompt])
    browsed: list[BrowsePage] = field(default_factory=list[BrowsePage])
    outcomes: list[CallOutcome] = field(default_factory=list[CallOutcome])
    texts: list[AnswerText] = field(default_factory=list[AnswerText])
    progress: list[Progress] = field(default_factory=list[Progress])
    together: int = 1
    at_once: int = 0
    most_at_once: int = 0
    met: anyio.Event = field(default_factory=anyio.Event)

    async def ask(self, call: Call[Any, R], request: Any) -> R:
        """Ask the answerer."""
        with anyio.fail_after(90):
            return await self.bus.call(call, request)

    async def fault_of(self, call: Call[Any, Any], request: Any) -> Fault:
        """Ask what fails."""
        try:
            await self.ask(call, request)
        except FaultError as error:
            return error.fault
        raise AssertionError

    async def conversation(self) -> list[ChatEvent]:
        """Return the lines that were written."""
        journal = await self.bus.journal(subjects.CONVERSATIONS)
        return [line.value async for line in journal.read()]

    async def browse(self, page: BrowsePage) -> Browsed:
        self.browsed.append(page)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        if self.at_once == self.together:
            self.met.set()
        await self.met.wait()
        self.at_once -= 1
        content = self.pages.get(page.url, fault(Code.HTTP_NOT_FOUND))
        if isinstance(content, Fault):
            raise FaultError(content)
        document = untrusted("page_1", WebObservationSummary(url=page.url, title="Tidal power", markdown=content))
        sure = confidence(Source.HEURISTIC, 0.9)
        return Browsed(
            url=page.url,
            page=structs.replace(fetched(), document=document, final_url=page.url),
            confidence=FieldConfidence(title=sure, content=sure, overall=sure),
            duration_ms=1,
            trace=DecisionTrace(tiers=(), selectors=(), title=(), summary=_SUMMARY),
        )

    async def decide(self, request: ToolRequest) -> ToolOutcome:
        self.requests.append(request)
        outcome = self.gate(request) if self.gate is not None else fault(Code.INTERNAL_UNAVAILABLE)
        if isinstance(outcome, Fault):
            raise FaultError(outcome)
        return outcome if isinstance(outcome, ToolOutcome) else await outcome

    async def decide_only(self, request: ToolRequest) -> Decision:
        return (await self.decide(request)).decision

    async def call_model(self, request: CallModel) -> ModelAnswer:
        prompt = Prompt(request)
        self.prompts.append(prompt)
        said = self.model(prompt) if self.model is not None else NO_MODEL
        if isinstance(said, Fault):
            raise FaultError(said)
        if request.watch is not None:
            await self._write(request.watch, said)
        answer = ModelAnswer(
            call_id=f"call_{len(self.prompts)}",
            text=said if isinstance(said, str) else "",
            requested=MODEL,
            served=MODEL,
            reason=RouteReason.DEFAULT,
            finish="stop",
            usage=TokenUsage(input=100, output=10),
            cost_usd=0.25,
        )
        if isinstance(said, ModelAnswer):
            return structs.replace(said, call_id=answer.call_id)
        return answer if isinstance(said, str) else structs.replace(answer, data=said)

    async def _write(self, watch: Watch, said: str) -> None:
        event = subjects.MODEL_TEXT.at(replica=watch.replica)
        await self.bus.tell(event, ModelText(token=watch.token, index=0, text=said))


_SUMMARY = TraceSummary(
    total_tiers_attempted=1,
    successful_tier=fetched().tier,
    total_selectors_attempted=0,
    selected_selector="",
    total_duration_ms=1,
)


@asynccontextmanager
async def answering(
    pages: Mapping[str, str | Fault] | None = None,
    model: Model | None = None,
    *,
    router: bool = True,
    gate: Gate | None = None,
    settings: Settings | None = None,
) -> AsyncGenerator[World]:
    """Have an answerer answer; without a model no provider has credentials, without a router nobody answers."""
    async with Broker() as broker, AsyncExitStack() as stack:
        outside = await stack.enter_async_context(Bus(broker.connect("outside"), "outside", "outside-1").running())
        outside.seal = Seal.of(KEY)
        world = World(outside, pages or {}, model, gate)
        await outside.serve(subjects.BROWSE, world.browse, at_once=64)
        await outside.serve(subjects.POLICY_CALL, world.decide, at_once=64)
        await outside.serve(subjects.POLICY_DECIDE, world.decide_only, at_once=64)
        if router:
            await outside.serve(subjects.CALL_MODEL, world.call_model, at_once=64)
        for event, heard in (
            (subjects.CALL_OUTCOME, world.outcomes),
            (subjects.ANSWER_TEXT.answered_by(GATEWAY), world.texts),
            (subjects.PROGRESS.answered_by(GATEWAY), world.progress),
        ):
            await outside.serve(cast("Event[Any]", event), _hearing(cast("list[Any]", heard)), at_once=1)
        bus = await stack.enter_async_context(
            Bus(broker.connect(Answerer.name, grant_of(Answerer)), Answerer.name, "answerer-1").running()
        )
        bus.seal = Seal.of(KEY)
        actor = Answerer(bus=bus, settings=settings or Settings(data_dir=Path("unused")))
        await stack.enter_async_context(actor.open())
        for handler in handlers(Answerer):
            subject = handler.subject.answered_by("answerer-1")
            await bus.serve(subject, getattr(actor, handler.method), at_once=handler.at_once)
        yield world


def _hearing(heard: list[Any]) -> Callable[[Any], Awaitable[None]]:
    async def hear(told: Any) -> None:
        heard.append(told)

    return hear
