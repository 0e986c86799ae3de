"""Fits the weights by which an amount of money is taken for the price of its page.

Run as `python -m scripts.extraction_training.prices DATA_DIR`.
The weights stand in `actors/extraction/evidence/prices.py`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from actors.extraction.evidence import money, prices, product_labels
from actors.extraction.evidence.claim import PageField, Standing
from actors.extraction.evidence.prices import price_candidates
from actors.extraction.evidence.sources import json_ld, microdata
from actors.extraction.evidence.sources.visible_product import title_of
from actors.extraction.evidence.text_runs import short_texts
from actors.extraction.parse.tree import Page, read
from scripts.extraction_training.data import FOLDS, GoldPage, pages

ROUNDS = 600
STEP = 0.06
MOMENTUM = 0.9
RIDGE = 0.02
SMALLEST = 0.02
"""Weights below it are left out."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Shop:
    """A page with a known price: a row of features for each amount that it shows, and which of them are the price."""

    fold: int
    domain: str
    rows: Numbers
    right: Numbers
    values: list[Decimal]


def main(data_dir: Path) -> None:
    """Print how often the likeliest amount is right by cross-validation over domains, then the weights of all pages."""
    names, shops = _shops(data_dir)
    mean, spread = _scale(shops)
    scaled = [(shop, (shop.rows - mean) / spread) for shop in shops]
    hits = 0
    for fold in range(FOLDS):
        weights = _fit([(shop, rows) for shop, rows in scaled if shop.fold != fold])
        hits += sum(_is_right(shop, rows @ weights) for shop, rows in scaled if shop.fold == fold)
    domains = len({shop.domain for shop in shops})
    print(f"{hits / len(shops):.3f} right of {len(shops)} pages of {domains} domains")
    for name, weight in zip(names, _fit(scaled) / spread, strict=True):
        if abs(weight) > SMALLEST:
            print(f'"{name}": {weight:.2f},')


def _shops(data_dir: Path) -> tuple[list[str], list[Shop]]:
    """Read the pages whose price is gold, or is named by their structured data."""
    told: list[tuple[GoldPage, list[dict[str, float]], list[Decimal], set[Decimal]]] = []
    for gold in pages(data_dir, "product", "wcxb_dev", "traf"):
        page = read(gold.body().decode("utf-8", "replace"), gold.url)
        prices = _gold(gold.gold.get("product", {}).get("price", ())) or _told(page)
        rows, values = _described(page) if prices else ([], [])
        if prices & set(values):
            told.append((gold, rows, values, prices))
    names = sorted({name for _, rows, _, _ in told for row in rows for name in row})
    shops = [
        Shop(
            gold.fold(),
            gold.domain(),
            np.array([[row[name] for name in names] for row in rows]),
            np.array([float(value in prices) for value in values]),
            values,
        )
        for gold, rows, values, prices in told
    ]
    return names, shops


def _gold(written: Iterable[str]) -> set[Decimal]:
    found: set[Decimal] = set()
    for text in written:
        try:
            found.add(Decimal(text.strip()))
        except InvalidOperation:
            continue
    return found


def _told(page: Page) -> set[Decimal]:
    """Return the price that the structured data of a page name, where they name one."""
    claims = [
        claim for source in (json_ld, microdata) for claim in source.claims(page) if claim.field is PageField.PRICE
    ]
    sure = (
        claim for claim in claims if claim.place.standing is not Standing.FIRST and "several." not in claim.place.detail
    )
    return {value for claim in sure if (value := money.number(claim.value, "data"))}


def _described(page: Page) -> tuple[list[dict[str, float]], list[Decimal]]:
    title, buttons = title_of(page), product_labels.buy_buttons(page)
    marked = short_texts(page, {*buttons, *([title] if title else [])})
    found = price_candidates(marked)
    title_order = marked.begins.get(title, -1) if title else -1
    rows = prices.features(page, found, title_order, [marked.begins[button] for button in buttons])
    return rows, [candidate.amount.value for candidate in found]


def _scale(shops: Sequence[Shop]) -> tuple[Numbers, Numbers]:
    rows = np.concatenate([shop.rows for shop in shops])
    return rows.mean(axis=0), rows.std(axis=0) + 1e-6


def _fit(shops: Sequence[tuple[Shop, Numbers]]) -> Numbers:
    """Fit a conditional logit by ascent; the pages of one domain count less, the more it has."""
    count = Counter(shop.domain for shop, _ in shops)
    weights = np.zeros(shops[0][1].shape[1])
    moved = np.zeros_like(weights)
    total = sum(count[shop.domain] ** -0.5 for shop, _ in shops)
    for _ in range(ROUNDS):
        slope = -RIDGE * weights
        for shop, rows in shops:
            likely = _shares(rows @ weights)
            right = likely * shop.right
            slope += count[shop.domain] ** -0.5 / total * (rows.T @ (right / right.sum() - likely))
        moved = MOMENTUM * moved + slope
        weights = weights + STEP * moved
    return weights


def _shares(scores: Numbers) -> Numbers:
    likely: Numbers = np.exp(scores - scores.max())
    likely /= likely.sum()
    return likely


def _is_right(shop: Shop, scores: Numbers) -> bool:
    shares: dict[Decimal, float] = {}
    right: dict[Decimal, bool] = {}
    for value, share, is_right in zip(shop.values, _shares(scores), shop.right, strict=True):
        shares[value] = shares.get(value, 0.0) + float(share)
        right[value] = bool(is_right)
    return right[max(shares, key=lambda value: shares[value])]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
