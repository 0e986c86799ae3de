"""What of a page is written down, shown to the gate and given to the verifier; pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from actors.planner.machine import is_last_step
from protocol.acting.actions import ActionCall
from protocol.acting.steps import MAX_KEPT_NODES, BeforeState, ClientEvidence, StepClaim, TakenAction
from protocol.acting.tasks import TaskState
from protocol.acting.tree import ElementMarks, PageTree, SemanticNode
from protocol.documents import Content, Document, WebObservationSummary, untrusted
from protocol.policy import FieldFacts

MAX_DOCUMENT_CHARS: Final = 24_000
_MOST_FIELDS: Final = 20

_TAGS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "inp": ("input", "text"), "chk": ("input", "checkbox"), "radio": ("input", "radio"), "sel": ("select", ""),
        "slider": ("input", "range"), "switch": ("input", "checkbox"), "btn": ("button", "button"), "link": ("a", ""),
    }
)  # fmt: skip
"""The tag and the type that a role of a tree stands for."""

_HIDDEN_SIGNS: Final = frozenset("•●*")


def before_state(page: PageTree) -> BeforeState:
    """Return what is kept of a page, to compare it with what it is after an action."""
    beside = frozenset(page.beside)
    return BeforeState(
        url=page.url,
        title=page.title,
        hash=page.hash,
        focused=page.focused,
        nodes=tuple(one for one in page.nodes if one.id not in beside)[:MAX_KEPT_NODES],
        recent_events=page.recent_events,
        has_errors=page.has_errors,
        has_success=page.has_success,
        dialog=page.dialog,
        tabs=page.tabs,
        scroll_position=page.scroll_position,
        inputs=page.inputs,
        selection=page.selection,
        status=page.status,
    )


def step_claim(
    state: TaskState, taken: TakenAction, page: PageTree, client: ClientEvidence, *, local_only: bool
) -> StepClaim:
    """Return what the verifier is asked of the last action."""
    final = state.plan is None or is_last_step(state.plan)
    steps = {one.index: one.description for one in state.plan.steps} if state.plan is not None else {}
    return StepClaim(
        goal=state.goal,
        step=steps.get(taken.step, state.goal),
        action=taken.action,
        before=state.before or before_state(page),
        after=before_state(page),
        expected=taken.expected,
        client=client,
        final=final,
        certainty=taken.confidence,
        typed=filled_nodes(state),
        next_step=steps.get(taken.step + 1, ""),
        caller=state.caller,
        local_only=local_only,
    )


def filled_nodes(state: TaskState) -> tuple[str, ...]:
    """Return the nodes that values of the user were put into."""
    return tuple(one.action.element for one in state.actions if _types_value(one.action))


def performed_evidence(taken: TakenAction) -> ClientEvidence:
    """Return what is known of an action that we performed ourselves."""
    if taken.status == "ok":
        return ClientEvidence(status="success", element_found=True, actual_state=taken.text)
    return ClientEvidence(status="failure", error_code=taken.error, error_message=taken.message)


def page_document(page: PageTree, action: ActionCall, *, pictured: bool) -> Document[Content]:
    """Return a page as the document that a model has seen: its words are evidence for the gate, and no instructions.

    What a model writes that was shown a picture may stand in the picture: the texts of its action count as the page's.
    """
    shown = texts_of(action) if pictured else ()
    lines = [page.title, *map(_words, page.nodes), *page.recent_events, page.dialog, *shown]
    markdown = "\n".join(one for one in lines if one)[:MAX_DOCUMENT_CHARS]
    return untrusted("page", WebObservationSummary(url=page.url, title=page.title, markdown=markdown))


def field_facts(page: PageTree, element: str) -> FieldFacts | None:
    """Return what a tree shows of an element, where no browser of ours has it; None where it has no such node."""
    node = page.node(element)
    if node is None:
        return None
    tag, kind = _TAGS.get(node.role, ("", ""))
    marks = node.marks or ElementMarks()
    kind = marks.type or kind
    if "password" in node.states or (node.value and set(node.value) <= _HIDDEN_SIGNS):
        kind = "password"
    others = tuple(one.name for one in page.nodes if one.role == "inp" and one.id != element and one.name)
    return FieldFacts(
        page_url=page.url,
        url=page.url,
        tag=tag or "div",
        type=kind,
        name=marks.name,
        placeholder=marks.placeholder,
        label=node.name,
        role=node.role if not tag else "",
        near=node.context,
        form_fields=others[:_MOST_FIELDS],
    )


def stands_in(action: ActionCall, words: str) -> bool:
    """Return whether all texts of an action stand in words of the user, so that it is his own."""
    plain = _plain(words)
    return all(_plain(text) in plain for text in texts_of(action))


def texts_of(action: ActionCall) -> tuple[str, ...]:
    """Return the texts of an action: all that it says but which element it is about."""
    return tuple(value for name, value in action.arguments.items() if name != "element" and isinstance(value, str))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _types_value(action: ActionCall) -> bool:
    return any(isinstance(value, str) and "{" in value for value in action.arguments.values())


def _words(node: SemanticNode) -> str:
    return " ".join(one for one in (node.name, node.value or "", node.context) if one)
