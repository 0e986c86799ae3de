"""The selector beside the id of an element, by which a client finds it again where its id is stale (001 §4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from actors.planner.interacting.skeleton import KeptElement, PageSkeleton, short_role
from protocol.acting.tree import SemanticNode, SemanticNodeV2

PREFERRED: Final = ("data-testid", "name", "aria-label", "placeholder")
"""The attributes that tell an element, the most lasting first (2.B)."""

_TYPED: Final = frozenset({"email", "password", "search", "tel", "url", "date", "number", "file", "submit"})


def selector_of(node: SemanticNode, skeleton: PageSkeleton, nodes: Sequence[SemanticNodeV2] = ()) -> str:
    """Return a CSS selector of a node: by what the page's HTML says of it, else the client's own, else by its stamp.

    One that more than one element answers to is passed over.
    """
    element = _element_of(node, skeleton)
    if element is not None:
        counts = Counter(one for other in skeleton.elements for one in set(_selectors(other)))
        for selector in _selectors(element):
            if counts[selector] == 1:
                return selector
    return _of_v2(node, nodes) or node.selector or f'[data-llm-id="{quoted(node.id)}"]'


def quoted(text: str) -> str:
    """Return a text as it stands between double quotes in CSS."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\a ")


def _element_of(node: SemanticNode, skeleton: PageSkeleton) -> KeptElement | None:
    """Return the element of a node: by its id, else the only one of its role and name."""
    for element in skeleton.elements:
        if node.id in element.ids:
            return element
    if node.id.startswith("n") and node.id[1:].isdecimal() and int(node.id[1:]) < len(skeleton.elements):
        element = skeleton.elements[int(node.id[1:])]
        return element if not element.ids else None
    alike = [one for one in skeleton.elements if _is_alike(one, node)]
    return alike[0] if len(alike) == 1 else None


def _is_alike(element: KeptElement, node: SemanticNode) -> bool:
    return bool(node.name) and short_role(element.role) == node.role and element.name.startswith(node.name)


def _selectors(element: KeptElement) -> Iterator[str]:
    for name in PREFERRED:
        if value := element.attributes.get(name):
            yield f'{element.tag}[{name}="{quoted(value)}"]'
    if element.tag == "input" and element.attributes.get("type", "") in _TYPED:
        yield f'input[type="{element.attributes["type"]}"]'
    if stamp := element.attributes.get("data-llm-id"):
        yield f'[data-llm-id="{quoted(stamp)}"]'
    if own := element.attributes.get("id"):
        yield f'[id="{quoted(own)}"]'
    if href := element.attributes.get("href"):
        yield f'{element.tag}[href="{quoted(href)}"]'
    if element.tag in {"button", "a"} and element.role != element.tag and element.attributes.get("role"):
        yield f'{element.tag}[role="{quoted(element.role)}"]'


def _of_v2(node: SemanticNode, nodes: Sequence[SemanticNodeV2]) -> str:
    own = next((one for one in nodes if one.id == node.id), None)
    if own is None:
        return ""
    if own.placeholder and sum(one.placeholder == own.placeholder for one in nodes) == 1:
        return f'[placeholder="{quoted(own.placeholder)}"]'
    if own.type in _TYPED and sum(one.type == own.type for one in nodes) == 1:
        return f'input[type="{own.type}"]'
    return ""
