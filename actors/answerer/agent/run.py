"""Reaches a goal: step after step by a model or by rule, each through the gate, and an answer from what was read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from anyio import to_thread
from msgspec import structs

from actors.answerer import local
from actors.answerer.agent.by_rule import RuleState, calculated, next_calls
from actors.answerer.agent.deeds import MADE_CONFIDENCE, deeds, has_acted, has_failed, made_text, waiting
from actors.answerer.agent.evidence import AgentEvidence, outcome_words
from actors.answerer.agent.goals import GoalWords, permitted, read_goal
from actors.answerer.agent.proposing import DISCARDED, PlanBrief, permitted_by_model, propose
from actors.answerer.agent.steps import RUN, WAIT, History, StepExecutor, StepLog, line_of
from actors.answerer.answering import Answering, Assignment
from actors.answerer.conversations import ChatTurn
from actors.answerer.model_calls import ANSWER, ModelCalls
from actors.answerer.packing import numbered, shortened
from actors.answerer.prompts import to_answer
from actors.answerer.reading import Reading, read
from actors.answerer.source import AnswerSource, LocalAnswer
from actors.answerer.streaming import AnswerRelay, ModelStreams
from actors.settings import Settings
from bus import Bus
from bus.context import current_conversation, remaining_ms
from protocol.agent import AgentAnswered, AgentEnd, AgentStep, RunAgent
from protocol.answers import Answered
from protocol.collection_views import PackCollection
from protocol.faults import Code, FaultError
from protocol.packets import Assistant, ToolCall
from protocol.render import Doc, to_markdown
from protocol.subjects import COLLECTION_PACK
from protocol.tools.registry import TOOLS, find

MOST_AT_ONCE: Final = 4
"""Calls of one reply of a model that are made; it may propose the others again."""

SPARE_REPLIES: Final = 2
"""Replies of a model beyond one for each step: those that were discarded, and the one that proposes nothing."""

PACK_CHARS: Final = 200_000
"""What of a collection is read before the first step."""

ANSWER_MS: Final = 10_000
"""What is left of the time for the answer when no further step is taken."""

BY_RULE: Final = "No model was asked."


@dataclass(kw_only=True)
class AgentRun:
    """One goal of one caller."""

    bus: Bus
    settings: Settings
    streams: ModelStreams
    request: RunAgent
    turn: ChatTurn = field(init=False)
    relay: AnswerRelay = field(init=False)
    calls: ModelCalls = field(init=False)

    def __post_init__(self) -> None:
        """Name the turn, and who is told of it."""
        caller, talk = self.request.caller, current_conversation()
        self.turn = ChatTurn(bus=self.bus, task=RUN, caller=caller, conversation=talk)
        self.relay = AnswerRelay(self.bus, self.request.watch)
        self.calls = ModelCalls(self.bus, self.request)

    async def run(self) -> AgentAnswered:
        """Take steps until nothing more is to be done, or something waits for an approval; then answer.

        Raises:
            FaultError: the gate is not to be had, nothing that was named could be read, or somebody else goes on with
                the conversation.
        """
        log, before = await StepLog.opened(self.bus, self.turn, self.request.goal)
        if not before.is_begun:
            await log.write(self.turn.event("user", self.request.goal))
        try:
            return await self._run(log, before)
        except FaultError as error:
            if error.fault.code is not Code.INTERNAL_BUSY:
                await self.turn.write_failure(error.fault)
            raise

    async def _run(self, log: StepLog, before: History) -> AgentAnswered:
        executor = StepExecutor(
            bus=self.bus,
            request=self.request,
            log=log,
            relay=self.relay,
            evidence=AgentEvidence.of(await self._begun()),
            user_words=tuple(dict.fromkeys((*before.user_words, self.request.goal))),
            permitted=await self._permitted(),
            collection=self.request.collection or "",
        )
        await self._pack(executor.evidence)
        await executor.resume(before.unfinished)
        words = read_goal(self.request.goal)
        if not executor.waits and (not await self._by_model(executor) or _is_for_rules(executor, words)):
            await self._by_rule(executor, words)
        return await self._ended(executor, words)

    # -- before the first step -----------------------------------------------------------------------------------------

    async def _begun(self) -> Reading:
        if not self.request.pages and not self.request.documents:
            return Reading(evidence=(), reads=())
        await self.relay.report("Reading the sources")
        return await read(self.bus, self.request, self.settings.restart_grace_ms)

    async def _pack(self, evidence: AgentEvidence) -> None:
        """Read what the collection has on the goal."""
        if self.request.collection is None:
            return
        await self.relay.report("Reading the collection")
        pack = PackCollection(
            caller=self.request.caller,
            collection=self.request.collection,
            question=self.request.goal,
            max_chars=PACK_CHARS,
        )
        evidence.add((await self.bus.call(COLLECTION_PACK, pack)).documents)

    async def _permitted(self) -> tuple[str, ...]:
        """Return what the task wants, by what the user has said, before anything of the web is read."""
        if self.request.tools is not None:
            return tuple(dict.fromkeys(name for given in self.request.tools for name in _names(given)))
        wanted = permitted(self.request.goal)
        if not self.request.local_only:
            with suppress(FaultError):  # the rules have said what they can
                wanted += await permitted_by_model(self.calls, self.request.goal)
        return tuple(dict.fromkeys(name for given in wanted for name in _names(given)))

    # -- steps ---------------------------------------------------------------------------------------------------------

    async def _by_model(self, executor: StepExecutor) -> bool:
        """Have a model propose steps; False where none can be asked.

        Raises:
            FaultError: CONFIG_NO_MODEL, where the one that the request names is not to be had.
        """
        if self.request.local_only:
            return False
        discarded = False
        for reply in range(self.request.max_steps + SPARE_REPLIES):
            if executor.left <= 0 or executor.waits or _short_of_time():
                break
            await self.relay.report("Asking a model what to do next")
            try:
                proposals = await propose(self.calls, await self._brief(executor, discarded=discarded))
            except FaultError as error:
                if self.request.pin is not None and error.fault.code is Code.CONFIG_NO_MODEL:
                    raise
                return reply > 0
            calls = [one for one in proposals.calls if executor.is_new(one)][:MOST_AT_ONCE]
            if not calls and (discarded or not proposals.discarded):
                break
            discarded = not calls
            await executor.run(calls, "model")
        return True

    async def _brief(self, executor: StepExecutor, *, discarded: bool) -> PlanBrief:
        goal, window = self.request.goal, self.settings.answer_window_tokens
        sources = await to_thread.run_sync(executor.evidence.sources)
        part = await to_thread.run_sync(shortened, numbered(sources), goal, window)
        done = [f"{one.number}. {line_of(one)} -> {outcome_words(one.outcome)}" for one in executor.steps]
        return PlanBrief(
            goal=goal,
            part=part,
            done=(*done, *((DISCARDED,) if discarded else ())),
            left=executor.left,
            browser=self.request.session is not None,
        )

    async def _by_rule(self, executor: StepExecutor, words: GoalWords) -> None:
        """Take the steps that rules know: compute, read what is named, search and read what an answer lacks."""
        while executor.left > 0 and not executor.waits and not _short_of_time():
            reading = await to_thread.run_sync(executor.evidence.reading)
            answer = await to_thread.run_sync(local.answer, self.request.goal, reading.sources)
            state = RuleState(
                goal=self.request.goal,
                words=words,
                steps=executor.steps,
                collection=executor.collection,
                answered=answer.supported,
                read=executor.evidence.pages,
            )
            before = len(executor.steps)
            await executor.run(next_calls(state), "rule")
            if len(executor.steps) == before:
                return

    # -- what came of it -----------------------------------------------------------------------------------------------

    async def _ended(self, executor: StepExecutor, words: GoalWords) -> AgentAnswered:
        approval = executor.steps[-1].outcome.approval if executor.waits else None
        if approval is not None:
            answered, turn = self._plain(waiting(approval)), structs.replace(self.turn, task=WAIT)
            await turn.write_answer(answered, ())
            return self._result(answered, executor, AgentEnd.AWAITING_APPROVAL)
        reading = await to_thread.run_sync(executor.evidence.reading)
        answered = await self._answered(executor.steps, reading, words)
        if words.save and answered.supported and not any(one.by == "model" for one in executor.steps):
            await executor.run([_save(self.request.goal, answered)], "rule")
        await self.turn.write_answer(answered, reading.evidence)
        return self._result(answered, executor, _end(answered, executor))

    async def _answered(self, steps: Sequence[AgentStep], reading: Reading, words: GoalWords) -> Answered:
        """Answer the goal from all that was read; each citation is checked."""
        made = made_text(steps) if words.transform is not None else None
        if made is not None:
            answered = structs.replace(self._plain(made), sources=reading.reads)
            return structs.replace(answered, supported=True, confidence=MADE_CONFIDENCE)
        if not reading.evidence or has_failed(steps, "transform.run"):
            answered = structs.replace(self._plain(deeds(steps)), sources=reading.reads)
            if has_acted(steps) and not has_failed(steps, "transform.run"):
                return structs.replace(answered, supported=True, confidence=1.0)
            return structs.replace(answered, collect=(f'search for "{self.request.goal}"',))

        def by_quotes(sources: Sequence[AnswerSource]) -> LocalAnswer:
            computed = calculated(steps, sources) if words.expression else None
            return computed or local.answer(self.request.goal, sources)

        assignment = Assignment(
            tool=ANSWER, words=to_answer(self.request.goal), question=self.request.goal, local=by_quotes
        )
        return await Answering(
            bus=self.bus,
            assignment=assignment,
            reading=reading,
            calls=self.calls,
            relay=self.relay,
            streams=self.streams,
            window_tokens=self.settings.answer_window_tokens,
        ).answer()

    def _plain(self, assistant: Assistant) -> Answered:
        served = self.calls.served if self.calls.served.calls else self.calls.local(BY_RULE)
        return Answered(assistant=assistant, supported=False, sources=(), served_by=served, confidence=0.0)

    def _result(self, answered: Answered, executor: StepExecutor, ended: AgentEnd) -> AgentAnswered:
        steps = tuple(map(_without_documents, executor.steps))
        return AgentAnswered(answer=answered, steps=steps, ended=ended, collection_id=executor.collection)


def _is_for_rules(executor: StepExecutor, words: GoalWords) -> bool:
    """Return whether a model had nothing to propose where rules know what to do, or where nothing was read."""
    return not executor.steps and (words.is_plain or not executor.evidence.pages)


def _end(answered: Answered, executor: StepExecutor) -> AgentEnd:
    if executor.waits:
        return AgentEnd.AWAITING_APPROVAL
    if answered.supported:
        return AgentEnd.ANSWERED
    return AgentEnd.OUT_OF_STEPS if executor.left <= 0 else AgentEnd.NOTHING_LEFT


def _save(goal: str, answered: Answered) -> ToolCall:
    tree = answered.assistant.render
    markdown = to_markdown(tree) if isinstance(tree, Doc) else ""
    return ToolCall(name="artifact.save", arguments={"title": " ".join(goal.split())[:80], "markdown": markdown})


def _without_documents(step: AgentStep) -> AgentStep:
    """Return a step without what it has read, which is among the sources of the answer."""
    result = step.outcome.result
    if result is None or not result.documents:
        return step
    outcome = structs.replace(step.outcome, result=structs.replace(result, documents=()))
    return structs.replace(step, outcome=outcome)


def _names(given: str) -> tuple[str, ...]:
    """Return the names that a tool has, by its own or by that which models know it by."""
    try:
        return (given, find(given).name)
    except ValueError:
        return (given,) if given in TOOLS else ()


def _short_of_time() -> bool:
    left = remaining_ms()
    return left is not None and left < ANSWER_MS
