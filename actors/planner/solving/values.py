"""What is to be put into a field: words of the goal, or what they say of the page: a value, a word, a sum, a count."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec import structs

from actors.planner.solving.arithmetic import answer_on
from actors.planner.solving.clauses import quotes_in, unquoted
from actors.planner.solving.colours import of_colour
from actors.planner.solving.picking import Wanted, has_shape, pick_all
from actors.planner.solving.scene import Scene
from actors.planner.solving.targets import fit, phrase_of
from actors.planner.solving.words import folded, likeness, number_in, ordinal_of, stems
from protocol.acting.tree import SemanticNode

_PLACEHOLDER: Final = re.compile(r"^\{\w+\}$")
_QUOTED_WITHIN: Final = re.compile(r"(?<!\w)'[^']+'\s+\w")
"""What is quoted within a value, as in Rock 'n' Roll."""

_TEXTS: Final = frozenset({"text", "h", "item", "inp"})
_LONG_TEXT: Final = 15
_LITERAL: Final = 0.96
_READ: Final = 0.85


def value_of(words: str, scene: Scene, *, texts: tuple[str, ...] = ()) -> tuple[str, float] | None:
    """Return the text that words mean, and how sure that is; None where they mean something that the page lacks."""
    text = words.strip()
    cased = re.match(r"^(.+) in (upper|lower) case$", text)
    if cased:
        inner = unquoted(cased[1])
        return (inner.upper() if cased[2] == "upper" else inner.lower()), _LITERAL
    if quotes_in(text) and folded(unquoted(text)) != folded(text):
        return unquoted(text), _LITERAL
    if quotes_in(text) and not _QUOTED_WITHIN.search(text):
        return quotes_in(text)[0], _LITERAL
    if _PLACEHOLDER.match(text):
        return text, _LITERAL
    if texts and (read_out := _of_text(text, texts[-1])) is not None:
        return read_out, _READ
    for pattern, read in _EXPRESSIONS:
        match = pattern.search(text)
        if match:
            value = read(match, scene)
            return None if value is None else (value, _READ)
    return re.sub(r"^the\s+(?:text|word|number|value|name)\s+", "", text), _LITERAL - 0.04


def _word_at(match: re.Match[str], scene: Scene) -> str | None:
    """Return the n-th word of a text on the page."""
    place = ordinal_of(match["place"])
    source = text_of(match["source"] or "", scene)
    if place is None or source is None:
        return None
    words = [word.strip('.,;:!?"“”') for word in source.split()]
    index = place - 1 if place > 0 else len(words) + place
    return words[index] if 0 <= index < len(words) else None


def _of_text(words: str, text: str) -> str | None:
    """Return what words mean of a text that was read: a word of it, or all of it."""
    match = re.match(r"^the\s+(?:(?P<place>\w+)\s+word|text)\b", words, re.IGNORECASE)
    if match is None:
        return None
    place = ordinal_of(match["place"]) if match["place"] else None
    if place is None:
        return text
    parts = [word.strip('.,;:!?"“”') for word in text.split()]
    index = place - 1 if place > 0 else len(parts) + place
    return parts[index] if 0 <= index < len(parts) else None


def text_of(source: str, scene: Scene) -> str | None:
    """Return a text that the page shows: a field's where one is meant, else its paragraph's."""
    phrase = phrase_of(source)
    fields = [node for node in scene.of_roles("inp") if node.value]
    areas = "inp" in phrase.kinds or "area" in source or "box" in source
    long = [node for node in scene.of_roles("text") if len(node.name) >= _LONG_TEXT or " " in node.name]
    texts = (fields if areas else long) or long or fields or list(scene.of_roles("text"))
    if not texts:
        return None
    place = phrase.ordinal or 1
    index = place - 1 if place > 0 else len(texts) + place
    if phrase.ordinal is None and not areas:
        return max(texts, key=_length).name
    return (texts[index].value or texts[index].name) if 0 <= index < len(texts) else None


def long_texts(scene: Scene) -> list[SemanticNode]:
    """Return the texts of a page that are more than a label."""
    texts = scene.of_roles("text")
    return [node for node in texts if len(node.name) >= _LONG_TEXT and " " in node.name] or list(texts)


def _length(node: SemanticNode) -> int:
    return len(node.value or node.name)


def _answer(match: re.Match[str], scene: Scene) -> str | None:
    del match
    return answer_on(scene)


def _labelled(match: re.Match[str], scene: Scene) -> str | None:
    return value_beside(match["label"], scene)


def value_beside(label: str, scene: Scene) -> str | None:
    """Return what stands behind a label: in its row, after its colon, or in the cell under its head."""
    name = unquoted(label)
    scored = sorted(((_label_fit(name, node), node) for node in scene.nodes), key=lambda one: -one[0])
    for score, node in scored[:3]:
        if score < 0.6:  # noqa: PLR2004 - no label of that name
            break
        if node.role in {"inp", "sel"} and node.value:
            return node.value
        inline = re.match(rf"^\s*{re.escape(name)}\s*[:=]\s*(.+)$", node.name, re.IGNORECASE)
        if inline:
            return inline[1].strip()
        beside = [other for other in scene.nodes if scene.same_row(node, other) and _right_of(other, node)]
        if beside:
            nearest = min(beside, key=lambda other: (other.centre or (0, 0))[0])
            return nearest.value or nearest.name or None
        after = scene.order.get(node.id, -1) + 1
        if 0 < after < len(scene.nodes) and scene.nodes[after].role in _TEXTS:
            return scene.nodes[after].name or None
    return None


def _label_fit(name: str, node: SemanticNode) -> float:
    head = node.name.split(":")[0]
    if folded(head) == folded(name):
        return 1.0 if node.role == "text" else 0.9
    if node.context and folded(node.context) == folded(name):
        return 0.7
    return likeness(head, name) if stems(head) >= stems(name) else 0.0


def _right_of(one: SemanticNode, other: SemanticNode) -> bool:
    return (one.centre or (0, 0))[0] > (other.centre or (0, 0))[0]


def _counted(match: re.Match[str], scene: Scene) -> str | None:
    number = count_on(match["what"], scene)
    return None if number is None else str(number)


_WHOLES: Final = frozenset({"canvas", "drawing"})
"""What holds shapes, and is none itself."""

_ONE_SIGN: Final = re.compile(r"(?:^|\s)(\w)(?:'?s)?$")
"""A letter or a digit that is counted: `red 5s`."""


def count_on(what: str, scene: Scene) -> int | None:
    """Return how many things of a description the page shows; None where it has nothing of the kind to be counted."""
    phrase = phrase_of(what)
    looks = phrase.colour or phrase.shape or phrase.size
    if not looks:
        named = [
            node.role for node in scene.nodes if node.role != "h" and fit(phrase, structs.replace(node, context="")) > 0
        ]
        return max((named.count(role) for role in named), default=None)
    shapes = [node for node in scene.nodes if node.shape and node.shape not in _WHOLES]
    if not shapes and not phrase.size:
        return None
    if phrase.colour:
        shapes = of_colour(shapes, phrase.colour)
    if phrase.shape:
        shapes = [node for node in shapes if has_shape(node, phrase.shape)]
    if phrase.size:
        fits = pick_all(scene, Wanted(phrase=phrase))
        shapes = [one.node for one in fits if one.node.shape not in _WHOLES]
    if sign := _ONE_SIGN.search(what):
        shapes = [node for node in shapes if node.name.strip() == sign[1]]
    return len(shapes)


def _page_text(match: re.Match[str], scene: Scene) -> str | None:
    return text_of(match["source"] or "", scene)


def _shown(match: re.Match[str], scene: Scene) -> str | None:
    del match
    texts = [node for node in scene.nodes if node.role in {"text", "h", "img"} and node.name]
    fields = scene.of_roles("inp")
    near = [node for node in texts if not fields or scene.order[node.id] < scene.order[fields[0].id]]
    return near[-1].name if near else None


_SOURCE: Final = r"(?:\s+(?:in|of|from)\s+(?:the\s+)?(?P<source>.+))?$"
_EXPRESSIONS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Scene], str | None]], ...]] = (
    (re.compile(rf"^the\s+(?P<place>\w+)\s+word{_SOURCE}", re.IGNORECASE), _word_at),
    (re.compile(r"^(?:the|your)\s+(?:answer|solution|result|sum)\b", re.IGNORECASE), _answer),
    (re.compile(r"^the\s+value\s+(?:of|for)\s+(?:the\s+)?(?P<label>.+)$", re.IGNORECASE), _labelled),
    (re.compile(r"^the\s+(?:total\s+)?number\s+of\s+(?P<what>.+)$", re.IGNORECASE), _counted),
    (re.compile(r"^the\s+text\s+(?:below|above|shown|on the page)$", re.IGNORECASE), _shown),
    (re.compile(rf"^the\s+text{_SOURCE}", re.IGNORECASE), _page_text),
)


def similar_field(words: str, node: SemanticNode) -> float:
    """Return how well words for a field fit one: its name, or what stands beside it."""
    return fit(phrase_of(words), node)


def as_number(text: str) -> str | None:
    """Return a number as it is written into a field, or None where a text is none."""
    value = number_in(text)
    return None if value is None else f"{value:g}"
