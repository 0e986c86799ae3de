"""Asks the user behind a client of MCP whether a call may run: by elicitation, where the client offers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from mcp.types import CallToolRequestParams, ElicitResult

from actors.gateway.mcp.clients import Context, capabilities_of, is_modern, request_input
from actors.gateway.mcp.serializers import Wire, input_required
from actors.gateway.request import Approver, GivenAnswer
from protocol.offers.results import InputRequest, InputRequests
from protocol.policy import Approval, Remembered

QUESTION: Final = "approval"
"""The name of the one thing that is asked."""

_FIELD: Final = "answer"
_DENY: Final = "deny"
_CAPABILITY: Final = "elicitation"


class InputNeededError(Exception):
    """A client of a newer version is to come again, with what the user has answered."""

    def __init__(self, requests: InputRequests, state: str) -> None:
        """Carry what is asked, and by what it is known then."""
        super().__init__(state)
        self.requests = requests
        self.state = state

    def to_wire(self) -> Wire:
        """Write it as MCP has it."""
        return input_required(self.requests, self.state)


@dataclass(frozen=True)
class ClientUser(Approver):
    """The user behind a client, during one call."""

    context: Context
    params: CallToolRequestParams

    @property
    def resumed(self) -> tuple[str, GivenAnswer | None] | None:
        """Return which approval was asked about, and the answer that the client has come again with."""
        state, responses = self.params.request_state, self.params.input_responses or {}
        if state is None:
            return None
        given = responses.get(QUESTION)
        return state, answer_of(given.action, given.content) if isinstance(given, ElicitResult) else None

    async def ask(self, approval: Approval) -> GivenAnswer | None:
        """Ask, and return the answer; None where the client cannot ask, or the user has not chosen.

        Raises:
            InputNeededError: the client is to come again with the answer.
        """
        if _CAPABILITY not in capabilities_of(self.context):
            return None
        requests = {QUESTION: InputRequest(method="elicitation/create", params=form(approval))}
        if is_modern(self.context):
            raise InputNeededError(requests, approval.id)
        given = (await request_input(self.context, requests))[QUESTION]
        return answer_of(str(given.get("action")), given.get("content"))


def form(approval: Approval) -> dict[str, Any]:
    """Return what the user is asked: what would be done, why that waits, and for what the answer counts."""
    kept = [Remembered.ONCE]
    kept += [Remembered.CONVERSATION] if approval.conversation else []
    kept += [Remembered.SITE] if approval.site else []
    choices = [*(one.value for one in kept), _DENY]
    why = approval.decision.why or approval.decision.reason_code.value
    effect = f"\n{approval.effect}" if approval.effect else ""
    schema = {
        "type": "object",
        "properties": {
            _FIELD: {
                "type": "string",
                "title": "Allow it?",
                "enum": choices,
                "enumNames": [_NAMES[choice].format(site=approval.site) for choice in choices],
            }
        },
        "required": [_FIELD],
    }
    return {"message": f"{approval.words}{effect}\nWhy you are asked: {why}", "requestedSchema": schema}


def answer_of(action: str, content: object) -> GivenAnswer | None:
    """Return what the user has answered; None where nothing was chosen."""
    if action == "decline":
        return GivenAnswer("deny")
    if action != "accept" or not isinstance(content, Mapping):
        return None
    chosen = cast("Mapping[str, object]", content).get(_FIELD)
    if chosen == _DENY:
        return GivenAnswer("deny")
    kept = next((one for one in Remembered if one.value == chosen), None)
    return None if kept is None else GivenAnswer("allow", kept)


_NAMES: Final[Mapping[str, str]] = {
    Remembered.ONCE.value: "Allow this once",
    Remembered.CONVERSATION.value: "Allow it for this conversation",
    Remembered.SITE.value: "Allow it on {site} from now on",
    _DENY: "Deny",
}
