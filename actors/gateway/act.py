"""Goals that are reached on pages of browser sessions of ours, asked for a client of any surface (001)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.request import RequestContext
from actors.gateway.tool_calls import default_session
from actors.gateway.translate import framed, one_line
from protocol.acting.act import MAX_VALUE_CHARS, MAX_VALUES, ReachOnPage, values_place
from protocol.acting.steps import Blocker, Correction, PlanStep, StepVerdict, TakenAction
from protocol.acting.tasks import (
    MAX_GOAL_CHARS,
    MAX_STEPS,
    MOST_STEPS,
    ActingStatus,
    AskTask,
    TaskGoal,
    TaskId,
    TaskState,
)
from protocol.browse import SCHEMA_VERSION
from protocol.browsers.operations import SessionId
from protocol.faults import Code, FaultError, fault
from protocol.pages import Captured, Url
from protocol.subjects import ACT, TASK_GET
from protocol.urls import without_userinfo

Words = Annotated[str, Meta(max_length=MAX_GOAL_CHARS)]
Values = Annotated[
    dict[
        Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z_][\w.-]*$")],
        Annotated[str, Meta(max_length=MAX_VALUE_CHARS)],
    ],
    Meta(max_length=MAX_VALUES, description="Texts by name; the goal says {name}. They are told to nobody."),
]
MAX_SHOWN_CHARS = 300
_WEB = ("https://", "http://")


class ActRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A goal on a page of a browser session; without `url` on the one that is open there.

    With the `taskId` of a task and the same goal it goes on: what has been done is not done again. `words` answer what
    it has asked.
    """

    goal: TaskGoal
    url: Annotated[Url, Meta(description="Page to begin at.")] | None = None
    session: Annotated[SessionId, Meta(description="Browser session; without: the caller's own.")] | None = None
    values: Values = {}
    max_steps: Annotated[int, Meta(ge=1, le=MOST_STEPS)] = MAX_STEPS
    task_id: TaskId | None = None
    words: Words = ""
    again: Annotated[TaskId, Meta(description="Task whose actions are performed anew, on the same goal.")] | None = None
    local_only: Annotated[bool, Meta(description="Ask no model.")] = False
    screenshot: Annotated[bool, Meta(description="Take a picture of where it ends.")] = True
    format: Literal["json", "markdown"] = "json"


class ResumeActRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What the user says to what a task has asked, or nothing where what stood in its way is gone."""

    words: Words = ""
    values: Values = {}
    local_only: bool = False


class ActStep(Struct, frozen=True, kw_only=True, rename="camel"):
    """One action of a task: why, what came of it, and what was found of that; `text` may be the page's."""

    number: int
    step: int
    action: str
    by: str
    confidence: float
    thought: str = ""
    status: str = ""
    error: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    text: str | UnsetType = UNSET
    verdict: StepVerdict | UnsetType = UNSET
    correction: Correction | UnsetType = UNSET
    at: int = 0


class ActResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """How a task stands: its plan, the actions that were taken, and what came of it or what it waits for.

    `question` is for the user, where `status` is `needs_user_input`; `text` is what the goal asked to find out, or why
    it failed. Times in ms since the epoch.
    """

    task_id: str
    status: ActingStatus
    goal: str
    session: str
    url: str = ""
    plan: tuple[PlanStep, ...] = ()
    steps: tuple[ActStep, ...] = ()
    text: str = ""
    confidence: float = 0.0
    question: str | UnsetType = UNSET
    options: tuple[str, ...] | UnsetType = UNSET
    missing: tuple[str, ...] | UnsetType = UNSET
    blocker: Blocker | UnsetType = UNSET
    memory: dict[str, str] | UnsetType = UNSET
    screenshot: Captured | UnsetType = UNSET
    created_at: int = 0
    updated_at: int = 0
    schema_version: str = SCHEMA_VERSION

    @property
    def waits(self) -> bool:
        """Whether it waits for its user."""
        return self.status is ActingStatus.NEEDS_USER_INPUT


async def act(app: AppContext, request: RequestContext, arguments: ActRequest) -> ActResult:
    """Reach a goal on a page; the request is cancelled with its client, and goes on when it is sent again.

    Raises:
        FaultError: the request contradicts itself; the session, the gate or the browser is not to be had.
    """
    if not arguments.goal.strip():
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, "goal: it has no words.", field="goal"))
    if arguments.url is not None and not arguments.url.lower().startswith(_WEB):
        message = "url: an address of the web begins with https:// or http://."
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="url"))
    caller, task = request.caller, arguments.task_id or str(uuid.uuid4())
    goal = ReachOnPage(
        task=task,
        goal=arguments.goal,
        session=arguments.session or default_session(app, request),
        caller=caller.name,
        url=arguments.url,
        values=_sealed(app, task, arguments.values),
        words=arguments.words,
        resume=bool(arguments.words),
        again=arguments.again,
        max_steps=arguments.max_steps,
        screenshot=arguments.screenshot,
        scopes=tuple(sorted(caller.scopes)),
        local=caller.local,
        local_only=arguments.local_only or Scope.MODELS not in caller.scopes,
        watch=request.watch,
    )
    try:
        reached = await app.bus.call(ACT, goal, wait_ms=app.grace_ms)
    except FaultError as error:
        if error.fault.code is not Code.SESSION_NOT_FOUND or arguments.url or arguments.session:
            raise
        message = "url: no page is open yet in your browser session; name the one to begin at."
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="url")) from None
    return act_result(reached.state, reached.session)


async def get_task(app: AppContext, request: RequestContext, task: str) -> ActResult:
    """Return how a task of the caller stands.

    Raises:
        FaultError: VALIDATION_UNKNOWN_TASK.
    """
    state = await _state(app, request, task)
    return act_result(state, state.session)


async def resume(app: AppContext, request: RequestContext, task: str, arguments: ResumeActRequest) -> ActResult:
    """Go on with a task that waits for its user, or was left before it ended; one that is over stays as it is.

    Raises:
        FaultError: VALIDATION_UNKNOWN_TASK; as `act` does.
    """
    state = await _state(app, request, task)
    if state.surface != "act":
        message = "A client performs this task: it goes on by POST /api/agent/interact."
        raise FaultError(fault(Code.VALIDATION_UNKNOWN_TASK, message, field="taskId"))
    goal = ReachOnPage(
        task=task,
        goal=state.goal,
        session=state.session,
        caller=request.caller.name,
        url=state.url or None,
        values=_sealed(app, task, arguments.values),
        words=arguments.words,
        resume=True,
        max_steps=state.max_steps,
        scopes=tuple(sorted(request.caller.scopes)),
        local=request.caller.local,
        local_only=arguments.local_only or Scope.MODELS not in request.caller.scopes,
        watch=request.watch,
    )
    reached = await app.bus.call(ACT, goal, wait_ms=app.grace_ms)
    return act_result(reached.state, reached.session)


def act_result(state: TaskState, session: str) -> ActResult:
    """Return a task as clients see it: nothing of what was given in confidence."""
    return ActResult(
        task_id=state.task_id,
        status=state.status,
        goal=state.goal,
        session=session,
        url=without_userinfo(state.url),
        plan=state.plan.steps if state.plan is not None else (),
        steps=tuple(map(_step, state.actions)),
        text=state.text,
        confidence=state.confidence,
        question=state.question or UNSET,
        options=state.options or UNSET,
        missing=state.missing or UNSET,
        blocker=state.blocker or UNSET,
        memory=state.memory or UNSET,
        screenshot=state.screenshot or UNSET,
        created_at=state.created_at,
        updated_at=state.updated_at,
    )


def act_text(result: ActResult, boundary: str) -> str:
    """Write a task for a model: our sentences, and what pages say in a frame."""
    lines = [f"Task {result.task_id} is {result.status} (confidence {result.confidence:.2f}).", *step_lines(result)]
    inside = [f"{one.number}: {one_line(one.text)}" for one in result.steps if one.text is not UNSET and one.text]
    inside += [result.text] if result.text else []
    question = [] if result.question is UNSET else [result.question]
    if result.options is not UNSET:
        question += [f"- {one}" for one in result.options]
    if question:
        lines.append("It asks your user, in the frame: call act again with this taskId, the same goal, and words.")
    inside += question
    return "\n".join([*lines, *([framed("\n".join(inside), boundary)] if inside else [])])


def step_lines(result: ActResult) -> Iterator[str]:
    """Write each action in a line: its string, who chose it, and what was found of it."""
    for one in result.steps:
        judged = ""
        if one.verdict is not UNSET:
            judged = f", {'done' if one.verdict.succeeded else 'not done'} ({one.verdict.confidence:.2f})"
        error = f" {one.error}" if one.error is not UNSET else ""
        action = one_line(one.action)[:MAX_SHOWN_CHARS]
        yield f"{one.number + 1}. {action} ({one.by}): {one.status or 'chosen'}{error}{judged}"


def act_markdown(result: ActResult) -> str:
    """Write a task in Markdown: what came of it, or what it asks, and its steps."""
    words = result.text or (result.question if result.question is not UNSET else "")
    return "\n".join([f"# {result.status}", "", words, "", *step_lines(result), ""])


def _step(taken: TakenAction) -> ActStep:
    return ActStep(
        number=taken.number,
        step=taken.step,
        action=taken.string,
        by=taken.by,
        confidence=taken.confidence,
        thought=taken.thought,
        status=taken.status,
        error=taken.error or UNSET,
        message=taken.message or UNSET,
        text=taken.text or UNSET,
        verdict=taken.verdict or UNSET,
        correction=taken.correction or UNSET,
        at=taken.at,
    )


async def _state(app: AppContext, request: RequestContext, task: str) -> TaskState:
    return await app.bus.call(TASK_GET, AskTask(task=task, caller=request.caller.name), wait_ms=app.grace_ms)


def _sealed(app: AppContext, task: str, values: Mapping[str, Any]) -> bytes:
    """Seal what the user has given in confidence, before it leaves this process."""
    if not values:
        return b""
    if app.bus.seal is None:
        raise FaultError(fault(Code.CONFIG_INVALID, "This gateway has no key to seal values with."))
    return app.bus.seal.seal(msgspec.json.encode(values), values_place(task))
