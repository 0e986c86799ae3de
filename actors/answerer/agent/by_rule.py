"""Says what is to be done next where no model is asked, by the words of the goal and what came of the steps; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from actors.answerer.agent.evidence import CALCULATE
from actors.answerer.agent.goals import GoalWords
from actors.answerer.agent.steps import CURRENT
from actors.answerer.source import AnswerSource, LocalAnswer, Quote
from protocol.agent import AgentStep
from protocol.packets import ToolCall
from protocol.policy import ToolStatus
from protocol.search import MAX_QUERY_CHARS, SearchHit

MOST_CAPTURES: Final = 3
"""Results of a search that are read."""

MIN_CONFIDENCE: Final = 0.2
"""From how sure a result of a search is worth reading."""


class RuleState(Struct, frozen=True, kw_only=True):
    """How far it is: `answered` tells whether what was read answers the goal, `read` which pages were."""

    goal: str
    words: GoalWords
    steps: Sequence[AgentStep]
    collection: str
    answered: bool
    read: frozenset[str] = frozenset()


def next_calls(state: RuleState) -> tuple[ToolCall, ...]:
    """Return the calls that come next; none where nothing is left that rules can do."""
    words = state.words
    if words.expression:
        return _once(state, ToolCall(name=CALCULATE, arguments={"expression": words.expression}))
    if words.share is not None:
        artifact, form = words.share
        return _once(state, ToolCall(name="artifact.share", arguments={"artifactId": artifact, "format": form}))
    named = tuple(_capture(url) for url in words.urls if not _is_read(state, url))
    if named or words.urls:
        return named or _transform(state)
    lacking = not state.collection if words.transform is not None else not state.answered
    search = ToolCall(name="search", arguments={"query": query_of(state.goal)})
    return (lacking and _once(state, search)) or tuple(_captures(state)) or _transform(state)


def query_of(goal: str) -> str:
    """Return what is searched for: the words of a goal, in one line."""
    return " ".join(goal.split())[:MAX_QUERY_CHARS]


def calculated(steps: Sequence[AgentStep], sources: Sequence[AnswerSource]) -> LocalAnswer | None:
    """Return the answer of a goal that was a calculation: its result, which stands in the document of its step."""
    step = next((one for one in steps if one.tool == CALCULATE), None)
    result = step.outcome.result if step is not None else None
    value = result.payload.get("result") if result is not None and result.status is ToolStatus.OK else None
    source = next((one for one in sources if step is not None and one.doc_id == f"step_{step.number}"), None)
    if value is None or source is None:
        return None
    quote = Quote(doc_id=source.doc_id, quote=f"result: {value}", score=1.0)
    return LocalAnswer(quotes=(quote,), supported=True, confidence=1.0, value=str(value))


def _once(state: RuleState, call: ToolCall) -> tuple[ToolCall, ...]:
    return () if _step_of(state, call.name) is not None else (call,)


def _step_of(state: RuleState, tool: str) -> AgentStep | None:
    return next((one for one in state.steps if one.tool == tool), None)


def _is_read(state: RuleState, url: str) -> bool:
    """Return whether a page was read, or it was tried."""
    tried = any(one.tool == "source.capture" and one.arguments.get("url") == url for one in state.steps)
    return tried or url in state.read


def _capture(url: str) -> ToolCall:
    return ToolCall(name="source.capture", arguments={"collectionId": CURRENT, "url": url})


def _captures(state: RuleState) -> Iterator[ToolCall]:
    """Yield captures of the best results that are pages, and not the caller's own already."""
    pages = [hit for hit in _hits(state) if hit.url.startswith(("http://", "https://")) and not hit.source_id]
    for hit in [hit for hit in pages if hit.confidence >= MIN_CONFIDENCE][:MOST_CAPTURES]:
        if not _is_read(state, hit.url):
            yield _capture(hit.url)


def _hits(state: RuleState) -> tuple[SearchHit, ...]:
    step = _step_of(state, "search")
    result = step.outcome.result if step is not None else None
    if result is None or result.status is not ToolStatus.OK:
        return ()
    try:
        return msgspec.convert(result.payload.get("hits", ()), tuple[SearchHit, ...])
    except msgspec.ValidationError:
        return ()


def _transform(state: RuleState) -> tuple[ToolCall, ...]:
    kind = state.words.transform
    place = state.collection or next((hit.collection_id for hit in _hits(state) if hit.collection_id), "")
    if kind is None or not place:
        return ()
    arguments = {"collectionId": place, "type": kind.value}
    return _once(state, ToolCall(name="transform.run", arguments=arguments))
