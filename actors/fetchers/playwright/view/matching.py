"""Tells how well elements fit words that somebody looks for."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz, process, utils

from actors.fetchers.playwright.view.spots import Spot
from protocol.browsers.pageinfo import Candidate, ElementKind

MAX_CANDIDATES = 5
_NEAREST = 3
_NEAR = 60.0

_EXACT_ID, _EXACT_LABEL, _IN_ID, _IN_LABEL, _ALIAS, _LABEL_IN_QUERY, _TYPE = 1.0, 0.9, 0.8, 0.6, 0.5, 0.4, 0.3
_LEAST_LABEL = 2
"""A label that is shorter is in any query."""

_KIND_WORDS: dict[ElementKind, frozenset[str]] = {
    ElementKind.BUTTON: frozenset({"button", "buttons"}),
    ElementKind.LINK: frozenset({"link", "links"}),
    ElementKind.INPUT: frozenset({"input", "field", "textbox", "box", "inputs", "fields"}),
    ElementKind.SELECT: frozenset({"select", "dropdown", "combobox", "list"}),
    ElementKind.CHECKBOX: frozenset({"checkbox", "switch", "toggle", "tickbox"}),
    ElementKind.RADIO: frozenset({"radio"}),
    ElementKind.TAB: frozenset({"tab", "tabs"}),
    ElementKind.MENU_ITEM: frozenset({"menuitem", "menu"}),
    ElementKind.OPTION: frozenset({"option", "options"}),
    ElementKind.FILE: frozenset({"file", "upload", "attachment"}),
    ElementKind.EDITOR: frozenset({"editor", "textbox"}),
    ElementKind.OTHER: frozenset(),
}
_ALIKE: tuple[frozenset[str], ...] = (
    frozenset({"sign in", "log in", "login", "signin", "log on"}),
    frozenset({"sign up", "signup", "register", "create account", "join"}),
    frozenset({"sign out", "log out", "logout", "signout"}),
    frozenset({"search", "find", "look up"}),
    frozenset({"cart", "basket", "bag"}),
    frozenset({"checkout", "pay", "place order", "buy"}),
    frozenset({"email", "e mail", "mail"}),
    frozenset({"delete", "remove"}),
    frozenset({"next", "continue", "forward"}),
    frozenset({"previous", "prev", "back"}),
    frozenset({"submit", "send", "save", "apply"}),
    frozenset({"close", "dismiss", "cancel"}),
    frozenset({"phone", "telephone", "mobile", "tel"}),
    frozenset({"username", "user name", "user", "login name"}),
)


def plain(text: str) -> str:
    """Return words as they are compared: small letters and digits with single blanks between."""
    return " ".join(utils.default_process(text.replace("_", " ")).split())


def ranked(query: str, spots: Sequence[Spot]) -> tuple[Candidate, ...]:
    """Return those that fit best, best first; of equals those in the window, then as they stand on the page."""
    scored = [
        (score, reason, spot)
        for spot in spots
        for score, reason in [_score(query.strip(), plain(query), spot)]
        if score
    ]
    scored.sort(key=lambda one: (-one[0], "hidden" in one[2].states, not one[2].in_view))
    return tuple(
        Candidate(id=spot.id, label=spot.label, type=spot.type, score=round(score, 3), match_reason=reason)
        for score, reason, spot in scored[:MAX_CANDIDATES]
    )


def nearest(element_id: str, ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids that are most like one that is gone."""
    return tuple(found[0] for found in process.extract(element_id, ids, limit=_NEAREST, score_cutoff=_NEAR))


def _score(raw: str, query: str, spot: Spot) -> tuple[float, str]:
    if raw == spot.id:
        return _EXACT_ID, "exact id"
    label, name = plain(spot.label), plain(spot.id)
    kinds = _KIND_WORDS[spot.type]
    bare = " ".join(word for word in query.split() if word not in kinds)
    fits = (
        (bool(query) and query == label, _EXACT_LABEL, "exact label"),
        (bool(bare) and bare == label, _EXACT_LABEL, "exact label and type"),
        (bool(query) and (f" {query} " in f" {name} " or raw.lower() in spot.id), _IN_ID, "id contains the query"),
        (bool(query) and query in label, _IN_LABEL, "label contains the query"),
        (_is_alias(query, bare, label, spot), _ALIAS, "known by another name"),
        (len(label) >= _LEAST_LABEL and f" {label} " in f" {query} ", _LABEL_IN_QUERY, "query contains the label"),
    )
    found = next(((score, reason) for fit, score, reason in fits if fit), None)
    return found or _roughly(query, label, name, kinds)


def _is_alias(query: str, bare: str, label: str, spot: Spot) -> bool:
    names = {plain(mark) for mark in (*spot.marks, spot.placeholder)} - {""}
    if query in names or bare in names:
        return True
    asked = bare or query
    return any(_has(group, label) and _has(_without(group, label), asked) for group in _ALIKE)


def _has(group: frozenset[str], text: str) -> bool:
    return any(f" {words} " in f" {text} " for words in group)


def _without(group: frozenset[str], text: str) -> frozenset[str]:
    return frozenset(words for words in group if not _has(frozenset({words}), text))


def _roughly(query: str, label: str, name: str, kinds: frozenset[str]) -> tuple[float, str]:
    """Score what only resembles: below the score of the type, or a little above where the type fits, too."""
    fits = any(word in kinds for word in query.split())
    likeness = max(fuzz.token_set_ratio(query, label), fuzz.ratio(query, name)) if label else fuzz.ratio(query, name)
    if fits:
        return _TYPE + (likeness / 1_000 if likeness >= _NEAR else 0.0), "type"
    return (likeness / 100 * (_TYPE - 0.01), "similar words") if likeness >= _NEAR else (0.0, "")
