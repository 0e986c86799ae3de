"""Which node a phrase means: by its words, then by the row, the place, the order and the looks that it tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, structs

from actors.planner.solution import UserAsked
from actors.planner.solving.colours import PALE, colour_of, of_colour
from actors.planner.solving.scene import Scene, box_of, centre_of, distance
from actors.planner.solving.targets import (
    GOOD_ENOUGH,
    KIND_ALONE,
    NEARLY,
    WORDS_MEANT,
    NodeFit,
    TargetPhrase,
    fit,
    phrase_of,
    same_thing,
)
from actors.planner.solving.vocabulary import CONTROLS, KIND_WORDS, SHAPES, STOP_WORDS
from actors.planner.solving.words import number_in, stems, tokens
from protocol.acting.tree import SemanticNode

_MAX_OPTIONS: Final = 8
_NEAR_NODES: Final = 4
"""How many nodes behind a thing may say what it is ranked by."""

_PICTURES: Final = frozenset({"img"})
_BIG: Final = frozenset({"large", "big", "larger", "bigger"})


class Wanted(Struct, frozen=True, kw_only=True):
    """What is looked for: a phrase, among which roles, and what it is not."""

    phrase: TargetPhrase
    roles: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    place: str = ""


def pick(scene: Scene, wanted: Wanted) -> NodeFit | UserAsked | None:
    """Return the one node that is meant, a question where several are alike, or None."""
    fits = pick_all(scene, wanted)
    if not fits:
        return None
    best = [one for one in fits if one.score >= fits[0].score - NEARLY]
    if len(best) == 1 or wanted.phrase.ordinal is not None or wanted.phrase.most or wanted.phrase.least:
        return fits[0]
    telling = _by_answers(scene, _most_telling(scene, best, wanted.phrase))
    if len(telling) == 1 or wanted.phrase.any:
        return telling[0]
    return _question(wanted.phrase, telling)


def pick_all(scene: Scene, wanted: Wanted) -> tuple[NodeFit, ...]:
    """Return every node that may be meant, the best first."""
    phrase = wanted.phrase
    candidates = [
        node
        for node in scene.nodes
        if node.id not in wanted.without and (not wanted.roles or node.role in wanted.roles)
    ]
    scored = [NodeFit(node=node, score=fit(phrase, node)) for node in candidates]
    fits = [one for one in scored if one.score >= (WORDS_MEANT if one.node.role == "text" else GOOD_ENOUGH)]
    if not fits and not phrase.quoted:
        fits = _by_looks_alone(candidates, phrase)
    for narrow in (_by_place, _by_looks, _by_position, _by_size, _by_rank, _by_ordinal):
        fits = narrow(scene, fits, wanted)
    return tuple(sorted(fits, key=lambda one: -one.score))


def _by_looks_alone(candidates: Sequence[SemanticNode], phrase: TargetPhrase) -> list[NodeFit]:
    """Return what a phrase may mean that tells no name: by kind, order, shape, colour or size."""
    looks = phrase.colour or phrase.shape or phrase.size
    order = phrase.ordinal is not None or phrase.most or phrase.least or phrase.position
    if not looks and not order:
        return []
    of_kind = [
        node
        for node in candidates
        if not phrase.kinds or node.role in phrase.kinds or (looks and (node.shape or node.colour))
    ]
    if looks:
        drawn = [node for node in of_kind if node.shape or node.colour]
        numbers = [
            node for node in candidates if phrase.shape in {"digit", "number"} and number_in(node.name) is not None
        ]
        of_kind = drawn or numbers or (_sized(candidates) if phrase.size else [])
    return [NodeFit(node=node, score=KIND_ALONE - 0.03) for node in of_kind]


def _sized(candidates: Sequence[SemanticNode]) -> list[SemanticNode]:
    """Return what is there to be acted on and told by its size, without what sends a form."""
    return [node for node in candidates if node.role in CONTROLS and node.box and not same_thing(node.name, "submit")]


# -- narrowing ---------------------------------------------------------------------------------------------------------


def _by_place(scene: Scene, fits: list[NodeFit], wanted: Wanted) -> list[NodeFit]:
    """Keep what is in the row, the card or the section that the words name, unless a whole name says as much."""
    for place in (wanted.phrase.within, wanted.place):
        words = [word for word in tokens(place) if word not in STOP_WORDS and word not in {"page", "form", "below"}]
        if not place or not words or len(fits) < 2:  # noqa: PLR2004 - one alone needs no narrowing
            continue
        if not _tells_one(scene, words):
            continue
        fits = in_place(scene, fits, place) or fits
    return fits


def _tells_one(scene: Scene, words: list[str]) -> bool:
    """Return whether a place is more than a picture without a name (`with the icon`), or there is just one of them."""
    if not all(_PICTURES & KIND_WORDS.get(word, frozenset()) for word in words):
        return True
    return sum(node.role in _PICTURES for node in scene.nodes) == 1


def in_place(scene: Scene, fits: list[NodeFit], place: str) -> list[NodeFit]:
    """Return those of some nodes that stand in the row, card or section that a phrase names."""
    named = stems(place) - STOP_WORDS
    by_context = [one for one in fits if one.node.context and named & stems(one.node.context)]
    if by_context:
        most = max(len(named & stems(one.node.context)) for one in by_context)
        by_context = [one for one in by_context if len(named & stems(one.node.context)) == most]
        if len(by_context) < len(fits):
            return by_context
    ids = {one.node.id for one in fits}
    for anchor in anchors(scene, place, ids):
        rows = [one for one in fits if scene.same_row(one.node, anchor)]
        section = {node.id for node in scene.in_section_of(anchor)}
        kept = [one for one in fits if one.node.id in section] or rows
        kept = kept or [one for one in fits if scene.inside(anchor, one.node)]
        if kept:
            return [min(kept, key=lambda one: distance(one.node, anchor))] if len(kept) > len(fits) // 2 else kept
    return []


def anchors(scene: Scene, place: str, without: Iterable[str] = ()) -> list[SemanticNode]:
    """Return the nodes that a phrase for a row, card or section may mean, the best first."""
    phrase = structs.replace(phrase_of(place), ordinal=None)
    left_out = frozenset(without)
    names = frozenset(word.casefold().strip(".,") for word in place.split() if word[:1] in "@#" or word[:1].isupper())
    by_name = [
        node for node in scene.nodes if node.id not in left_out and names and names <= frozenset(tokens(node.name))
    ]
    if by_name:
        return sorted(by_name, key=lambda node: (node.role in CONTROLS, len(node.name)))
    scored = [
        (fit(phrase, node) + 0.2 * (node.role not in CONTROLS), node) for node in scene.nodes if node.id not in left_out
    ]
    return [node for score, node in sorted(scored, key=lambda one: -one[0]) if score >= GOOD_ENOUGH]


def _by_looks(scene: Scene, fits: list[NodeFit], wanted: Wanted) -> list[NodeFit]:
    del scene
    phrase = wanted.phrase
    if phrase.colour:
        own = of_colour([one.node for one in fits], phrase.colour)
        fits = [one for one in fits if one.node in own] or fits
    elif "colored" in phrase.words or "coloured" in phrase.words:
        fits = [one for one in fits if colour_of(one.node) not in PALE] or fits
    if phrase.shape:
        shaped = [one for one in fits if has_shape(one.node, phrase.shape)]
        fits = shaped or fits
    return fits


def has_shape(node: SemanticNode, shape: str) -> bool:
    """Return whether a node has a shape that a word names; digits and letters are told by what they say."""
    if node.shape not in SHAPES.get(shape, frozenset({shape})):
        return False
    if shape in {"digit", "number"}:
        return node.name.strip().isdigit()
    return not (shape == "letter" and not node.name.strip().isalpha())


def _by_position(scene: Scene, fits: list[NodeFit], wanted: Wanted) -> list[NodeFit]:
    del scene
    position = wanted.phrase.position
    if len(fits) < 2 or not position:  # noqa: PLR2004 - one alone needs no narrowing
        return fits

    def key(one: NodeFit) -> float:
        x, y = centre_of(one.node)
        across = x * bool(position & {"left", "leftmost"}) - x * bool(position & {"right"})
        down = y * bool(position & {"top", "upper", "topmost"}) - y * bool(position & {"bottom", "lower"})
        return across + down

    return [min(fits, key=key)]


def _by_size(scene: Scene, fits: list[NodeFit], wanted: Wanted) -> list[NodeFit]:
    del scene
    size = wanted.phrase.size
    areas = sorted(_area(one.node) for one in fits)
    if not size or len(set(areas)) < 2:  # noqa: PLR2004 - all of one size
        return fits
    if size.endswith("er"):
        ranked = sorted(fits, key=_area_of)
        return [ranked[-1 if size in _BIG else 0]]
    middle = (areas[0] + areas[-1]) / 2
    return [one for one in fits if (_area(one.node) > middle) == (size in _BIG)]


def _area_of(one: NodeFit) -> float:
    return _area(one.node)


def _area(node: SemanticNode) -> float:
    _, _, width, height = box_of(node)
    return max(width, height)


def _by_rank(scene: Scene, fits: list[NodeFit], wanted: Wanted) -> list[NodeFit]:
    """Keep the one with the largest or smallest number in its name or row."""
    phrase = wanted.phrase
    if not (phrase.most or phrase.least):
        return fits
    best = max((one.score for one in fits), default=0.0)
    fitting = [one for one in fits if one.score >= best - NEARLY]
    numbered = [(value, one) for one in fitting if (value := rank_value(scene, one.node)) is not None]
    if not numbered:
        return fits
    ranked = sorted(numbered, key=_value_of)
    return [ranked[-1 if phrase.most else 0][1]]


def _value_of(pair: tuple[float, NodeFit]) -> float:
    return pair[0]


def rank_value(scene: Scene, node: SemanticNode) -> float | None:
    """Return the number that a node is ranked by: in its name, its words, or what stands beside it."""
    for text in (node.name, node.value or "", node.context):
        if (value := number_in(text)) is not None:
            return value
    if node.role == "h":
        return None
    beside = [other for other in scene.nodes if other.id != node.id and scene.same_row(node, other)]
    numbers = (number_in(other.name) for other in (*beside, *scene.in_section_of(node)[:_NEAR_NODES]))
    return next((value for value in numbers if value is not None), None)


def _by_ordinal(scene: Scene, fits: list[NodeFit], wanted: Wanted) -> list[NodeFit]:
    ordinal = wanted.phrase.ordinal
    if ordinal is None or not fits:
        return fits
    best = max(one.score for one in fits)
    peers = sorted((one for one in fits if one.score >= best - NEARLY), key=lambda one: scene.order.get(one.node.id, 0))
    place = ordinal - 1 if ordinal > 0 else len(peers) + ordinal
    return [peers[place]] if 0 <= place < len(peers) else []


# -- two alike ---------------------------------------------------------------------------------------------------------


def _most_telling(scene: Scene, best: list[NodeFit], phrase: TargetPhrase) -> list[NodeFit]:
    """Return what is left of nodes that fit alike: the exact writing, controls, the innermost, what is not covered."""

    def exact(node: SemanticNode) -> bool:
        return any(node.name.strip() == quote.strip() for quote in phrase.quoted)

    def of_kind(node: SemanticNode) -> bool:
        return not phrase.kinds or node.role in phrase.kinds

    def enabled(node: SemanticNode) -> bool:
        return "disabled" not in node.states and not node.occluded

    def sends(node: SemanticNode) -> bool:
        return node.role == "btn" and same_thing(phrase.plain, "submit")

    for keep in (exact, of_kind, _is_control, enabled, sends):
        best = [one for one in best if keep(one.node)] or best
    inner = [one for one in best if not any(scene.inside(one.node, other.node) for other in best)]
    return inner or best


def _by_answers(scene: Scene, alike: list[NodeFit]) -> list[NodeFit]:
    """Return what is left of nodes that fit alike by what the user has answered: the words or the order that tell."""
    for answer in reversed(scene.answers):
        words = frozenset(tokens(answer)) - STOP_WORDS
        named = [one for one in alike if words and words <= frozenset(tokens(described(one.node)))]
        ordinal = phrase_of(answer).ordinal or 0
        place = ordinal - 1 if ordinal > 0 else len(alike) + ordinal
        if not named and ordinal and 0 <= place < len(alike):
            named = [sorted(alike, key=lambda one: scene.order.get(one.node.id, 0))[place]]
        alike = named or alike
    return alike


def _is_control(node: SemanticNode) -> bool:
    return node.role in CONTROLS


def _question(phrase: TargetPhrase, alike: list[NodeFit]) -> UserAsked:
    options = tuple(described(one.node) for one in alike[:_MAX_OPTIONS])
    return UserAsked(question=f"Several things on the page fit “{phrase.plain}”. Which one is meant?", options=options)


def described(node: SemanticNode) -> str:
    """Return words by which a user tells a node from others."""
    name = node.name or node.value or node.role
    where = f" at {round(node.centre[0])}, {round(node.centre[1])}" if node.centre and not node.context else ""
    return f"{name}: {node.context}" if node.context else f"{name}{where}"
