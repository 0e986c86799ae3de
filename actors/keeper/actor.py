"""The actor that answers how runs stand and what was said in conversations, from a database made of journals."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import anyio

from actors.actor import Actor, handles, subscribes
from actors.keeper.artifacts import Sweeper, read_piece
from actors.keeper.chat_sessions import ChatSessionQueries, ChatSessionTables
from actors.keeper.collection_queries import CollectionQueries
from actors.keeper.collections import CollectionTables
from actors.keeper.conversations import ChatTables, ConversationQueries, ModelRunTables
from actors.keeper.event_log import EventLog
from actors.keeper.packing import CollectionPacking
from actors.keeper.recordings import Recordings
from actors.keeper.run_tables import RunQueries, RunTables
from actors.keeper.search_index import CollectionPassages, PagePassages
from actors.keeper.search_queries import SearchIndex
from actors.keeper.search_terms import TERMS
from actors.keeper.texts import TextQueries, TextTables
from actors.keeper.views import note_of, run_so_far, summary, whole_run, with_request
from actors.keeper.visits import VisitQueries
from actors.projection.consumer import JournalConsumer, patience_s, projected
from actors.projection.database import Database, locked_file
from bus.clock import now_ms
from bus.stores import FileStore, JournalLog
from protocol import subjects
from protocol.acting.chats import AskMessages, ChatLine, ChatList, ChatMessages, ListChats
from protocol.acting.tasks import TaskLine
from protocol.answers import AskConversation, ChatEvent, ConversationList, ConversationLog, ListConversations
from protocol.collection_views import (
    AskCollection,
    AskKeptBytes,
    AskSource,
    AskText,
    CollectionList,
    CollectionView,
    KeptBytes,
    ListCollections,
    ListTexts,
    PackCollection,
    PackedCollection,
    SourceContent,
    TextInfo,
    TextList,
)
from protocol.collections import CollectionLine
from protocol.faults import Code, FaultError, fault
from protocol.models import CallLine
from protocol.recordings import AskRecording, ConversationRecording, ListRecordings, RecordedBatch, RecordingList
from protocol.runs.events import LedgerLine, RunCreated, RunEnded, RunState, StepEnded
from protocol.runs.requests import AskRun, FollowRun, ListRuns, ReadArtifact, RunNews
from protocol.runs.responses import ArtifactChunk, Run, RunEvent, RunList
from protocol.search import Passages, SearchPassages
from protocol.subject_kinds import Journal, Objects
from protocol.visits import AskVisit, KeptVisit, ListVisits, VisitList

GATHER_S = 0.25
"""How long lines of collections gather before they are written: of one capture there are several."""

NOTES_GATHER_S = 1.0
"""The same for what is noted of pages, which come one after another; who asks for visits or searches waits until
what was noted before is written."""

MAX_WAIT_S = 5.0
"""How long a request for events is kept open at most: a replica that is stopped completes the requests in hand."""


@dataclass
class Keeper(Actor):
    """Answers for runs, their files and conversations; the truth is in the journals, this is a view of them."""

    name: ClassVar[str] = "keeper"
    stores: ClassVar[tuple[Objects, ...]] = (subjects.ARTIFACTS,)
    reads: ClassVar[tuple[Journal[Any], ...]] = (
        subjects.LEDGER,
        subjects.CONVERSATIONS,
        subjects.MODEL_CALLS,
        subjects.COLLECTIONS,
        subjects.PAGE_VISITS,
        subjects.TOOL_CALLS,
        subjects.TASKS,
    )
    journals: ClassVar[tuple[Journal[Any], ...]] = (subjects.RECORDINGS,)
    purposes: ClassVar[tuple[str, ...]] = (TERMS,)

    clock: Callable[[], int] = now_ms
    """The time in ms since the epoch."""

    _ledger: JournalLog[LedgerLine] = field(init=False, repr=False)
    _store: FileStore = field(init=False, repr=False)
    _recordings: Recordings = field(init=False, repr=False)
    _queries: RunQueries = field(init=False, repr=False)
    _said: ConversationQueries = field(init=False, repr=False)
    _runs: JournalConsumer[LedgerLine] = field(init=False, repr=False)
    _events: JournalConsumer[ChatEvent] = field(init=False, repr=False)
    _calls: JournalConsumer[CallLine] = field(init=False, repr=False)
    _collections: JournalConsumer[CollectionLine] = field(init=False, repr=False)
    _index: SearchIndex = field(init=False, repr=False)
    _kept: CollectionQueries = field(init=False, repr=False)
    _texts: TextQueries = field(init=False, repr=False)
    _chats: ChatSessionQueries = field(init=False, repr=False)
    _tasks: JournalConsumer[TaskLine | ChatLine] = field(init=False, repr=False)
    _visited: VisitQueries = field(init=False, repr=False)
    _visits: JournalConsumer[KeptVisit] = field(init=False, repr=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Open a database of its own, and keep it at the end of its journals."""
        seal = self.bus.seal
        if seal is None:
            raise FaultError(fault(Code.CONFIG_INVALID, "This process has no key to read journals with."))
        self._ledger = await self.bus.journal(subjects.LEDGER)
        self._store = await self.bus.objects(subjects.ARTIFACTS)
        chat, calls = await self.bus.journal(subjects.CONVERSATIONS), await self.bus.journal(subjects.MODEL_CALLS)
        acting, visits = await self.bus.journal(subjects.TASKS), await self.bus.journal(subjects.PAGE_VISITS)
        self._recordings = Recordings(await self.bus.journal(subjects.RECORDINGS), self.settings)
        collections = await self.bus.journal(subjects.COLLECTIONS)
        async with locked_file(self.settings.data_dir / "keeper") as path:
            database = Database(path, "actors.keeper")
            tables, self._queries = RunTables(database), RunQueries(database)
            self._said, self._index = ConversationQueries(database, seal), SearchIndex(database, seal)
            self._kept = CollectionQueries(database, seal, self.clock, self.settings.collections_key_bytes)
            self._texts, self._chats = TextQueries(database, seal), ChatSessionQueries(database, seal)
            self._visited = VisitQueries(database, seal, self.clock, self.settings.keep_pages_days)
            kept = (CollectionTables(seal), TextTables(database, seal), CollectionPassages(seal))
            of_visits = (self._visited.tables, PagePassages(seal, self.settings.index_pages))
            async with (
                database.open(),
                projected(self._ledger, database, tables) as self._runs,
                projected(chat, database, ChatTables(seal)) as self._events,
                projected(calls, database, ModelRunTables(seal)) as self._calls,
                projected(collections, database, *kept, linger_s=GATHER_S) as self._collections,
                projected(visits, database, *of_visits, linger_s=NOTES_GATHER_S) as self._visits,
                projected(acting, database, ChatSessionTables(database, seal)) as self._tasks,
                self._event_log(self._ledger, calls, collections, await self.bus.journal(subjects.TOOL_CALLS)),
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(Sweeper(self._store, tables, self._queries, self.clock).run)
                yield
                tasks.cancel_scope.cancel()

    @handles(subjects.RUN_GET, at_once=64)
    async def get(self, request: AskRun) -> Run:
        """Return a run, with its result when it is over.

        Raises:
            FaultError: RUN_NOT_FOUND; INTERNAL_UNAVAILABLE, when the ledger cannot be read.
        """
        await self._runs.wait_current(subjects.RUN_GET.timeout_ms)
        state = await self._run(request.run_id, request.caller)
        artifacts = await self._queries.artifacts(state.run_id) if state.status.final else ()
        run = whole_run(state, artifacts, await self._end_of(state), self.clock())
        return with_request(run, await self._begin_of(state)) if request.include_inputs else run

    @handles(subjects.RUN_LIST, at_once=16)
    async def list(self, request: ListRuns) -> RunList:
        """Return the runs of a caller.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, there is no run after which to begin.
        """
        await self._runs.wait_current(subjects.RUN_LIST.timeout_ms)
        page = await self._queries.page(request)
        return RunList(runs=tuple(map(summary, page.runs)), total=page.total, offset=page.offset)

    @handles(subjects.RUN_FOLLOW, at_once=1_000)
    async def follow(self, request: FollowRun) -> RunNews:
        """Return what has happened to a run since an event, as soon as there is something; after its end, at once.

        Raises:
            FaultError: RUN_NOT_FOUND; INTERNAL_UNAVAILABLE, when the ledger cannot be read.
        """
        wait_s = min(request.wait_ms / 1000, MAX_WAIT_S, patience_s(subjects.RUN_FOLLOW.timeout_ms))
        until = anyio.current_time() + wait_s
        await self._runs.wait_current(subjects.RUN_FOLLOW.timeout_ms)
        while True:
            applied, signal = self._runs.projection.position.applied, self._runs.projection.signal_of(request.run_id)
            state = await self._run(request.run_id, request.caller)
            events = await self._queries.events(request.run_id, request.after)
            if events or state.status.final or anyio.current_time() >= until:
                notes = await self._notes(events) if request.notes else {}
                return RunNews(events=events, run=run_so_far(state, self.clock()), notes=notes)
            with anyio.CancelScope(deadline=until):
                await signal.wait()
            if self._runs.projection.position.applied < applied:  # the tables are being rebuilt
                await self._runs.wait_current(subjects.RUN_FOLLOW.timeout_ms)

    @handles(subjects.ARTIFACT_READ, at_once=16)
    async def read(self, request: ReadArtifact) -> ArtifactChunk:
        """Return a piece of a file.

        Raises:
            FaultError: ARTIFACT_NOT_FOUND; ARTIFACT_EXPIRED; VALIDATION_INVALID_REQUEST, when it ends before the
                offset; INTERNAL_UNAVAILABLE, when the ledger cannot be read.
        """
        await self._runs.wait_current(subjects.ARTIFACT_READ.timeout_ms)
        kept = await self._queries.artifact(request.artifact_id, request.caller)
        if kept is None:
            raise FaultError(fault(Code.ARTIFACT_NOT_FOUND))
        if self.clock() > kept.expires_at:
            raise FaultError(fault(Code.ARTIFACT_EXPIRED))
        return await read_piece(
            self._store, kept, request.offset, min(request.limit, self.settings.artifact_inline_bytes)
        )

    @handles(subjects.CHAT_LIST, at_once=16)
    async def list_chats(self, request: ListChats) -> ChatList:
        """Return the chat sessions of a caller, the one that was last gone on with first.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the journal cannot be read.
        """
        await self._tasks.wait_current(subjects.CHAT_LIST.timeout_ms)
        return await self._chats.page(request)

    @handles(subjects.CHAT_MESSAGES, at_once=16)
    async def chat_messages(self, request: AskMessages) -> ChatMessages:
        """Return messages of a chat session; none where there is no such session of the caller's.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the journal cannot be read.
        """
        await self._tasks.wait_current(subjects.CHAT_MESSAGES.timeout_ms)
        return await self._chats.messages(request)

    @handles(subjects.CONVERSATION_LIST, at_once=16)
    async def list_conversations(self, request: ListConversations) -> ConversationList:
        """Return the conversations of a caller, the one that was last gone on with first.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the journal cannot be read.
        """
        await self._events.wait_current(subjects.CONVERSATION_LIST.timeout_ms)
        page, total = await self._said.page(request), await self._said.total(request.caller)
        return ConversationList(conversations=page, total=total)

    @handles(subjects.CONVERSATION_GET, at_once=16)
    async def conversation(self, request: AskConversation) -> ConversationLog:
        """Return what was said in a conversation, and the calls of models that it took.

        Raises:
            FaultError: VALIDATION_UNKNOWN_CONVERSATION, also for that of somebody else; INTERNAL_UNAVAILABLE, when the
                journals cannot be read.
        """
        await self._events.wait_current(subjects.CONVERSATION_GET.timeout_ms)
        await self._calls.wait_current(subjects.CONVERSATION_GET.timeout_ms)
        events = await self._said.events(request)
        if not events:
            raise FaultError(fault(Code.VALIDATION_UNKNOWN_CONVERSATION, field="id"))
        return ConversationLog(id=request.id, events=events, model_runs=await self._said.model_runs(request))

    @subscribes(subjects.RECORDED, at_once=4, shared=True)
    async def keep_recorded(self, batch: RecordedBatch) -> None:
        """Keep what a replica has noted of conversations."""
        await self._recordings.keep(batch)

    @handles(subjects.RECORDING_LIST, at_once=2)
    async def list_recordings(self, request: ListRecordings) -> RecordingList:
        """Return which conversations are recorded.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the journal cannot be read.
        """
        return await self._recordings.listed(request)

    @handles(subjects.RECORDING_GET, at_once=2)
    async def recording(self, request: AskRecording) -> ConversationRecording:
        """Return what was recorded of a conversation, whoever had it.

        Raises:
            FaultError: VALIDATION_UNKNOWN_CONVERSATION; CONTENT_TOO_LARGE; INTERNAL_UNAVAILABLE, when the journal
                cannot be read.
        """
        return await self._recordings.get(request)

    @handles(subjects.VISIT_LIST, at_once=16)
    async def list_visits(self, request: ListVisits) -> VisitList:
        """Return the pages that a caller has read, the newest first.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the journal cannot be read.
        """
        await self._visits.wait_current(subjects.VISIT_LIST.timeout_ms)
        return await self._visited.page(request)

    @handles(subjects.VISIT_GET, at_once=16)
    async def visit(self, request: AskVisit) -> KeptVisit:
        """Return a page as a caller has read it.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, also for a visit of somebody else; INTERNAL_UNAVAILABLE, when the
                journal cannot be read.
        """
        await self._visits.wait_current(subjects.VISIT_GET.timeout_ms)
        return await self._visited.visit(request)

    @handles(subjects.PASSAGES, at_once=32)
    async def passages(self, request: SearchPassages) -> Passages:
        """Return the passages of what a caller has captured, kept and read that match a query best.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the journal cannot be read.
        """
        await self._collections.wait_current(subjects.PASSAGES.timeout_ms)
        await self._visits.wait_current(subjects.PASSAGES.timeout_ms)
        return await self._index.search(request)

    @handles(subjects.COLLECTION_PACK, at_once=8)
    async def pack(self, request: PackCollection) -> PackedCollection:
        """Return an index and the sources of a collection that suit a question best, as documents.

        Raises:
            FaultError: VALIDATION_UNKNOWN_COLLECTION, also for that of somebody else; INTERNAL_UNAVAILABLE, when the
                journal cannot be read.
        """
        await self._collections.wait_current(subjects.COLLECTION_PACK.timeout_ms)
        return await CollectionPacking(self._kept, self._index).pack(request)

    @handles(subjects.COLLECTION_LIST, at_once=16)
    async def list_collections(self, request: ListCollections) -> CollectionList:
        """Return the collections of a caller, the newest first.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the journal cannot be read.
        """
        await self._collections.wait_current(subjects.COLLECTION_LIST.timeout_ms)
        return await self._kept.page(request)

    @handles(subjects.COLLECTION_BYTES, at_once=32)
    async def kept_bytes(self, request: AskKeptBytes) -> KeptBytes:
        """Return how much a caller keeps in collections and texts, and may keep.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the journal cannot be read.
        """
        await self._collections.wait_current(subjects.COLLECTION_BYTES.timeout_ms)
        return await self._kept.kept_bytes(request.caller)

    @handles(subjects.COLLECTION_GET, at_once=32)
    async def collection(self, request: AskCollection) -> CollectionView:
        """Return a collection with its sources.

        Raises:
            FaultError: VALIDATION_UNKNOWN_COLLECTION, also for that of somebody else; INTERNAL_UNAVAILABLE, when the
                journal cannot be read.
        """
        await self._collections.wait_current(subjects.COLLECTION_GET.timeout_ms)
        return await self._kept.view(request)

    @handles(subjects.SOURCE_GET, at_once=32)
    async def source(self, request: AskSource) -> SourceContent:
        """Return a source whole.

        Raises:
            FaultError: VALIDATION_UNKNOWN_SOURCE, also for that of somebody else; INTERNAL_UNAVAILABLE, when the
                journal cannot be read.
        """
        await self._collections.wait_current(subjects.SOURCE_GET.timeout_ms)
        return await self._kept.source(request)

    @handles(subjects.TEXT_LIST, at_once=16)
    async def list_texts(self, request: ListTexts) -> TextList:
        """Return the texts of a caller, the newest first.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the journal cannot be read.
        """
        await self._collections.wait_current(subjects.TEXT_LIST.timeout_ms)
        return await self._texts.page(request)

    @handles(subjects.TEXT_GET, at_once=16)
    async def text(self, request: AskText) -> TextInfo:
        """Return a text of a caller, whole.

        Raises:
            FaultError: ARTIFACT_NOT_FOUND, also for that of somebody else; INTERNAL_UNAVAILABLE, when the journal
                cannot be read.
        """
        await self._collections.wait_current(subjects.TEXT_GET.timeout_ms)
        return await self._texts.text(request)

    def _event_log(self, *journals: JournalLog[Any]) -> AbstractAsyncContextManager[None]:
        """Return the log of events, which is written as long as it is open, unless the operator wants none."""
        settings = self.settings
        if not settings.event_log:
            return nullcontext()
        path = Path(settings.event_log_file) if settings.event_log_file else settings.data_dir / "events.jsonl"
        return EventLog(path.expanduser(), journals, settings.event_log_previews).open()

    async def _run(self, run_id: str, caller: str) -> RunState:
        state = await self._queries.run(run_id, caller)
        if state is None:
            raise FaultError(fault(Code.RUN_NOT_FOUND))
        return state

    async def _notes(self, events: Sequence[RunEvent]) -> dict[int, str]:
        """Read what steps were about: it stands in their lines alone."""
        notes: dict[int, str] = {}
        for event in events:
            line = await self._ledger.at(event.id) if event.step is not None else None
            if line is not None and isinstance(line.value, StepEnded) and (note := note_of(line.value)):
                notes[event.id] = note
        return notes

    async def _begin_of(self, state: RunState) -> RunCreated | None:
        """Read the line that has begun a run, which alone has its inputs."""
        line = await self._ledger.at(state.created_line)
        return line.value if line is not None and isinstance(line.value, RunCreated) else None

    async def _end_of(self, state: RunState) -> RunEnded | None:
        """Read the line that ended a run, which alone has its result."""
        if not state.status.final:
            return None
        line = await self._ledger.at(state.ended_line)
        return line.value if line is not None and isinstance(line.value, RunEnded) else None
