"""Does one step of a flow again: finds its element, has it done if the gate allows it, and looks what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

import anyio
import msgspec
from msgspec import Struct

from actors.flows.consequences import is_true
from actors.flows.finding import FoundNode, NotFound, find
from actors.flows.wording import filled, site_of_page
from actors.runner.template import StepContext
from protocol.access import Scope
from protocol.acting.tree import PageTree, SemanticNode
from protocol.browsers.operations import typed_in
from protocol.faults import Code, FaultContext, FaultError, fault
from protocol.flows import FlowStep, FlowTarget
from protocol.packets import ToolCall
from protocol.policy import ToolContext, ToolOutcome, ToolRequest, ToolStatus
from protocol.runs.events import RunCreated
from protocol.tools.registry import TOOLS
from protocol.tools.tool import Surface

FIND_S: Final = 6.0
"""How long a page may take to show the element of a step."""

CHECK_S: Final = 6.0
"""How long it may take until what must be true after a step is true."""

FIRST_PAUSE_S: Final = 0.05
MAX_PAUSE_S: Final = 0.5

_STEADY: Final = 3
"""So many looks at a page that has not changed show that two elements stay alike."""

SURE: Final = 0.95
"""An element that is less surely the recorded one is not acted on before two looks have shown the same page."""

STEADY_S: Final = 1.0
"""How long a page that is never the same twice is looked at for that."""

ELSEWHERE: Final = "The page is one of another site than it was when it was recorded."
OTHER_FOCUS: Final = "The keys would go to something else than they did when it was recorded."
IN_THE_WAY: Final = "The page asks something in a dialog, which it did not when it was recorded."

_BY_KEYS: Final = frozenset({"press_key", "type_keys"})
"""What goes to whatever has the focus."""

_VALUES: Final[Mapping[str, str]] = {"set_value": "value", "select_option": "value"}
"""What the argument is called that the words of a step go into, where it is not `text`."""


class ReplayedStep(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What was done of a step: by which tool, on what as it was recorded, how sure that was, and where it led.

    `healed`: the element is not all that it was.
    """

    tool: str
    element: str = ""
    score: float = 1.0
    healed: bool = False
    url: str = ""


@dataclass(frozen=True)
class StepReplay:
    """One step of a flow in a run, with the inputs of the flow; those that are secret go into a field alone.

    `page` is what the step before it has left, where that is known.
    """

    context: StepContext
    step: FlowStep
    values: Mapping[str, str]
    secrets: Mapping[str, str] = field(repr=False)
    page: PageTree | None = None

    async def run(self) -> tuple[ReplayedStep, PageTree]:
        """Do the step; returns what was done, and the page after it.

        Raises:
            FaultError: STEP_VERIFICATION_FAILED, its element is gone or like another, or what must be true after it is
                not; what the gate or the browser refuse it with.
        """
        step = self.step
        if step.obstacle:
            raise failed(f"This step cannot be done again. {step.obstacle}")
        page, match = await self._found(step.target, self.page)
        page, to = await self._found(step.to, page)
        if step.tool in _BY_KEYS and page.focused != ("" if match is None else match.node.id):
            raise failed(OTHER_FOCUS)
        arguments = self._arguments(page, match, to)
        begun_before = await self._perform(arguments)
        after = await self._checked(page, None if match is None else match.node)
        score = min((one.score for one in (match, to) if one is not None), default=1.0)
        replayed = ReplayedStep(
            tool=step.tool,
            element="" if step.target is None else step.target.name,
            score=score,
            healed=not begun_before and any(one.healed for one in (match, to) if one is not None),
            url=after.url,
        )
        return replayed, after

    # -- its element ---------------------------------------------------------------------------------------------------

    async def _found(
        self, target: FlowTarget | None, page: PageTree | None = None
    ) -> tuple[PageTree, FoundNode | None]:
        """Return the page, and the element on it; waited for, as pages draw themselves."""
        if target is None:
            page = page or await self.context.tree()
            if self._is_elsewhere(page):
                raise failed(ELSEWHERE)
            return page, None
        pause, began, same, last = FIRST_PAUSE_S, anyio.current_time(), 0, ""
        while True:
            page = page or await self.context.tree()
            result = self._find(target, page)
            same, last = (same + 1 if page.hash == last else 1), page.hash
            looked_s = anyio.current_time() - began
            if isinstance(result, FoundNode):
                if result.score >= SURE or same > 1 or looked_s >= STEADY_S:
                    return page, result
            elif page.dialog or looked_s >= FIND_S or (result.alike and same >= _STEADY):
                raise failed(result.why)
            await anyio.sleep(pause)
            page, pause = None, min(pause * 2, MAX_PAUSE_S)

    def _find(self, target: FlowTarget, page: PageTree) -> FoundNode | NotFound:
        if page.dialog:
            return NotFound(alike=False, why=IN_THE_WAY)
        if self._is_elsewhere(page):
            return NotFound(alike=False, why=ELSEWHERE)
        return find(target, page, self.values)

    def _is_elsewhere(self, page: PageTree) -> bool:
        """Return whether a page is one of another site: what is given to a flow is for none but those of its own."""
        return self.step.site not in ("", site_of_page(page.url))

    # -- the call ------------------------------------------------------------------------------------------------------

    def _arguments(self, page: PageTree, match: FoundNode | None, to: FoundNode | None) -> dict[str, Any]:
        step = self.step
        arguments = {
            name: filled(value, self.values) if isinstance(value, str) else value
            for name, value in step.arguments.items()
        }
        for name, one in (("element_id", match), ("to_element_id", to)):
            if one is not None and step.tool not in _BY_KEYS:
                arguments[name] = page.elements.get(one.node.id, one.node.id)
        if not step.parameter:
            return arguments
        name = _VALUES.get(step.tool, "text")
        if step.parameter in self.values:
            return arguments | {name: self.values[step.parameter]}
        secret = self.secrets[step.parameter]
        if step.tool != "type_text":
            return arguments | {name: secret}
        sealed = self.context.seal(secret, typed_in(self.context.session_id or ""))
        return arguments | {"text": "", "sealed": cast("str", msgspec.to_builtins(sealed))}

    async def _perform(self, arguments: dict[str, Any]) -> bool:
        """Have it done; True where it was begun before, by a replica that is gone: the page shows what came of it."""
        try:
            outcome = await self.context.call_tool(self.step.tool, arguments, brisk=bool(self.step.checks))
        except FaultError as error:
            if error.fault.field == "id":
                return True
            raise
        _check_outcome(self.step.tool, outcome)
        return False

    # -- what came of it -----------------------------------------------------------------------------------------------

    async def _checked(self, before: PageTree, node: SemanticNode | None) -> PageTree:
        """Return the page when all is true that must be; waited for."""
        pause, until = FIRST_PAUSE_S, anyio.current_time() + CHECK_S
        while True:
            after = await self.context.tree()
            wrong = [one for one in self.step.checks if not is_true(one, before, after, node, self.values)]
            if not wrong:
                return after
            if anyio.current_time() >= until:
                kind = str(wrong[0].__struct_config__.tag)
                raise failed(_NOT_TRUE[kind])
            await anyio.sleep(pause)
            pause = min(pause * 2, MAX_PAUSE_S)


def step_call(run: RunCreated, call: str, tool: str, arguments: Mapping[str, Any], *, brisk: bool) -> ToolRequest:
    """Return what the gate is asked about the call of a step; its caller has asked for it, and no model proposes it."""
    return ToolRequest(
        id=call,
        call=ToolCall(name=TOOLS[tool].name_on(Surface.INTERACT), arguments=dict(arguments)),
        surface=Surface.INTERACT,
        caller=run.caller,
        local=run.local,
        scopes=(Scope.BROWSER.value,),
        conversation=run.run_id,
        brisk=brisk,
        context=ToolContext(session=run.session_id or None),
    )


def failed(why: str) -> FaultError:
    """Return the fault of a step that cannot be told to be, or to have been, the one that was recorded."""
    return FaultError(fault(Code.STEP_VERIFICATION_FAILED, why))


def _check_outcome(tool: str, outcome: ToolOutcome) -> None:
    """Raise what a call failed with."""
    decision, result = outcome.decision, outcome.result
    if outcome.status is ToolStatus.OK:
        return
    if outcome.status is ToolStatus.PENDING:
        number = "" if outcome.approval is None else outcome.approval.id
        message = f"{tool} waits for an approval ({number}): {decision.why or decision.reason_code}"
        context = FaultContext(tool=tool, reason_code=decision.reason_code, approval_id=number or None)
        refusal = fault(Code.SECURITY_APPROVAL_REQUIRED, message)
        raise FaultError(msgspec.structs.replace(refusal, context=context))
    if result is not None and result.fault is not None:
        raise FaultError(result.fault)
    if outcome.status is ToolStatus.DENIED:
        message = f"{tool} is not allowed: {decision.why or decision.reason_code} [{decision.reason_code}]"
        raise FaultError(fault(Code.SECURITY_POLICY_DENIED, message))
    raise FaultError(fault(Code.EXECUTION_ERROR, f"{tool} came to nothing."))


_NOT_TRUE: Final[Mapping[str, str]] = {
    "address": "After it the page has another address than it had when it was recorded.",
    "appears": "After it nothing appears of what appeared when it was recorded.",
    "goes": "After it the element is still there, which was gone when it was recorded.",
    "holds": "After it the field does not hold what was put into it.",
    "state": "After it the element is not in the state in which it was when it was recorded.",
    "dialog": "After it no dialog opens, as it did when it was recorded.",
}
