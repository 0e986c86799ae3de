"""Makes one text of the documents of a collection: by a model whose items are checked, otherwise of what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final

import msgspec
from anyio import to_thread
from msgspec import Struct, structs

from actors.answerer.answering import UNREADABLE, UNVERIFIED, Answering, Assignment
from actors.answerer.citations import Cited, chosen
from actors.answerer.claims import counted, marks_of
from actors.answerer.local import summarize
from actors.answerer.model_calls import LOCAL_ONLY, TRANSFORM_PREFIX
from actors.answerer.packing import numbered
from actors.answerer.prompts import listing
from actors.answerer.reading import Reading
from actors.answerer.transforms.comparisons import comparison
from actors.answerer.transforms.content import TextContent, is_empty, to_text
from actors.answerer.transforms.definitions import flashcards, quiz
from actors.answerer.transforms.material import SourceMaterial, materials
from actors.answerer.transforms.modelled import checked_content, read_content, schema_of, task_of
from actors.answerer.transforms.overviews import brief, outline, report, study_guide
from actors.answerer.transforms.timelines import timeline
from bus import TransportError
from protocol.actions import REPORT
from protocol.agent import MadeText, MakeText, TransformType
from protocol.answers import ServedBy
from protocol.documents import CollectionIndex
from protocol.faults import Code, FaultError, fault
from protocol.models import CallOutcome, ModelAnswer
from protocol.packets import Assistant
from protocol.subjects import CALL_OUTCOME
from protocol.texts import MAX_TITLE_CHARS, TRANSFORMS, TransformConfig

Quotes = Callable[[Sequence[SourceMaterial], Any], TextContent]

LOCAL_FORMS: Final[Mapping[TransformType, Quotes]] = MappingProxyType(
    {
        TransformType.COMPARISON: comparison,
        TransformType.TIMELINE: timeline,
        TransformType.EXECUTIVE_BRIEF: brief,
        TransformType.REPORT: report,
        TransformType.OUTLINE: outline,
        TransformType.STUDY_GUIDE: study_guide,
        TransformType.QUIZ: quiz,
        TransformType.FLASHCARDS: flashcards,
    }
)
"""How each type is made without a model: of words that stand in the sources."""

NOTHING: Final[Mapping[TransformType, str]] = MappingProxyType(
    {
        TransformType.TIMELINE: "No sentence of the sources names a date.",
        TransformType.FLASHCARDS: "The sources define nothing.",
        TransformType.QUIZ: "The sources define too little to ask for.",
        TransformType.COMPARISON: "The sources say nothing that could be compared; it takes two at least, or fields.",
    }
)
NOTHING_ELSE: Final = "The sources say too little for it."


class TextMaking(Struct, frozen=True, kw_only=True):
    """One text that is asked for; `reading` is what its documents say."""

    request: MakeText
    config: TransformConfig
    reading: Reading
    answering: Answering

    async def make(self) -> MadeText:
        """Have a model make it and check what it says; where none does, or nothing of it holds, quote.

        Raises:
            FaultError: CONTENT_EMPTY, where the sources say nothing that it could be made of.
        """
        if self.request.local_only or self.config.local_only:
            return await self._local(LOCAL_ONLY)
        try:
            return await self._modelled()
        except FaultError as error:
            return await self._local(error.fault.message)

    async def _modelled(self) -> MadeText:
        excerpts = await to_thread.run_sync(numbered, self.reading.evidence)
        part = await self.answering.narrowed(excerpts)
        messages = await to_thread.run_sync(listing, self.answering.brief(part))
        calls, kind = self.answering.calls, self.request.type
        answer = await calls.call(f"{TRANSFORM_PREFIX}{kind.value}", messages, output=schema_of(kind, part))
        try:
            content = read_content(kind, answer.data)
        except msgspec.ValidationError:
            raise FaultError(fault(Code.NETWORK_MODEL_FAILED, UNREADABLE)) from None
        checked = await to_thread.run_sync(checked_content, content, part, self.reading.evidence)
        await self._publish_outcome(answer, verified=not checked.unsupported)
        if is_empty(checked.content):
            made = await self._local(UNVERIFIED)
            return structs.replace(made, unsupported=checked.unsupported)
        written = await to_thread.run_sync(self._made, checked.content, calls.served)
        return structs.replace(written, unsupported=checked.unsupported)

    async def _publish_outcome(self, answer: ModelAnswer, *, verified: bool) -> None:
        outcome = CallOutcome(call_id=answer.call_id, tool=self.answering.assignment.tool, verified=verified)
        with suppress(FaultError, TransportError):
            await self.answering.bus.tell(CALL_OUTCOME, outcome)

    async def _local(self, why: str) -> MadeText:
        return await to_thread.run_sync(self._quoted, why)

    def _quoted(self, why: str) -> MadeText:
        kind = self.request.type
        content = LOCAL_FORMS[kind](materials(self.reading.evidence), self.config)
        if is_empty(content):
            raise FaultError(fault(Code.CONTENT_EMPTY, NOTHING.get(kind, NOTHING_ELSE), actions=(REPORT,)))
        return self._made(content, self.answering.calls.local(why))

    def _made(self, content: TextContent, served: ServedBy) -> MadeText:
        titles = [(one.source.doc_id, one.source.title or one.source.url) for one in self.reading.evidence]
        markdown = to_text(content, titles)
        text = counted(markdown, self._cited(markdown))
        return MadeText(
            title=self._title(),
            assistant=Assistant(title=self._title(), markdown=text.markdown, citations=text.citations),
            sources=self.reading.reads,
            served_by=served,
        )

    def _cited(self, markdown: str) -> Mapping[int, Cited]:
        """Return the sentences that are cited, by their numbers."""
        lines = {
            line.number: (one.evidence, line.sentence) for one in numbered(self.reading.evidence) for line in one.lines
        }
        return {number: chosen(*lines[number]) for number in marks_of(markdown) if number in lines}

    def _title(self) -> str:
        wanted = self.config.title or self.request.title
        titles = (one.content.title for one in self.request.documents if isinstance(one.content, CollectionIndex))
        of_collection = next(titles, "")
        kind = TRANSFORMS[self.request.type].title
        return (wanted or (f"{kind}: {of_collection}" if of_collection else kind))[:MAX_TITLE_CHARS]


def assignment_of(request: MakeText, config: TransformConfig) -> Assignment:
    """Return what a model is asked for."""
    return Assignment(
        tool=f"{TRANSFORM_PREFIX}{request.type.value}",
        words=task_of(config),
        question=config.focus,
        local=summarize,
    )
