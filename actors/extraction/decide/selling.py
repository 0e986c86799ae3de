"""Decides from the claims of a page whether it sells one thing."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from actors.extraction.evidence.claim import Claim, PageField, PlaceKind, ShopPlace, Standing

_META_KINDS = frozenset({PlaceKind.OPEN_GRAPH, PlaceKind.PRODUCT_META})
"""The meta elements in which shops name their offers."""

_NOT_OWN = frozenset({Standing.FIRST, Standing.ELSEWHERE})
_NOTHING_SOLD = frozenset({"article", "forum", "documentation"})
_OTHER_LABELS = frozenset({ShopPlace.LABEL_BRAND, ShopPlace.LABEL_MPN, ShopPlace.LABEL_GTIN})
_MAX_NUMBERS = 3
"""More article numbers than these stand on pages that list goods."""


class SalesEvidence(Struct, frozen=True):
    """What the claims of a page say of whether it sells one thing.

    `shown` are the places of the visible page that speak of goods, `numbers` counts the article numbers among them.
    `data_types` and `og_types` are what structured data and Open Graph call the page; `offered` holds where structured
    data name an offer of the page's own.
    """

    shown: frozenset[str]
    numbers: int
    data_types: frozenset[str]
    og_types: frozenset[str]
    offered: bool

    @staticmethod
    def of(claims: Sequence[Claim]) -> SalesEvidence:
        """Read the claims of a page once."""
        shown = [claim.place.detail for claim in claims if claim.place.kind is PlaceKind.SHOP]
        types = [claim for claim in claims if claim.field is PageField.PAGE_TYPE and is_own(claim)]
        return SalesEvidence(
            shown=frozenset(shown),
            numbers=shown.count(ShopPlace.LABEL_SKU),
            data_types=frozenset(claim.value for claim in types if claim.place.kind is not PlaceKind.OPEN_GRAPH),
            og_types=frozenset(claim.value for claim in types if claim.place.kind is PlaceKind.OPEN_GRAPH),
            offered=_is_offered(claims),
        )

    @property
    def priced(self) -> bool:
        """Whether one price stands out."""
        return not self.shown.isdisjoint({ShopPlace.PRICE_SURE, ShopPlace.PRICE_LIKELY})

    @property
    def listed(self) -> bool:
        """Whether it shows one price of many, or what is in stock."""
        return not self.shown.isdisjoint({ShopPlace.PRICE_LISTED, ShopPlace.STOCK})

    @property
    def stocked(self) -> bool:
        """Whether it shows that its one thing is in stock."""
        return ShopPlace.STOCK in self.shown and ShopPlace.PRICE_LISTED not in self.shown

    @property
    def buyable(self) -> bool:
        """Whether it shows a button to buy."""
        return ShopPlace.BUTTON in self.shown

    @property
    def numbered(self) -> bool:
        """Whether it shows an article number, and not those of a list."""
        return 0 < self.numbers <= _MAX_NUMBERS

    @property
    def specified(self) -> bool:
        """Whether it shows the maker or a code of its one thing beside a label."""
        return not self.shown.isdisjoint(_OTHER_LABELS)

    @property
    def labelled(self) -> bool:
        """Whether it shows a number, brand or code beside its label."""
        return self.numbered or self.specified


def is_selling(page: SalesEvidence) -> bool:
    """Return whether a page sells one thing.

    Offers in structured data are believed unless they also call the page something else; what is only seen needs a
    price and a button or number beside it; one price of many, or none, needs a number and a button or another label.
    Open Graph calls most pages an article.
    """
    if page.data_types & _NOTHING_SOLD:
        return page.offered and page.priced and page.buyable
    if page.offered or ("product" in page.data_types and (page.priced or page.stocked)):
        return True
    if "product" in page.og_types and page.priced:
        return True
    if "article" in page.og_types:
        return ShopPlace.PRICE_SURE in page.shown and page.buyable
    if page.priced and (page.buyable or page.labelled):
        return True
    return page.listed and page.numbered and (page.buyable or page.specified)


def is_own(claim: Claim) -> bool:
    """Return whether the object that a claim stands in is the page's own."""
    return claim.place.standing not in _NOT_OWN


def _is_offered(claims: Sequence[Claim]) -> bool:
    """Return whether structured data name an offer of the page's own.

    Paywalls put a price into the meta elements of articles; those of shops have a type, too.
    """
    offered = {PageField.PRICE, PageField.AVAILABILITY}
    kinds = {claim.place.kind for claim in claims if claim.field in offered and is_own(claim)} - {PlaceKind.SHOP}
    if kinds - _META_KINDS:
        return True
    typed = any(claim.field is PageField.PAGE_TYPE and claim.value == "product" for claim in claims)
    article = any(claim.field is PageField.PAGE_TYPE and claim.value == "article" for claim in claims)
    return (typed or not article) and bool(kinds)
