"""Infers what a visitor may want on a page, and by which elements."""

# ruff: noqa: RUF001 - signs on buttons look like other characters

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from actors.fetchers.playwright.view.elements import PageElement
from protocol.browsers.pageinfo import ElementKind, Intent

MAX_IDS = 6

_PRESSED = frozenset({ElementKind.BUTTON, ElementKind.LINK, ElementKind.MENU_ITEM, ElementKind.TAB, ElementKind.OTHER})
FIELDS = frozenset(
    {ElementKind.INPUT, ElementKind.SELECT, ElementKind.CHECKBOX}
    | {ElementKind.RADIO, ElementKind.FILE, ElementKind.EDITOR}
)


def _words(*choices: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(choices)})(?!\w)", re.IGNORECASE)


_LOGIN = _words(
    "log ?in", "sign ?in", "log ?on", "anmelden", "einloggen", "se connecter", "iniciar sesi[oó]n", "accedi", "entrar"
)
_REGISTER = _words(
    "sign ?up", "register", "create (?:an |your )?account", "join(?: now)?", "registrieren", "s'inscrire",
    "reg[ií]strate", "crear cuenta",
)  # fmt: skip
_LOGOUT = _words("log ?out", "sign ?out", "log ?off", "abmelden", "d[ée]connexion", "cerrar sesi[oó]n")
_SEARCH = _words("search", "find", "suche?n?", "rechercher?", "buscar", "cerca", "zoeken")
_CART = _words(
    r"add to (?:\w+ )?(?:cart|basket|bag)", "in den (?:warenkorb|einkaufswagen)", "ajouter au panier",
    "a[ñn]adir al carrito",
)  # fmt: skip
_CHECKOUT = _words(
    "check ?out", "place (?:your )?order", "pay(?: now)?", "buy now", "proceed to payment",
    "complete (?:order|purchase)", "zur kasse", "jetzt (?:kaufen|bezahlen)", "payer", "pagar",
)  # fmt: skip
_SUBSCRIBE = _words("subscribe", "newsletter", "abonnieren", "s'abonner", "suscribirse")
_CONTACT = _words("contact(?: us)?", "send (?:us )?(?:a )?message", "kontakt", "nous contacter", "contacto")
_RESET = _words(
    "forgot(?:ten)?(?: your)? (?:password|username)", r"reset (?:\w+ )?password", "passwort vergessen",
    "mot de passe oubli[ée]",
)  # fmt: skip
_CONSENT = _words(
    "reject(?: all)?", "decline", "only necessary", "accept(?: all)?(?: cookies)?", "cookie settings",
    "manage (?:cookies|preferences)", "ablehnen",
)  # fmt: skip
_CLOSE = _words(
    "close", "dismiss", "cancel", "not now", "no,? thanks", "schlie(?:ß|ss)en", "fermer", "cerrar", "×", "✕"
)
_NEXT = _words(
    "next(?: page)?", "older(?: posts)?", "load more", "show more", "more results", "weiter", "n[äa]chste(?: seite)?",
    "suivante?", "siguiente", "›", "»",
)  # fmt: skip
_FILTER = _words("filters?", "refine", "facets?", "filtrer", "filtrar")
_SORT = _words("sort(?: by)?", "order by", "sortieren", "trier", "ordenar")
_DOWNLOAD = _words("download", "export", "herunterladen", "t[ée]l[ée]charger", "descargar")
_PLAY = _words("play", "watch(?: now| video)?", "listen", "abspielen")
_COMMENT = _words("comment", "reply", "post comment", "kommentieren", "commenter")
_EDIT = _words("edit", "rename", "bearbeiten", "modifier", "editar")
_DELETE = _words("delete", "remove", "l[öo]schen", "supprimer", "eliminar")
_SAVE = _words(
    "save(?: changes)?", "update", "apply", "submit", "send", "confirm", "speichern", "absenden", "enregistrer",
    "guardar", "enviar",
)  # fmt: skip
_USER = _words(
    "e-?mail", "user(?: ?name)?", "login", "account", "phone", "benutzer(?:name)?", "utilisateur", "usuario",
    "identifier",
)  # fmt: skip


_CARD = re.compile(r"(?:^| )cc (?:number|csc|exp(?: month| year)?|type|(?:\w+ )?name)$", re.IGNORECASE)
"""How the attribute `autocomplete` calls the fields of a card."""


def card_fields(elements: Iterable[PageElement]) -> list[PageElement]:
    """Find the fields for a payment card."""
    return [element for element in elements if element.type in FIELDS and any(map(_CARD.search, element.marks))]


def words_of(element: PageElement) -> str:
    """Join all the names of an element."""
    return " ".join((element.label, element.placeholder, *element.marks))


class ActionableElements(Struct, frozen=True):
    """The elements of a page that can be acted on now, for the rules."""

    elements: Sequence[PageElement]

    def clickable(self, words: re.Pattern[str], among: Iterable[PageElement] | None = None) -> list[PageElement]:
        """Find the clickable elements whose label matches."""
        return [
            element
            for element in (self.elements if among is None else among)
            if element.type in _PRESSED and words.search(element.label)
        ]

    def fields(self, words: re.Pattern[str], among: Iterable[PageElement] | None = None) -> list[PageElement]:
        """Find the fields whose names match."""
        return [
            element
            for element in (self.elements if among is None else among)
            if element.type in FIELDS and words.search(words_of(element))
        ]

    def passwords(self) -> list[PageElement]:
        """Find the password fields."""
        return [element for element in self.elements if element.input == "password"]

    def near(self, element: PageElement) -> list[PageElement]:
        """Return the elements of the same region."""
        return [other for other in self.elements if other.region == element.region]


def asks_new_password(page: ActionableElements) -> bool:
    """Whether a new password is chosen here, and none entered."""
    passwords = page.passwords()
    return len(passwords) > 1 or any("new password" in words_of(element).lower() for element in passwords)


def is_search_field(element: PageElement) -> bool:
    """Whether an element is a search field."""
    if element.type is not ElementKind.INPUT:
        return False
    return (
        element.input == "search"
        or "searchbox" in element.marks
        or bool(_SEARCH.search(words_of(element)))
        or "q" in element.marks
    )


def _login(page: ActionableElements) -> list[PageElement]:
    passwords = page.passwords()
    if not passwords or asks_new_password(page):
        return page.clickable(_LOGIN)[:2] if not passwords else []
    near = page.near(passwords[0])
    users = [
        element
        for element in near
        if element.input in ("text", "email", "tel", "") or element.type is ElementKind.INPUT
    ]
    user = [
        element
        for element in users
        if element.input != "password" and (element.input == "email" or _USER.search(words_of(element)))
    ]
    return [*user[:1], passwords[0], *_submit(page, near, _LOGIN)]


def _register(page: ActionableElements) -> list[PageElement]:
    if page.passwords() and asks_new_password(page):
        near = page.near(page.passwords()[0])
        return [*(element for element in near if element.type in FIELDS), *_submit(page, near, _REGISTER)]
    return page.clickable(_REGISTER)[:2]


def _search(page: ActionableElements) -> list[PageElement]:
    fields = [element for element in page.elements if is_search_field(element)]
    return [fields[0], *page.clickable(_SEARCH, page.near(fields[0]))[:1]] if fields else []


def _checkout(page: ActionableElements) -> list[PageElement]:
    return [*card_fields(page.elements), *page.clickable(_CHECKOUT)[:2]]


def _subscribe(page: ActionableElements) -> list[PageElement]:
    pressed = [element for element in page.clickable(_SUBSCRIBE) if element.type is ElementKind.BUTTON]
    fields = [element for one in pressed[:1] for element in page.near(one) if element.input == "email"]
    return [*fields[:1], *pressed[:1]]


def _contact(page: ActionableElements) -> list[PageElement]:
    texts = [element for element in page.elements if element.input == "textarea"]
    pressed = page.clickable(_CONTACT)
    if texts and (sends := page.clickable(_CONTACT, page.near(texts[0])) or _submit(page, page.near(texts[0]), _SAVE)):
        return [*(element for element in page.near(texts[0]) if element.type in FIELDS), *sends[:1]]
    return pressed[:1]


def _submit_form(page: ActionableElements) -> list[PageElement]:
    forms = dict.fromkeys(
        element.region for element in page.elements if element.type in FIELDS and not is_search_field(element)
    )
    for region in forms:
        near = [element for element in page.elements if element.region == region]
        if sends := _submit(page, near, _SAVE):
            return [*(element for element in near if element.type in FIELDS), *sends]
    return []


def _close(page: ActionableElements) -> list[PageElement]:
    return page.clickable(_CLOSE, (element for element in page.elements if element.region.startswith("dialog")))


def _files(page: ActionableElements) -> list[PageElement]:
    return [element for element in page.elements if element.type is ElementKind.FILE]


def _consent(page: ActionableElements) -> list[PageElement]:
    matches = page.clickable(_CONSENT)
    return matches if len(matches) > 1 or any("cookie" in element.label.lower() for element in matches) else []


def _submit(page: ActionableElements, near: Sequence[PageElement], words: re.Pattern[str]) -> list[PageElement]:
    """Find what submits a form: by its label, else by its type."""
    buttons = [element for element in near if element.type is ElementKind.BUTTON]
    labelled = page.clickable(words, buttons)
    typed = [element for element in buttons if element.input in ("submit", "image")]
    return (labelled or typed or buttons)[:1]


def _labelled(words: re.Pattern[str], most: int = 3) -> Callable[[ActionableElements], list[PageElement]]:
    return lambda page: page.clickable(words)[:most]


def _selectable(words: re.Pattern[str]) -> Callable[[ActionableElements], list[PageElement]]:
    return lambda page: [*(s for s in page.fields(words) if s.type is ElementKind.SELECT), *page.clickable(words)][:3]


_INTENTS: tuple[tuple[str, Callable[[ActionableElements], list[PageElement]]], ...] = (
    ("close_dialog", _close),
    ("manage_consent", _consent),
    ("login", _login),
    ("register", _register),
    ("add_to_cart", _labelled(_CART)),
    ("checkout", _checkout),
    ("search", _search),
    ("submit_form", _submit_form),
    ("contact", _contact),
    ("subscribe", _subscribe),
    ("upload", _files),
    ("comment", _labelled(_COMMENT)),
    ("play_media", _labelled(_PLAY)),
    ("next_page", _labelled(_NEXT)),
    ("filter", _selectable(_FILTER)),
    ("sort", _selectable(_SORT)),
    ("download", _labelled(_DOWNLOAD)),
    ("edit", _labelled(_EDIT)),
    ("delete", _labelled(_DELETE)),
    ("reset_password", _labelled(_RESET, 1)),
    ("logout", _labelled(_LOGOUT, 1)),
)


def intents(elements: Sequence[PageElement]) -> tuple[Intent, ...]:
    """Infer the intents, most pressing first, each with its elements in the order of use."""
    page = ActionableElements(
        [element for element in elements if not {"disabled", "covered", "hidden"} & {*element.states}]
    )
    inferred: list[Intent] = []
    for name, rule in _INTENTS:
        ids = tuple(dict.fromkeys(element.id for element in rule(page)))[:MAX_IDS]
        if ids:
            inferred.append(Intent(intent=name, suggested_element_ids=ids))
    return tuple(inferred)
