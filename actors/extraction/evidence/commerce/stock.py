"""Tells whether a thing can be bought: by the buttons that put it into the cart, and by what stands near them."""

from __future__ import annotations

from collections.abc import Sequence

from turbohtml import Element

from actors.extraction.evidence.commerce.texts import Run, around, names
from actors.extraction.evidence.commerce.words import BUY, CALLED_BUY, IN_STOCK, OUT_OF_STOCK, PRE_ORDER
from actors.extraction.parse.tree import Page

MAX_BUTTONS = 400
MAX_BUY_BUTTONS = 60

_BUTTONS = (
    "button, input[type=submit], input[type=button], input[type=image],"
    " a[class*=cart i], a[class*=buy i], a[id*=cart i]"
)
_TRIMMED = " .,!:;-\u2013\u2014*\u2022\u2713\u2714>+\u00bb\u203a()\u200e"

_OPENING_CHARS = 80
"""How much of a longer text is looked at."""

_CLEARLY_OUT = (
    "out of stock", "sold out", "currently unavailable", "ausverkauft", "rupture de stock", "esaurito", "agotado",
    "non disponibile", "nicht verfügbar",
)  # fmt: skip
_CLEARLY_IN = (
    "in stock", "auf lager", "en stock", "sofort lieferbar", "item in stock", "disponibilità immediata", "op voorraad",
)  # fmt: skip


def buy_buttons(page: Page) -> list[Element]:
    """Return the buttons that put something into the cart."""
    return [button for button in page.root.select(_BUTTONS)[:MAX_BUTTONS] if _buys(button)][:MAX_BUY_BUTTONS]


def usable(button: Element) -> bool:
    """Return whether a button can be pressed."""
    attributes = button.attrs
    if "disabled" in attributes or attributes.get("aria-disabled") == "true":
        return False
    return "disabled" not in names(button).split()


def said(runs: Sequence[Run]) -> str:
    """Return what the first text says that speaks of stock, as schema.org names it; "" when none does."""
    for run in runs:
        text = run.text.lower().strip(_TRIMMED)
        if found := _meaning(text):
            return found
    return ""


def _meaning(text: str) -> str:
    if text in OUT_OF_STOCK:
        return "OutOfStock"
    if text in PRE_ORDER:
        return "PreOrder"
    if text in IN_STOCK:
        return "InStock"
    opening = text[:_OPENING_CHARS]
    if any(phrase in opening for phrase in _CLEARLY_OUT):
        return "OutOfStock"
    if any(opening.startswith(phrase) for phrase in _CLEARLY_IN):
        return "InStock"
    return ""


def _buys(button: Element) -> bool:
    written = (button.attr("value") if button.tag == "input" else button.text[:200]) or button.attr("aria-label") or ""
    if " ".join(written.split()).lower().strip(_TRIMMED) in BUY:
        return True
    called = f"{names(button)} {(button.attr('name') or '').lower()}"
    return bool(CALLED_BUY.search(called)) or any(CALLED_BUY.search(names(holder)) for holder in around(button, 3)[1:])
