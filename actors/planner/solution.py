"""What comes of choosing the next action: an action, a question to the user, that the step is over, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from protocol.acting.actions import ActionCall
from protocol.acting.steps import Expectation, TakenAction


class TaskSoFar(Struct, frozen=True, kw_only=True):
    """What whoever chooses knows of a task: its goal, the values that were given for it, and what was done."""

    goal: str
    values: Mapping[str, str]
    actions: tuple[TakenAction, ...] = ()
    memory: Mapping[str, str] | None = None
    user_words: tuple[str, ...] = ()


class Chosen(Struct, frozen=True, kw_only=True):
    """An action, how sure it is that it is the right one (0 to 1), and what it should bring about.

    `pictured`: by a model that was shown a picture of the page.
    """

    action: ActionCall
    thought: str
    confidence: float
    expected: Expectation | None = None
    by: Literal["rule", "model"] = "rule"
    pictured: bool = False


class UserAsked(Struct, frozen=True, kw_only=True):
    """Only the user can say: of `options` several are alike, or `missing` was not told."""

    question: str
    options: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class StepOver(Struct, frozen=True, kw_only=True):
    """The step is done already, or needs nothing; `text` is what it was to find out.

    `shown`: the page itself shows that it is so, whatever was found of the actions before.
    """

    why: str
    text: str = ""
    shown: bool = False


class Unsolved(Struct, frozen=True, kw_only=True):
    """Nobody here knows what to do."""

    why: str


Solution = Chosen | UserAsked | StepOver | Unsolved
