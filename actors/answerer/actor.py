"""The actor that answers SUMMARIZE, ANSWER, EXTRACT, MAKE_TEXT, AGENT and AGENT_PLAN."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, TypeVar

from msgspec import structs

from actors.actor import Actor, handles, subscribes
from actors.answerer import local
from actors.answerer.agent.planning import PlanProposer
from actors.answerer.agent.run import AgentRun
from actors.answerer.answering import Answering, Assignment
from actors.answerer.collection_answers import answer_covering, covering, summarize_covering, with_collection
from actors.answerer.conversations import ChatTurn
from actors.answerer.data import extracted_from
from actors.answerer.local.support import support_model
from actors.answerer.model_calls import ANSWER, SUMMARIZE, ModelCalls
from actors.answerer.prompts import to_answer, to_summarize
from actors.answerer.reading import Reading, read
from actors.answerer.streaming import AnswerRelay, ModelStreams
from actors.answerer.transforms.making import TextMaking, assignment_of
from bus.context import current_conversation
from protocol import subjects
from protocol.agent import AgentAnswered, MadeText, MakePlan, MakeText, Planned, RunAgent
from protocol.answers import Answered, AskQuestion, ExtractData, Extracted, Sources, Summarize, SummaryStyle
from protocol.faults import Code, FaultError, fault
from protocol.models import ModelText
from protocol.subject_kinds import Journal, Subject
from protocol.texts import config_of

R = TypeVar("R")


@dataclass
class Answerer(Actor):
    """Answers SUMMARIZE, ANSWER and EXTRACT: from pages and documents, each claim with words that stand in them."""

    name: ClassVar[str] = "answerer"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (
        subjects.BROWSE,
        subjects.CALL_MODEL,
        subjects.CALL_OUTCOME,
        subjects.POLICY_CALL,
        subjects.POLICY_DECIDE,
        subjects.COLLECTION_PACK,
        subjects.ANSWER_TEXT,
        subjects.PROGRESS,
    )
    journals: ClassVar[tuple[Journal[Any], ...]] = (subjects.CONVERSATIONS,)

    streams: ModelStreams = field(init=False)

    @classmethod
    def warm(cls) -> None:
        """Load the weights of the answers without a model."""
        support_model()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Listen to what models write for it."""
        self.streams = ModelStreams(self.bus.replica)
        yield

    @handles(subjects.SUMMARIZE, at_once=32)
    async def summarize(self, request: Summarize) -> Answered:
        """Summarize what stands in the sources.

        Raises:
            FaultError: nothing could be read, or the model that was named is not to be had.
        """
        assignment = Assignment(
            tool=SUMMARIZE,
            words=to_summarize(request.style),
            question="",
            local=lambda sources: (
                summarize_covering(sources, request.style)
                if request.collection
                else local.summarize(sources, request.style)
            ),
            listed=request.style is SummaryStyle.BULLETS,
        )
        return await self._noted(request, "web.summarize", f"Summarize ({request.style})", assignment)

    @handles(subjects.ANSWER, at_once=32)
    async def answer(self, request: AskQuestion) -> Answered:
        """Answer a question from the sources.

        Raises:
            FaultError: nothing could be read, or the model that was named is not to be had.
        """
        assignment = Assignment(
            tool=ANSWER,
            words=to_answer(request.question),
            question=request.question,
            local=lambda sources: local.answer(request.question, sources),
        )
        return await self._noted(request, "web.answer", request.question, assignment)

    @handles(subjects.EXTRACT, at_once=32)
    async def extract(self, request: ExtractData) -> Extracted:
        """Find data in the sources: by rule, and by a model what rules leave open.

        Raises:
            FaultError: nothing could be read, or the schema is not one that can be filled.
        """
        turn = self._turn(request, "web.extract")
        await turn.write_request(request.instructions or "Extract data by a schema.")
        relay = AnswerRelay(self.bus, request.watch)
        try:
            await relay.report("Reading the sources")
            wait_ms = self.settings.restart_grace_ms
            request, _ = await with_collection(self.bus, request, request.instructions, wait_ms)
            reading = await read(self.bus, request, wait_ms)
            await relay.report("Looking for the data")
            extracted = await extracted_from(self.bus, request, reading)
        except FaultError as error:
            await turn.write_failure(error.fault)
            raise
        await turn.write_data(extracted, reading.evidence)
        return extracted

    @handles(subjects.AGENT, at_once=16)
    async def reach_goal(self, request: RunAgent) -> AgentAnswered:
        """Reach a goal by tools that the gate allows, and answer from what they have read.

        Raises:
            FaultError: the gate is not to be had, nothing that was named could be read, or somebody else goes on with
                the conversation.
        """
        run = AgentRun(bus=self.bus, settings=self.settings, streams=self.streams, request=request)
        return await run.run()

    @handles(subjects.AGENT_PLAN, at_once=16)
    async def plan(self, request: MakePlan) -> Planned:
        """Propose the next calls towards a goal; nothing is executed.

        Raises:
            FaultError: the gate is not to be had.
        """
        return await PlanProposer(bus=self.bus, settings=self.settings, request=request).plan()

    @handles(subjects.MAKE_TEXT, at_once=8)
    async def make_text(self, request: MakeText) -> MadeText:
        """Make a text of the documents of a collection.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, where its config is none; CONTENT_EMPTY, where nothing can be made.
        """
        try:
            config = config_of(request.type, request.config)
        except ValueError as error:
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, str(error), field="config")) from None
        sources = Sources(documents=request.documents, caller=request.caller, local_only=request.local_only)
        reading = await read(self.bus, sources)
        answering = self._answering(sources, assignment_of(request, config), reading, AnswerRelay(self.bus, None))
        return await TextMaking(request=request, config=config, reading=reading, answering=answering).make()

    @subscribes(subjects.MODEL_TEXT, at_once=1)
    async def on_model_text(self, piece: ModelText) -> None:
        """Pass on what a model has written further for somebody who waits here."""
        await self.streams.on_text(piece)

    async def _noted(self, request: Sources, task: str, request_text: str, assignment: Assignment) -> Answered:
        """Answer, and write question and answer into the conversation."""
        turn = self._turn(request, task)
        await turn.write_request(request_text)
        relay = AnswerRelay(self.bus, request.watch)
        try:
            await relay.report("Reading the sources")
            wait_ms = self.settings.restart_grace_ms
            request, relevant = await with_collection(self.bus, request, assignment.question, wait_ms)
            reading = await read(self.bus, request, wait_ms)
            if relevant:
                quotes = partial(answer_covering, assignment.question, relevant=relevant)
                assignment = structs.replace(assignment, local=quotes)
            answered = await covering(self._answering(request, assignment, reading, relay), relevant)
        except FaultError as error:
            await turn.write_failure(error.fault)
            raise
        await turn.write_answer(answered, reading.evidence)
        return answered

    def _turn(self, request: Sources, task: str) -> ChatTurn:
        return ChatTurn(
            bus=self.bus,
            task=task,
            caller=request.caller,
            conversation=current_conversation(),
            collection=request.collection,
        )

    def _answering(self, request: Sources, assignment: Assignment, reading: Reading, relay: AnswerRelay) -> Answering:
        return Answering(
            bus=self.bus,
            assignment=assignment,
            reading=reading,
            calls=ModelCalls(self.bus, request),
            relay=relay,
            streams=self.streams,
            window_tokens=self.settings.answer_window_tokens,
        )
