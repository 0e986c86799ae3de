"""Reads what shops write beside labels and on buttons: article numbers, codes, makers, and whether a thing is sold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from turbohtml import Element

from actors.extraction.evidence import product_words
from actors.extraction.evidence.claim import PageField
from actors.extraction.evidence.text_runs import ShortText, ShortTexts, ancestry, code_names
from actors.extraction.parse.tree import Page

MAX_LABEL_CHARS = 34
MAX_VALUE_CHARS = 60
MAX_CALLED = 200

_COLON = re.compile(r"[:\uff1a#=]|\s[\u2013-](?:\s|$)")
_LABEL_TRIMMED = " .:#\u2013-\u200e\u200f"
_ONLY_SEPARATOR = re.compile(r"[\s:\uff1a#.=|\u2013-]{0,5}")
_CODE = re.compile(r"#?(?=[^\d]{0,20}\d)[A-Za-z0-9][\w./+-]{2,30}(?: [\w./-]{1,12}){0,2}")
_GTIN_KIND = re.compile(r"^(?:ean|upc|gtin|isbn)(?:-?1?\d)?:", re.IGNORECASE)
_GTIN_DIGITS = re.compile(r"(?<!\d)\d[\d -]{6,16}\d(?!\d)")
_MAKER = re.compile(r"[^\W\d_&][^:;!?|{}<>=]{0,44}|\d{1,4} ?[^\W\d_][^:;!?|{}<>=]{0,40}")
_CALLED_SOMETHING = (
    "[itemprop], [class*=brand], [class*=Brand], [class*=manufacturer], [class*=sku], [class*=Sku], [id*=sku],"
    " [class*=productid], [class*=product-id], [class*=product-code], [class*=prd-code], [class*=item-n],"
    " [class*=refn], [id*=brand], [id*=byline], [data-testid*=brand], [data-testid*=sku], [data-qa*=brand],"
    " [data-qa*=reference], [data-qa-qualifier*=reference], [data-testid*=reference],"
    " [data-test*=sku], [data-test*=brand]"
)
_TEST_NAMES = ("data-qa", "data-qa-qualifier", "data-test")
"""Attributes that name elements for tests of the shop."""

_CALLED: tuple[tuple[PageField, re.Pattern[str]], ...] = (
    (
        PageField.SKU,
        re.compile(
            r"\bsku\b|(?:product|item|article|prd|prod)[-_]?(?:id|code|number|num|no|nr|ref|reference)\b|refnumber|\bartnr"
        ),
    ),
    (PageField.GTIN, re.compile(r"\b(?:gtin\d{0,2}|ean|upc|isbn)\b")),
    (PageField.MPN, re.compile(r"\b(?:mpn|model|part-?number)\b")),
    (
        PageField.BRAND,
        re.compile(
            r"(?:^|[\s_-])brand(?:[-_]?(?:name|link|title|label))?(?:$|[\s_])|manufacturer|product-?brand|byline"
        ),
    ),
)

MAX_BUTTONS = 400
MAX_BUY_BUTTONS = 60

_BUTTONS = (
    "button, input[type=submit], input[type=button], input[type=image],"
    " a[class*=cart i], a[class*=buy i], a[id*=cart i]"
)
_BUTTON_TRIMMED = " .,!:;-\u2013\u2014*\u2022\u2713\u2714>+\u00bb\u203a()\u200e"

_OPENING_CHARS = 80
"""How much of a longer text is looked at."""

_CLEARLY_OUT = (
    "out of stock", "sold out", "currently unavailable", "ausverkauft", "rupture de stock", "esaurito", "agotado",
    "non disponibile", "nicht verfügbar",
)  # fmt: skip
_CLEARLY_IN = (
    "in stock", "auf lager", "en stock", "sofort lieferbar", "item in stock", "disponibilità immediata", "op voorraad",
)  # fmt: skip

_GTIN_LENGTHS = frozenset({8, 12, 13, 14})
"""Digits of a GTIN (GS1 General Specifications, section 2)."""


def labelled_values(texts: ShortTexts) -> Iterator[tuple[PageField, str, ShortText]]:
    """Return each value that stands after a label, in the same text or in the next one."""
    runs = texts.runs
    for number, run in enumerate(runs):
        label, value, certain = _split_label(run.text)
        field = product_words.LABELS.get(label)
        if field is None or (field is PageField.BRAND and not certain):
            continue
        if not value:
            after = (later.text for later in runs[number + 1 : number + 4])
            value = next((text for text in after if not _ONLY_SEPARATOR.fullmatch(text)), "")
        if value := _checked_value(field, value):
            yield field, value, run


def named_values(page: Page) -> Iterator[tuple[PageField, str, Element]]:
    """Return each value that stands in an element which is called so in the page's code."""
    for element in page.root.select(_CALLED_SOMETHING)[:MAX_CALLED]:
        text = element.text
        if len(text) > 4 * MAX_VALUE_CHARS:
            continue
        tested = [name for attribute in _TEST_NAMES if (name := element.attr(attribute))]
        name = " ".join([code_names(element), *(name[:200].lower() for name in tested)])
        for field, pattern in _CALLED:
            if pattern.search(name) and (value := _checked_value(field, " ".join(text.split()))):
                yield field, value, element


def gtin(text: str) -> str:
    """Return a number whose check digit is right, "" for any other."""
    digits = re.sub(r"[\s-]", "", _GTIN_KIND.sub("", text[:40]))
    if len(digits) not in _GTIN_LENGTHS or not digits.isascii() or not digits.isdigit() or len(set(digits)) == 1:
        return ""
    weighted = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(reversed(digits)))
    return digits if weighted % 10 == 0 else ""


def buy_buttons(page: Page) -> list[Element]:
    """Return the buttons that put something into the cart."""
    return [button for button in page.root.select(_BUTTONS)[:MAX_BUTTONS] if _buys(button)][:MAX_BUY_BUTTONS]


def is_button(text: str) -> bool:
    """Return whether a text is what stands on a button that buys."""
    return " ".join(text.split()).lower().strip(_BUTTON_TRIMMED) in product_words.BUY_TEXTS


def usable(button: Element) -> bool:
    """Return whether a button can be pressed."""
    attributes = button.attrs
    if "disabled" in attributes or attributes.get("aria-disabled") == "true":
        return False
    return "disabled" not in code_names(button).split()


def stated_availability(runs: Sequence[ShortText]) -> str:
    """Return what the first text says that speaks of stock, as schema.org names it; "" when none does."""
    for run in runs:
        text = run.text.lower().strip(_BUTTON_TRIMMED)
        if availability := _meaning(text):
            return availability
    return ""


def _split_label(text: str) -> tuple[str, str, bool]:
    """Cut a text into a label, what follows it, and whether a colon or nothing does: "Ref. 12", "Ref.: 12", "Ref."."""
    head = text[:MAX_LABEL_CHARS].lower()
    if colon := _COLON.search(head):
        return head[: colon.start()].strip(_LABEL_TRIMMED), text[colon.end() :].strip(), True
    if head.strip(_LABEL_TRIMMED) in product_words.LABELS:
        return head.strip(_LABEL_TRIMMED), "", True
    label, _, value = text.rpartition(" ")
    return (label.lower().strip(_LABEL_TRIMMED), value, False) if len(label) <= MAX_LABEL_CHARS else ("", "", False)


def _checked_value(field: PageField, value: str) -> str:
    """Return a value that may be one of its field, "" for another."""
    value = value.strip(" :\uff1a#-()[]\u200e\u200f").strip()
    if field is PageField.BRAND:
        label, colon, name = value.partition(":")
        value = name.strip() if colon and product_words.LABELS.get(label.lower().strip()) is PageField.BRAND else value
        return value if _MAKER.fullmatch(value) and value.count(" ") <= 5 else ""  # noqa: PLR2004 - names are shorter
    if field is PageField.GTIN:
        written = (gtin(digits.group()) for digits in _GTIN_DIGITS.finditer(value[:MAX_VALUE_CHARS]))
        return next((code for code in written if code), "")
    code = _CODE.fullmatch(value) if len(value) <= MAX_VALUE_CHARS else None
    if code is None and (first := _CODE.match(value)) and field is not PageField.MPN and " " not in first.group():
        code = first if len(value) <= 2 * len(first.group()) else None
    return code.group().lstrip("#") if code else ""


def _meaning(text: str) -> str:
    if text in product_words.OUT_OF_STOCK:
        return "OutOfStock"
    if text in product_words.PRE_ORDER:
        return "PreOrder"
    if text in product_words.IN_STOCK:
        return "InStock"
    opening = text[:_OPENING_CHARS]
    if any(phrase in opening for phrase in _CLEARLY_OUT):
        return "OutOfStock"
    if any(opening.startswith(phrase) for phrase in _CLEARLY_IN):
        return "InStock"
    return ""


def _buys(button: Element) -> bool:
    written = (button.attr("value") if button.tag == "input" else button.text[:200]) or button.attr("aria-label") or ""
    if is_button(written):
        return True
    called = f"{code_names(button)} {(button.attr('name') or '').lower()}"
    return bool(product_words.CALLED_BUY.search(called)) or any(
        product_words.CALLED_BUY.search(code_names(holder)) for holder in ancestry(button, 3)[1:]
    )
