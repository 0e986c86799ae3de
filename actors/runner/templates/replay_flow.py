"""The template `replay_flow`: does again what was recorded in a browser session; no model is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Meta, Struct

from actors.flows.inputs import values_of
from actors.runner import page_markdown
from actors.runner.flows.replaying import ReplayedStep, StepReplay
from actors.runner.template import (
    Outcome,
    ResultTable,
    SessionUse,
    Stage,
    StepContext,
    StepDiscovery,
    TaskTemplate,
)
from protocol.access import Scope
from protocol.acting.tree import PageTree
from protocol.browsers.operations import CreateSession
from protocol.faults import Code, FaultError, fault
from protocol.flows import MAX_FLOW_STEPS, MAX_PARAMETERS, Flow, FlowId, ParameterName, ParameterValue
from protocol.policy import ToolStatus
from protocol.runs.responses import TemplateLimits
from protocol.runs.states import Mode, StepStatus

MAX_TIMEOUT_MS: Final = 600_000

OPEN, STEP = "open_page", "step"

Values = Annotated[dict[ParameterName, ParameterValue], Meta(max_length=MAX_PARAMETERS)]


class ReplayInputs(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Which flow is done again, and with what: a parameter that is not given has the value that was recorded."""

    flow_id: FlowId
    parameters: Annotated[Values, Meta(description="Values by the names of parameters.")] = {}
    secrets: Annotated[Values, Meta(description="Those of parameters that are secret; kept nowhere.")] = {}


class FlowOpened(Struct, frozen=True, kw_only=True, rename="camel"):
    """The flow as it was when the run began, and where that is."""

    flow: Flow
    url: str


class FlowReplayed(Struct, frozen=True, kw_only=True, rename="camel"):
    """How far a flow came: `total` are its steps, `healed` those whose element is not all that it was."""

    flow_id: str
    name: str
    url: str
    total: int
    healed: int
    steps: tuple[ReplayedStep, ...]


class ReplayFlow(TaskTemplate[ReplayInputs]):
    """Each step after the first is one of the flow; the first that does not come true ends the run."""

    template_id: ClassVar[str] = "replay_flow"
    name: ClassVar[str] = "回放录制流程"
    description: ClassVar[str] = (
        "Do again what was recorded in a browser session, with other inputs. Each element is found again where pages "
        "have changed, and nothing is done to one that cannot be told from another: the run stops with "
        "STEP_VERIFICATION_FAILED."
    )
    open_ended: ClassVar[bool] = True
    in_pages: ClassVar[bool] = True
    limits: ClassVar[TemplateLimits] = TemplateLimits(max_timeout_ms=MAX_TIMEOUT_MS)
    max_timeout_ms: ClassVar[int] = MAX_TIMEOUT_MS
    step_names: ClassVar[tuple[str, ...]] = (OPEN, STEP)
    secret: ClassVar[tuple[str, ...]] = ("secrets",)
    inputs = ReplayInputs
    outputs: type[Struct] = FlowReplayed

    def mode(self, inputs: ReplayInputs) -> Mode:
        """Return SYNC: the caller waits."""
        del inputs
        return Mode.SYNC

    def session(self, inputs: ReplayInputs) -> SessionUse:
        """Return OWN: without a session of the caller's it has one of its own."""
        del inputs
        return SessionUse.OWN

    def scopes(self, inputs: ReplayInputs, *, in_session: bool) -> tuple[Scope, ...]:
        """Return the scope of a browser session."""
        del inputs, in_session
        return (Scope.BROWSER,)

    def stages(self, inputs: ReplayInputs, *, in_session: bool) -> tuple[Stage, ...]:
        """Return a stage that opens the page, and one for the steps, as many as there may be."""
        del inputs, in_session
        return Stage(steps=(OPEN,)), Stage(steps=(STEP,) * MAX_FLOW_STEPS, discovered=True)

    def discovery(self, inputs: ReplayInputs) -> StepDiscovery:
        """Return the flow, once the first step has it."""
        del inputs
        return _OpenFlow()

    async def do(
        self, context: StepContext, inputs: ReplayInputs, index: int, before: Mapping[int, Any]
    ) -> FlowOpened | ReplayedStep:
        """Open the page of the flow, or do one of its steps.

        Raises:
            FaultError: why it came to nothing.
        """
        del before
        if index == 0:
            return await _open(context, inputs)
        opened = context.discovery
        assert isinstance(opened, _OpenFlow)  # noqa: S101 - it is what `discovery` returns
        flow = opened.flow
        if flow is None or index > len(flow.steps):
            raise FaultError(fault(Code.INTERNAL_ERROR, "The flow has no such step."))
        values = values_of(flow.parameters, inputs.parameters, inputs.secrets)
        with context.part(f"{STEP} {index}: {flow.steps[index - 1].tool}"):
            step = StepReplay(context, flow.steps[index - 1], values, inputs.secrets, opened.page)
            opened.page = None
            replayed, opened.page = await step.run()
            return replayed

    def items(self, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Return the steps that were begun: there are no others."""
        return [one for one in outcomes if one.status in {StepStatus.SUCCEEDED, StepStatus.FAILED}]

    def result(self, inputs: ReplayInputs, outcomes: Sequence[Outcome], session_id: str | None) -> FlowReplayed | None:
        """Return how far it came; None where it did not begin."""
        del session_id, inputs
        done = [one.output for one in outcomes if one.status is StepStatus.SUCCEEDED]
        if not done or outcomes[0].status is not StepStatus.SUCCEEDED:
            return None
        opened, steps = msgspec.convert(done[0], FlowOpened), msgspec.convert(done[1:], tuple[ReplayedStep, ...])
        return FlowReplayed(
            flow_id=opened.flow.flow_id,
            name=opened.flow.name,
            url=steps[-1].url if steps else opened.url,
            total=len(opened.flow.steps),
            healed=sum(one.healed for one in steps),
            steps=steps,
        )

    def brief(self, result: Any) -> Any:
        """Return the whole result: it is short."""
        return result

    def table(self, result: Any) -> ResultTable:
        """Return a row for every step."""
        steps = msgspec.convert(result, FlowReplayed).steps
        rows = tuple((at, one.tool, one.element, one.score, one.healed, one.url) for at, one in enumerate(steps, 1))
        return ResultTable(header=("step", "tool", "element", "score", "healed", "url"), rows=rows)

    def markdown(self, result: Any) -> str:
        """Write a table of the steps."""
        replayed, table = msgspec.convert(result, FlowReplayed), self.table(result)
        counts = f"{len(replayed.steps)} of {replayed.total} steps were done."
        return "\n\n".join(("# Flow", counts, page_markdown.table(table.header, table.rows))) + "\n"


class _OpenFlow:
    """The flow of a run, as its first step has found it, and the page that its last step has left here."""

    def __init__(self) -> None:
        self.flow: Flow | None = None
        self.page: PageTree | None = None

    def learn(self, outcome: Outcome) -> None:
        """Take in the flow."""
        if outcome.index == 0 and outcome.status is StepStatus.SUCCEEDED:
            self.flow = msgspec.convert(outcome.output, FlowOpened).flow

    def begin(self, index: int) -> bool:
        """Return whether the flow has such a step."""
        return self.flow is not None and index <= len(self.flow.steps)


REPLAY = ReplayFlow()


async def _open(context: StepContext, inputs: ReplayInputs) -> FlowOpened:
    """Open the page that the flow begins at, if its inputs are those that it takes."""
    flow = await context.flow(inputs.flow_id)
    values_of(flow.parameters, inputs.parameters, inputs.secrets)
    await context.browser(CreateSession())
    outcome = await context.call_tool("navigate", {"url": flow.url})
    if outcome.status is not ToolStatus.OK:
        problem = outcome.result.fault if outcome.result is not None else None
        why = outcome.decision.why or outcome.decision.reason_code.value
        raise FaultError(problem or fault(Code.SECURITY_POLICY_DENIED, f"navigate is not allowed: {why}"))
    return FlowOpened(flow=flow, url=flow.url)
