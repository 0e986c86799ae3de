"""A phrase for something on a page, and the nodes that it may mean, each with how well it fits."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct, structs

from actors.planner.solving.clauses import quotes_in
from actors.planner.solving.instructions import without_article
from actors.planner.solving.vocabulary import (
    COLOURS,
    CONTROLS,
    KIND_WORDS,
    LEAST,
    MOST,
    POSITIONS,
    SAME_COLOURS,
    SHAPES,
    STOP_WORDS,
    SYNONYMS,
    VERB,
    VERBS,
    Deed,
)
from actors.planner.solving.words import bare, count_of, folded, likeness, ordinal_of, stem, tokens
from protocol.acting.tree import MAX_NAME_CHARS, SemanticNode

EXACT_QUOTED: Final = 0.97
FOLDED_QUOTED: Final = 0.96
EXACT: Final = 0.95
SAME_WORDS: Final = 0.93
ALL_WORDS: Final = 0.75
SYNONYM: Final = 0.88
KIND_ALONE: Final = 0.9
FUZZY: Final = 0.6
GOOD_ENOUGH: Final = 0.55
WORDS_MEANT: Final = 0.6
"""How well a phrase must fit mere words of a page for them to be what is meant."""

NEARLY: Final = 0.05
"""Two that fit within this are alike."""

_FUZZY_FROM: Final = 0.84
_NO_CONTROL: Final = 0.2
_OTHER_KIND: Final = 0.12
_DISABLED: Final = 0.25
_OTHER_ACTION: Final = 0.15
_PRESSED: Final = frozenset({"btn", "link", "menu"})
_CHANGING: Final = frozenset({Deed.ADD, Deed.BUY, Deed.ON_ITEM, Deed.SUBMIT, Deed.SET, Deed.UNCHECK})
"""What a control does that is called after it, and no look at a thing."""

_BY_CONTEXT: Final = 0.06
_SIZES: Final = frozenset({"large", "small", "big", "larger", "smaller", "bigger", "tiny"})
_WITHIN: Final = re.compile(
    r"^(?P<head>.+?)\s+(?:in|on|of|under|below|within|inside|for|by|from|next to|beside|at|with|belonging to|im|von|für"
    r"|dans|pour|de|en|para)\s+(?P<within>(?:(?:the|this|that|all|der|dem|la|le|el)\s+)?.+)$",
    re.IGNORECASE,
)
_EACH: Final = re.compile(r"(?:all|each|every|both)\b", re.IGNORECASE)
_CALLED: Final = re.compile(
    r"\s*\b(?:labell?ed|named|called|titled|saying|reading|that says|with the (?:text|label|name))\s+(?=[\"“'„«])",
    re.IGNORECASE,
)


class TargetPhrase(Struct, frozen=True, kw_only=True):
    """What a phrase says of the thing that it means.

    `words` are what tells it from others, `kinds` the roles it may have, `within` the row or section that it is in.
    """

    plain: str
    quoted: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    ordinal: int | None = None
    position: frozenset[str] = frozenset()
    colour: str = ""
    shape: str = ""
    size: str = ""
    most: bool = False
    least: bool = False
    within: str = ""
    every: bool = False
    count: int | None = None
    any: bool = False
    """Whether any one of those that fit will do."""


class NodeFit(Struct, frozen=True, kw_only=True):
    """A node that a phrase may mean, and how well it fits (0 to 1)."""

    node: SemanticNode
    score: float


def phrase_of(text: str) -> TargetPhrase:
    """Parse a phrase for something on a page."""
    plain = without_article(text.strip().rstrip(".,"))
    indefinite = bool(re.match(r"(?:a|an|any|one of|some|ein|eine|un|une|una)\s", text.strip(), re.IGNORECASE))
    match = _WITHIN.match(plain) if not quotes_in(plain) or not plain.startswith(('"', "“", "'")) else None
    head, within = (match["head"], match["within"]) if match else (plain, "")
    if match is None and (
        behind := re.match(r"^([\"“'].+?[\"”'](?:\s+\w+)?)\s+(?:in|on|of|under|for|by|from|next to)\s+(.+)$", plain)
    ):
        head, within = behind[1], behind[2]
    called = _CALLED.search(within)
    if called and not quotes_in(head):
        head, within = f"{head} {within[called.end() :]}", within[: called.start()]
    parsed = _parsed(plain, head, within)
    if within in COLOURS and not parsed.colour:
        parsed = structs.replace(parsed, within="", colour=SAME_COLOURS.get(within, within))
    if within and not (parsed.most or parsed.least) and frozenset(tokens(within)) & (MOST | LEAST):
        ranked = frozenset(tokens(within))
        parsed = structs.replace(parsed, within="", most=bool(ranked & MOST), least=bool(ranked & LEAST))
    whole = bool(_EACH.match(text.strip()))
    return structs.replace(
        parsed,
        any=indefinite,
        every=parsed.every or whole or bool(_EACH.match(within)),
        count=parsed.count or _count_of(within),
    )


def _count_of(within: str) -> int | None:
    """Return how many of the things around it a phrase is about: `on 3 posts by Ada`."""
    match = re.match(r"(\d+)\s+[a-z]", within, re.IGNORECASE)
    return int(match[1]) if match else None


def _parsed(plain: str, head: str, within: str) -> TargetPhrase:
    quoted = quotes_in(head)
    bare_head = head
    for quote in quoted:
        bare_head = bare_head.replace(quote, " ")
    found_words = [word.strip(".,:;") for word in tokens(bare_head.replace("#", " "))]
    ordinals = [place for word in found_words if (place := ordinal_of(word)) is not None]
    kinds = frozenset(role for word in found_words for role in KIND_WORDS.get(word, ()))
    colour = next((SAME_COLOURS.get(word, word) for word in found_words if word in COLOURS), "")
    shape = next((word.removesuffix("s") for word in found_words if word.removesuffix("s") in SHAPES), "")
    told_apart = STOP_WORDS | MOST | LEAST | KIND_WORDS.keys()
    telling = tuple(word for word in found_words if word not in told_apart and ordinal_of(word) is None)
    return TargetPhrase(
        plain=plain,
        quoted=quoted,
        words=telling,
        kinds=kinds,
        ordinal=ordinals[0] if ordinals else None,
        position=frozenset(found_words) & POSITIONS,
        colour=colour,
        shape=shape,
        size=next((word for word in found_words if word in _SIZES), ""),
        most=any(word in MOST for word in found_words),
        least=any(word in LEAST for word in found_words),
        within=within,
        every=any(word in {"all", "every", "each", "both", "alle", "tous", "todos"} for word in found_words),
        count=next((count_of(word) for word in found_words[:1] if word.isdigit() and found_words[1:]), None),
    )


def fit(phrase: TargetPhrase, node: SemanticNode) -> float:
    """Return how well a phrase fits a node, 0 where not at all."""
    score = _fit_of_words(phrase, node)
    if score <= 0:
        return 0.0
    if phrase.kinds and node.role not in phrase.kinds:
        score -= _OTHER_KIND
    if is_other_action(phrase, node):
        score -= _OTHER_ACTION
    if node.role not in CONTROLS and node.role not in phrase.kinds:
        score -= _NO_CONTROL / 2 if node.role in {"img", "h"} else _NO_CONTROL
    if "disabled" in node.states:
        score -= _DISABLED
    return max(score, 0.0)


def is_other_action(phrase: TargetPhrase, node: SemanticNode) -> bool:
    """Return whether a control is called after something that it changes, and a phrase does not say so."""
    verb = VERB.match(node.name) if node.role in _PRESSED else None
    if verb is None or VERBS[verb[0].casefold()] not in _CHANGING:
        return False
    return not frozenset(tokens(verb[0])) & frozenset(tokens(phrase.plain))


def _is_called_otherwise(phrase: TargetPhrase, node: SemanticNode) -> bool:
    """Return whether a control has a name of its own that shares no word with a phrase: the words beside it do not."""
    own = [word for word in tokens(node.name) if word not in STOP_WORDS and len(word) > 1 and word.isalpha()]
    wanted = frozenset(stem(word) for word in tokens(phrase.plain))
    return node.role in _PRESSED and bool(own) and not wanted & {stem(word) for word in own}


def _fit_of_words(phrase: TargetPhrase, node: SemanticNode) -> float:
    labels = [node.name] if node.name else []
    if ":" in node.name:
        labels.append(node.name.split(":")[0])
    if node.role not in {"inp", "sel", "slider", "spin"} and node.value:
        labels.append(node.value)
    context = "" if _is_called_otherwise(phrase, node) else node.context
    if phrase.quoted:
        best = max((_fit_of_quote(quote, label) for quote in phrase.quoted for label in labels), default=0.0)
        if not best and context and any(bare(quote) == bare(context) for quote in phrase.quoted):
            best = FOLDED_QUOTED - _BY_CONTEXT
        return best
    best = max((_fit_of_plain(phrase, label) for label in labels), default=0.0)
    if context and phrase.words:
        best = max(best, _fit_of_plain(phrase, context) - _BY_CONTEXT)
    if not best and phrase.kinds and not phrase.words and node.role in phrase.kinds:
        return KIND_ALONE
    return best


def _fit_of_quote(quote: str, label: str) -> float:
    if label.strip() == quote.strip():
        return EXACT_QUOTED
    if folded(label) == folded(quote) or bare(label) == bare(quote) != "":
        return FOLDED_QUOTED
    if len(label) >= MAX_NAME_CHARS - 2 and folded(quote).startswith(folded(label).rstrip("…. ")):
        return SAME_WORDS
    wanted, present = tokens(quote), tokens(label)
    if same_thing(quote, label):
        return SYNONYM - 0.08
    if wanted and _is_part(wanted, present):
        return ALL_WORDS + 0.1 * len(wanted) / len(present)
    return FUZZY if likeness(quote, label) > _FUZZY_FROM + 0.06 else 0.0


def _is_part(wanted: tuple[str, ...], present: tuple[str, ...]) -> bool:
    width = len(wanted)
    return any(present[start : start + width] == wanted for start in range(len(present) - width + 1))


def _fit_of_plain(phrase: TargetPhrase, label: str) -> float:
    plain = phrase.plain
    if folded(label) == folded(plain) or (bare(label) == bare(plain) != ""):
        return EXACT
    if not phrase.words:
        return 0.0
    if bare(label) == bare(" ".join(phrase.words)):
        return EXACT
    wanted = [stem(word) for word in phrase.words]
    present = [stem(word) for word in tokens(label) if word not in STOP_WORDS]
    if present and set(wanted) == set(present):
        return SAME_WORDS
    if same_thing(" ".join(phrase.words), label):
        return SYNONYM
    if not present:
        return 0.0
    shared = len(set(wanted) & set(present))
    if shared == len(set(wanted)):
        return ALL_WORDS + 0.15 * shared / len(present)
    if shared and shared == len(set(present)):
        return ALL_WORDS - 0.1 + 0.2 * shared / len(set(wanted))
    return FUZZY if likeness(" ".join(phrase.words), label) >= _FUZZY_FROM else 0.0


def same_thing(one: str, other: str) -> bool:
    """Whether controls call the same thing by both."""
    first, second = bare(one) or folded(one), bare(other) or folded(other)
    return first == second or any(first in group and second in group for group in SYNONYMS)
