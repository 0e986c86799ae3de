"""What a page says against a step in words that no list of errors has: who may do it, and what it asks for instead."""

from __future__ import annotations

from typing import Final

from actors.verifier.steps.attribution import BESIDE_PX, StepEvidence, box_of, gap
from actors.verifier.steps.comparison import is_control
from actors.verifier.steps.phrases import matches, word_count
from protocol.acting.tree import SemanticNode

_MAX_WORDS: Final = 16
"""A longer text is prose, no answer to a click."""

_CLICKS: Final = frozenset({"click", "clickAt", "doubleClick"})
_CHOSEN: Final = frozenset({"radio", "chk", "switch", "opt", "tab", "inp", "sel", "slider"})


def may_be_refused(evidence: StepEvidence) -> bool:
    """Return whether an action asks its page to do something: a button, a link, a key; what only chooses does not."""
    if evidence.claim.action.name == "press":
        return True
    return evidence.claim.action.name in _CLICKS and (evidence.target is None or evidence.target.role not in _CHOSEN)


def refusal(evidence: StepEvidence) -> str:
    """Return the new words by which a page that is otherwise the same refuses what was done; "" where there are none.

    What asks for something counts only beside a field that was there before: a next step asks as well, but brings
    fields of its own.
    """
    page = evidence.page
    if page.significant or page.dialog_opened or page.tabs or evidence.successes or _brings_controls(evidence):
        return ""
    fresh = [one for one in evidence.new_texts() if 0 < word_count(one.name) <= _MAX_WORDS]
    for node in fresh:
        if matches(node.name, "reserved") or (matches(node.name, "requests") and _beside_field(node, evidence)):
            return node.name
    return ""


def _brings_controls(evidence: StepEvidence) -> bool:
    return any(is_control(one) for one in evidence.page.added)


def _beside_field(node: SemanticNode, evidence: StepEvidence) -> bool:
    """Return whether a text stands beside a field that is to be filled in or chosen."""
    own = box_of(node)
    fields = (one for one in evidence.claim.after.nodes if one.role in {"inp", "sel", "chk", "radio", "switch"})
    boxes = filter(None, map(box_of, fields))
    return own is not None and any(gap(own, box) <= BESIDE_PX for box in boxes)
