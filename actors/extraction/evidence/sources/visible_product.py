"""Reads what a shop shows of the thing that its page sells: price, stock, numbers, maker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from turbohtml import Element

from actors.extraction.evidence import prices, product_labels
from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind, ShopPlace
from actors.extraction.evidence.embedded import embedded
from actors.extraction.evidence.prices import price_candidates
from actors.extraction.evidence.text_runs import ShortTexts, short_texts
from actors.extraction.parse.text import collapsed
from actors.extraction.parse.tree import Page
from protocol.confidence import Source

MAX_CLAIMS = 40
MAX_NAME_CHARS = 300

_TITLES = (
    "h1",
    "[itemprop=name]",
    "#title, .product-title, .product-name, .product_title, .product-single__title",
    "h2",
)
_PRICED = (
    "[itemprop=price], [id*=price],"
    " [class*=pr i]:is([class*=price], [class*=Price], [class*=prix], [class*=preis], [class*=precio])"
)
"""What `:is` follows here and in other selectors is in all of its parts, and most elements have not that much."""


_SURE, _LIKELY, _POSSIBLE = 0.8, 0.5, 0.2
"""Probabilities of a price: what is below the last is no claim."""

_REGION = 400
"""How many texts after the title still speak of what is sold (a text may be white space)."""

_NAMED_REGION = 150
"""How many texts after the title do whose elements are only called so in the page's code."""

_LEAD = 40
"""How many texts before the title do."""

_LABELLED: Mapping[PageField, ShopPlace] = MappingProxyType(
    {
        PageField.BRAND: ShopPlace.LABEL_BRAND,
        PageField.SKU: ShopPlace.LABEL_SKU,
        PageField.MPN: ShopPlace.LABEL_MPN,
        PageField.GTIN: ShopPlace.LABEL_GTIN,
    }
)
_CALLED: Mapping[PageField, ShopPlace] = MappingProxyType(
    {
        PageField.BRAND: ShopPlace.CALLED_BRAND,
        PageField.SKU: ShopPlace.CALLED_SKU,
        PageField.MPN: ShopPlace.CALLED_MPN,
        PageField.GTIN: ShopPlace.CALLED_GTIN,
    }
)


def claims(page: Page) -> Iterable[Claim]:
    """Return what stands in the page; nothing where nothing looks like something to buy."""
    buttons = product_labels.buy_buttons(page)
    if not buttons and page.root.select_one(_PRICED) is None:
        return ()
    return list(_claims(page, buttons))[:MAX_CLAIMS]


def _claims(page: Page, buttons: list[Element]) -> Iterator[Claim]:
    title = title_of(page)
    called = list(product_labels.named_values(page))
    marked = short_texts(page, {*buttons, *([title] if title else []), *(element for _, _, element in called)})
    title_order = marked.begins.get(title, -1) if title else -1
    orders = [marked.begins[button] for button in buttons if button in marked.begins]
    if title and (name := collapsed(title.text, MAX_NAME_CHARS)):
        yield _claim(PageField.PRODUCT_NAME, name, title.tag)
    yield from _prices(page, marked, title_order, orders)
    yield from _stock(marked, title_order, buttons)
    labelled = [
        (field, value, run.order, _LABELLED[field]) for field, value, run in product_labels.labelled_values(marked)
    ]
    labelled += [(field, value, marked.begins.get(element, -1), _CALLED[field]) for field, value, element in called]
    yield from _numbers(labelled, title_order)


def _prices(page: Page, marked: ShortTexts, title_order: int, orders: Sequence[int]) -> Iterator[Claim]:
    amounts = price_candidates(marked)
    for likelihood, candidate in prices.likelihoods(page, amounts, title_order, orders)[:2]:
        if likelihood < _POSSIBLE:
            return
        place = ShopPlace.PRICE_LISTED if prices.is_listed(likelihood, candidate, amounts) else _price_place(likelihood)
        yield _claim(PageField.PRICE, str(candidate.amount.value), place)
        if candidate.amount.sign:
            yield _claim(PageField.CURRENCY, candidate.amount.sign, place)


def _price_place(likelihood: float) -> ShopPlace:
    if likelihood >= _SURE:
        return ShopPlace.PRICE_SURE
    return ShopPlace.PRICE_LIKELY if likelihood >= _LIKELY else ShopPlace.PRICE_POSSIBLE


def _stock(marked: ShortTexts, title_order: int, buttons: Sequence[Element]) -> Iterator[Claim]:
    near = [button for button in buttons if _is_near(marked.begins.get(button, -1), title_order)]
    availability = product_labels.stated_availability([run for run in marked.runs if _is_near(run.order, title_order)])
    if availability:
        yield _claim(PageField.AVAILABILITY, availability, ShopPlace.STOCK)
    if any(product_labels.usable(button) for button in near):
        yield _claim(PageField.AVAILABILITY, "InStock", ShopPlace.BUTTON)


def _numbers(values: Iterable[tuple[PageField, str, int, ShopPlace]], title_order: int) -> Iterator[Claim]:
    """Return numbers and makers; what only bears a name in the code must stand near the title."""
    claimed: set[tuple[PageField, str]] = set()
    for field, value, order, place in values:
        after = order - title_order
        if after < -_LEAD or (place is _CALLED[field] and after > _NAMED_REGION) or (field, value) in claimed:
            continue
        claimed.add((field, value))
        yield _claim(field, value, place)


def title_of(page: Page) -> Element | None:
    """Return the element that names the product: of several headings the one that the page is titled after."""
    wanted = {word for title in embedded(page).titles for word in title.lower().split()}
    for selector in _TITLES:
        headings = [element for element in page.root.select(selector)[:8] if element.text[:MAX_NAME_CHARS].strip()]
        if headings:
            return max(headings, key=lambda element: len(wanted & set(element.text[:MAX_NAME_CHARS].lower().split())))
    return None


def _is_near(order: int, title_order: int) -> bool:
    return order >= 0 and (title_order < 0 or -_LEAD <= order - title_order <= _REGION)


def _claim(field: PageField, value: str, place: str) -> Claim:
    return Claim(field, value, ClaimPlace(PlaceKind.SHOP, place), Source.SELECTOR_MATCH)
