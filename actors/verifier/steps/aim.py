"""Whether an action was aimed at what its step names, as far as words can say."""

from __future__ import annotations

from typing import Final

from actors.verifier.steps.attribution import StepEvidence
from actors.verifier.steps.comparison import is_control
from actors.verifier.steps.phrases import quoted, spoken
from protocol.acting.steps import BeforeState
from protocol.acting.tree import SemanticNode

_AIMED: Final = frozenset({"click", "doubleClick", "rightClick", "check", "uncheck", "hover"})
_FIELDS: Final = frozenset({"inp", "sel"})


def missed(evidence: StepEvidence) -> str:
    """Return the name of what a step names in quotation marks where something else was acted on; "" where not."""
    target = evidence.target
    if target is None or target.role in _FIELDS or evidence.claim.action.name not in _AIMED:
        return ""
    names = [spoken(one) for one in quoted(evidence.claim.step)]
    own = spoken(f"{target.name} {target.context} {target.value or ''}")
    step = spoken(evidence.claim.step)
    if not names or any(one in own for one in names) or (target.name and spoken(target.name) in step):
        return ""
    others = (one for one in evidence.claim.before.nodes if is_control(one) and one.role not in _FIELDS)
    return next((one.name for one in others if spoken(one.name) in names), "")


def next_is_there(step: str, page: BeforeState) -> bool | None:
    """Return whether a page has what a step names in quotation marks; None where it names nothing."""
    names = [spoken(one) for one in quoted(step)]
    if not names:
        return None
    return any(name in _words(node) for name in names for node in page.nodes)


def _words(node: SemanticNode) -> str:
    return spoken(f"{node.name} {node.context} {node.value or ''}")
