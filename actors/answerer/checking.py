"""Checks what a model has written against the sources: what holds is cited, what does not is said to be unsupported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final

from msgspec import UNSET, Struct, structs

from actors.answerer.citable_source import CitableSource
from actors.answerer.citations import Cited, chosen, numbers_of, verified
from actors.answerer.claims import checked, marks_of
from actors.answerer.packing import Part
from actors.answerer.prompts import NOT_SUPPORTED, WrittenAnswer, WrittenAssistant
from actors.answerer.rendering import render
from protocol.packets import Assistant, Citation
from protocol.render import Doc, to_markdown

MAX_MARKDOWN_CHARS: Final = 20_000
"""Longer answers are cut (003 "Robustness": enforce caps)."""

MAX_CITATIONS: Final = 60
MAX_COLLECT: Final = 5
MAX_COLLECT_CHARS: Final = 200

NOT_SAID: Final = "The sources do not say this."


class DraftAnswer(Struct, frozen=True, kw_only=True):
    """What a model has written, in whichever form: `cited` is what it cites by the marks in its text, None if nothing.

    `lost` are quotes that no source has and no mark stands for.
    """

    markdown: str
    cited: Mapping[int, Cited | None]
    title: str = ""
    supported: bool = True
    collect: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


class Checked(Struct, frozen=True, kw_only=True):
    """An answer after its check: `held` tells that every citation stood; without citations nothing was to be held."""

    assistant: Assistant
    supported: bool
    confidence: float
    unsupported: tuple[str, ...]
    collect: tuple[str, ...]
    held: bool


def by_number(answer: WrittenAnswer, part: Part) -> DraftAnswer:
    """Return an answer that cites sentences by their numbers; a number that no sentence has cites nothing."""
    lines = {line.number: (one.evidence, line.sentence) for one in part for line in one.lines}
    assistant = answer.assistant
    numbers = dict.fromkeys((*marks_of(assistant.markdown[:MAX_MARKDOWN_CHARS]), *assistant.citations))
    cited = {number: chosen(*lines[number]) if number in lines else None for number in list(numbers)[:MAX_CITATIONS]}
    return DraftAnswer(
        markdown=assistant.markdown,
        cited=cited,
        title=assistant.title,
        supported=answer.supported,
        collect=answer.collect,
    )


def in_markdown(assistant: Assistant, part: Part, sources: Sequence[CitableSource]) -> DraftAnswer:
    """Return an answer in Markdown, whose marks are numbers of sentences.

    A model that quotes instead has marks that count its citations (003 "Markdown-only").
    """
    markdown, marked, rest = _markdown_of(assistant)[:MAX_MARKDOWN_CHARS].partition(NOT_SUPPORTED)
    collect = tuple(line.strip("-* ") for line in rest.split("\n") if line.strip())
    title = assistant.title if isinstance(assistant.title, str) else ""
    if assistant.citations:
        draft = _by_quote(markdown, assistant.citations[:MAX_CITATIONS], sources)
    else:
        without_list = WrittenAssistant(markdown=markdown, citations=())
        draft = by_number(WrittenAnswer(assistant=without_list, supported=True, collect=()), part)
    return structs.replace(draft, title=title, supported=not marked, collect=collect)


def _by_quote(markdown: str, claimed: Sequence[Citation], sources: Sequence[CitableSource]) -> DraftAnswer:
    cited = {number: verified(one, sources) for number, one in enumerate(claimed, 1)}
    marks = marks_of(markdown)
    lost = (one.quote for number, one in enumerate(claimed, 1) if cited[number] is None and number not in marks)
    quotes = tuple(quote[:MAX_COLLECT_CHARS] for quote in lost if isinstance(quote, str))
    return DraftAnswer(markdown=markdown, cited=cited, lost=quotes)


def _markdown_of(assistant: Assistant) -> str:
    if isinstance(assistant.markdown, str):
        return assistant.markdown
    return to_markdown(assistant.render) if isinstance(assistant.render, Doc) else ""


def check(draft: DraftAnswer, sources: Sequence[CitableSource], question: str) -> Checked:
    """Return an answer with the citations that hold, each once, and with its other claims marked."""
    held = {number: one for number, one in draft.cited.items() if one is not None}
    known = numbers_of(question).union(*(numbers_of(one.source.title) for one in sources))
    text = checked(draft.markdown[:MAX_MARKDOWN_CHARS].strip() or NOT_SAID, held, known)
    citations = text.citations
    unsupported = tuple(dict.fromkeys((*text.unsupported, *draft.lost)))
    supported = draft.supported and bool(citations)
    tree = render(text.markdown, lambda address: leads_to(address, sources))
    return Checked(
        assistant=_assistant(draft.title, tree, citations),
        supported=supported,
        confidence=confidence(citations, unsupported, sources) if supported else 0.0,
        unsupported=unsupported,
        collect=tuple(" ".join(one.split())[:MAX_COLLECT_CHARS] for one in draft.collect[:MAX_COLLECT]),
        held=bool(citations) and len(held) == len(draft.cited) and not unsupported,
    )


def confidence(citations: Sequence[Citation], unsupported: Sequence[str], sources: Sequence[CitableSource]) -> float:
    """Return how sure an answer is: as its citations and the reading of what they cite, less what lost its citation."""
    if not citations:
        return 0.0
    read = [
        one.source.confidence
        for one in sources
        if one.source.confidence is not None and any(_cites(citation, one) for citation in citations)
    ]
    quoted = fmean(one.confidence if isinstance(one.confidence, float) else 0.0 for one in citations)
    share = len(citations) / (len(citations) + len(unsupported))
    return round(quoted * share * (fmean(read) if read else 1.0), 3)


def leads_to(address: str, sources: Sequence[CitableSource]) -> bool:
    """Return whether an address stands in a source: an answer links to nothing else."""
    web = address.startswith(("http://", "https://"))
    return web and any(address == one.source.url or f"]({address}" in one.source.markdown for one in sources)


def _assistant(title: str, tree: Doc, citations: Sequence[Citation]) -> Assistant:
    words = " ".join(title.split())[:MAX_COLLECT_CHARS]
    return Assistant(title=words or UNSET, render=tree, citations=tuple(citations))


def _cites(citation: Citation, evidence: CitableSource) -> bool:
    return isinstance(citation.doc_id, str) and evidence.knows(citation.doc_id)
