"""Writes what steps came to where that is the answer itself: a text that was made, or what was done; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from actors.answerer.agent.evidence import outcome_words
from actors.answerer.rendering import render
from protocol.agent import AgentStep
from protocol.packets import Assistant, Citation
from protocol.policy import Approval, ToolStatus
from protocol.render import Doc, Paragraph, Text

MADE_CONFIDENCE: Final = 0.9
"""Of a text whose claims were held to its sources when it was made."""

NOTHING_READ: Final = "Nothing was read that answers this."

_GATHERS: Final = ("search", "collection.", "source.", "transform.list_types", "browser.observe", "browser.get_")
"""How tools begin that only gather what an answer is made of."""


def made_text(steps: Sequence[AgentStep]) -> Assistant | None:
    """Return the text that the last `transform.run` has made, with its citations; None where there is none."""
    payloads = [payload for step in steps if (payload := _payload(step, "transform.run"))]
    payload = payloads[-1] if payloads else dict[str, Any]()
    markdown = payload.get("markdown")
    if not isinstance(markdown, str):
        return None
    try:
        citations = msgspec.convert(payload.get("citations", ()), tuple[Citation, ...])
    except msgspec.ValidationError:
        citations = ()
    title = str(payload.get("title", ""))
    return Assistant(title=title or msgspec.UNSET, render=render(markdown, lambda _: False), citations=citations)


def has_acted(steps: Sequence[AgentStep]) -> bool:
    """Return whether something was done beside gathering what an answer is made of."""
    return any(step.outcome.status is ToolStatus.OK and not step.tool.startswith(_GATHERS) for step in steps)


def has_failed(steps: Sequence[AgentStep], tool: str) -> bool:
    """Return whether a tool came to nothing, as often as it was called."""
    ends = [step.outcome.status for step in steps if step.tool == tool]
    return bool(ends) and ToolStatus.OK not in ends


def deeds(steps: Sequence[AgentStep]) -> Assistant:
    """Say what was done and what was not; where nothing was, that nothing was read."""
    lines = [f"{step.tool}: {outcome_words(step.outcome)}" for step in steps]
    return plain_words(*lines) if has_acted(steps) else plain_words(NOTHING_READ, *lines)


def waiting(approval: Approval) -> Assistant:
    """Say what waits for an approval."""
    return plain_words(f"This waits for your approval {approval.id}: {approval.words}")


def plain_words(*lines: str) -> Assistant:
    """Return an answer of words of our own, a paragraph each."""
    return Assistant(render=Doc(children=tuple(Paragraph(children=(Text(text=line),)) for line in lines)))


def _payload(step: AgentStep, tool: str) -> dict[str, Any]:
    result = step.outcome.result
    return result.payload if step.tool == tool and result is not None and result.status is ToolStatus.OK else {}
