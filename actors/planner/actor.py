"""The actor that answers INTERACT, ACT, TASK_GET, TASK_RESUME, CHAT_OPEN and CHAT_CHANGE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from actors.actor import Actor, handles
from actors.planner import solving
from actors.planner.acting import ActingRun
from actors.planner.interacting.chat_news import ChatNews
from actors.planner.interacting.chats import ChatLog
from actors.planner.interacting.interaction import Interaction
from actors.planner.interacting.round_notes import RoundNotes
from actors.planner.resuming import resume_task
from actors.planner.task_log import TaskLog
from protocol import subjects
from protocol.acting.act import TASK_VALUES, Reached, ReachOnPage, ResumeTask
from protocol.acting.chats import ChangeChat, ChatInfo, ChatIsOpen, OpenChat
from protocol.acting.interact import Interact, InteractData
from protocol.acting.tasks import AskTask, TaskState
from protocol.browsers.operations import TYPING
from protocol.push import PUSH
from protocol.subject_kinds import Journal, Objects, Subject


@dataclass
class Planner(Actor):
    """Reaches goals on pages: those that a client has open, and those of our own browser sessions."""

    name: ClassVar[str] = "planner"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (
        subjects.BROWSER_TREE,
        subjects.CALL_MODEL,
        subjects.POLICY_CALL,
        subjects.POLICY_DECIDE,
        subjects.PROGRESS,
        subjects.PUSH_NEWS,
        subjects.VERIFY_STEP,
    )
    journals: ClassVar[tuple[Journal[Any], ...]] = (subjects.TASKS,)
    stores: ClassVar[tuple[Objects, ...]] = (subjects.CAPTURES, subjects.TASK_PICTURES)
    purposes: ClassVar[tuple[str, ...]] = (PUSH, TASK_VALUES, TYPING)

    @handles(subjects.INTERACT, at_once=32)
    async def interact(self, request: Interact) -> InteractData:
        """Answer one round of a task whose page its client has.

        Raises:
            FaultError: what was sent is not a round of a task of the caller's.
        """
        journal = await self.bus.journal(subjects.TASKS)
        news = ChatNews(self.bus)
        interaction = Interaction(
            bus=self.bus,
            rules=solving,
            chats=ChatLog(journal, on_message=news.message),
            notes=RoundNotes(journal),
            on_round=news.round,
        )
        return await interaction.take(request)

    @handles(subjects.ACT, at_once=16)
    async def act(self, request: ReachOnPage) -> Reached:
        """Reach a goal on a page of a browser session.

        Raises:
            FaultError: the session or the gate is not to be had, or somebody else goes on with the task.
        """
        return await ActingRun(bus=self.bus, request=request).run()

    @handles(subjects.TASK_GET, at_once=32)
    async def task(self, request: AskTask) -> TaskState:
        """Return how a task of a caller stands.

        Raises:
            FaultError: VALIDATION_UNKNOWN_TASK.
        """
        return (await TaskLog.opened(self.bus, request.task, request.caller)).state

    @handles(subjects.TASK_RESUME, at_once=32)
    async def resume(self, request: ResumeTask) -> TaskState:
        """Let a task go on that waits for its user.

        Raises:
            FaultError: VALIDATION_UNKNOWN_TASK; it does not wait.
        """
        log = await TaskLog.opened(self.bus, request.task, request.caller)
        return await resume_task(log, self.bus.seal, request.words)

    @handles(subjects.CHAT_OPEN, at_once=32)
    async def open_chat(self, request: OpenChat) -> ChatIsOpen:
        """Begin a chat session, if nobody has.

        Raises:
            FaultError: it is somebody else's, or archived.
        """
        return await (await self._chats()).open(request)

    @handles(subjects.CHAT_CHANGE, at_once=32)
    async def change_chat(self, request: ChangeChat) -> ChatInfo:
        """Rename or archive a chat session.

        Raises:
            FaultError: there is none of the caller's.
        """
        return await (await self._chats()).change(request)

    async def _chats(self) -> ChatLog:
        return ChatLog(await self.bus.journal(subjects.TASKS))
