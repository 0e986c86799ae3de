"""The agent loop: a goal, steps of tools that the gate decides about, and an answer (003 "Tools", plan server)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.answers import MAX_QUESTION_CHARS, Answered, ServedBy, SourceRead, Sources
from protocol.browse import stated_version
from protocol.documents import Content, Document
from protocol.packets import Assistant
from protocol.policy import Decision, ToolOutcome

MAX_STEPS: Final = 6
"""Steps of one goal unless its caller says otherwise (003, plan server)."""

MOST_STEPS: Final = 30
RECENT: Final = 8
"""The calls and results before that a plan is given."""

Goal = Annotated[str, Meta(min_length=1, max_length=MAX_QUESTION_CHARS)]


class RunAgent(Sources, frozen=True, kw_only=True, omit_defaults=True):
    """AGENT: reach a goal by tools: each proposal goes through the gate, each result comes back as documents.

    `tools` names what the user's task wants; None: what the goal itself asks for. `collection` is where captures go;
    one is begun where none is named. `scopes` and `local` are those of the caller, for the gate. `session` is a browser
    session of the caller's, for the tools of the browser.
    """

    goal: Goal
    scopes: tuple[str, ...] = ()
    local: bool = False
    max_steps: Annotated[int, Meta(ge=1, le=MOST_STEPS)] = MAX_STEPS
    tools: tuple[str, ...] | None = None
    session: str | None = None


class AgentStep(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One step: what was proposed, by whom (`model` or `rule`), what was decided, and what came of it."""

    number: int
    tool: str
    arguments: dict[str, Any]
    by: Literal["model", "rule"]
    outcome: ToolOutcome


class AgentEnd(StrEnum):
    """Why the loop has ended."""

    ANSWERED = "answered"
    AWAITING_APPROVAL = "awaiting_approval"
    OUT_OF_STEPS = "out_of_steps"
    NOTHING_LEFT = "nothing_left"


class AgentAnswered(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """The answer to AGENT: the answer with its citations, and the steps that led to it."""

    answer: Answered
    steps: tuple[AgentStep, ...]
    ended: AgentEnd
    collection_id: str = ""


# -- the plan server of 003 --------------------------------------------------------------------------------------------


class PlannedCall(Struct, frozen=True, kw_only=True):
    """A call that is proposed, by its id."""

    id: str
    name: str
    arguments: dict[str, Any]


class PlanContext(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the caller of a plan sees: the page that is open, what was done before, and how far the work is."""

    origin: Annotated[str, Meta(min_length=1, max_length=2_000)]
    mode: Literal["assist"] = "assist"
    observation: dict[str, Any] | None = None
    recent_tool_calls: tuple[dict[str, Any], ...] = ()
    recent_tool_results: tuple[dict[str, Any], ...] = ()
    tabs: tuple[dict[str, Any], ...] = ()
    goal_plan: Any = None
    run_id: str | None = None
    step: Annotated[int, Meta(ge=0, le=10_000)] | None = None
    max_steps: Annotated[int, Meta(ge=1, le=10_000)] | None = None


class MakePlan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """AGENT_PLAN: propose the next calls towards a goal, each with what the gate says; nothing is executed."""

    goal: Goal
    context: PlanContext
    caller: str = ""
    scopes: tuple[str, ...] = ()
    local: bool = False
    local_only: bool = False


class PlannedAction(Struct, frozen=True, kw_only=True, rename="camel"):
    """A call that is proposed, and what the gate says of it."""

    tool_call: PlannedCall
    policy: Decision


class Planned(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """The answer to AGENT_PLAN."""

    actions: tuple[PlannedAction, ...]
    summary: str = ""
    assistant: Assistant | UnsetType = UNSET
    goal_plan: Any = None
    served_by: ServedBy | None = None
    schema_version: str = stated_version()


# -- transforms --------------------------------------------------------------------------------------------------------


class TransformType(StrEnum):
    """What can be made of a collection (003)."""

    COMPARISON = "comparison"
    TIMELINE = "timeline"
    EXECUTIVE_BRIEF = "executive_brief"
    REPORT = "report"
    OUTLINE = "outline"
    STUDY_GUIDE = "study_guide"
    QUIZ = "quiz"
    FLASHCARDS = "flashcards"


class MakeText(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """MAKE_TEXT (`transform.run`): make a text of a type out of the documents of a collection."""

    type: TransformType
    documents: tuple[Document[Content], ...]
    caller: str
    title: str = ""
    config: dict[str, Any] = {}
    local_only: bool = False


class MadeText(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to MAKE_TEXT: each claim cites a source, word for word."""

    title: str
    assistant: Assistant
    sources: tuple[SourceRead, ...]
    served_by: ServedBy
    unsupported: tuple[str, ...] = ()
