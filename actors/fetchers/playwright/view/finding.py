"""Finds elements: by words or a selector as candidates, by id as a live handle."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace
from playwright.async_api import ElementHandle
from rapidfuzz import fuzz, process, utils

from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.documents import TabDocument, main_document, memory_of
from actors.fetchers.playwright.view.elements import PageElement
from actors.fetchers.playwright.view.snapshot import (
    locate_in,
    mark_click_listeners,
    snapshot_document,
    take_snapshot,
    way_to,
)
from protocol.browsers.operations import CSS, FindElement
from protocol.browsers.pageinfo import Candidate, ElementKind
from protocol.browsers.results import Found
from protocol.faults import Code, FaultError, fault

MAX_CANDIDATES = 5
_NEAREST = 3
_NEAR = 60.0

_EXACT_ID, _EXACT_LABEL, _IN_ID, _IN_LABEL, _ALIAS, _LABEL_IN_QUERY, _TYPE = 1.0, 0.9, 0.8, 0.6, 0.5, 0.4, 0.3
_LEAST_LABEL = 2
"""A label that is shorter is part of any query."""

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
_SYNONYMS: tuple[frozenset[str], ...] = (
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

_TRIES = 4
"""How often a page may change while a handle of its element is taken."""

_MAX_QUOTED_CHARS = 80


class _SelectorMatch(Struct, frozen=True):
    """The elements that a selector matches in the document of a tab; not `valid` where it does not parse."""

    valid: bool
    elements: tuple[PageElement, ...]
    url: str
    fresh: tuple[tuple[str, dict[str, str]], ...]


class _Concealed(Struct, frozen=True):
    """Whether the element exists."""

    done: bool


async def find(tab: Tab, do: FindElement) -> Found:
    """Find the elements that match best, five at most.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for a selector that is none; PAGE_CRASHED or BROWSER_PAGE_HUNG.
    """
    if do.query.startswith(CSS):
        return Found(query=do.query, candidates=await _selected(tab, do.query.removeprefix(CSS)))
    snapshot = await take_snapshot(tab)
    return Found(query=do.query, candidates=ranked(do.query, snapshot.elements))


async def locate(tab: Tab, element_id: str) -> ElementHandle:
    """Return a handle of an element by its id, also after the page was drawn again.

    Raises:
        FaultError: ELEMENT_NOT_FOUND, with the nearest ones; PAGE_CRASHED; BROWSER_PAGE_HUNG.
    """
    *frames, name = memory_of(tab).id_parts(element_id)
    for _ in range(_TRIES):
        document = await _descend(main_document(tab), frames)
        if document is None:
            raise _missing(element_id, (await take_snapshot(tab)).elements)
        location = await locate_in(document, name)
        if location.way is None:
            raise _missing(element_id, location.elements, document.prefix)
        if location.healed is not None:
            document.memory.healed = (element_id, replace(location.healed, id=f"{document.prefix}{location.healed.id}"))
        handle = await document.element(location.way)
        if handle is not None and await way_to(document, name) == location.way:
            return handle
    message = "The page moves too much to take hold of it: call wait_for_stable, and try again."
    raise FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field="element_id"))


def healing(tab: Tab) -> str:
    """Say which element was taken for one that is gone, once; "" where none was."""
    memory = memory_of(tab)
    healed, memory.healed = memory.healed, None
    if healed is None:
        return ""
    gone, element = healed[0][:_MAX_QUOTED_CHARS], healed[1]
    label = element.label[:_MAX_QUOTED_CHARS]
    return f"{gone} is gone; {element.id} (“{label}”) was taken for it, with a certainty of {element.score:.2f}."


async def conceal(tab: Tab, element_id: str) -> None:
    """Hide the value of an element in all views from now on."""
    document, name = await document_of(tab, element_id)
    if document is not None:
        await document.call("conceal", _Concealed, id=name)


async def document_of(tab: Tab, element_id: str) -> tuple[TabDocument | None, str]:
    """Return the document that an element is in, and its id there; no document where its frame is gone."""
    *frames, name = memory_of(tab).id_parts(element_id)
    return await _descend(main_document(tab), frames), name


async def _selected(tab: Tab, selector: str) -> tuple[Candidate, ...]:
    document = main_document(tab)
    await mark_click_listeners(document)
    match = await document.call("select", _SelectorMatch, selector=selector)
    if not match.valid:
        message = "query: after css= comes a selector that the browser understands"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="query"))
    document.memory.remember(match.url, match.fresh)
    return tuple(
        Candidate(id=element.id, label=element.label, type=element.type, score=1.0, match_reason="selector")
        for element in match.elements[:MAX_CANDIDATES]
    )


async def _descend(document: TabDocument, frames: list[str]) -> TabDocument | None:
    """Descend into frames by their ids, or the numbers of their elements."""
    for name in frames:
        shown = (await snapshot_document(document)).frames
        frame = next((one for one in shown if name in (one.id, str(one.number))), None)
        inner = await document.inner(frame.id, frame.way, frame.number) if frame is not None else None
        if inner is None:
            return None
        document = inner
    return document


def _missing(element_id: str, elements: tuple[PageElement, ...], prefix: str = "") -> FaultError:
    near = nearest(element_id, [f"{prefix}{element.id}" for element in elements])
    named = element_id[:_MAX_QUOTED_CHARS]
    message = f"There is no element {named} on the page now: look again with get_page_info or find_element."
    if near:
        message += f" Nearest: {', '.join(near)}."
    return FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field="element_id"))


# -- matching by words -------------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """Normalize text for comparison: small letters and digits with single blanks between."""
    return " ".join(utils.default_process(text.replace("_", " ")).split())


def ranked(query: str, elements: Sequence[PageElement]) -> tuple[Candidate, ...]:
    """Rank the elements that match, best first; of equals those in the window, then in the order of the page."""
    scored = [
        (score, reason, element)
        for element in elements
        for score, reason in [_score(query.strip(), plain(query), element)]
        if score
    ]
    scored.sort(key=lambda one: (-one[0], "hidden" in one[2].states, not one[2].in_view))
    return tuple(
        Candidate(id=element.id, label=element.label, type=element.type, score=round(score, 3), match_reason=reason)
        for score, reason, element in scored[:MAX_CANDIDATES]
    )


def nearest(element_id: str, ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids that are most similar to one that is gone."""
    return tuple(match[0] for match in process.extract(element_id, ids, limit=_NEAREST, score_cutoff=_NEAR))


def _score(raw: str, query: str, element: PageElement) -> tuple[float, str]:
    if raw == element.id:
        return _EXACT_ID, "exact id"
    label, name = plain(element.label), plain(element.id)
    kinds = _KIND_WORDS[element.type]
    bare = " ".join(word for word in query.split() if word not in kinds)
    fits = (
        (bool(query) and query == label, _EXACT_LABEL, "exact label"),
        (bool(bare) and bare == label, _EXACT_LABEL, "exact label and type"),
        (bool(query) and (f" {query} " in f" {name} " or raw.lower() in element.id), _IN_ID, "id contains the query"),
        (bool(query) and query in label, _IN_LABEL, "label contains the query"),
        (_is_alias(query, bare, label, element), _ALIAS, "known by another name"),
        (len(label) >= _LEAST_LABEL and f" {label} " in f" {query} ", _LABEL_IN_QUERY, "query contains the label"),
    )
    best = next(((score, reason) for fit, score, reason in fits if fit), None)
    return best or _similarity(query, label, name, kinds)


def _is_alias(query: str, bare: str, label: str, element: PageElement) -> bool:
    names = {plain(mark) for mark in (*element.marks, element.placeholder)} - {""}
    if query in names or bare in names:
        return True
    words = bare or query
    return any(_has(group, label) and _has(_without(group, label), words) for group in _SYNONYMS)


def _has(group: frozenset[str], text: str) -> bool:
    return any(f" {words} " in f" {text} " for words in group)


def _without(group: frozenset[str], text: str) -> frozenset[str]:
    return frozenset(words for words in group if not _has(frozenset({words}), text))


def _similarity(query: str, label: str, name: str, kinds: frozenset[str]) -> tuple[float, str]:
    """Score similarity: below the score of the type, or a little above it where the type matches, too."""
    fits = any(word in kinds for word in query.split())
    likeness = max(fuzz.token_set_ratio(query, label), fuzz.ratio(query, name)) if label else fuzz.ratio(query, name)
    if fits:
        return _TYPE + (likeness / 1_000 if likeness >= _NEAR else 0.0), "type"
    return (likeness / 100 * (_TYPE - 0.01), "similar words") if likeness >= _NEAR else (0.0, "")
