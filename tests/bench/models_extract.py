"""How well data are extracted by rule alone: from product pages, beside Weft's extraction of goods, and from our own.

The rows are part of `./scripts/bench models`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from msgspec import UNSET

from actors.answerer.extracting.extraction import ExtractedData, extract
from actors.answerer.source import AnswerSource
from protocol.answers import ExtractData
from scripts.extraction_training.data import pages
from tests.bench.table import Row
from tests.support.extract_pages import gold, leaves, names, source, source_of

AS_EXTRACTED, RIGHT = 0.98, 0.90
CPU_MS, CPU_P90_MS = 20.0, 30.0

_AVAILABILITIES = (
    "BackOrder", "Discontinued", "InStock", "InStoreOnly", "LimitedAvailability", "MadeToOrder", "OnlineOnly",
    "OutOfStock", "PreOrder", "PreSale", "Reserved", "SoldOut",
)  # fmt: skip
PRODUCT: Final[dict[str, Any]] = {
    "title": "Product",
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number"},
        "currency": {"type": "string"},
        "availability": {"enum": list(_AVAILABILITIES)},
        "brand": {"type": "string"},
    },
}


@dataclass(frozen=True)
class MeasuredPage:
    """A page, what was extracted from it, and what that took."""

    source: AnswerSource
    result: ExtractedData
    cpu_ms: float


async def measure(data_dir: Path) -> list[Row]:
    """Return the rows of this benchmark; `data_dir` holds the pages of the training, or lies beside them."""
    root = data_dir if (data_dir / "extraction").is_dir() or (data_dir / "product").is_dir() else data_dir.parent
    sold = [await _measured(PRODUCT, source_of(page.body(), page.url)) for page in pages(root, "product")]
    ours = {name: await _measured(gold(name).schema, source(name)) for name in names()}
    return [*_products(sold), *_own_pages(ours), *_costs([*sold, *ours.values()])]


async def _measured(schema: dict[str, Any], page: AnswerSource) -> MeasuredPage:
    begun = time.process_time()
    result = await extract(ExtractData(schema=schema), [page], None)
    return MeasuredPage(page, result, (time.process_time() - begun) * 1_000)


def _products(sold: Sequence[MeasuredPage]) -> list[Row]:
    """Return in how many pages each field is as extraction has it, of those where it has one."""
    rows: list[Row] = []
    for name in PRODUCT["properties"]:
        known = [(page, str(value)) for page in sold if (value := _by_extraction(page.source, name))]
        same = sum(_same(page.result.data[name], value) for page, value in known)
        figures = f"{same} of {len(known)} pages"
        rows.append(Row(f"data: {name} as extracted", figures, "–", same / len(known), AS_EXTRACTED, ">=", ""))
    return rows


def _by_extraction(page: AnswerSource, name: str) -> str:
    product = page.parts.fields.product
    return "" if product is UNSET else getattr(product, name)


def _same(value: Any, text: str) -> bool:
    return value == float(text) if isinstance(value, (int, float)) else value == text


def _own_pages(ours: dict[str, MeasuredPage]) -> list[Row]:
    right = wanted = invented = 0
    for name, page in ours.items():
        expected, given = dict(leaves(gold(name).data)), dict(leaves(page.result.data))
        wanted += len(expected)
        right += sum(at in given and given[at] == value for at, value in expected.items())
        invented += sum(value is not None and expected.get(at) is None for at, value in given.items())
    figures = f"{right} of {wanted} fields"
    return [
        Row(f"data: right on {len(ours)} pages of ours", figures, "–", right / wanted, RIGHT, ">=", ""),
        Row("data: made up", f"{invented} fields", "–", invented, 0, "<=", "fields"),
    ]


def _costs(measured: Sequence[MeasuredPage]) -> list[Row]:
    costs = sorted(page.cpu_ms for page in measured)
    mean, p90 = fmean(costs), costs[int(0.9 * len(costs))]
    return [
        Row("data: CPU a page, mean", f"{mean:.1f} ms", "–", mean, CPU_MS, "<=", "ms"),
        Row("data: CPU a page, p90", f"{p90:.1f} ms", "–", p90, CPU_P90_MS, "<=", "ms"),
    ]
