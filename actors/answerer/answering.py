"""Answers one request from what was read: by a model whose citations are checked, otherwise by quotes alone."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

import anyio
import msgspec
from anyio import CapacityLimiter, to_thread
from msgspec import Struct, structs

from actors.answerer.checking import Checked, DraftAnswer, by_number, check, in_markdown
from actors.answerer.model_calls import LOCAL_ONLY, SELECT, ModelCalls
from actors.answerer.model_output import read_model_output, valid_calls
from actors.answerer.packing import Part, SourceExcerpt, numbered, pack, picked, shortened
from actors.answerer.prompts import (
    Brief,
    SelectedSentences,
    WrittenAnswer,
    answer_schema,
    answering,
    answering_in_markdown,
    selecting,
    selection_schema,
)
from actors.answerer.quoting import quoted
from actors.answerer.reading import Reading
from actors.answerer.source import AnswerSource, LocalAnswer
from actors.answerer.streaming import AnswerRelay, ModelStreams
from bus import Bus, TransportError
from bus.recording import chance
from protocol.answers import Answered, ServedBy
from protocol.faults import Code, FaultError, fault
from protocol.models import CallOutcome, ModelAnswer
from protocol.packets import ToolCall
from protocol.render import Doc, to_markdown
from protocol.subjects import CALL_OUTCOME

MAX_PASSES: Final = 3
"""How often what does not fit into a model's window is gone through, the answer included (003 "Packing")."""

CALLS_AT_ONCE: Final = 3

UNVERIFIED: Final = "No citation of the model's answer stands in the sources."
UNREADABLE: Final = "The model's answer could not be read."


class Assignment(Struct, frozen=True, kw_only=True):
    """What is asked: the name that the router routes it by, the words for a model, and how it is done without one."""

    tool: str
    words: str
    question: str
    local: Callable[[Sequence[AnswerSource]], LocalAnswer]
    listed: bool = False


@dataclass(kw_only=True)
class Answering:
    """The answer to one request; `window_tokens` is what a model is given to read at once."""

    bus: Bus
    assignment: Assignment
    reading: Reading
    calls: ModelCalls
    relay: AnswerRelay
    streams: ModelStreams
    window_tokens: int

    async def answer(self) -> Answered:
        """Ask a model and check what it says; where none answers, or nothing of it holds, quote the sources.

        Raises:
            FaultError: CONFIG_NO_MODEL, where the one that the request names is not to be had.
        """
        if self.calls.request.local_only:
            return await self._local(LOCAL_ONLY)
        try:
            draft, answer = await self._draft()
        except FaultError as error:
            if self.calls.request.pin is not None and error.fault.code is Code.CONFIG_NO_MODEL:
                raise
            return await self._local(error.fault.message)
        await self.relay.report("Checking the citations")
        evidence, question = self.reading.evidence, self.assignment.question
        checked = await to_thread.run_sync(check, draft, evidence, question)
        if draft.supported or draft.cited:
            await self._publish_outcome(answer, checked)
        if checked.assistant.citations or not draft.supported:
            return self._answered(checked, self.calls.served, _proposals(answer))
        local = await self._local(UNVERIFIED, unverified=True)
        return structs.replace(local, unsupported=checked.unsupported)

    # -- by a model ----------------------------------------------------------------------------------------------------

    async def _draft(self) -> tuple[DraftAnswer, ModelAnswer]:
        """Ask for an answer: by a schema, or in Markdown where somebody reads along or no model holds to one."""
        part = await self.narrowed(await to_thread.run_sync(numbered, self.reading.evidence))
        await self.relay.report("Asking a model")
        if self.relay.watch is not None:
            return await self._in_markdown(part)
        try:
            return await self._in_json(part)
        except FaultError as error:
            if error.fault.code is not Code.NETWORK_MODEL_FAILED:
                raise
        return await self._in_markdown(part)

    async def _in_json(self, part: Part) -> tuple[DraftAnswer, ModelAnswer]:
        messages = await to_thread.run_sync(answering, self.brief(part))
        answer = await self.calls.call(self.assignment.tool, messages, output=answer_schema(part))
        try:
            data = msgspec.convert(answer.data, WrittenAnswer)
        except msgspec.ValidationError:
            raise FaultError(fault(Code.NETWORK_MODEL_FAILED, UNREADABLE)) from None
        return await to_thread.run_sync(by_number, data, part), answer

    async def _in_markdown(self, part: Part) -> tuple[DraftAnswer, ModelAnswer]:
        messages = await to_thread.run_sync(answering_in_markdown, self.brief(part))
        with self.streams.listening(self.relay) as watch:
            answer = await self.calls.call(self.assignment.tool, messages, watch=watch)
        assistant = read_model_output(answer.text, tools=False).assistant
        return await to_thread.run_sync(in_markdown, assistant, part, self.reading.evidence), answer

    async def narrowed(self, excerpts: Sequence[SourceExcerpt]) -> Part:
        """Return what fits into a model's window: all, or what the model selects of each part in turn."""
        for _ in range(MAX_PASSES - 1):
            parts = await to_thread.run_sync(pack, excerpts, self.assignment.question, self.window_tokens)
            if len(parts) == 1:
                return parts[0]
            await self.relay.report(f"Reading {len(parts)} parts")
            excerpts = picked(excerpts, await self._selected(parts))
        return await to_thread.run_sync(shortened, excerpts, self.assignment.question, self.window_tokens)

    async def _selected(self, parts: Sequence[Part]) -> frozenset[int]:
        """Ask of each part which sentences count; where a model does not say, those that have the task's words."""
        numbers = dict[int, frozenset[int]]()
        limiter = CapacityLimiter(CALLS_AT_ONCE)

        async def select(index: int, part: Part) -> None:
            async with limiter:
                numbers[index] = await self._selected_of(part, len(parts) + 1) or _by_words(
                    part, self.assignment.question, self.window_tokens // len(parts)
                )

        async with anyio.create_task_group() as tasks:
            for index, part in enumerate(parts):
                tasks.start_soon(select, index, part)
        return frozenset[int]().union(*numbers.values())

    async def _selected_of(self, part: Part, among: int) -> frozenset[int]:
        messages, schema = await to_thread.run_sync(selecting, self.brief(part)), selection_schema(part)
        try:
            answer = await self.calls.call(SELECT, messages, output=schema, among=among)
            selected = msgspec.convert(answer.data, SelectedSentences)
        except (FaultError, msgspec.ValidationError):
            return frozenset()
        known = {line.number for excerpt in part for line in excerpt.lines}
        return frozenset(selected.sentences) & known

    def brief(self, part: Part) -> Brief:
        """Return what a model is given to read, behind a marker of its own."""
        marker = chance(partial(secrets.token_hex, 8))
        return Brief(task=self.assignment.words, part=part, marker=marker, index=self.reading.index)

    # -- without one ---------------------------------------------------------------------------------------------------

    async def _local(self, why: str, *, unverified: bool = False) -> Answered:
        checked = await to_thread.run_sync(self._quoted, unverified)
        tree = checked.assistant.render
        await self.relay.replace(to_markdown(tree) if isinstance(tree, Doc) else "")
        return self._answered(checked, self.calls.local(why))

    def _quoted(self, unverified: bool) -> Checked:  # noqa: FBT001 - called in a thread, which takes no keywords
        answer = self.assignment.local(self.reading.sources)
        return quoted(answer, self.reading.evidence, listed=self.assignment.listed, unverified=unverified)

    # -- what came of it -----------------------------------------------------------------------------------------------

    def _answered(self, checked: Checked, served: ServedBy, proposals: tuple[ToolCall, ...] = ()) -> Answered:
        return Answered(
            assistant=checked.assistant,
            supported=checked.supported,
            sources=self.reading.reads,
            served_by=served,
            confidence=checked.confidence,
            unsupported=checked.unsupported,
            collect=checked.collect,
            tool_calls=proposals,
        )

    async def _publish_outcome(self, answer: ModelAnswer, checked: Checked) -> None:
        """Publish whether all citations held; of an answer that only says that nothing is said, nobody can."""
        outcome = CallOutcome(call_id=answer.call_id, tool=self.assignment.tool, verified=checked.held)
        with suppress(FaultError, TransportError):
            await self.bus.tell(CALL_OUTCOME, outcome)


def _by_words(part: Part, question: str, tokens: int) -> frozenset[int]:
    return frozenset(line.number for excerpt in shortened(part, question, tokens) for line in excerpt.lines)


def _proposals(answer: ModelAnswer) -> tuple[ToolCall, ...]:
    """Return the calls that a model proposes, if each is one of a known tool: proposals, which nothing here runs."""
    return valid_calls(tuple(ToolCall(name=one.name, arguments=one.arguments) for one in answer.tool_calls))
