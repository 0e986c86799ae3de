"""The gateway's functions for its owner at this machine: what the command line asks, and MCP over stdio.

This is the one module of the gateway that other rooms import: `weft` asks as a client that is in the same process, with
the local trust level (002 §9).
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

from actors.collection_export import ExportedFile, exported
from actors.gateway import (
    act,
    agent,
    answers,
    approvals,
    collections,
    flows,
    models,
    pages,
    patterns,
    runs,
    tool_calls,
    visits,
)
from actors.gateway.access.caller import STDIO
from actors.gateway.act import ActRequest, ActResult, ResumeActRequest, step_lines
from actors.gateway.agent import AgentRequest, AgentResult, pending
from actors.gateway.answer_results import AnswerResult, ConversationView, ExtractResult
from actors.gateway.answers import AnswerRequest, ExtractRequest, SourcesRequest, SummarizeRequest
from actors.gateway.app_context import NAMING_BYTES, AppContext, BusClient
from actors.gateway.captures import captured_file
from actors.gateway.errors import to_error
from actors.gateway.flows import ForgetRequest, KeepRequest, RecordRequest, ReplayRequest
from actors.gateway.models import RouteAnswer
from actors.gateway.patterns import PatternsRequest
from actors.gateway.request import OnProgress, OnText, RequestContext, Watchers, watching
from actors.gateway.runs import ResumeRequest
from actors.gateway.tool_calls import ClientCall
from actors.settings import Settings
from bus import Bus
from protocol.answers import ConversationList
from protocol.browse import BrowseResult
from protocol.collection_views import (
    CollectionList,
    CollectionView,
    ImportedSources,
    ImportFormat,
    SourceContent,
    TextInfo,
    TextList,
)
from protocol.flows import Flow, FlowForgotten, FlowList, FlowRecording, KeptRecording
from protocol.models import ModelName, Provider
from protocol.pages import BrowsePage
from protocol.patterns.listing import (
    ForgottenPattern,
    ImportedPatterns,
    PatternFile,
    PatternList,
    PatternVerdict,
    PatternView,
)
from protocol.policy import Approval, ApprovalList, Remembered, ToolOutcome
from protocol.routes import ProviderList, ProviderState, RouteChange, RouteTable
from protocol.runs.requests import RunNews
from protocol.runs.responses import ArtifactChunk, CancelAnswer, Run, RunAccepted, RunList, TemplateList
from protocol.subjects import ANSWER_TEXT, PROGRESS
from protocol.tools.runs import ArtifactRequest, RunRequest, RunsRequest
from protocol.tools.tool import Surface
from protocol.visits import ListVisits, VisitList

__all__ = [
    "ActRequest",
    "ActResult",
    "AgentRequest",
    "AgentResult",
    "AnswerRequest",
    "AnswerResult",
    "ArtifactRequest",
    "ConversationView",
    "ExtractRequest",
    "ExtractResult",
    "ForgetRequest",
    "GatewayClient",
    "KeepRequest",
    "RecordRequest",
    "ReplayRequest",
    "ResumeActRequest",
    "ResumeRequest",
    "RouteAnswer",
    "RunRequest",
    "RunsRequest",
    "SourcesRequest",
    "SummarizeRequest",
    "load_stdio_server",
    "pending",
    "step_lines",
    "to_error",
]


MAX_LISTED = 1_000
MAX_PATTERNS_LISTED = 200
MAX_VISITS_LISTED = 200


class GatewayClient:
    """Asks the actors what a gateway would ask for the owner; an actor that is being restarted gets `grace_ms`.

    Every method raises FaultError, as the function of the gateway does that it stands for.
    """

    def __init__(self, bus: BusClient, version: str, grace_ms: int = 0, naming: bytes = b"") -> None:
        """Ask over this bus; `naming` is what the owner's own browser session is named by, the same in each call."""
        self._app = AppContext(
            bus=bus,
            grace_ms=grace_ms,
            version=version,
            watchers=Watchers(bus.replica),
            naming=naming or secrets.token_bytes(NAMING_BYTES),
        )
        self._request = RequestContext(caller=STDIO)

    async def browse(self, page: BrowsePage) -> BrowseResult:
        """Read a page."""
        return await pages.browse(self._app, self._request, page)

    async def listen(self, bus: Bus) -> None:
        """Hear on this bus what actors tell of work that is waited for here."""
        for event in (PROGRESS, ANSWER_TEXT):
            await bus.serve(event.answered_by(bus.replica), self._app.watchers.on_news, at_once=1)

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Have a tool run if the gate allows it."""
        return await tool_calls.call_tool(
            self._app, self._request, ClientCall(name=name, arguments=arguments, surface=Surface.CLI)
        )

    async def collections(self) -> CollectionList:
        """List the collections, the newest first."""
        return await collections.list_collections(self._app, self._request, MAX_LISTED)

    async def collection(self, name: str) -> CollectionView:
        """Return a collection with its sources."""
        return await collections.get_collection(self._app, self._request, name, MAX_LISTED)

    async def import_sources(self, name: str, data: bytes, form: ImportFormat) -> ImportedSources:
        """Add the addresses of a list to a collection."""
        return await collections.import_sources(self._app, self._request, name, data, form)

    def export(self, name: str) -> AsyncGenerator[ExportedFile]:
        """Yield the files of a collection: Markdown with front matter."""
        return exported(self._app.bus, self._request.caller.name, name)

    async def source(self, name: str, version: int | None = None) -> SourceContent:
        """Return a source whole."""
        return await collections.get_source(self._app, self._request, name, version)

    async def texts(self) -> TextList:
        """List the kept texts, the newest first."""
        return await collections.list_texts(self._app, self._request, None, MAX_LISTED)

    async def text(self, name: str) -> TextInfo:
        """Return a kept text whole."""
        return await collections.get_text(self._app, self._request, name)

    async def capture(self, name: str) -> bytes:
        """Return a file that was made for the owner."""
        return await captured_file(self._app, name)

    async def answer(
        self, arguments: SourcesRequest, on_progress: OnProgress, on_text: OnText
    ) -> AnswerResult | ExtractResult:
        """Have an answer written from pages; calls back with how far that is, and with what is written meanwhile."""
        async with watching(self._app.watchers, on_progress, on_text) as watcher:
            return await answers.answer(self._app, self._request.watched_by(watcher), arguments)

    async def agent(self, arguments: AgentRequest, on_progress: OnProgress, on_text: OnText) -> AgentResult:
        """Have a goal reached by tools; calls back with each step, and with what is written of the answer."""
        async with watching(self._app.watchers, on_progress, on_text) as watcher:
            return await agent.run(self._app, self._request.watched_by(watcher), arguments)

    async def act(self, arguments: ActRequest, on_progress: OnProgress) -> ActResult:
        """Have a goal reached on a page; calls back with each step."""
        async with watching(self._app.watchers, on_progress) as watcher:
            return await act.act(self._app, self._request.watched_by(watcher), arguments)

    async def resume_act(self, task: str, arguments: ResumeActRequest, on_progress: OnProgress) -> ActResult:
        """Go on with a task that waits for the owner, or was left; calls back with each step."""
        async with watching(self._app.watchers, on_progress) as watcher:
            return await act.resume(self._app, self._request.watched_by(watcher), task, arguments)

    async def acted(self, task: str) -> ActResult:
        """Return how a task of the owner's stands."""
        return await act.get_task(self._app, self._request, task)

    async def answer_approval(self, name: str, *, allow: bool, remember: Remembered = Remembered.ONCE) -> Approval:
        """Allow or deny what waits."""
        return await approvals.answer_approval(self._app, self._request, name, "allow" if allow else "deny", remember)

    async def approvals(self, *, pending: bool) -> ApprovalList:
        """List what waits, or has waited, for the owner to allow it."""
        return await approvals.list_approvals(self._app, self._request, pending=pending)

    async def approval(self, name: str) -> Approval:
        """Return one approval."""
        return await approvals.get_approval(self._app, self._request, name)

    async def conversations(self, limit: int) -> ConversationList:
        """List the conversations, the newest first."""
        return await answers.conversations(self._app, self._request, limit)

    async def conversation(self, name: str) -> ConversationView:
        """Return what was said in a conversation."""
        return await answers.conversation_log(self._app, self._request, name)

    async def patterns(self, domain: str | None, cursor: str = "") -> PatternList:
        """List what was learned of APIs, by domain."""
        wanted = PatternsRequest(domain=domain, cursor=cursor, limit=MAX_PATTERNS_LISTED)
        return await patterns.list_patterns(self._app, self._request, wanted)

    async def pattern(self, name: str) -> PatternView:
        """Return one pattern."""
        return await patterns.show(self._app, self._request, name)

    async def verify_pattern(self, name: str, url: str | None) -> PatternVerdict:
        """Have a page rendered and made by its pattern, and compare both."""
        return await patterns.verify(self._app, self._request, name, url)

    async def forget_pattern(self, name: str) -> ForgottenPattern:
        """Forget a pattern."""
        return await patterns.forget(self._app, self._request, name)

    async def export_patterns(self, domain: str | None) -> PatternFile:
        """Return patterns for another Weft."""
        return await patterns.export(self._app, domain)

    async def import_patterns(self, file: PatternFile) -> ImportedPatterns:
        """Keep the patterns of a file as hints."""
        return await patterns.import_file(self._app, file)

    async def routes(self) -> RouteTable:
        """List which model is asked for which tools."""
        return await models.routes(self._app)

    async def route(self, tool: str) -> RouteAnswer:
        """Return who would be asked for a tool, and why."""
        return await models.route(self._app, tool)

    async def set_route(self, pattern: str, name: ModelName) -> RouteChange:
        """Send tools of a pattern to a model."""
        return await models.set_route(self._app, pattern, name)

    async def unset_route(self, pattern: str) -> RouteChange:
        """Take back where tools of a pattern were sent."""
        return await models.unset_route(self._app, pattern)

    async def providers(self) -> ProviderList:
        """List the providers of models, and how each stands."""
        return await models.providers(self._app)

    async def try_provider(self, provider: Provider, model: str | None = None) -> ProviderState:
        """Ask a provider for a few words."""
        return await models.try_provider(self._app, provider, model)

    async def record_flow(self, arguments: RecordRequest) -> FlowRecording:
        """Begin to record what is done in a browser session."""
        return await flows.record(self._app, self._request, arguments)

    async def keep_flow(self, arguments: KeepRequest) -> Flow:
        """End a recording, and keep it as a flow."""
        return await flows.keep(self._app, self._request, arguments)

    async def forget_recording(self, arguments: ForgetRequest) -> KeptRecording:
        """End a recording, and keep nothing of it."""
        return await flows.forget_recording(self._app, self._request, arguments)

    async def flows(self) -> FlowList:
        """List the flows, the newest first."""
        return await flows.list_flows(self._app, self._request)

    async def flow(self, flow_id: str) -> Flow:
        """Return a flow."""
        return await flows.get(self._app, self._request, flow_id)

    async def forget_flow(self, flow_id: str) -> FlowForgotten:
        """Forget a flow."""
        return await flows.forget(self._app, self._request, flow_id)

    async def replay_flow(self, flow_id: str, arguments: ReplayRequest) -> RunAccepted:
        """Begin a run that does a flow again, and wait for nothing."""
        return await self.start_run(await flows.replay_request(self._app, self._request, flow_id, arguments))

    async def templates(self) -> TemplateList:
        """List the templates that can be run."""
        return await runs.templates(self._app)

    async def start_run(self, arguments: RunRequest) -> RunAccepted:
        """Begin a run, and wait for nothing."""
        return await runs.create(self._app, self._request, arguments)

    async def resume_run(self, run_id: str, arguments: ResumeRequest) -> RunAccepted:
        """Begin a run that takes over what succeeded in another one."""
        return await runs.resume(self._app, self._request, run_id, arguments)

    async def run(self, run_id: str) -> Run:
        """Return how a run stands."""
        return await runs.get(self._app, self._request, run_id)

    async def runs(self, arguments: RunsRequest) -> RunList:
        """List runs, newest first."""
        return await runs.list_runs(self._app, self._request, arguments)

    async def visits(self, since: int, cursor: int | None = None) -> VisitList:
        """List the pages that were read since a time (ms), newest first, from where `cursor` goes on."""
        query = ListVisits(caller=self._request.caller.name, since=since, cursor=cursor, limit=MAX_VISITS_LISTED)
        return await visits.list_visits(self._app, query)

    async def cancel_run(self, run_id: str) -> CancelAnswer:
        """Ask a run to stop before its next step."""
        return await runs.cancel(self._app, self._request, run_id)

    def follow_run(self, run_id: str, *, notes: bool = False) -> AsyncGenerator[RunNews]:
        """Yield what happens to a run until it is over; close the generator when you leave early.

        With `notes` it is told of each step what that was about.
        """
        return runs.follow(self._app, self._request, run_id, notes=notes)

    async def artifact(self, arguments: ArtifactRequest) -> ArtifactChunk:
        """Read a piece of a file that a run left."""
        return await runs.artifact(self._app, self._request, arguments)


def load_stdio_server() -> Callable[[Bus, Settings], Awaitable[None]]:
    """Import the MCP server, and return what speaks MCP over stdin and stdout until stdin ends.

    It answers as a replica of the gateway of its own.
    """
    from actors.gateway.mcp.replica_state import ReplicaState  # noqa: PLC0415 - imports the MCP SDK
    from actors.gateway.mcp.server import serve_stdio  # noqa: PLC0415 - as above

    async def serve(bus: Bus, settings: Settings) -> None:
        state = ReplicaState(bus.replica)
        for event, handler in state.events:
            await bus.serve(event.answered_by(bus.replica), handler, at_once=1)
        await serve_stdio(bus, settings, state)

    return serve
