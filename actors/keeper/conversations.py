"""The tables of conversations: what was asked and answered, and the calls of models that it took (003 "Storage")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from actors.projection.database import Database, Write
from actors.projection.projection import TableUpdate
from bus.seal import Seal, UnsealError
from bus.stores import JournalLine
from protocol.answers import AskConversation, ChatEvent, ConversationInfo, ListConversations, ModelRun
from protocol.codec import MalformedError, decoder, encode
from protocol.faults import Code, FaultError, fault
from protocol.models import CallLine, ModelCalled, ModelJudged
from protocol.subjects import CONVERSATIONS, MODEL_CALLS

S = TypeVar("S", bound=Struct)

MAX_EVENTS = 500
"""How many events and how many calls of one conversation are told of: the last ones."""

PREVIEW_CHARS = 160

_EVENT = "INSERT OR IGNORE INTO chat_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_RUN = "INSERT OR IGNORE INTO llm_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)"
_JUDGED = "UPDATE llm_runs SET verified = ? WHERE call_id = ? AND success AND line < ?"

_EVENTS = "SELECT id, content FROM chat_events WHERE caller = ? AND conversation = ? ORDER BY line DESC LIMIT ?"
_RUNS = "SELECT id, content, verified FROM llm_runs WHERE caller = ? AND conversation = ? ORDER BY line DESC LIMIT ?"
_NEWEST = (
    "SELECT started_at, updated_at, turns, first.id, first.content FROM (SELECT min(created_at) AS started_at, "
    "max(created_at) AS updated_at, count(DISTINCT turn) AS turns, min(line) AS first_line, max(line) AS last_line "
    "FROM chat_events WHERE caller = ? GROUP BY conversation ORDER BY last_line DESC LIMIT ? OFFSET ?) "
    "JOIN chat_events AS first ON first.line = first_line ORDER BY last_line DESC"
)
_TOTAL = "SELECT count(DISTINCT conversation) FROM chat_events WHERE caller = ?"


class ChatTables(Struct, frozen=True):
    """What was asked and answered, as the lines of CONVERSATIONS say."""

    seal: Seal
    clear: ClassVar[tuple[str, ...]] = ("DELETE FROM chat_events",)
    prune: ClassVar[tuple[str, ...]] = ("DELETE FROM chat_events WHERE line < ?",)

    async def update(self, lines: Sequence[JournalLine[ChatEvent]]) -> TableUpdate:
        """Return the rows of some lines; of two events with one id the first counts."""
        return TableUpdate([(_EVENT, [self._row(line.sequence, line.value) for line in lines])])

    def _row(self, sequence: int, event: ChatEvent) -> tuple[Any, ...]:
        return (
            event.id,
            sequence,
            event.caller,
            event.conversation,
            event.turn,
            event.collection,
            event.role,
            event.task,
            event.at,
            self.seal.seal(encode(event), _event_place(event.id)),
        )


class ModelRunTables(Struct, frozen=True):
    """The calls of models that conversations took, as the lines of MODEL_CALLS say; other calls are not kept here."""

    seal: Seal
    clear: ClassVar[tuple[str, ...]] = ("DELETE FROM llm_runs",)
    prune: ClassVar[tuple[str, ...]] = ("DELETE FROM llm_runs WHERE line < ?",)

    async def update(self, lines: Sequence[JournalLine[CallLine]]) -> TableUpdate:
        """Return the rows of some lines, and what checks have found of those before them."""
        called = [(line.sequence, line.value) for line in lines if isinstance(line.value, ModelCalled)]
        judged = [(line.sequence, line.value) for line in lines if isinstance(line.value, ModelJudged)]
        writes: list[Write] = [
            (_RUN, [self._row(sequence, call) for sequence, call in called if call.conversation]),
            (_JUDGED, [(check.verified, check.call_id, sequence) for sequence, check in judged]),
        ]
        return TableUpdate(writes)

    def _row(self, sequence: int, call: ModelCalled) -> tuple[Any, ...]:
        name = f"llm_{sequence}"
        return (
            name,
            sequence,
            call.call_id,
            call.caller,
            call.conversation,
            call.tool,
            call.provider,
            call.model,
            call.success,
            call.usage.input,
            call.usage.output,
            call.usage.input + call.usage.output,
            call.cost_usd,
            call.error_kind,
            call.at,
            self.seal.seal(encode(_model_run(call)), _run_place(name)),
        )


class ConversationQueries(Struct, frozen=True):
    """The queries to the tables; each is answered to the caller whose conversations they are."""

    database: Database
    seal: Seal

    async def events(self, request: AskConversation) -> tuple[ChatEvent, ...]:
        """Return what was said in a conversation, in its order.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, where the file was sealed with another key; it is being replaced.
        """
        rows = await self.database.read(_EVENTS, (request.caller, request.id, MAX_EVENTS))
        return tuple(self._opened(ChatEvent, content, _event_place(name)) for name, content in reversed(rows))

    async def model_runs(self, request: AskConversation) -> tuple[ModelRun, ...]:
        """Return the calls of models that a conversation took, in their order.

        Raises:
            FaultError: as `events` does.
        """
        rows = await self.database.read(_RUNS, (request.caller, request.id, MAX_EVENTS))
        return tuple(
            replace(
                self._opened(ModelRun, content, _run_place(name)),
                verified=UNSET if verified is None else bool(verified),
            )
            for name, content, verified in reversed(rows)
        )

    async def page(self, request: ListConversations) -> tuple[ConversationInfo, ...]:
        """Return the conversations of a caller, the one that was last gone on with first.

        Raises:
            FaultError: as `events` does.
        """
        rows = await self.database.read(_NEWEST, (request.caller, request.limit, request.offset))
        return tuple(self._info(*row) for row in rows)

    async def total(self, caller: str) -> int:
        """Count the conversations of a caller."""
        ((total,),) = await self.database.read(_TOTAL, (caller,))
        return int(total)

    def _info(self, started_at: int, updated_at: int, turns: int, name: str, content: bytes) -> ConversationInfo:
        first = self._opened(ChatEvent, content, _event_place(name))
        return ConversationInfo(
            id=first.conversation,
            started_at=started_at,
            updated_at=updated_at,
            turns=turns,
            task=first.task,
            preview=" ".join(first.markdown.split())[:PREVIEW_CHARS],
        )

    def _opened(self, kind: type[S], content: bytes, place: str) -> S:
        try:
            opened: S = decoder(kind).decode(self.seal.unseal(content, place))
        except (UnsealError, MalformedError):
            self.database.broken = True
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE)) from None
        return opened


def _event_place(name: str) -> str:
    return f"{CONVERSATIONS.name} {name}"


def _run_place(name: str) -> str:
    return f"{MODEL_CALLS.name} {name}"


def _model_run(call: ModelCalled) -> ModelRun:
    return ModelRun(
        call_id=call.call_id,
        at=call.at,
        tool=call.tool,
        provider=call.provider,
        model=call.model,
        success=call.success,
        latency_ms=call.latency_ms,
        usage=call.usage,
        cost_usd=call.cost_usd,
        error=call.error_kind or UNSET,
        request_preview=call.asked_preview,
        response_preview=call.answer_preview,
    )
