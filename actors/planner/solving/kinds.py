"""In which colour, size and the like a thing is wanted: what of that its page lets one choose, and what it lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from actors.planner.solution import Solution, UserAsked
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.choosing import best_option
from actors.planner.solving.moves import on, select
from actors.planner.solving.scene import Scene
from actors.planner.solving.targets import EXACT
from actors.planner.solving.vocabulary import COLOURS, STOP_WORDS
from actors.planner.solving.words import bare, folded, stem, stems, tokens
from protocol.acting.tree import SemanticNode

_LONGEST: Final = 3
"""Of how many words an option is looked for."""

_BEHIND: Final = 5
"""How many nodes behind what puts a thing into the cart may still be about that thing."""

_SIZES: Final = frozenset("xs s m l xl xxl xxxl small medium large".split())
_NAMED_KIND: Final = re.compile(
    r"\b(?:size|colou?r|größe|farbe|taille|couleur|talla|finish|material|edition)\s+(\w+)", re.IGNORECASE
)
_ON: Final = frozenset({"checked", "selected", "pressed"})
_CONFIDENCE: Final = 0.85


class _Option(Struct, frozen=True):
    """What a page lets one choose: a control of its own, or one of the options of a list."""

    node: SemanticNode
    option: str = ""

    @property
    def is_on(self) -> bool:
        """Whether it is chosen."""
        return folded(self.node.value or "") == folded(self.option) if self.option else bool(self.node.states & _ON)


def choose_kind(words: str, offer: SemanticNode, thing: str, scene: Scene, attempts: Attempts) -> Solution | None:
    """Return the next choice of the kind that words want of a thing, or a question where there is none such.

    `offer` is the control that takes the thing, `thing` what the page calls it. None: nothing is left to be chosen.
    """
    wanted = tuple(word for word in tokens(words) if word not in STOP_WORDS)
    options, named = _options(wanted, _around(offer, scene))
    heads = " ".join(node.name for node in scene.of_roles("h"))
    known = stems(f"{offer.name} {offer.context} {thing} {scene.page.title} {heads}") | {stem(word) for word in named}
    lacking = [word for word in _kinds_in(words, wanted) if stem(word) not in known]
    if lacking:
        return UserAsked(question=f"Nothing here can be chosen as “{' '.join(lacking)}”. What is to be taken instead?")
    for option in options:
        if option.is_on or attempts.has_clicked(option.node):
            continue
        if option.node.id in attempts.failed:
            return UserAsked(question=f"“{option.option or option.node.name}” could not be chosen. What else is to be?")
        return select(option.node, option.option, _CONFIDENCE) if option.option else on(option.node, _CONFIDENCE)
    return None


def _kinds_in(words: str, wanted: Sequence[str]) -> Iterator[str]:
    """Yield the words that say in which kind a thing is wanted."""
    named = {match.casefold() for match in _NAMED_KIND.findall(words)}
    yield from (word for word in wanted if word in COLOURS | _SIZES | named or any(sign.isdigit() for sign in word))


def _around(offer: SemanticNode, scene: Scene) -> tuple[SemanticNode, ...]:
    """Return what stands between the heading, or the like control before, and shortly behind what takes a thing."""
    place = scene.order[offer.id]
    before = scene.nodes[:place]
    first = next((at for at, node in enumerate(before) if node.role == "h"), 0)
    like = max((at for at, node in enumerate(before) if node.role == "btn" and node.name == offer.name), default=0)
    return scene.nodes[max(first, like) : place + _BEHIND]


def _options(wanted: Sequence[str], nodes: Sequence[SemanticNode]) -> tuple[list[_Option], frozenset[str]]:
    """Return the options that words name, the longest names first, and the words that do so."""
    options, named = list[_Option](), set[str]()
    for length in range(_LONGEST, 0, -1):
        for start in range(len(wanted) - length + 1):
            part = wanted[start : start + length]
            option = None if named & set(part) else _option_of(" ".join(part), nodes)
            if option is not None:
                options.append(option)
                named |= set(part)
    return options, frozenset(named)


def _option_of(words: str, nodes: Sequence[SemanticNode]) -> _Option | None:
    for node in nodes:
        if node.role == "sel" and (best := best_option(node, words)) is not None and best[1] >= EXACT:
            return _Option(node, best[0])
        if node.role in {"radio", "btn", "opt"} and _is_called(node.name, words):
            return _Option(node)
    return None


def _is_called(name: str, words: str) -> bool:
    """Return whether a control has a name, be it with a remark behind it: `Lime (sold out)`."""
    return bare(re.split(r"\s*[(\[–—]|\s-\s", name, maxsplit=1)[0]) == words
