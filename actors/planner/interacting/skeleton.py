"""Reads the HTML of a page that its client has sent, whole or as a skeleton, as what can be acted on and what is said.

What is kept and what is dropped of it is 001 §5.6: links, buttons, fields and whatever else takes a click or the focus
are kept, containers, scripts, styles, drawings and what is hidden are dropped. Nothing of HTML goes further than this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from msgspec import Struct
from turbohtml import Element, Node, Text, parse

from protocol.acting.interact import MAX_SENT_NODES
from protocol.acting.tree import ROLES, ElementMarks, SemanticNode

MAX_WORDS_CHARS: Final = 200
"""What is kept of one text."""

MOST_LOOKED_THROUGH: Final = 100
"""How many nodes of an element are looked through for its words: strangers write what is read here."""

MASKED: Final = "•••"
"""What is kept of a password."""

KEPT_ATTRIBUTES: Final = (
    "id", "data-llm-id", "name", "type", "href", "placeholder", "role", "aria-label", "data-testid",
)  # fmt: skip

_DROPPED: Final = frozenset({"style", "link", "script", "noscript", "template", "svg", "head", "meta", "iframe"})
_TAG_ROLES: Final[Mapping[str, str]] = {
    "a": "link", "button": "button", "select": "select", "textarea": "textarea", "summary": "button",
}  # fmt: skip
_INPUT_ROLES: Final[Mapping[str, str]] = {
    "checkbox": "checkbox", "radio": "radio", "range": "slider", "submit": "button", "button": "button",
    "reset": "button", "image": "button", "file": "button",
}  # fmt: skip
_ROLES_ACTED_ON: Final = frozenset(
    {"button", "link", "menuitem", "tab", "checkbox", "radio", "switch", "option", "textbox", "searchbox", "combobox"}
    | {"slider", "treeitem", "menuitemcheckbox", "menuitemradio"}
)
_NAMED_BY_TEXT: Final = frozenset({"a", "button", "summary", "option", "label"})
_LINES: Final = frozenset(
    {"p", "li", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "div", "span", "label", "legend", "caption"}
    | {
        "strong",
        "em",
        "b",
        "i",
        "small",
        "time",
        "blockquote",
        "figcaption",
        "pre",
        "section",
        "article",
        "main",
        "body",
    }
)
_HEADING: Final = re.compile(r"h[1-6]")
_HIDDEN_STYLE: Final = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_STATES: Final = ("disabled", "checked", "required", "readonly", "selected")
_ARIA_STATES: Final = ("checked", "selected", "expanded", "disabled", "invalid", "pressed")


class KeptElement(Struct, frozen=True, kw_only=True):
    """One element that can be acted on, with the attributes that are kept of it."""

    tag: str
    attributes: Mapping[str, str]
    role: str
    name: str
    value: str | None = None
    states: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that a client may know it by."""
        return tuple(one for one in (self.attributes.get("data-llm-id"), self.attributes.get("id")) if one)


class PageSkeleton(Struct, frozen=True):
    """What is kept of a page: its elements and, where the HTML has them, its words, both in their order."""

    elements: tuple[KeptElement, ...] = ()
    words: tuple[tuple[int, str, str], ...] = ()
    """Texts that are no control: after how many elements they stand, their role and what they say."""


@dataclass
class _Reading:
    """What was read so far."""

    labels: Mapping[str, str]
    elements: list[KeptElement] = field(default_factory=list[KeptElement])
    words: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])

    @property
    def full(self) -> bool:
        return len(self.elements) + len(self.words) >= MAX_SENT_NODES


def read_skeleton(html: str) -> PageSkeleton:
    """Parse HTML, whole or a skeleton, into what is kept of it."""
    document = parse(html)
    root = document.find("body") or document.root
    if root is None:
        return PageSkeleton()
    reading = _Reading(_labels(root))
    _read(root, reading)
    return PageSkeleton(tuple(reading.elements), tuple(reading.words))


def joined(skeleton: PageSkeleton, whole: PageSkeleton) -> PageSkeleton:
    """Return a skeleton with what else the whole HTML of its page has, behind it; a part that was not sent is empty."""
    if not skeleton.elements and not skeleton.words:
        return whole
    ids = {one for element in skeleton.elements for one in element.ids}
    alike = {(one.role, one.name) for one in skeleton.elements}
    more = [one for one in whole.elements if not ids.intersection(one.ids) and (one.role, one.name) not in alike]
    elements, known = (*skeleton.elements, *more)[:MAX_SENT_NODES], {text for _, _, text in skeleton.words}
    words = [(len(elements), role, text) for _, role, text in whole.words if text not in known]
    return PageSkeleton(elements=elements, words=(*skeleton.words, *words))


def nodes_of(skeleton: PageSkeleton) -> tuple[SemanticNode, ...]:
    """Return the nodes of a tree that a skeleton stands for; an element without an id gets one that only we know."""
    nodes: list[SemanticNode] = []
    words = iter((*skeleton.words, (len(skeleton.elements) + 1, "", "")))
    at, role, text = next(words)
    for index, element in enumerate((*skeleton.elements, None)):
        while role and at <= index:
            nodes.append(SemanticNode(id=f"w{len(nodes)}", role=role, name=text))
            at, role, text = next(words)
        if element is not None:
            nodes.append(
                SemanticNode(
                    id=element.ids[0] if element.ids else f"n{index}",
                    role=short_role(element.role),
                    name=element.name,
                    value=element.value,
                    state=", ".join(element.states) or None,
                    marks=marks_of(element.attributes),
                )
            )
    return tuple(nodes)


def marks_of(attributes: Mapping[str, str | None]) -> ElementMarks | None:
    """Return what an element is known by, of the attributes that are known of it; None: of none."""
    names = {name: value for name in ("id", "name", "type", "placeholder", "href") if (value := attributes.get(name))}
    return ElementMarks(**names) if names else None


def short_role(role: str) -> str:
    """Return the short form of a role (001 §6.3): any that has none is its first four letters."""
    return ROLES.get(role, role[:4])


def _read(parent: Element, reading: _Reading, around: str = "") -> None:
    """Read what is in an element; `around` is what the label says that it stands in."""
    for child in parent.children:
        if reading.full:
            return
        if isinstance(child, Text):
            _read_words(parent, child, reading)
        if not isinstance(child, Element) or _is_dropped(child):
            continue
        if _is_acted_on(child):
            reading.elements.append(_kept(child, reading.labels.get(_attribute(child, "id"), "") or around))
            if child.tag in {"select", "textarea", *_NAMED_BY_TEXT}:
                continue
        _read(child, reading, _words(child) if child.tag == "label" else around)


def _read_words(parent: Element, text: Text, reading: _Reading) -> None:
    words = " ".join(str(text.text).split())[:MAX_WORDS_CHARS]
    if words and parent.tag in _LINES:
        reading.words.append((len(reading.elements), "h" if _HEADING.fullmatch(parent.tag) else "text", words))


def _is_dropped(element: Element) -> bool:
    attributes = element.attrs
    return (
        element.tag in _DROPPED
        or "hidden" in attributes
        or _attribute(element, "aria-hidden") == "true"
        or _attribute(element, "type").lower() == "hidden"
        or bool(_HIDDEN_STYLE.search(_attribute(element, "style")))
    )


def _is_acted_on(element: Element) -> bool:
    attributes = element.attrs
    if element.tag == "a":
        return "href" in attributes or "onclick" in attributes or "role" in attributes
    if element.tag in {"button", "input", "select", "textarea", "summary"} or "onclick" in attributes:
        return True
    if _attribute(element, "role").lower() in _ROLES_ACTED_ON:
        return True
    if _attribute(element, "contenteditable").lower() in {"true", "plaintext-only"}:
        return True
    return _is_focusable(_attribute(element, "tabindex"))


def _is_focusable(tab_index: str) -> bool:
    return tab_index.strip().isdecimal()


def _kept(element: Element, label: str) -> KeptElement:
    attributes = {name: value for name in KEPT_ATTRIBUTES if (value := _attribute(element, name))}
    return KeptElement(
        tag=element.tag,
        attributes=attributes,
        role=_role(element),
        name=_name(element, label)[:MAX_WORDS_CHARS],
        value=_value(element),
        states=tuple(_states(element)),
    )


def _role(element: Element) -> str:
    role = _attribute(element, "role").lower().split(" ")[0]
    if role:
        return role
    if element.tag == "input":
        return _INPUT_ROLES.get(_attribute(element, "type").lower(), "input")
    if _attribute(element, "contenteditable"):
        return "textbox"
    return _TAG_ROLES.get(element.tag, "button")


def _name(element: Element, label: str) -> str:
    """Return what an element is called: as a browser would say, where its attributes and its label tell."""
    kind = _attribute(element, "type").lower()
    if element.tag == "input" and _INPUT_ROLES.get(kind) == "button":
        own = _attribute(element, "value") or _attribute(element, "alt") or kind
    elif element.tag in {"input", "select", "textarea"}:
        own = label
    else:
        own = _words(element)
    named = (_attribute(element, name) for name in ("placeholder", "title", "name"))
    return _attribute(element, "aria-label") or own or next((one for one in named if one), "")


def _value(element: Element) -> str | None:
    if element.tag == "textarea":
        return _words(element)
    if element.tag == "select":
        options = element.find_all("option")
        chosen = [one for one in options if "selected" in one.attrs] or list(options[:1])
        return ", ".join(_words(one) for one in chosen) or None
    if _attribute(element, "type").lower() == "password":
        return MASKED if _attribute(element, "value") else ""
    if element.tag == "input" and _INPUT_ROLES.get(_attribute(element, "type").lower()) != "button":
        return _attribute(element, "value")
    return None


def _states(element: Element) -> Iterator[str]:
    yield from (name for name in _STATES if name in element.attrs)
    for name in _ARIA_STATES:
        if _attribute(element, f"aria-{name}").lower() == "true" and name not in element.attrs:
            yield name


def _labels(root: Element) -> Mapping[str, str]:
    labels = islice((one for one in root.find_all("label") if _attribute(one, "for")), MAX_SENT_NODES)
    return {_attribute(one, "for"): _words(one) for one in labels}


def _words(element: Element) -> str:
    """Return the words in an element, or else what its first picture shows, as far as they stand near its beginning."""
    texts, picture = list[str](), ""
    for node in islice(_inside(element), MOST_LOOKED_THROUGH):
        if isinstance(node, Text):
            texts.append(str(node.text))
        elif isinstance(node, Element) and node.tag == "img":
            picture = picture or _attribute(node, "alt")
    return " ".join(" ".join(texts).split()) or picture


def _inside(element: Element) -> Iterator[Node]:
    for child in element.children:
        if isinstance(child, Element) and _is_dropped(child):
            continue
        yield child
        if isinstance(child, Element):
            yield from _inside(child)


def _attribute(element: Element, name: str) -> str:
    value = element.attrs.get(name)
    return value.strip() if isinstance(value, str) else ""
