"""Writes down what was asked and answered (003 "Durable history"): redacted, and of documents a digest alone."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from typing import Final, Literal

import anyio
import structlog
from msgspec import UNSET, Struct, structs

from actors import redact
from actors.answerer.citable_source import CitableSource
from bus import Bus, TransportError
from bus.clock import now_ms
from protocol.answers import Answered, ChatEvent, DocumentDigest, Extracted, conversation_topic
from protocol.faults import Fault, FaultError
from protocol.packets import Citation, Conversation
from protocol.render import Doc, to_markdown
from protocol.subjects import CONVERSATIONS

log = structlog.stdlib.get_logger()

NOT_WRITTEN = "conversation_not_written"

MAX_CHARS: Final = 50_000
"""What is kept of a question or an answer."""

PREVIEW_CHARS: Final = 200
"""What is kept of the beginning of a document."""

_WRITE_S: Final = 2.0
"""How long an answer may wait for its line; it is given without it then."""


class ChatTurn(Struct, frozen=True, kw_only=True):
    """One question of a conversation and its answer; `task` is 003's name of it."""

    bus: Bus
    task: str
    caller: str
    conversation: Conversation
    collection: str | None = None

    async def write_request(self, text: str) -> None:
        """Write what was asked."""
        await self._write(self.event("user", text))

    async def write_answer(self, answer: Answered, evidence: Sequence[CitableSource]) -> None:
        """Write what was answered."""
        render = answer.assistant.render
        event = self.event("assistant", to_markdown(render) if isinstance(render, Doc) else "")
        cited = tuple(_redacted(one) for one in answer.assistant.citations)
        await self._write(structs.replace(event, citations=cited, tool_calls=answer.tool_calls), answer, evidence)

    async def write_data(self, answer: Extracted, evidence: Sequence[CitableSource]) -> None:
        """Write how much data was found; the data themselves are the caller's."""
        count = sum(one.origin is not None for one in answer.fields.values())
        event = self.event("assistant", f"{count} of {len(answer.fields)} fields were found.")
        await self._write(event, answer, evidence)

    async def write_failure(self, failure: Fault) -> None:
        """Write that there was no answer, and why."""
        await self._write(structs.replace(self.event("assistant", ""), fault=failure))

    def event(self, role: Literal["user", "assistant"], text: str) -> ChatEvent:
        """Return a line of this turn, redacted."""
        return ChatEvent(
            id=f"chat_{secrets.token_hex(12)}",
            at=now_ms(),
            conversation=self.conversation.id,
            turn=self.conversation.turn,
            caller=self.caller,
            role=role,
            task=self.task,
            markdown=kept_text(text),
            collection=self.collection,
        )

    async def _write(
        self, event: ChatEvent, answer: Answered | Extracted | None = None, evidence: Sequence[CitableSource] = ()
    ) -> None:
        """Write a line; what cannot be written is logged, for the answer is worth more than its line."""
        if answer is not None:
            documents = tuple(_digest(one) for one in evidence)
            event = structs.replace(event, documents=documents, served_by=answer.served_by)
        try:
            with anyio.fail_after(_WRITE_S):
                journal = await self.bus.journal(CONVERSATIONS)
                await journal.append(conversation_topic(event.caller, event.conversation), event)
        except (FaultError, TransportError, TimeoutError) as error:
            log.warning(NOT_WRITTEN, reason=type(error).__name__)


def kept_text(text: str) -> str:
    """Return words as they are written down."""
    return redact.text(text[:MAX_CHARS])


def _redacted(citation: Citation) -> Citation:
    quote = redact.text(citation.quote) if isinstance(citation.quote, str) else UNSET
    url = redact.url(citation.url) if isinstance(citation.url, str) else UNSET
    return structs.replace(citation, quote=quote, url=url)


def _digest(evidence: CitableSource) -> DocumentDigest:
    source = evidence.source
    return DocumentDigest(
        doc_id=source.doc_id,
        url=redact.url(source.url),
        digest=hashlib.sha256(source.markdown.encode()).hexdigest(),
        chars=len(source.markdown),
        preview=redact.text(evidence.text.text[: 2 * PREVIEW_CHARS])[:PREVIEW_CHARS],
    )
