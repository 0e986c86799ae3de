"""Parses the values of claims on the fields of a product into the form that a program wants."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from msgspec import Struct

from actors.extraction.evidence import money, product_labels
from actors.extraction.evidence.claim import Claim, PageField, PlaceKind
from actors.extraction.evidence.embedded import embedded
from actors.extraction.parse.tree import Page
from protocol.urls import host_of

IN_STOCK = "InStock"
ORDERED = frozenset({"BackOrder", "MadeToOrder", "PreOrder", "PreSale"})
"""What can be bought though it is not there."""

_AVAILABILITIES = {
    name.lower(): name
    for name in (
        "BackOrder", "Discontinued", "InStock", "InStoreOnly", "LimitedAvailability", "MadeToOrder", "OnlineOnly",
        "OutOfStock", "PreOrder", "PreSale", "Reserved", "SoldOut",
    )
}  # fmt: skip
_OTHER_AVAILABILITIES = {
    "available": "InStock",
    "instock": "InStock",
    "true": "InStock",
    "availablefororder": "BackOrder",
    "pending": "PreOrder",
    "unavailable": "OutOfStock",
    "oos": "OutOfStock",
    "outofstock": "OutOfStock",
    "false": "OutOfStock",
    "soldout": "OutOfStock",
    "limited": "LimitedAvailability",
    "lowstock": "LimitedAvailability",
}
_PLAIN_NUMBER = re.compile(r"\d{1,10}(?:\.\d{1,4})?")
_RATING = re.compile(r"\d{1,3}(?:[.,]\d{1,4})?")
_NOT_WORD = re.compile(r"[\W_]+")
_LABEL_BEFORE = re.compile(
    r"^(?:brand|marke|marque|marca|marka|značka|merk|märke|品牌|ブランド)\s?[:\uff1a]\s?", re.IGNORECASE
)
_NO_BRAND = re.compile(
    r"\bbrands?\b|[|{}$<>]|^(?:unknown|none|n/?a|generic|null|undefined)$"
    r"|^(?:from the|visit|shop|more from|about|by|browse|all|buy|see|view|add)\b"
)
_INVITED = re.compile(
    r"(?:visit|shop|besuche(?:n sie)?|visite[rz]?|visita|bezoek|odwiedź|besök|besøg)\s+"
    r"(?:(?:the|den|die|la|le|lo|el|il|a|o|de)\s+)?"
    r"(?:(?:store|shop|boutique|tienda|negozio|loja|winkel|sklep)\s+(?:(?:of|von|di|de|van|da|do)\s)?)?"
    r"(?P<maker>.+?)(?:[\s-]+(?:official\s|brand\s?)?(?:store|shop|boutique|winkel|butiken|butik))?",
    re.IGNORECASE,
)
"""How shops invite to the page of a maker: "Visit the X Store", "Visita lo Store di X", "Besuche den X-Store"."""

_STORE = re.compile(r"store|shop|boutique|tienda|negozio|loja|winkel|butik|sklep", re.IGNORECASE)
_NO_CODE = frozenset({"null", "none", "undefined", "na", "false", "true", "0", ""})

MAX_BRAND_CHARS = 60
MAX_CODE_CHARS = 40


class ValueReader(Struct, frozen=True):
    """Reads the values of one page: what dollars it speaks of, what its product is called."""

    regions: tuple[str, ...]
    code: str
    name: str
    url: str
    hosts: tuple[str, ...]
    """The names that the host is made of."""

    @staticmethod
    def of(page: Page, claims: Iterable[Claim]) -> ValueReader:
        """Look at what all values of a page are read by."""
        claims = list(claims)
        declared = [page.root.attr("lang") or ""]
        declared.extend(value for name, value in embedded(page).open_graph if name == "og:locale")
        written = (claim.value.strip().upper() for claim in claims if claim.field is PageField.CURRENCY)
        code = next((value for value in written if value in money.CODES), "")
        name = " ".join(claim.value for claim in claims if claim.field is PageField.PRODUCT_NAME)
        hosts = tuple((host_of(page.url) or "").split("."))
        return ValueReader(money.regions(page.url, *declared), code, _plain(name), _plain(page.url), hosts)

    def read(self, claim: Claim) -> str:
        """Return the value of a claim, "" for what cannot be one of its field."""
        if claim.field is PageField.PRICE:
            return self._price(claim)
        if claim.field is PageField.CURRENCY:
            return self._currency(claim.value)
        reads = _READERS.get(claim.field)
        return reads(claim.value) if reads else claim.value

    def fit(self, field: PageField, value: str) -> float:
        """Return what a value gains by standing in the name of the product or in the address of the page.

        A brand loses that the host begins with: markets give their own name, where the page may say whose it is.
        """
        if field is PageField.BRAND and f" {_plain(value)} " in f" {self.name} ":
            return 0.5
        if field is PageField.BRAND and any(name.startswith(_NOT_WORD.sub("", value.lower())) for name in self.hosts):
            return -0.6
        if field in {PageField.SKU, PageField.MPN} and len(value) > 3 and _plain(value) in self.url:  # noqa: PLR2004 - shorter ones stand anywhere
            return 0.5
        return 0.0

    def _price(self, claim: Claim) -> str:
        text = claim.value.strip()
        if claim.place.kind is PlaceKind.SHOP:
            value: Decimal | None = Decimal(text)
        elif _PLAIN_NUMBER.fullmatch(text):
            value = money.number(text, "data", self.code)
        else:
            value = next((amount.value for amount in money.amounts(text) if amount.value), None)
        return money.plain(value) if value else ""

    def _currency(self, text: str) -> str:
        text = text.strip()
        code = money.currency(text, self.regions) if len(text) <= 5 else ""  # noqa: PLR2004 - the longest sign
        if code and self.code and money.shares_sign(text, self.code):
            return self.code
        return code


def value_key(field: PageField, value: str) -> str:
    """Return a value in the form in which two that mean the same are equal."""
    if field is PageField.PRICE:
        return str(Decimal(value).normalize())
    if field in {PageField.BRAND, PageField.SKU, PageField.MPN, PageField.PRODUCT_NAME}:
        return _NOT_WORD.sub("", value.lower())
    return value


def _availability(text: str) -> str:
    word = _NOT_WORD.sub("", text.rpartition("/")[2]).lower()
    return _AVAILABILITIES.get(word, _OTHER_AVAILABILITIES.get(word, ""))


def _code(text: str) -> str:
    text = text.strip()
    if len(text) > MAX_CODE_CHARS or "://" in text or _NOT_WORD.sub("", text.lower()) in _NO_CODE:
        return ""
    return text


def _brand(text: str) -> str:
    """Return the name of a maker, without the word for it or an invitation to its store."""
    text = _LABEL_BEFORE.sub("", text).strip()
    if (invited := _INVITED.fullmatch(text)) and _STORE.search(text):
        text = invited["maker"].strip()
    unfit = len(text) > MAX_BRAND_CHARS or _NO_BRAND.search(text.lower()) or product_labels.is_button(text)
    return "" if unfit else text


def _rating(text: str) -> str:
    match = _RATING.fullmatch(text.strip())
    return match.group().replace(",", ".") if match else ""


_READERS = {
    PageField.AVAILABILITY: _availability,
    PageField.GTIN: product_labels.gtin,
    PageField.SKU: _code,
    PageField.MPN: _code,
    PageField.BRAND: _brand,
    PageField.RATING: _rating,
    PageField.REVIEWS: _rating,
}


def _plain(text: str) -> str:
    return " ".join(_NOT_WORD.sub(" ", text.lower()).split())
