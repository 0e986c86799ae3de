"""Classifies what a page is for, and summarizes it in a sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from actors.fetchers.playwright.view.elements import PageElement, PageSnapshot
from actors.fetchers.playwright.view.intents import (
    FIELDS,
    ActionableElements,
    asks_new_password,
    card_fields,
    is_search_field,
)
from protocol.browsers.pageinfo import ElementKind, Intent, ViewType

_FIELDS = FIELDS - {ElementKind.CHECKBOX}
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


class PageFacts(Struct, frozen=True):
    """A snapshot with its intents; `status` is that of the response, 0 where it is unknown."""

    snapshot: PageSnapshot
    intents: Sequence[Intent]
    status: int = 0

    @property
    def words(self) -> str:
        """Title, heading and path of the page."""
        parts = urlsplit(self.snapshot.url)
        return f"{self.snapshot.title} | {self.snapshot.markers.heading} | {parts.path.replace('_', ' ')}"

    @property
    def page(self) -> ActionableElements:
        """The elements, for the rules of intents."""
        return ActionableElements(self.snapshot.elements)

    @property
    def fields(self) -> list[PageElement]:
        """The fields, except search fields."""
        return [
            element for element in self.snapshot.elements if element.type in _FIELDS and not is_search_field(element)
        ]

    def wants(self, intent: str) -> bool:
        """Whether an intent was inferred."""
        return any(one.intent == intent for one in self.intents)

    def marked(self, kinds: re.Pattern[str]) -> bool:
        """Whether one of the types in its metadata matches."""
        return any(kinds.search(kind) for kind in self.snapshot.markers.kinds)


def _is_error(facts: PageFacts) -> bool:
    is_named = _ERROR.search(f"{facts.snapshot.title} | {facts.snapshot.markers.heading}") is not None
    return facts.status >= _FAILED or (is_named and facts.snapshot.markers.prose < _LITTLE_PROSE and not facts.fields)


def _is_login(facts: PageFacts) -> bool:
    if facts.page.passwords():
        return not asks_new_password(facts.page)
    return bool(_LOGIN.search(facts.words)) and 0 < len(facts.fields) <= _FEW_FIELDS


def _is_registration(facts: PageFacts) -> bool:
    if facts.page.passwords():
        return asks_new_password(facts.page) or bool(_REGISTRATION.search(facts.words))
    return bool(_REGISTRATION.search(facts.words)) and len(facts.fields) > 1


def _is_checkout(facts: PageFacts) -> bool:
    return bool(card_fields(facts.snapshot.elements)) or (
        bool(_CHECKOUT.search(facts.words)) and (bool(facts.fields) or facts.wants("checkout"))
    )


def _is_results(facts: PageFacts) -> bool:
    parameters = {name for name, _ in parse_qsl(urlsplit(facts.snapshot.url).query)} & _QUERIES
    return bool(_RESULTS.search(facts.words)) or (bool(parameters) and facts.snapshot.markers.rows >= _FEW_FIELDS)


def _is_search(facts: PageFacts) -> bool:
    few = len(facts.snapshot.elements) <= _FEW_ELEMENTS and facts.snapshot.markers.prose < _LITTLE_PROSE
    return few and facts.wants("search") and not facts.fields and facts.snapshot.markers.rows < _MANY_ROWS


def _is_product(facts: PageFacts) -> bool:
    bought = facts.wants("add_to_cart") and facts.snapshot.markers.prices > 0
    offers = sum(len(one.suggested_element_ids) for one in facts.intents if one.intent == "add_to_cart")
    return (facts.marked(_PRODUCTS) and facts.snapshot.markers.rows < _MANY_ROWS * 2) or (bought and offers == 1)


def _is_article(facts: PageFacts) -> bool:
    prose = facts.snapshot.markers.prose
    return (facts.marked(_ARTICLES) and prose >= _LITTLE_PROSE) or (
        prose >= _PROSE
        and prose > 30 * len(facts.fields) * _FEW_FIELDS
        and facts.snapshot.markers.rows < _MANY_ROWS * 4
    )


def _is_dashboard(facts: PageFacts) -> bool:
    return bool(_DASHBOARD.search(facts.words)) or facts.snapshot.markers.tables >= _MANY_TABLES


_TYPES: tuple[tuple[ViewType, Callable[[PageFacts], bool]], ...] = (
    (ViewType.ERROR, _is_error),
    (ViewType.REGISTRATION, _is_registration),
    (ViewType.LOGIN, _is_login),
    (ViewType.CHECKOUT, _is_checkout),
    (ViewType.SEARCH_RESULTS, _is_results),
    (ViewType.PRODUCT, _is_product),
    (ViewType.MEDIA, lambda facts: facts.snapshot.markers.media or facts.marked(_MEDIA)),
    (ViewType.FORM, lambda facts: len(facts.fields) >= _FEW_FIELDS and facts.wants("submit_form")),
    (ViewType.ARTICLE, _is_article),
    (ViewType.DASHBOARD, _is_dashboard),
    (ViewType.LIST, lambda facts: facts.snapshot.markers.rows >= _MANY_ROWS),
    (ViewType.SEARCH, _is_search),
    (ViewType.FORM, lambda facts: bool(facts.fields) and facts.wants("submit_form")),
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


def type_of(facts: PageFacts) -> ViewType:
    """Classify a page."""
    return next((kind for kind, fits in _TYPES if fits(facts)), ViewType.OTHER)


def summary(kind: ViewType, elements: Sequence[PageElement], dialogs: int) -> str:
    """Summarize the elements of a page in a sentence."""
    counts = Counter(_group(element.type) for element in elements)
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
