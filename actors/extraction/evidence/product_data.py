"""Reads what data of no standard say of the thing that a page sells: states, keys in scripts, and its address.

Only pages that are known to sell one thing are asked: elsewhere the same keys speak of anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.evidence.embedded import embedded
from actors.extraction.evidence.json_values import Json, items, mapping, scalar
from actors.extraction.evidence.product_labels import gtin
from actors.extraction.evidence.states import Framework
from actors.extraction.parse.tree import Page
from protocol.confidence import Source

MAX_CODE_CHARS = 2_000_000
"""How much of the scripts of a page is searched for keys."""

MAX_MATCHES = 400
MAX_LINE_CHARS = 300

KEY = "key"
"""What the detail of a claim begins with that stands under a key somewhere in a script."""

_KEYS: Mapping[str, PageField] = {
    "sku": PageField.SKU,
    "productsku": PageField.SKU,
    "skuid": PageField.SKU,
    "itemnumber": PageField.SKU,
    "articlenumber": PageField.SKU,
    "productnumber": PageField.SKU,
    "productcode": PageField.SKU,
    "mpn": PageField.MPN,
    "modelnumber": PageField.MPN,
    "modelno": PageField.MPN,
    "partnumber": PageField.MPN,
    "manufacturerpartnumber": PageField.MPN,
    "manufacturernumber": PageField.MPN,
    "gtin": PageField.GTIN,
    "gtin8": PageField.GTIN,
    "gtin12": PageField.GTIN,
    "gtin13": PageField.GTIN,
    "gtin14": PageField.GTIN,
    "ean": PageField.GTIN,
    "ean13": PageField.GTIN,
    "eancode": PageField.GTIN,
    "upc": PageField.GTIN,
    "upccode": PageField.GTIN,
    "barcode": PageField.GTIN,
}
"""Which field a key speaks of, written small and without strokes; as brands shops name themselves."""

_PRICES = frozenset({"price", "currentprice", "saleprice", "finalprice", "sellingprice", "productprice"})
_INNER = ("value", "amount")

_ANYWHERE = re.compile(
    r"""\b((?:product|manufacturer|item|article|model|part|sku|gtin|ean|upc|mpn|bar)[\w-]{0,18})"""
    r"""\\{0,3}["']?\s{0,2}:\s{0,2}\\{0,3}["']?([^"'\\{}\[\],<>\n]{2,60})"""
)
"""A key and its value in a script in lower case; what is written into a text of a script has strokes before quotes."""


_ASKED_NUMBER = re.compile(r"&(?:pid|sku|sku_?id|product_?id|item_?id|id|p)=(\d{4,14})(?:&|$)", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"[/_.-](\d{6,14})(?:\.html?|/)?$")


def claims(page: Page) -> Iterable[Claim]:
    """Return what records say that bear the page's title, then what only one value of stands in all scripts."""
    for record in embedded(page).records:
        known = record.framework is not Framework.OTHER
        kind = PlaceKind.FRAMEWORK if known else PlaceKind.EMBEDDED_JSON
        source = Source.FRAMEWORK_DATA if known else Source.HEURISTIC
        for field, value, key in _of_record(record.node):
            detail = f"{record.framework}.{key}" if known else key
            yield Claim(field, value, ClaimPlace(kind, detail), source)
    for field, value in (*_of_scripts(page), *_of_address(page)):
        yield Claim(field, value, ClaimPlace(PlaceKind.EMBEDDED_JSON, f"{KEY}.{field}"), Source.HEURISTIC)


def _of_record(node: Mapping[str, Json]) -> Iterator[tuple[PageField, str, str]]:
    """Return each field that a record speaks of: the value, and the key that it stands under."""
    for key, value in node.items():
        plain = _plain(key)
        field = PageField.PRICE if plain in _PRICES else _KEYS.get(plain)
        if field is None:
            continue
        for item in items(value)[:1]:
            inner = mapping(item)
            text = scalar(item) or next((text for name in _INNER if (text := scalar(inner.get(name)))), "")
            if text and len(text) <= MAX_LINE_CHARS:
                yield field, text, plain


def _of_scripts(page: Page) -> Iterator[tuple[PageField, str]]:
    """Return the values of keys that have only one value: where a script speaks of several goods, nobody knows whose.

    A script may write a GTIN in several lengths.
    """
    values: dict[PageField, dict[str, None]] = {}
    left = MAX_CODE_CHARS
    for code in embedded(page).inline:
        small = code[:left].lower()
        for match in islice(_ANYWHERE.finditer(small), MAX_MATCHES):
            if field := _KEYS.get(_plain(match[1])):
                value = code[match.start(2) : match.end(2)].strip() if len(small) == len(code) else match[2].strip()
                if field is PageField.GTIN:
                    value = gtin(value).lstrip("0")
                if value:
                    values.setdefault(field, {}).setdefault(value)
        left -= len(code)
        if left <= 0:
            break
    for field, candidates in values.items():
        if len(candidates) == 1:
            (value,) = candidates
            yield field, _full_length(value) if field is PageField.GTIN else value


def _of_address(page: Page) -> Iterator[tuple[PageField, str]]:
    """Return the number in the address of the page that its code speaks of, too."""
    path, _, query = page.url.partition("?")
    match = _ASKED_NUMBER.search(f"&{query.partition('#')[0]}") or _LAST_NUMBER.search(path)
    if match and any(f"{sign}{match[1]}{sign}" in page.source for sign in "\"'"):
        yield PageField.SKU, match[1]


def _full_length(digits: str) -> str:
    """Write a GTIN that lost its zeros with as many as its kind has."""
    return digits.zfill(next(length for length in (8, 12, 13, 14) if length >= len(digits)))


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()
