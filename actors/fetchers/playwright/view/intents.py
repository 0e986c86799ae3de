"""Judges what a visitor may want on a page, and by which elements."""

# ruff: noqa: RUF001 - signs on buttons look like other characters

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from actors.fetchers.playwright.view.spots import Spot
from protocol.browsers.pageinfo import ElementKind, Intent

MAX_IDS = 6

_PRESSED = frozenset({ElementKind.BUTTON, ElementKind.LINK, ElementKind.MENU_ITEM, ElementKind.TAB, ElementKind.OTHER})
_FILLED = frozenset(
    {
        ElementKind.INPUT,
        ElementKind.SELECT,
        ElementKind.CHECKBOX,
        ElementKind.RADIO,
        ElementKind.FILE,
        ElementKind.EDITOR,
    }
)


def _words(*choices: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(choices)})(?!\w)", re.IGNORECASE)


_LOGIN = _words(
    "log ?in", "sign ?in", "log ?on", "anmelden", "einloggen", "se connecter", "iniciar sesi[oó]n", "accedi", "entrar"
)
_REGISTER = _words(
    "sign ?up",
    "register",
    "create (?:an |your )?account",
    "join(?: now)?",
    "registrieren",
    "s'inscrire",
    "reg[ií]strate",
    "crear cuenta",
)
_LOGOUT = _words("log ?out", "sign ?out", "log ?off", "abmelden", "d[ée]connexion", "cerrar sesi[oó]n")
_SEARCH = _words("search", "find", "suche?n?", "rechercher?", "buscar", "cerca", "zoeken")
_CART = _words(
    r"add to (?:\w+ )?(?:cart|basket|bag)",
    "in den (?:warenkorb|einkaufswagen)",
    "ajouter au panier",
    "a[ñn]adir al carrito",
)
_CHECKOUT = _words(
    "check ?out", "place (?:your )?order", "pay(?: now)?", "buy now", "proceed to payment",
    "complete (?:order|purchase)", "zur kasse", "jetzt (?:kaufen|bezahlen)", "payer", "pagar",
)  # fmt: skip
_SUBSCRIBE = _words("subscribe", "newsletter", "abonnieren", "s'abonner", "suscribirse")
_CONTACT = _words("contact(?: us)?", "send (?:us )?(?:a )?message", "kontakt", "nous contacter", "contacto")
_RESET = _words(
    "forgot(?:ten)?(?: your)? (?:password|username)",
    r"reset (?:\w+ )?password",
    "passwort vergessen",
    "mot de passe oubli[ée]",
)
_CONSENT = _words(
    "reject(?: all)?",
    "decline",
    "only necessary",
    "accept(?: all)?(?: cookies)?",
    "cookie settings",
    "manage (?:cookies|preferences)",
    "ablehnen",
)
_CLOSE = _words(
    "close", "dismiss", "cancel", "not now", "no,? thanks", "schlie(?:ß|ss)en", "fermer", "cerrar", "×", "✕"
)
_NEXT = _words(
    "next(?: page)?",
    "older(?: posts)?",
    "load more",
    "show more",
    "more results",
    "weiter",
    "n[äa]chste(?: seite)?",
    "suivante?",
    "siguiente",
    "›",
    "»",
)
_FILTER = _words("filters?", "refine", "facets?", "filtrer", "filtrar")
_SORT = _words("sort(?: by)?", "order by", "sortieren", "trier", "ordenar")
_DOWNLOAD = _words("download", "export", "herunterladen", "t[ée]l[ée]charger", "descargar")
_PLAY = _words("play", "watch(?: now| video)?", "listen", "abspielen")
_COMMENT = _words("comment", "reply", "post comment", "kommentieren", "commenter")
_EDIT = _words("edit", "rename", "bearbeiten", "modifier", "editar")
_DELETE = _words("delete", "remove", "l[öo]schen", "supprimer", "eliminar")
_SAVE = _words(
    "save(?: changes)?",
    "update",
    "apply",
    "submit",
    "send",
    "confirm",
    "speichern",
    "absenden",
    "enregistrer",
    "guardar",
    "enviar",
)
_USER = _words(
    "e-?mail",
    "user(?: ?name)?",
    "login",
    "account",
    "phone",
    "benutzer(?:name)?",
    "utilisateur",
    "usuario",
    "identifier",
)


def words_of(spot: Spot) -> str:
    """Return everything that an element is known by."""
    return " ".join((spot.label, spot.placeholder, *spot.marks))


@dataclass(frozen=True)
class Page:
    """The elements of a page, where they may be acted on now."""

    spots: Sequence[Spot]

    def pressed(self, words: re.Pattern[str], among: Iterable[Spot] | None = None) -> list[Spot]:
        """Find what is clicked, by what it says."""
        return [
            spot
            for spot in (self.spots if among is None else among)
            if spot.type in _PRESSED and words.search(spot.label)
        ]

    def filled(self, words: re.Pattern[str], among: Iterable[Spot] | None = None) -> list[Spot]:
        """Find what is filled in, by what it is known by."""
        return [
            spot
            for spot in (self.spots if among is None else among)
            if spot.type in _FILLED and words.search(words_of(spot))
        ]

    def passwords(self) -> list[Spot]:
        """Find the fields for passwords."""
        return [spot for spot in self.spots if spot.input == "password"]

    def near(self, spot: Spot) -> list[Spot]:
        """Return what is in the same part of the page."""
        return [other for other in self.spots if other.region == spot.region]


def asks_new_password(page: Page) -> bool:
    """Whether a password is chosen here, not told."""
    passwords = page.passwords()
    return len(passwords) > 1 or any("new password" in words_of(spot).lower() for spot in passwords)


def is_search_field(spot: Spot) -> bool:
    """Whether somebody searches by a field."""
    if spot.type is not ElementKind.INPUT:
        return False
    return (
        spot.input == "search" or "searchbox" in spot.marks or bool(_SEARCH.search(words_of(spot))) or "q" in spot.marks
    )


def _login(page: Page) -> list[Spot]:
    passwords = page.passwords()
    if not passwords or asks_new_password(page):
        return page.pressed(_LOGIN)[:2] if not passwords else []
    near = page.near(passwords[0])
    users = [spot for spot in near if spot.input in ("text", "email", "tel", "") or spot.type is ElementKind.INPUT]
    user = [
        spot for spot in users if spot.input != "password" and (spot.input == "email" or _USER.search(words_of(spot)))
    ]
    return [*user[:1], passwords[0], *_submit(page, near, _LOGIN)]


def _register(page: Page) -> list[Spot]:
    if page.passwords() and asks_new_password(page):
        near = page.near(page.passwords()[0])
        return [*(spot for spot in near if spot.type in _FILLED), *_submit(page, near, _REGISTER)]
    return page.pressed(_REGISTER)[:2]


def _search(page: Page) -> list[Spot]:
    fields = [spot for spot in page.spots if is_search_field(spot)]
    return [fields[0], *page.pressed(_SEARCH, page.near(fields[0]))[:1]] if fields else []


def _checkout(page: Page) -> list[Spot]:
    card = [spot for spot in page.spots if spot.type in _FILLED and any(mark.startswith("cc ") for mark in spot.marks)]
    return [*card, *page.pressed(_CHECKOUT)[:2]]


def _subscribe(page: Page) -> list[Spot]:
    pressed = [spot for spot in page.pressed(_SUBSCRIBE) if spot.type is ElementKind.BUTTON]
    fields = [spot for one in pressed[:1] for spot in page.near(one) if spot.input == "email"]
    return [*fields[:1], *pressed[:1]]


def _contact(page: Page) -> list[Spot]:
    texts = [spot for spot in page.spots if spot.input == "textarea"]
    pressed = page.pressed(_CONTACT)
    if texts and (sends := page.pressed(_CONTACT, page.near(texts[0])) or _submit(page, page.near(texts[0]), _SAVE)):
        return [*(spot for spot in page.near(texts[0]) if spot.type in _FILLED), *sends[:1]]
    return pressed[:1]


def _submit_form(page: Page) -> list[Spot]:
    forms = dict.fromkeys(spot.region for spot in page.spots if spot.type in _FILLED and not is_search_field(spot))
    for region in forms:
        near = [spot for spot in page.spots if spot.region == region]
        if sends := _submit(page, near, _SAVE):
            return [*(spot for spot in near if spot.type in _FILLED), *sends]
    return []


def _close(page: Page) -> list[Spot]:
    return page.pressed(_CLOSE, (spot for spot in page.spots if spot.region.startswith("dialog")))


def _files(page: Page) -> list[Spot]:
    return [spot for spot in page.spots if spot.type is ElementKind.FILE]


def _consent(page: Page) -> list[Spot]:
    found = page.pressed(_CONSENT)
    return found if len(found) > 1 or any("cookie" in spot.label.lower() for spot in found) else []


def _submit(page: Page, near: Sequence[Spot], words: re.Pattern[str]) -> list[Spot]:
    """Find what sends a form: what says so, else what is made for it."""
    buttons = [spot for spot in near if spot.type is ElementKind.BUTTON]
    said = page.pressed(words, buttons)
    made = [spot for spot in buttons if spot.input in ("submit", "image")]
    return (said or made or buttons)[:1]


def _says(words: re.Pattern[str], most: int = 3) -> Callable[[Page], list[Spot]]:
    return lambda page: page.pressed(words)[:most]


def _chosen(words: re.Pattern[str]) -> Callable[[Page], list[Spot]]:
    return lambda page: [*(s for s in page.filled(words) if s.type is ElementKind.SELECT), *page.pressed(words)][:3]


_INTENTS: tuple[tuple[str, Callable[[Page], list[Spot]]], ...] = (
    ("close_dialog", _close),
    ("manage_consent", _consent),
    ("login", _login),
    ("register", _register),
    ("add_to_cart", _says(_CART)),
    ("checkout", _checkout),
    ("search", _search),
    ("submit_form", _submit_form),
    ("contact", _contact),
    ("subscribe", _subscribe),
    ("upload", _files),
    ("comment", _says(_COMMENT)),
    ("play_media", _says(_PLAY)),
    ("next_page", _says(_NEXT)),
    ("filter", _chosen(_FILTER)),
    ("sort", _chosen(_SORT)),
    ("download", _says(_DOWNLOAD)),
    ("edit", _says(_EDIT)),
    ("delete", _says(_DELETE)),
    ("reset_password", _says(_RESET, 1)),
    ("logout", _says(_LOGOUT, 1)),
)


def intents(spots: Sequence[Spot]) -> tuple[Intent, ...]:
    """Return what may be wanted, most pressing first, with the elements in the order in which they are used."""
    page = Page([spot for spot in spots if not {"disabled", "covered", "hidden"} & {*spot.states}])
    found: list[Intent] = []
    for name, rule in _INTENTS:
        ids = tuple(dict.fromkeys(spot.id for spot in rule(page)))[:MAX_IDS]
        if ids:
            found.append(Intent(intent=name, suggested_element_ids=ids))
    return tuple(found)
