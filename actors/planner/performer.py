"""Performs the actions of a task in a browser session of ours, each by a call that the gate decides about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, cast

import msgspec
from msgspec import UNSET, Struct

from actors import redact
from actors.planner.tool_calls import SURFACE, tool_call_of
from actors.planner.values import put_in
from bus import Requester
from bus.seal import Seal
from protocol.acting.actions import ActionCall
from protocol.acting.tree import AskTree, PageTree
from protocol.browsers.operations import typed_in
from protocol.documents import Content, Document
from protocol.faults import Code, FaultError, fault
from protocol.packets import ToolCall
from protocol.pages import Captured
from protocol.policy import ToolContext, ToolOutcome, ToolRequest, ToolStatus
from protocol.subjects import BROWSER_TREE, POLICY_CALL

MAX_TEXT_CHARS: Final = 4_000
BEGUN_BEFORE: Final = "It was begun before; the page shows what came of it."

_TYPING: Final = frozenset({"type_text", "type"})
"""What an interact surface calls the tools that type."""

_LEAST_MASKED: Final = 4
"""A shorter value may stand in any text by chance."""


class Performed(Struct, frozen=True, kw_only=True):
    """What came of an action: `code` and `message` of what it failed with, or `approval`, which it waits for.

    `text` is what it has read or changed, in few words; of what the web says in it nothing is to be followed.
    `documents` is what it has read, for whoever shows it to a model.
    """

    status: Literal["ok", "error", "denied", "pending"]
    code: str = ""
    message: str = ""
    text: str = ""
    approval: str = ""
    documents: tuple[Document[Content], ...] = ()


class Performer(Struct, frozen=True, kw_only=True):
    """Acts for one task of one caller, in one browser session.

    `values` are put in where an action says `{name}`: sealed on their way to the field, and told by nobody after that.
    `user_words` are all that the user has said of the task.
    """

    bus: Requester
    seal: Seal | None
    caller: str
    session: str
    task: str
    scopes: tuple[str, ...] = ()
    local: bool = False
    user_words: tuple[str, ...] = ()
    values: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])

    async def tree(self, **wanted: Any) -> PageTree:
        """Read the page as it stands; `wanted` are further fields of `AskTree`.

        Raises:
            FaultError: there is no session, no page or no browser.
        """
        return await self.bus.call(BROWSER_TREE, AskTree(caller=self.caller, session=self.session, **wanted))

    async def perform(
        self,
        action: ActionCall,
        page: PageTree,
        *,
        call_id: str,
        proposed: bool = False,
        documents: Sequence[Document[Content]] = (),
    ) -> Performed:
        """Have an action done, if the gate allows it; the same `call_id` is done once, whoever asks again.

        `proposed`: a model has chosen it, from `documents`.

        Raises:
            FaultError: the gate is not to be had.
        """
        try:
            call = self._filled(tool_call_of(action, page), page)
        except ValueError as error:
            return Performed(status="error", code="INVALID_ARGUMENTS", message=f"{str(error)[:300]}.")
        try:
            outcome = await self._call(call, call_id, page.url, proposed=proposed, documents=tuple(documents))
        except FaultError as error:
            if error.fault.field == "id":
                return Performed(status="ok", message=BEGUN_BEFORE)
            raise
        return self._performed(action, outcome)

    async def screenshot(self, *, call_id: str) -> Captured | None:
        """Take a picture of the window; None where none can be had."""
        try:
            outcome = await self._call(ToolCall(name="screenshot", arguments={"format": "jpeg"}), call_id, "")
        except FaultError:
            return None
        image = outcome.result.payload.get("image") if outcome.result is not None else None
        try:
            return msgspec.convert(image, Captured) if image is not None else None
        except msgspec.ValidationError:
            return None

    async def _call(
        self,
        call: ToolCall,
        call_id: str,
        origin: str,
        *,
        proposed: bool = False,
        documents: tuple[Document[Content], ...] = (),
    ) -> ToolOutcome:
        request = ToolRequest(
            id=call_id,
            call=call,
            surface=SURFACE,
            caller=self.caller,
            local=self.local,
            proposed=proposed,
            scopes=self.scopes,
            conversation=self.task,
            context=ToolContext(user_words=self.user_words, documents=documents, session=self.session, origin=origin),
        )
        return await self.bus.call(POLICY_CALL, request)

    def _filled(self, call: ToolCall, page: PageTree) -> ToolCall:
        """Put the values in: what is typed is sealed, what is chosen stands in the page anyway.

        Raises:
            ValueError: a secret would be put where it cannot go sealed.
        """
        filled, sealed = dict(call.arguments), False
        for name, value in call.arguments.items():
            filled[name] = put_in(value, self.values)
            if filled[name] == value:
                continue
            sealed = sealed or call.name in _TYPING
            secret = next((one for one in self.values if redact.is_secret(one) and f"{{{one}}}" in value), "")
            if secret and call.name not in _TYPING:
                msg = f"{secret} is a secret, which is typed into a field and goes nowhere else"
                raise ValueError(msg)
        if not sealed:
            return ToolCall(name=call.name, arguments=filled)
        element = filled.get("element_id") or page.elements.get(page.focused)
        if element is None:
            msg = "a value is put into a field by its id, as setValue does"
            raise ValueError(msg)
        secret = self._sealed(filled["text"])
        return ToolCall(name="type_text", arguments={"element_id": element, "text": "", "sealed": secret})

    def _sealed(self, words: str) -> str:
        if self.seal is None:
            raise FaultError(fault(Code.CONFIG_INVALID, "There is no key to seal what is typed with."))
        sealed = self.seal.seal(words.encode(), typed_in(self.session))
        return cast("str", msgspec.to_builtins(sealed))

    def _performed(self, action: ActionCall, outcome: ToolOutcome) -> Performed:
        """Return what came of a call, in no word that a user has given in confidence."""
        decision, result = outcome.decision, outcome.result
        match outcome.status:
            case ToolStatus.PENDING:
                approval = outcome.approval.id if outcome.approval is not None else ""
                words = outcome.approval.words if outcome.approval is not None else decision.why
                return Performed(status="pending", code=decision.reason_code.value, message=words, approval=approval)
            case ToolStatus.DENIED:
                return Performed(status="denied", code=decision.reason_code.value, message=decision.why)
            case ToolStatus.OK if result is not None:
                text = self._masked(outcome_text(action, result.payload))
                return Performed(status="ok", text=text, documents=result.documents)
            case _:
                problem = result.fault if result is not None else None
                code = "" if result is None or result.code is UNSET else str(result.code)
                message = problem.message if problem is not None else "It came to nothing."
                return Performed(status="error", code=code, message=self._masked(message))

    def _masked(self, text: str) -> str:
        for name, value in self.values.items():
            if len(value) >= _LEAST_MASKED:
                text = text.replace(value, f"{{{name}}}")
        return text


def outcome_text(action: ActionCall, payload: Mapping[str, Any]) -> str:
    """Return in few words what a tool has answered to an action."""
    match action.name:
        case "getAttribute":
            text = payload.get("attribute") or ""
        case "isVisible" | "isEnabled":
            text = "true" if payload.get("visible" if action.name == "isVisible" else "enabled") else "false"
        case "dropdownOptions":
            text = "\n".join(payload.get("options") or ())
        case "getText":
            text = payload.get("text") or payload.get("value") or _sections(payload)
        case "getTabs":
            tabs = cast("list[dict[str, Any]]", payload.get("tabs") or [])
            text = "\n".join(f"{one.get('id')}: {one.get('title', '')} {one.get('url', '')}" for one in tabs)
        case _:
            text = payload.get("changed") or ""
    return str(text)[:MAX_TEXT_CHARS]


def _sections(payload: Mapping[str, Any]) -> str:
    sections = cast("list[dict[str, Any]]", payload.get("sections") or [])
    return "\n".join(str(one.get("text", "")) for one in sections)
