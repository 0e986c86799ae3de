"""Rounds of tasks whose page a client has: from what was sent to what is to be done next (001 §1, §3)."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable

import msgspec
from anyio import to_thread
from msgspec import UNSET, Struct

from actors.pictures import kept_picture, read_picture
from actors.planner.choosing import StepRules
from actors.planner.deciding import ClientGate
from actors.planner.interacting.answers import kept_words, round_data, wanted_data
from actors.planner.interacting.chats import ChatLog, SaidByAssistant
from actors.planner.interacting.negotiation import Negotiation, WantedContext
from actors.planner.interacting.round_notes import RoundNotes
from actors.planner.interacting.sent_page import evidence_of, page_summary, request_digest
from actors.planner.interacting.turns import ClientTurn, is_unclear, waits
from actors.planner.modelled.advisor import PageAdvisor
from actors.planner.pictures import may_be_shown
from actors.planner.resuming import resume_task
from actors.planner.rounds import Round
from actors.planner.solution import Chosen, Solution, StepOver, TaskSoFar, UserAsked
from actors.planner.task_log import TaskLog
from actors.planner.values import opened_values, shown_values
from bus import Bus
from bus.clock import now_ms
from protocol.acting.interact import Interact, InteractData, InteractRequest
from protocol.acting.tasks import TaskState
from protocol.faults import Code, FaultError, fault
from protocol.models import ImagePart
from protocol.push import RoundTold
from protocol.subjects import TASK_PICTURES

OnRound = Callable[[RoundTold], Awaitable[None]]


async def _nobody(_answered: RoundTold) -> None:
    """Pass a round on to nobody."""


class Interaction(Struct, frozen=True, kw_only=True):
    """Answers the rounds of clients; `on_round` hears of each that was answered, once."""

    bus: Bus
    rules: StepRules
    chats: ChatLog
    notes: RoundNotes
    clock: Callable[[], int] = now_ms
    on_round: OnRound = _nobody

    async def take(self, order: Interact) -> InteractData:
        """Return what a client is to do next, or what more of its page is needed; the same for the same request.

        Raises:
            FaultError: VALIDATION_UNKNOWN_TASK, VALIDATION_TASK_OVER; the session is somebody else's; somebody else
                goes on with the task; the verifier or the gate is not to be had.
        """
        turn = await self._begin(order)
        await turn.read()
        state = turn.log.known
        if state is not None and state.request == turn.digest:
            wanted = await self._wanted(turn, lost=True) if is_unclear(state) else None
            return wanted_data(wanted) if wanted is not None else await self._answer(turn, state)
        if state is not None and state.status.final:
            raise FaultError(fault(Code.VALIDATION_TASK_OVER, field="taskId"))
        if state is not None and waits(state) and not turn.speaks and not is_unclear(state):
            return await self._answer(turn, state)
        if (wanted := await self._wanted(turn)) is not None:
            return wanted_data(wanted)
        state = await self._enter(turn)
        if not order.local_only and may_be_shown(turn.values):
            turn.picture = await self._picture(turn.log.task, order.request)
        if not waits(state):
            state = (await self._round(turn).take(turn.page.tree, evidence_of(order.request))).state
        if is_unclear(state) and (wanted := await self._wanted(turn, lost=True)) is not None:
            return wanted_data(wanted)
        return await self._answer(turn, state)

    async def _begin(self, order: Interact) -> ClientTurn:
        """Find out which task and which session a request is of; the same request begins one of each alone."""
        request, session, task = order.request, order.request.session_id or "", order.request.task_id or ""
        if session:
            session = await self.chats.usable(session, order.caller)
        if not task:
            session, task = await self.notes.ids(order.caller, request_digest(order.caller, request), session)
        log = await TaskLog.opened(self.bus, task, order.caller)
        if request.task_id and log.known is None:
            raise FaultError(fault(Code.VALIDATION_UNKNOWN_TASK, field="taskId"))
        if log.known is not None:
            session = log.known.session or session
        return ClientTurn(order=order, session=session, log=log, seal=self.bus.seal)

    async def _wanted(self, turn: ClientTurn, *, lost: bool = False) -> WantedContext | None:
        """Return what more of the page is wanted, and note that it is asked for.

        `lost`: neither rules nor models knew what to do with what there is.
        """
        state = turn.log.known
        judges = state is not None and state.unjudged is not None
        if not lost and turn.page.known and turn.page.tree.nodes and judges:
            return None  # what comes next is not known before the last action is judged
        solution = None if lost or judges else await self._solution(turn)
        negotiation = Negotiation(
            query=turn.goal,
            page=turn.page.tree,
            sent=turn.page.parts,
            requested=await self.notes.requested(turn.name, turn.digest),
            solved=isinstance(solution, Chosen | StepOver),
            asks=isinstance(solution, UserAsked),
            models=not lost and not turn.order.local_only,
            known=turn.page.known,
            filtered=turn.order.request.dom_filtered,
        )
        wanted = negotiation.wanted()
        if wanted is not None:
            await self.notes.request(turn.order.caller, turn.name, turn.digest, wanted.parts)
        return wanted

    async def _solution(self, turn: ClientTurn) -> Solution | None:
        """Return what rules would do with what there is of the page."""
        state = turn.log.known
        so_far = TaskSoFar(
            goal=turn.goal,
            values=shown_values(turn.values),
            actions=state.actions if state is not None else (),
            memory=state.memory if state is not None else {},
            user_words=state.user_words if state is not None else (),
        )
        steps = state.plan.steps[state.plan.current :] if state is not None and state.plan is not None else ()
        if not steps:
            steps = await to_thread.run_sync(self.rules.make_plan, turn.goal, turn.page.tree, so_far)
        if not steps:
            return None
        return await to_thread.run_sync(self.rules.solve, steps[0], turn.page.tree, so_far)

    async def _enter(self, turn: ClientTurn) -> TaskState:
        """Begin the task, or let one go on that waits; what the user says is written into the session first."""
        await self.chats.ask(turn.message())
        state = turn.log.known
        if state is None:
            return await turn.log.begin(turn.begun(self.clock()))
        if waits(state) and (turn.speaks or is_unclear(state)):
            state = await resume_task(turn.log, self.bus.seal, turn.order.request.query if turn.speaks else "")
            turn.values = opened_values(self.bus.seal, turn.log.task, state.given)
        return state

    async def _picture(self, task: str, request: InteractRequest) -> ImagePart | None:
        """Return the picture that came with a round, or the last one of the task where it is null (001 §5.2).

        Where the null comes with a hash, the picture is meant that has come with the same one.
        """
        if request.screenshot is UNSET:
            return None
        name = task if request.screenshot_hash is None else _picture_name(task, request.screenshot_hash)
        if request.screenshot is None:
            return await kept_picture(self.bus, TASK_PICTURES, name)
        picture = read_picture(request.screenshot)
        if picture is not None:
            store = await self.bus.objects(TASK_PICTURES)
            for each in {task, name}:
                await store.put(each, picture.data)
        return picture

    def _round(self, turn: ClientTurn) -> Round:
        order = turn.order
        return Round(
            bus=self.bus,
            log=turn.log,
            rules=self.rules,
            models=None if order.local_only else PageAdvisor(self.bus, turn.look),
            gate=ClientGate(bus=self.bus, scopes=order.scopes, local=order.local),
            values=turn.values,
            request=turn.digest,
        )

    async def _answer(self, turn: ClientTurn, state: TaskState) -> InteractData:
        """Write the answer into the session, and return it."""
        due = None if state.status.final or waits(state) else state.unjudged
        words, string = kept_words(state, due)
        shown = round_data(state, due, {}, turn.selector)
        details = shown.action_details
        message = SaidByAssistant(
            session=turn.session,
            caller=turn.order.caller,
            task=turn.log.task,
            name=f"{len(state.actions)} {state.status} {state.question}",
            words=words,
            action=string,
            payload=None if details is UNSET else msgspec.to_builtins(details),
            summary=page_summary(turn.page.tree),
            ended=state.status.value if state.status.final else "",
        )
        if await self.chats.answer(message):
            await self.on_round(RoundTold(session=turn.session, caller=turn.order.caller, data=shown))
        return round_data(state, due, turn.values, turn.selector)


def _picture_name(task: str, digest: str) -> str:
    """Return the name under which a picture is kept that a client knows by a hash of its own."""
    return f"{task} {hashlib.sha256(digest.encode(errors='replace')).hexdigest()}"
