"""Answers from a collection: what of it suits the question, and one more try where a source that does is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeVar

from msgspec import structs

from actors.answerer.answering import Answering
from actors.answerer.local import answer, summarize
from actors.answerer.prompts import to_cover
from actors.answerer.source import AnswerSource, LocalAnswer
from bus import Requester
from protocol.answers import LOCAL, Answered, Sources, SummaryStyle
from protocol.collection_views import PackCollection
from protocol.faults import Code, FaultError
from protocol.packets import Citation
from protocol.render import Doc, to_markdown
from protocol.subjects import COLLECTION_PACK

S = TypeVar("S", bound=Sources)

MAX_RELEVANT: Final = 8
"""Sources that an answer is to cover."""

RELEVANT: Final = 0.4
"""From which share of the best score a source suits a question, too."""

PACK_CHARS, SOURCE_CHARS = 160_000, 12_000
"""What is read of a collection for one answer, and of each source (003 "Packing")."""

MAX_SUMMARY_QUOTES: Final = 12


async def with_collection(bus: Requester, request: S, question: str, wait_ms: int = 0) -> tuple[S, tuple[str, ...]]:
    """Return a request with the documents of the collection that it names, and the sources that suit it best.

    Raises:
        FaultError: VALIDATION_UNKNOWN_COLLECTION, also for that of somebody else.
    """
    if request.collection is None:
        return request, ()
    pack = PackCollection(
        caller=request.caller,
        collection=request.collection,
        question=question,
        max_chars=PACK_CHARS,
        per_source_chars=SOURCE_CHARS,
    )
    try:
        packed = await bus.call(COLLECTION_PACK, pack, wait_ms=wait_ms)
    except FaultError as error:
        if error.fault.code is not Code.VALIDATION_UNKNOWN_COLLECTION:
            raise
        raise FaultError(structs.replace(error.fault, field="collection")) from None
    best = max((one.score for one in packed.packed), default=0.0)
    relevant = [one.source_id for one in packed.packed if one.packed and one.score > 0 and one.score >= RELEVANT * best]
    documents = (*request.documents, *packed.documents)
    return structs.replace(request, documents=documents), tuple(relevant[:MAX_RELEVANT])


async def covering(answering: Answering, relevant: Sequence[str]) -> Answered:
    """Answer; where a model has left out sources that suit the question, once more with their names.

    Raises:
        FaultError: as `Answering.answer` does.
    """
    first = await answering.answer()
    missing = [name for name in relevant if name not in _cited(first.assistant.citations)]
    if not missing or not first.supported or first.served_by.provider == LOCAL:
        return first
    assignment = structs.replace(answering.assignment, words=to_cover(answering.assignment.words, missing))
    await answering.relay.report("Looking at what was left out")
    await answering.relay.write("", restarted=True)
    second = await replace(answering, assignment=assignment).answer()
    better = _coverage(second, relevant) > _coverage(first, relevant)
    if better and second.supported and second.served_by.provider != LOCAL:
        return second
    tree = first.assistant.render
    await answering.relay.replace(to_markdown(tree) if isinstance(tree, Doc) else "")
    return structs.replace(first, served_by=answering.calls.served)


def answer_covering(question: str, sources: Sequence[AnswerSource], relevant: Sequence[str]) -> LocalAnswer:
    """Quote what the sources say to a question, and of each one that suits it the sentence that answers it."""
    first = answer(question, sources)
    if not first.supported:
        return first
    quoted = {quote.doc_id for quote in first.quotes}
    quotes = list(first.quotes)
    for source in sources:
        if source.source_id in relevant and source.doc_id not in quoted:
            alone = answer(question, [source])
            quotes += alone.quotes[:1] if alone.supported else ()
    return structs.replace(first, quotes=tuple(quotes))


def summarize_covering(sources: Sequence[AnswerSource], style: SummaryStyle) -> LocalAnswer:
    """Quote what says most of all sources; of many sources no more than a reader takes in."""
    summary = summarize(sources, style)
    best = sorted(summary.quotes, key=lambda quote: -quote.score)[:MAX_SUMMARY_QUOTES]
    return structs.replace(summary, quotes=tuple(quote for quote in summary.quotes if quote in best))


def _coverage(answered: Answered, relevant: Sequence[str]) -> int:
    return len(_cited(answered.assistant.citations).intersection(relevant))


def _cited(citations: Sequence[Citation]) -> set[str]:
    return {one.source_id for one in citations if isinstance(one.source_id, str)}
