"""Has offering actors work for clients over the bus: their tools, resources, prompts and completions."""

from __future__ import annotations

from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    InputResponseRequestParams,
    PromptReference,
    ReadResourceRequestParams,
    Tool,
)
from msgspec import UNSET, Struct
from msgspec.structs import replace

from actors.gateway.app_context import AppContext
from actors.gateway.mcp import serializers
from actors.gateway.mcp.clients import (
    Context,
    capabilities_of,
    is_modern,
    request_input,
    require_input,
    require_tasks,
)
from actors.gateway.mcp.handles import Handles, TaskName
from actors.gateway.mcp.notifications import ProgressRelay, progress_messages
from actors.gateway.mcp.offer_catalogue import EMPTY, OfferCatalogue, Offered, Offers
from actors.gateway.mcp.serializers import MAX_ANSWER_BYTES, Wire, input_required, is_too_long, refusal
from actors.gateway.request import RequestContext
from protocol.faults import Code, FaultError, fault
from protocol.offers import results as outcomes
from protocol.offers.offer import AskOffer, CallTool, Complete, GetPrompt, OfferedTool, ReadResource, TaskUse, Wanted
from protocol.offers.results import (
    Contents,
    InputRequired,
    Messages,
    OfferAnswer,
    OfferedResult,
    OfferedTask,
    Outcome,
    Refused,
)
from protocol.subjects import OFFERED

MAX_ROUNDS = 10
"""How often one request may come back for something of the user."""

DEFAULT_MS = 60_000


class OfferClient(Struct, frozen=True):
    """Sends what clients request to offering actors, and returns what comes of it, whatever version a client speaks."""

    app: AppContext
    offers: Offers
    handles: Handles

    def visible(self, request: RequestContext) -> OfferCatalogue:
        """Return what the caller may see of what is offered."""
        return self.offers.current if request.sees_offers else EMPTY

    async def call_tool(
        self, tool: Offered[OfferedTool, Tool], context: Context, params: CallToolRequestParams
    ) -> Wire:
        """Call a tool that is offered.

        Raises:
            FaultError: the actor failed, or is not there, or took too long.
            MCPError: the actor refused, or the client lacks what it takes.
        """
        if tool.entry.tasks is TaskUse.REQUIRED:
            require_tasks(context)
        do = CallTool(name=params.name, arguments=params.arguments or {})
        match outcome := await self.request(context, tool.actor, do, params, tool.entry.timeout_ms):
            case OfferedResult():
                return serializers.tool_result(outcome if is_modern(context) else _with_object(outcome))
            case InputRequired():
                return input_required(outcome.requests, outcome.state)
            case OfferedTask():
                require_tasks(context)
                task_id = self.handles.task(context.lifespan_context.caller, TaskName(tool.actor, outcome.id))
                return {"resultType": "task", **serializers.task(outcome, task_id)}
            case _:
                raise unexpected(outcome)

    async def read_resource(self, actor: str, context: Context, params: ReadResourceRequestParams) -> Wire:
        """Read a resource that is offered; raises MCPError."""
        outcome = await self.request_or_error(context, actor, ReadResource(uri=params.uri), params)
        if isinstance(outcome, Contents) and not outcome.contents:
            raise MCPError(INVALID_PARAMS, "There is no such resource", {"uri": params.uri})
        return _complete(outcome, Contents)

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> Wire:
        """Fill a prompt that is offered; raises MCPError."""
        actor = self.visible(context.lifespan_context).prompts[params.name].actor
        do = GetPrompt(name=params.name, arguments=params.arguments or {})
        return _complete(await self.request_or_error(context, actor, do, params), Messages)

    async def complete(self, context: Context, params: CompleteRequestParams) -> CompleteResult:
        """Suggest how an argument of an offered prompt or template may go on; for others there is no suggestion."""
        is_prompt = isinstance(params.ref, PromptReference)
        of = params.ref.name if isinstance(params.ref, PromptReference) else params.ref.uri
        catalogue = self.visible(context.lifespan_context)
        offered = catalogue.prompts.get(of) if is_prompt else catalogue.templates.get(of)
        if offered is None:
            return CompleteResult(completion=Completion(values=[]))
        others = (params.context.arguments if params.context else None) or {}
        do = Complete(
            kind="prompt" if is_prompt else "template",
            of=of,
            argument=params.argument.name,
            value=params.argument.value,
            others=others,
        )
        outcome = await self.request_or_error(context, offered.actor, do)
        if not isinstance(outcome, outcomes.Completion):
            raise unexpected(outcome)
        return CompleteResult(completion=Completion.model_validate(serializers.untagged(outcome)))

    async def request(
        self,
        context: Context,
        actor: str,
        do: Wanted,
        params: InputResponseRequestParams | None = None,
        timeout_ms: int = DEFAULT_MS,
    ) -> Outcome:
        """Have an actor do this for the client; the input that it wants of an older client is requested at once.

        InputRequired is returned for newer clients alone, which come again with what was wanted.

        Raises:
            FaultError: the actor failed, or is not there, or took too long.
            MCPError: the actor refused, or the client lacks what it takes.
        """
        who = context.lifespan_context.caller
        request = AskOffer(
            do=do,
            caller=who.name,
            local=who.local,
            capabilities=capabilities_of(context),
            responses=_responses(params),
            state=None if params is None else params.request_state,
        )
        async with progress_messages(self.offers, self.app.watchers.replica, context) as relay:
            return await self._rounds(context, actor, replace(request, watch=relay.watch), timeout_ms, relay)

    async def _rounds(
        self, context: Context, actor: str, request: AskOffer, timeout_ms: int, relay: ProgressRelay
    ) -> Outcome:
        """Ask until nothing more is wanted of the client; raises like `request`."""
        sent = 0
        for _ in range(MAX_ROUNDS):
            answer = await self._call(actor, request, timeout_ms)
            outcome, sent = answer.outcome, sent + answer.messages
            await relay.wait_for(sent)
            if isinstance(outcome, Refused):
                raise refusal(outcome)
            if not isinstance(outcome, InputRequired):
                return outcome
            if is_modern(context):
                require_input(context, [wanted.method for wanted in outcome.requests.values()])
                return outcome
            responses = await request_input(context, outcome.requests)
            request = replace(request, responses=responses, state=outcome.state)
        raise MCPError(INTERNAL_ERROR, f"This was not done after {MAX_ROUNDS} rounds of questions")

    async def request_or_error(
        self, context: Context, actor: str, do: Wanted, params: InputResponseRequestParams | None = None
    ) -> Outcome:
        """Have an actor do this for the client, where a fault is an error of the protocol; raises MCPError."""
        try:
            return await self.request(context, actor, do, params)
        except FaultError as error:
            raise serializers.protocol_error(error.fault) from None

    async def _call(self, actor: str, request: AskOffer, timeout_ms: int) -> OfferAnswer:
        call = OFFERED.at(actor=actor)
        answer = await self.app.bus.call(call, request, timeout_ms=timeout_ms, wait_ms=self.app.grace_ms)
        if is_too_long(answer.outcome):
            message = f"The answer is longer than {MAX_ANSWER_BYTES // 1024 // 1024} MiB"
            raise FaultError(fault(Code.CONTENT_TOO_LARGE, message))
        return answer


def unexpected(outcome: Outcome) -> MCPError:
    """Return the error for an outcome of something else."""
    return MCPError(INTERNAL_ERROR, f"The actor that offers this answered with {type(outcome).__name__}")


def _complete(outcome: Outcome, kind: type[Contents | Messages]) -> Wire:
    if isinstance(outcome, InputRequired):
        return input_required(outcome.requests, outcome.state)
    if not isinstance(outcome, kind):
        raise unexpected(outcome)
    return serializers.complete(outcome)


def _with_object(result: OfferedResult) -> OfferedResult:
    """Leave out data that is no object: clients of the older versions could not read the result."""
    return result if isinstance(result.structured_content, dict) else replace(result, structured_content=UNSET)


def _responses(params: InputResponseRequestParams | None) -> dict[str, dict[str, Any]]:
    given = {} if params is None else params.input_responses or {}
    return {name: one.model_dump(by_alias=True, mode="json", exclude_none=True) for name, one in given.items()}
