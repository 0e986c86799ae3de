"""Whether what an action was expected to bring about is there, by the kind of what was expected (001, sentinel)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from actors.verifier.steps.attribution import StepEvidence
from actors.verifier.steps.phrases import spoken
from protocol.acting.steps import BeforeState, ExpectedKind
from protocol.acting.tree import SemanticNode

_NOT = ("not ", "!", "-", "un")


def came_true(evidence: StepEvidence) -> bool | None:
    """Return whether what was expected is there; None where nothing in particular was."""
    expected = evidence.claim.expected
    return None if expected is None else _CHECKS[expected.kind](evidence)


def _navigation(evidence: StepEvidence) -> bool | None:
    value, before, after = _value(evidence), evidence.claim.before, evidence.claim.after
    if value and (evidence.page.address or evidence.page.retitled):
        return value.casefold() in after.url.casefold() or spoken(value) in spoken(after.title)
    if value and value.casefold() not in before.url.casefold():
        return False
    return True if evidence.page.significant or evidence.page.tabs else None if evidence.sweeping else False


def _appears(evidence: StepEvidence) -> bool | None:
    value = _value(evidence)
    if not value:
        return bool(evidence.page.added) or None
    before, after = _count(value, evidence.claim.before), _count(value, evidence.claim.after)
    events = any(spoken(value) in spoken(one) for one in evidence.page.events)
    if after > before or events:
        return True
    return None if after and evidence.page.significant else False


def _disappears(evidence: StepEvidence) -> bool | None:
    value, element = _value(evidence), _element(evidence)
    if element and any(one.id == element for one in evidence.claim.before.nodes):
        return element not in evidence.page.pairs
    if not value:
        return bool(evidence.page.removed) or None
    before, after = _count(value, evidence.claim.before), _count(value, evidence.claim.after)
    return after < before if before else None


def _value_changes(evidence: StepEvidence) -> bool | None:
    value, node = _value(evidence), _node(evidence)
    if node is None or node.id in evidence.claim.typed:
        return None
    if value:
        return spoken(value) in spoken(f"{node.value or ''} {node.name}") or None
    return any(one.after is node and "value" in one.fields for one in evidence.page.altered) or None


def _state_changes(evidence: StepEvidence) -> bool | None:
    value, node = _value(evidence).casefold(), _node(evidence)
    if node is None:
        return None
    if not value:
        return any(one.after is node and "state" in one.fields for one in evidence.page.altered) or None
    negated = next((value.removeprefix(one) for one in _NOT if value.startswith(one)), "")
    return negated not in node.states if negated and value not in node.states else value in node.states


def _download(evidence: StepEvidence) -> bool | None:
    return any("download" in one.casefold() for one in evidence.page.events) or (
        None if evidence.claim.client.network else False
    )


def _nothing(_: StepEvidence) -> bool | None:
    """Return that a change says nothing: what only reads is judged by what it returned."""
    return None


def _value(evidence: StepEvidence) -> str:
    return evidence.claim.expected.value.strip() if evidence.claim.expected is not None else ""


def _element(evidence: StepEvidence) -> str:
    return evidence.claim.expected.element if evidence.claim.expected is not None else ""


def _node(evidence: StepEvidence) -> SemanticNode | None:
    """Return the node that something is expected of, as it is now."""
    wanted = _element(evidence)
    if not wanted:
        return evidence.target_after
    finding = evidence.page.pairs.get(wanted)
    return finding or next((one for one in evidence.claim.after.nodes if one.id == wanted), None)


def _count(words: str, page: BeforeState) -> int:
    """Return how many nodes of a page have words."""
    wanted = spoken(words)
    return sum(wanted in spoken(one) for one in (page.title, page.dialog, *_texts(page.nodes)))


def _texts(nodes: Iterable[SemanticNode]) -> Iterable[str]:
    return (f"{one.name} {one.value or ''}" for one in nodes)


_CHECKS: Final[Mapping[ExpectedKind, Callable[[StepEvidence], bool | None]]] = MappingProxyType(
    {
        ExpectedKind.NAVIGATION: _navigation,
        ExpectedKind.ELEMENT_APPEARS: _appears,
        ExpectedKind.ELEMENT_DISAPPEARS: _disappears,
        ExpectedKind.VALUE_CHANGES: _value_changes,
        ExpectedKind.STATE_CHANGES: _state_changes,
        ExpectedKind.DOWNLOAD_STARTS: _download,
        ExpectedKind.ANY_CHANGE: _nothing,
        ExpectedKind.NO_CHANGE: _nothing,
    }
)
