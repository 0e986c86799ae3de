"""Answers without a model: with sentences of the sources, each cited, and no word of our own but what frames them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from actors.answerer.checking import Checked, confidence
from actors.answerer.citable_source import CitableSource
from actors.answerer.citations import citation, find
from actors.answerer.source import LocalAnswer
from protocol.packets import Assistant, Citation
from protocol.render import Block, Doc, List, ListItem, Paragraph, Text

NOT_SAID: Final = "The sources do not seem to say this. These passages come closest:"
NOTHING_CLOSE: Final = "The sources do not seem to say this."
UNVERIFIED: Final = "What the model wrote could not be found in the sources. These passages come closest:"


def quoted(
    answer: LocalAnswer, sources: Sequence[CitableSource], *, listed: bool = False, unverified: bool = False
) -> Checked:
    """Return what the sources say by themselves; `unverified` says that a model's answer was given up for it."""
    cited = tuple(_cited(answer, sources))
    supported = answer.supported and bool(cited) and not unverified
    blocks = [*_opening(answer, cited, supported=supported, unverified=unverified), *_quotes(cited, listed=listed)]
    return Checked(
        assistant=Assistant(render=Doc(children=tuple(blocks)), citations=cited),
        supported=supported,
        confidence=round(answer.confidence * confidence(cited, (), sources), 3),
        unsupported=(),
        collect=() if supported else answer.collect,
        held=True,
    )


def _cited(answer: LocalAnswer, sources: Sequence[CitableSource]) -> Iterator[Citation]:
    """Yield the citations of the quotes; one that does not stand in its source is left out, as from anybody."""
    by_id = {one.source.doc_id: one for one in sources}
    for quote in answer.quotes:
        evidence = by_id.get(quote.doc_id)
        passage = find(quote.quote, evidence) if evidence is not None else None
        if evidence is not None and passage is not None:
            yield citation(evidence, passage)


def _opening(answer: LocalAnswer, cited: Sequence[Citation], *, supported: bool, unverified: bool) -> Iterator[Block]:
    if unverified and cited:
        yield _paragraph(UNVERIFIED)
    elif not supported:
        yield _paragraph(NOT_SAID if cited else NOTHING_CLOSE)
    elif answer.value:
        yield _paragraph(f"{answer.value} [1]")


def _quotes(cited: Sequence[Citation], *, listed: bool) -> Iterator[Block]:
    lines = [f"{one.quote} [{number}]" for number, one in enumerate(cited, 1)]
    if listed and lines:
        yield _list(lines)
    else:
        yield from map(_paragraph, lines)


def _paragraph(text: str) -> Paragraph:
    return Paragraph(children=(Text(text=text),))


def _list(lines: Sequence[str]) -> List:
    return List(ordered=False, items=tuple(ListItem(children=(Text(text=line),)) for line in lines))
