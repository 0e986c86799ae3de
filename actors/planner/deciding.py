"""Has the gate decide about an action that a client performs itself, by what its own page shows of the element."""

from __future__ import annotations

import base64
import hashlib
from typing import Protocol

from msgspec import Struct, structs

from actors.planner.page_evidence import field_facts, page_document, stands_in
from actors.planner.solution import Chosen
from actors.planner.tool_calls import tool_call_of
from bus import Requester
from protocol.acting.actions import ActionCall
from protocol.acting.strings import action_string
from protocol.acting.tasks import TaskState
from protocol.acting.tree import PageTree
from protocol.policy import CALL_PREFIX, Decision, Reason, ToolContext, ToolRequest, Verb
from protocol.subjects import POLICY_DECIDE
from protocol.tools.tool import Surface

_LEAVING = frozenset({"navigate", "search", "googleSearch", "createTab"})
"""The actions whose words go somewhere else than to the page."""

_SEARCHES = frozenset({"search", "googleSearch"})


def call_id_of(task: str, number: int) -> str:
    """Return the id that the gate knows an action by, whoever asks for it and however often."""
    digest = hashlib.sha256(f"{task} {number}".encode()).digest()
    return CALL_PREFIX + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def is_proposed(state: TaskState, action: ActionCall, by: str) -> bool:
    """Return whether an action is a proposal, and not what the user has asked for himself.

    What rules find follows from the user's words alone. Words that a rule has taken from the page are the user's own as
    long as they stay on that page; a page never says where to go.
    """
    if by == "model":
        return action_string(action) not in state.allowed
    words = " ".join((state.goal, *state.user_words))
    return action.name in _LEAVING and not stands_in(action, words)


def searches_for_others(state: TaskState, action: ActionCall) -> bool:
    """Return whether an action asks a search engine for words that are not the user's: the page may have put them."""
    return action.name in _SEARCHES and not stands_in(action, " ".join(user_words_of(state)))


def user_words_of(state: TaskState) -> tuple[str, ...]:
    """Return all that the user has said."""
    return (state.goal, *state.user_words)


class ActionGate(Protocol):
    """Who decides about actions that a client performs itself."""

    async def decide(self, state: TaskState, chosen: Chosen, page: PageTree) -> Decision:
        """Return what is decided about an action."""
        ...


class ClientGate(Struct, frozen=True, kw_only=True):
    """The gate for the actions of one client."""

    bus: Requester
    scopes: tuple[str, ...]
    local: bool

    async def decide(self, state: TaskState, chosen: Chosen, page: PageTree) -> Decision:
        """Return what the gate says of an action.

        Raises:
            FaultError: the gate is not to be had.
        """
        action = chosen.action
        try:
            call = tool_call_of(action, structs.replace(page, elements={one.id: one.id for one in page.nodes}))
        except ValueError as error:
            return Decision(decision=Verb.DENY, reason_code=Reason.INVALID_ARGUMENTS, why=f"{error}.")
        proposed = is_proposed(state, action, chosen.by)
        context = ToolContext(
            user_words=user_words_of(state),
            documents=(page_document(page, action, pictured=chosen.pictured),) if proposed else (),
            origin=page.url,
            field=field_facts(page, action.element or page.focused),
        )
        request = ToolRequest(
            id=call_id_of(state.task_id, len(state.actions)),
            call=call,
            surface=Surface.INTERACT,
            caller=state.caller,
            local=self.local,
            proposed=proposed,
            scopes=self.scopes,
            conversation=state.task_id,
            context=context,
        )
        return await self.bus.call(POLICY_DECIDE, request)
