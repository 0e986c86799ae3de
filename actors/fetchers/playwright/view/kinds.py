"""Judges what a page is for whoever acts on it, and says it in a sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from actors.fetchers.playwright.view.intents import Page, asks_new_password, is_search_field
from actors.fetchers.playwright.view.spots import Look, Spot
from protocol.browsers.pageinfo import ElementKind, Intent, ViewType

_FIELDS = frozenset({ElementKind.INPUT, ElementKind.SELECT, ElementKind.FILE, ElementKind.EDITOR, ElementKind.RADIO})
_FEW_FIELDS = 3
_MANY_ROWS = 6
_FEW_ELEMENTS = 40
_PROSE = 1_200
_LITTLE_PROSE = 600
_MANY_TABLES = 2
_FAILED = 400

_LOGIN = re.compile(r"\b(?:log[ -]?in|sign[ -]?in|anmelden|connexion|iniciar sesi)", re.IGNORECASE)
_REGISTRATION = re.compile(
    r"\b(?:sign[ -]?up|regist(?:er|ration)|create (?:an? |your )?account|inscription)", re.IGNORECASE
)
_CHECKOUT = re.compile(r"\b(?:check-?out|payment|kasse|zahlung|paiement|place (?:your )?order)\b", re.IGNORECASE)
_RESULTS = re.compile(r"\b(?:search results?|results? for|suchergebnisse|r[ée]sultats)\b", re.IGNORECASE)
_DASHBOARD = re.compile(r"\b(?:dashboard|admin|control panel|analytics|overview|console)\b", re.IGNORECASE)
_ERROR = re.compile(
    r"\b(?:404|403|500|502|503|not found|page (?:does not|doesn.t) exist|access denied|forbidden|server error"
    r"|went wrong)\b",
    re.IGNORECASE,
)
_QUERIES = frozenset({"q", "query", "search", "s", "keyword", "keywords", "term"})
_ARTICLES = re.compile(r"Article$|BlogPosting|og:article", re.IGNORECASE)
_PRODUCTS = re.compile(r"^(?:Product|ProductGroup|og:product.*)$", re.IGNORECASE)
_MEDIA = re.compile(
    r"^(?:VideoObject|MusicRecording|AudioObject|PodcastEpisode|Movie|og:(?:video|music).*)$", re.IGNORECASE
)


@dataclass(frozen=True)
class Seen:
    """A look, with what was judged of it already; `status` is that of the answer, 0 where nobody knows."""

    look: Look
    intents: Sequence[Intent]
    status: int = 0

    @property
    def words(self) -> str:
        """Return what a page says of itself: title, heading and the last of its address."""
        parts = urlsplit(self.look.url)
        return f"{self.look.title} | {self.look.signs.heading} | {parts.path.replace('_', ' ')}"

    @property
    def page(self) -> Page:
        """Return the elements, for the rules."""
        return Page(self.look.elements)

    @property
    def fields(self) -> list[Spot]:
        """Return what is filled in, but for searching."""
        return [spot for spot in self.look.elements if spot.type in _FIELDS and not is_search_field(spot)]

    def wants(self, intent: str) -> bool:
        """Whether somebody may want this here."""
        return any(one.intent == intent for one in self.intents)

    def marked(self, kinds: re.Pattern[str]) -> bool:
        """Whether its metadata calls it one of these."""
        return any(kinds.search(kind) for kind in self.look.signs.kinds)


def _is_error(seen: Seen) -> bool:
    said = _ERROR.search(f"{seen.look.title} | {seen.look.signs.heading}") is not None
    return seen.status >= _FAILED or (said and seen.look.signs.prose < _LITTLE_PROSE and not seen.fields)


def _is_login(seen: Seen) -> bool:
    if seen.page.passwords():
        return not asks_new_password(seen.page)
    return bool(_LOGIN.search(seen.words)) and 0 < len(seen.fields) <= _FEW_FIELDS


def _is_registration(seen: Seen) -> bool:
    if seen.page.passwords():
        return asks_new_password(seen.page) or bool(_REGISTRATION.search(seen.words))
    return bool(_REGISTRATION.search(seen.words)) and len(seen.fields) > 1


def _is_checkout(seen: Seen) -> bool:
    card = any(mark.startswith("cc ") for spot in seen.look.elements for mark in spot.marks)
    return card or (bool(_CHECKOUT.search(seen.words)) and (bool(seen.fields) or seen.wants("checkout")))


def _is_results(seen: Seen) -> bool:
    asked = {name for name, _ in parse_qsl(urlsplit(seen.look.url).query)} & _QUERIES
    return bool(_RESULTS.search(seen.words)) or (bool(asked) and seen.look.signs.rows >= _FEW_FIELDS)


def _is_search(seen: Seen) -> bool:
    few = len(seen.look.elements) <= _FEW_ELEMENTS and seen.look.signs.prose < _LITTLE_PROSE
    return few and seen.wants("search") and not seen.fields and seen.look.signs.rows < _MANY_ROWS


def _is_product(seen: Seen) -> bool:
    bought = seen.wants("add_to_cart") and seen.look.signs.prices > 0
    offers = sum(len(one.suggested_element_ids) for one in seen.intents if one.intent == "add_to_cart")
    return (seen.marked(_PRODUCTS) and seen.look.signs.rows < _MANY_ROWS * 2) or (bought and offers == 1)


def _is_article(seen: Seen) -> bool:
    prose = seen.look.signs.prose
    return (seen.marked(_ARTICLES) and prose >= _LITTLE_PROSE) or (
        prose >= _PROSE and prose > 30 * len(seen.fields) * _FEW_FIELDS and seen.look.signs.rows < _MANY_ROWS * 4
    )


def _is_dashboard(seen: Seen) -> bool:
    return bool(_DASHBOARD.search(seen.words)) or seen.look.signs.tables >= _MANY_TABLES


_TYPES: tuple[tuple[ViewType, Callable[[Seen], bool]], ...] = (
    (ViewType.ERROR, _is_error),
    (ViewType.REGISTRATION, _is_registration),
    (ViewType.LOGIN, _is_login),
    (ViewType.CHECKOUT, _is_checkout),
    (ViewType.SEARCH_RESULTS, _is_results),
    (ViewType.PRODUCT, _is_product),
    (ViewType.MEDIA, lambda seen: seen.look.signs.media or seen.marked(_MEDIA)),
    (ViewType.FORM, lambda seen: len(seen.fields) >= _FEW_FIELDS and seen.wants("submit_form")),
    (ViewType.ARTICLE, _is_article),
    (ViewType.DASHBOARD, _is_dashboard),
    (ViewType.LIST, lambda seen: seen.look.signs.rows >= _MANY_ROWS),
    (ViewType.SEARCH, _is_search),
    (ViewType.FORM, lambda seen: bool(seen.fields) and seen.wants("submit_form")),
)

_CALLED = {
    ViewType.LOGIN: "A page to log in",
    ViewType.REGISTRATION: "A page to open an account",
    ViewType.SEARCH: "A page to search",
    ViewType.SEARCH_RESULTS: "Results of a search",
    ViewType.LIST: "A list",
    ViewType.PRODUCT: "A product",
    ViewType.CHECKOUT: "A checkout",
    ViewType.FORM: "A form",
    ViewType.ARTICLE: "An article",
    ViewType.DASHBOARD: "A dashboard",
    ViewType.MEDIA: "A page with video or sound",
    ViewType.ERROR: "An error page",
    ViewType.OTHER: "A page",
}


def type_of(seen: Seen) -> ViewType:
    """Return what a page is for."""
    return next((kind for kind, fits in _TYPES if fits(seen)), ViewType.OTHER)


def summary(kind: ViewType, spots: Sequence[Spot], dialogs: int) -> str:
    """Say in a sentence of ours what is there."""
    counts = Counter(_group(spot.type) for spot in spots)
    there = [f"{count} {name if count == 1 else f'{name}s'}" for name, count in _in_order(counts)]
    listed = f"{', '.join(there[:-1])} and {there[-1]}" if len(there) > 1 else "".join(there) or "nothing to act on"
    waits = "" if not dialogs else " A dialog is open." if dialogs == 1 else f" {dialogs} dialogs are open."
    return f"{_CALLED[kind]} with {listed}.{waits}"


def _group(kind: ElementKind) -> str:
    if kind in _FIELDS or kind is ElementKind.CHECKBOX:
        return "field"
    return kind.value if kind in (ElementKind.BUTTON, ElementKind.LINK) else "other control"


def _in_order(counts: Counter[str]) -> Iterator[tuple[str, int]]:
    return ((name, counts[name]) for name in ("field", "button", "link", "other control") if counts[name])
