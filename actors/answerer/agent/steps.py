"""Has proposed calls go through the gate, one after the other, and writes down each before and after (003 "Tools")."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal, cast

import msgspec
from msgspec import Struct, structs

from actors import redact
from actors.answerer.agent.evidence import AgentEvidence
from actors.answerer.conversations import ChatTurn, kept_text
from actors.answerer.streaming import AnswerRelay
from bus import Bus
from bus.recording import chance
from bus.stores import JournalLog
from protocol.agent import AgentStep, RunAgent
from protocol.answers import ChatEvent, ChatToolResult, conversation_topic
from protocol.faults import Category, Code, FaultError, fault
from protocol.packets import ToolCall
from protocol.policy import CALL_PREFIX, Decision, Reason, ToolContext, ToolOutcome, ToolRequest, ToolStatus, Verb
from protocol.subjects import CONVERSATIONS, POLICY_CALL
from protocol.tools.tool import Surface

RUN, STEP, WAIT = "agent.run", "agent.step", "agent.wait"
"""What the lines of a conversation call a goal with its answer, a step towards it, and that one waits."""

CURRENT: Final = "current"
"""What a proposal may call the collection that captures go to, which is begun when it is needed."""

MAX_ARGUMENT_BYTES: Final = 65_536
"""Longer arguments of a call are refused before anybody decides about them."""

MAX_TITLE_CHARS: Final = 80
MAX_LINE_CHARS: Final = 1_000
GONE_ON: Final = "Somebody else goes on with this conversation at the same time. Ask again when that is over."

By = Literal["model", "rule"]


class Proposal(Struct, frozen=True, kw_only=True):
    """A call that somebody proposes, under the id that the gate knows it by, however often it is asked."""

    call: ToolCall
    by: By
    id: str = msgspec.field(default_factory=lambda: CALL_PREFIX + chance(partial(secrets.token_urlsafe, 16)))


@dataclass(kw_only=True)
class StepLog:
    """The lines of one conversation, as long as nobody else writes any: `last` is the sequence of the last one."""

    turn: ChatTurn
    journal: JournalLog[ChatEvent]
    last: int = 0

    @classmethod
    async def opened(cls, bus: Bus, turn: ChatTurn, goal: str) -> tuple[StepLog, History]:
        """Read what was said in a conversation, and what was left unfinished of this goal."""
        log = cls(turn=turn, journal=await bus.journal(CONVERSATIONS))
        events = list[ChatEvent]()
        async for line in log.journal.read(log._topic):
            events.append(line.value)
            log.last = line.sequence
        return log, history(events, goal, turn.conversation.turn)

    async def write(self, event: ChatEvent) -> None:
        """Write a line behind those that were read.

        Raises:
            FaultError: INTERNAL_BUSY, where somebody else has written one.
        """
        try:
            self.last = await self.journal.append(self._topic, event, last=self.last)
        except ValueError:
            raise FaultError(fault(Code.INTERNAL_BUSY, GONE_ON)) from None

    @property
    def _topic(self) -> str:
        return conversation_topic(self.turn.caller, self.turn.conversation.id)


class History(Struct, frozen=True, kw_only=True):
    """What a conversation holds: the words of its user, and the calls towards a goal that has no answer yet.

    `is_begun`: this very turn was begun before, by somebody who died.
    """

    user_words: tuple[str, ...]
    unfinished: tuple[Proposal, ...]
    is_begun: bool = False


def history(events: Iterable[ChatEvent], goal: str, turn: int) -> History:
    """Return what counts of the lines of a conversation for who goes on with a goal.

    A call whose arguments had to be redacted is not among the unfinished: it would not be the same.
    """
    words, unfinished, is_begun = dict[str, None](), dict[str, Proposal](), False
    for event in events:
        if event.role == "user":
            words[event.markdown] = None
            is_begun = is_begun or (event.turn == turn and event.task == RUN)
            if event.markdown != kept_text(goal):
                unfinished.clear()
        elif event.task == STEP:
            unfinished |= {one.id: one for one in _proposals(event)}
        elif event.task == RUN and event.fault is None:
            unfinished.clear()
    return History(user_words=tuple(words), unfinished=tuple(unfinished.values()), is_begun=is_begun)


def _proposals(event: ChatEvent) -> Iterator[Proposal]:
    for call, result in zip(event.tool_calls, event.tool_results, strict=False):
        if redact.REDACTED not in msgspec.json.encode(call.arguments).decode():
            yield Proposal(call=call, by=result.by, id=result.call_id)


@dataclass(kw_only=True)
class StepExecutor:
    """Runs steps towards one goal; `steps` and `evidence` are what they came to so far."""

    bus: Bus
    request: RunAgent
    log: StepLog
    relay: AnswerRelay
    evidence: AgentEvidence
    user_words: tuple[str, ...]
    permitted: tuple[str, ...]
    steps: list[AgentStep] = field(default_factory=list[AgentStep])
    collection: str = ""

    @property
    def left(self) -> int:
        """How many steps may still be taken."""
        return self.request.max_steps - len(self.steps)

    @property
    def waits(self) -> bool:
        """Whether the last step waits for an approval."""
        return bool(self.steps) and self.steps[-1].outcome.status is ToolStatus.PENDING

    def is_new(self, call: ToolCall) -> bool:
        """Return whether nobody has proposed the same before, and it is not too long to be decided about."""
        size = len(msgspec.json.encode(call.arguments))
        named = self._placed(call)
        return size <= MAX_ARGUMENT_BYTES and all(
            (one.tool, one.arguments) != (named.name, named.arguments) for one in self.steps
        )

    async def run(self, calls: Sequence[ToolCall], by: By) -> None:
        """Take a step for each call, until one waits for an approval or none are left.

        Raises:
            FaultError: the gate is not to be had, or somebody else goes on with the conversation.
        """
        for call in calls:
            if CURRENT in _collection_of(call) and not self.collection:
                title = " ".join(self.request.goal.split())[:MAX_TITLE_CHARS]
                await self._propose(ToolCall(name="collection.create", arguments={"title": title}), "rule")
            await self._propose(self._placed(call), by)

    async def resume(self, unfinished: Sequence[Proposal]) -> None:
        """Ask again for the calls that were proposed before: what has run answers as it did, and runs no more."""
        for proposal in unfinished:
            await self._take(proposal)
            if self.waits:
                return

    async def _propose(self, call: ToolCall, by: By) -> None:
        if self.left <= 0 or self.waits or not self.is_new(call):
            return
        proposal = Proposal(call=call, by=by)
        await self.log.write(self._line(proposal, None))
        outcome = await self._take(proposal)
        await self.log.write(self._line(proposal, outcome))

    async def _take(self, proposal: Proposal) -> ToolOutcome:
        """Ask the gate, and keep what came of it."""
        number, call = len(self.steps) + 1, proposal.call
        await self.relay.report(f"Step {number}: {call.name}")
        outcome = await self._decided(proposal)
        step = AgentStep(number=number, tool=call.name, arguments=call.arguments, by=proposal.by, outcome=outcome)
        self.steps.append(step)
        self.collection = self.collection or _begun(step)
        self.evidence.add_step(step)
        await self.relay.report(f"Step {number}: {call.name}: {_outcome_note(outcome)}")
        return outcome

    async def _decided(self, proposal: Proposal) -> ToolOutcome:
        try:
            return await self.bus.call(POLICY_CALL, self._request(proposal))
        except FaultError as error:
            if error.fault.category is not Category.VALIDATION:
                raise
            why = Decision(decision=Verb.DENY, reason_code=Reason.INVALID_ARGUMENTS, why=error.fault.message)
            return ToolOutcome(call_id=proposal.id, decision=why, status=ToolStatus.DENIED)

    def _request(self, proposal: Proposal) -> ToolRequest:
        context = ToolContext(
            user_words=self.user_words,
            documents=self.evidence.shown,
            permitted=(*self.permitted, proposal.call.name) if proposal.by == "rule" else self.permitted,
            session=self.request.session,
        )
        return ToolRequest(
            id=proposal.id,
            call=proposal.call,
            surface=Surface.LLMCP,
            caller=self.request.caller,
            local=self.request.local,
            proposed=True,
            scopes=self.request.scopes,
            conversation=self.log.turn.conversation.id,
            context=context,
        )

    def _placed(self, call: ToolCall) -> ToolCall:
        """Return a call with the collection that it means."""
        if CURRENT not in _collection_of(call) or not self.collection:
            return call
        return ToolCall(name=call.name, arguments={**call.arguments, "collectionId": self.collection})

    def _line(self, proposal: Proposal, outcome: ToolOutcome | None) -> ChatEvent:
        result = ChatToolResult(call_id=proposal.id, by=proposal.by)
        if outcome is not None:
            approval = outcome.approval.id if outcome.approval is not None else ""
            decision = outcome.decision
            result = structs.replace(
                result,
                status=outcome.status,
                decision=decision.decision,
                reason_code=decision.reason_code,
                approval=approval,
            )
        call = ToolCall(name=proposal.call.name, arguments=redacted(proposal.call.arguments))
        event = structs.replace(self.log.turn.event("assistant", ""), task=STEP)
        return structs.replace(event, tool_calls=(call,), tool_results=(result,))


def line_of(step: AgentStep) -> str:
    """Write a call in one line, as it was made."""
    arguments = msgspec.json.encode(redacted(step.arguments)).decode()
    return f"{step.tool} {arguments[:MAX_LINE_CHARS]}"


def redacted(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments as they are written down."""
    return {name: _redacted(value) for name, value in arguments.items()}


def _redacted(value: Any) -> Any:
    match value:
        case str():
            return redact.text(value)
        case dict():
            return redacted(cast("dict[str, Any]", value))
        case list():
            return [_redacted(one) for one in cast("Sequence[Any]", value)]
        case _:
            return value


def _collection_of(call: ToolCall) -> tuple[str, ...]:
    named = call.arguments.get("collectionId")
    return (named,) if isinstance(named, str) else ()


def _begun(step: AgentStep) -> str:
    """Return the id of the collection that a step has begun, if it has."""
    result = step.outcome.result
    if step.tool != "collection.create" or result is None or result.status is not ToolStatus.OK:
        return ""
    named = result.payload.get("collectionId", result.payload.get("id"))
    return named if isinstance(named, str) else ""


def _outcome_note(outcome: ToolOutcome) -> str:
    """Say what came of a step, in no word of a page."""
    if outcome.approval is not None and outcome.status is ToolStatus.PENDING:
        return f"waits for approval {outcome.approval.id}"
    if outcome.status is ToolStatus.DENIED:
        return f"denied ({outcome.decision.reason_code})"
    code = outcome.result.code if outcome.result is not None else None
    return f"{outcome.status} ({code})" if isinstance(code, str) else str(outcome.status)
