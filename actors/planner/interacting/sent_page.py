"""What a client has sent of its page: as the tree that everybody works on, and as evidence of its action (001 §1)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from actors import redact
from actors.planner.interacting.skeleton import (
    MAX_WORDS_CHARS,
    PageSkeleton,
    joined,
    marks_of,
    nodes_of,
    read_skeleton,
    short_role,
)
from protocol.acting.interact import InteractRequest
from protocol.acting.steps import MAX_KEPT_NODES, BeforeState, ClientEvidence
from protocol.acting.tree import CHARS_PER_TOKEN, MAX_NAME_CHARS, PageTree, SemanticNode, SemanticNodeV2

FOCUSED: Final = "focused"

MOST_ROLES: Final = 8
"""How many kinds of nodes stand in the summary of a page."""

_WORDS: Final = frozenset({"text", "h"})
"""The roles of nodes that are no control."""


class SentPage(Struct, frozen=True, kw_only=True):
    """A client's page as a tree; `skeleton` is what its HTML says, and `parts` are the parts of it that were sent.

    Without `known`, the client says that nothing has changed since a tree that nobody here has.
    """

    tree: PageTree
    skeleton: PageSkeleton
    parts: frozenset[str]
    nodes_v2: tuple[SemanticNodeV2, ...] = ()
    known: bool = True


def read_page(request: InteractRequest, before: BeforeState | None = None) -> SentPage:
    """Return the page of a request; `before` is the one of the round before, which a hash may stand for.

    A tree goes before the nodes of V2, these before a skeleton, and that before the whole HTML. What is not in the one
    that goes first is taken from the next (001 §5.5, §6.7).
    """
    skeleton = joined(read_skeleton(request.skeleton_dom or ""), read_skeleton(request.dom or ""))
    sent = _sent_nodes(request, before)
    known = sent is not None or bool(request.skeleton_dom or request.dom) or request.url is None
    looked = sent or nodes_of(skeleton)
    beside = tuple(_beside(sent, skeleton)) if sent else ()
    nodes = (*looked, *beside)
    tree = PageTree(
        url=request.url or "",
        title=request.page_title or request.title or "",
        nodes=tuple(replace(one, name=one.name[:MAX_WORDS_CHARS]) for one in nodes),
        viewport=request.viewport,
        scroll_position=request.scroll_position or "",
        scrollable_containers=request.scrollable_containers,
        recent_events=request.recent_events,
        has_errors=request.has_errors,
        has_success=request.has_success,
        inputs=request.inputs,
        selection=request.selection,
        hash=request.interactive_tree_hash or tree_hash(looked),
        original_node_count=request.original_node_count or len(looked),
        tokens=len(msgspec.json.encode(nodes)) // CHARS_PER_TOKEN,
        focused=next((one.id for one in nodes if FOCUSED in one.states), ""),
        beside=tuple(one.id for one in beside),
    )
    return SentPage(
        tree=tree, skeleton=skeleton, parts=sent_parts(request), nodes_v2=request.semantic_nodes or (), known=known
    )


def sent_parts(request: InteractRequest) -> frozenset[str]:
    """Return which parts of its page a request has; a screenshot that is null is the same as before, and counts."""
    parts = {
        "tree": request.tree is not None or request.semantic_nodes is not None,
        "dom": request.dom is not None,
        "skeleton": request.skeleton_dom is not None or bool(request.dom),
        "screenshot": request.screenshot is not UNSET,
    }
    return frozenset(name for name, sent in parts.items() if sent)


def evidence_of(request: InteractRequest) -> ClientEvidence:
    """Return what a client says of its last action."""
    observed, check, error = request.client_observations, request.client_verification, request.last_action_error
    result = request.last_action_result
    status = request.last_action_status
    if status is None and result is not None:
        status = "success" if result.success else "failure"
    moved = observed.did_url_change if observed is not None else None
    return ClientEvidence(
        network=observed.did_network_occur if observed is not None else None,
        mutation=observed.did_dom_mutate if observed is not None else None,
        url_changed=moved if moved is not None else (check.url_changed if check is not None else None),
        previous_url=request.previous_url or "",
        element_found=check.element_found if check is not None else None,
        status=status,
        error_code=error.code if error is not None else "",
        error_message=error.message if error is not None else "",
        actual_state=result.actual_state if result is not None else "",
        sentinel=request.verification_passed,
        sentinel_message=request.verification_message,
        errors=request.errors_detected,
        successes=request.success_messages,
    )


def page_summary(page: PageTree) -> str:
    """Return what a page is in short, such as `Shop: 3 link, 2 inp, 1 btn`; "" where there is none."""
    if not page.url:
        return ""
    title, counts = redact.text(page.title[:MAX_WORDS_CHARS]), Counter(one.role for one in page.nodes)
    roles = ", ".join(f"{count} {role}" for role, count in counts.most_common(MOST_ROLES)) or "nothing to act on"
    return f"{title}: {roles}" if title else roles


def request_digest(caller: str, request: InteractRequest) -> str:
    """Return a digest of all of a request: the same for the same request alone."""
    return hashlib.sha256(caller.encode() + b"\0" + msgspec.json.encode(request)).hexdigest()


def round_digest(caller: str, request: InteractRequest, number: int) -> str:
    """Return a digest of the round that a request belongs to, whichever parts of the page it comes with."""
    names = (caller, request.session_id, request.task_id, request.tab_id, request.query, request.url, number)
    return hashlib.sha256(msgspec.json.encode(names)).hexdigest()


def tree_hash(nodes: Iterable[SemanticNode]) -> str:
    """Return a digest of what there is to act on, where the client has sent none."""
    facts = [(one.id, one.role, one.name, one.value, one.state, one.occluded) for one in nodes]
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()[:32]


def _sent_nodes(request: InteractRequest, before: BeforeState | None) -> tuple[SemanticNode, ...] | None:
    if request.tree is not None:
        return request.tree
    if request.semantic_nodes is not None:
        return tuple(map(_from_v2, request.semantic_nodes))
    digest = request.interactive_tree_hash
    if before is None or digest is None or before.hash != digest or len(before.nodes) >= MAX_KEPT_NODES:
        return None  # of a larger tree only a part was kept
    return before.nodes


def _from_v2(node: SemanticNodeV2) -> SemanticNode:
    box = node.bounds or {}
    sides = tuple(float(box[name]) for name in ("x", "y", "width", "height") if isinstance(box.get(name), int | float))
    placed = len(sides) == len(("x", "y", "width", "height"))
    return SemanticNode(
        id=node.id,
        role=short_role(node.role),
        name=node.name or node.placeholder or "",
        value=node.value,
        state=node.state,
        frame=node.frame_id,
        marks=marks_of({"type": node.type, "placeholder": node.placeholder, "href": node.href}),
        box=(sides[0], sides[1], sides[2], sides[3]) if placed else None,
        centre=(sides[0] + sides[2] / 2, sides[1] + sides[3] / 2) if placed else None,
    )


def _beside(sent: Sequence[SemanticNode], skeleton: PageSkeleton) -> Iterable[SemanticNode]:
    """Yield what a page has by its HTML, and not in the tree: controls with a name, and words."""
    ids, words = {one.id for one in sent}, {one.name for one in sent}
    names = {(one.role, one.name[:MAX_NAME_CHARS]) for one in sent}
    for node in nodes_of(skeleton):
        named = node.name in words if node.role in _WORDS else (node.role, node.name[:MAX_NAME_CHARS]) in names
        if node.name and not named and node.id not in ids:
            yield node
