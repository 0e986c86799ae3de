"""The data of a page beside its text over MCP: what the text does not say already, within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import UNSET, UnsetType, structs

from protocol.browse import ApiPattern, BrowseOptions, BrowseResult, Part
from protocol.confidence import MINIMUM, Confidence, FieldConfidence, Use
from protocol.page import PageFields, wire_names

MAX_BYTES = 12_000
"""What the data of a page takes at most, as JSON, unless `maxChars` allows more: about 4,000 tokens."""

OMITTED = "omitted"
"""Counts what is left out for its length, by part."""

_MAX_APIS = 10
_ROWS = "rows"
_ON_REQUEST = ("decisionTrace", "network", "console", "tables", "links", "forms", "lists", "structuredData")

PartOfData = tuple[str, list[Any]]


def page_data(result: BrowseResult, options: BrowseOptions) -> dict[str, Any]:
    """Return what a page holds beside its words, which the text of the answer has; `include` may ask for them, too.

    Where a cursor goes on in a page, what its first part has said of it is not repeated.
    """
    return within(_serialized(result, options), max(MAX_BYTES, options.max_chars or 0))


def requested_data(result: BrowseResult, options: BrowseOptions, budget: int) -> dict[str, Any]:
    """Return of the data of a page what the options ask for alone, within a budget in bytes; {} where that is nothing.

    It has the names that it has in the data of a page.
    """
    data = _serialized(result, options)
    html = data["content"].get("html")
    content = {} if html is None else {"content": {"html": html}}
    wanted = content | {name: data[name] for name in _ON_REQUEST if name in data}
    return within(wanted, budget) if wanted else {}


def _serialized(result: BrowseResult, options: BrowseOptions) -> dict[str, Any]:
    fields, apis = _fields(result), _apis(result)
    names = () if isinstance(fields, UnsetType) else wire_names(fields)
    shown = structs.replace(
        result,
        tables=result.tables if Part.TABLES in options.include else UNSET,
        discovered_apis=apis,
        fields=fields,
        field_confidence=_confidence(result, names, options.include),
        final_url=UNSET if result.metadata.final_url == result.url else result.final_url,
    )
    if options.cursor is not None:
        shown = structs.replace(shown, fields=UNSET, field_confidence=UNSET, discovered_apis=UNSET, signals=UNSET)
    data = msgspec.json.decode(msgspec.json.encode(shown), type=dict[str, Any])
    content: dict[str, Any] = data["content"]
    del content["text"]
    if Part.MARKDOWN not in options.include:
        del content["markdown"]
    return data


def _fields(result: BrowseResult) -> PageFields | UnsetType:
    """Return the fields of a page without what stands in the text or in the metadata."""
    if isinstance(result.fields, UnsetType):
        return UNSET
    fields = structs.replace(result.fields, outline=(), language="")
    if fields.canonical_url == result.metadata.final_url:
        fields = structs.replace(fields, canonical_url="")
    if f"//{fields.site_name}" in result.metadata.final_url:
        fields = structs.replace(fields, site_name="")
    return UNSET if fields == PageFields() else fields


def _apis(result: BrowseResult) -> tuple[ApiPattern, ...] | UnsetType:
    """Return the APIs that are more than a guess, each named once; each says itself how sure it is."""
    least = MINIMUM[Use.DISPLAY]
    apis = () if isinstance(result.discovered_apis, UnsetType) else result.discovered_apis
    likely = [api for api in apis if isinstance(api.confidence_score, UnsetType) or api.confidence_score >= least]
    return tuple(structs.replace(api, url=UNSET, content_type=UNSET) for api in likely[:_MAX_APIS]) or UNSET


def _confidence(result: BrowseResult, names: Sequence[str], included: Sequence[Part]) -> FieldConfidence | UnsetType:
    """Return how sure each field is that is given."""
    sure = result.field_confidence
    if isinstance(sure, UnsetType):
        return UNSET
    of_fields: Mapping[str, Confidence] = {} if isinstance(sure.fields, UnsetType) else sure.fields
    return structs.replace(
        sure,
        tables=sure.tables if Part.TABLES in included else UNSET,
        discovered_apis=UNSET,
        fields={name: one for name, one in of_fields.items() if name in names} or UNSET,
    )


# -- the budget --------------------------------------------------------------------------------------------------------


def within(data: dict[str, Any], budget: int) -> dict[str, Any]:
    """Cut the longest parts of a page, in place, to what the budget in bytes has room for, and count what is left."""
    omitted = dict[str, int]()
    html = data.get("content", {}).get("html", "")
    if len(html) > budget // 2:
        data["content"]["html"] = html[: budget // 2]
        omitted["content.html"] = len(html) - budget // 2
    excess = _size(data) - budget
    if excess > 0:
        parts = dict(_parts(data))
        sizes = {name: [_size(item) + 1 for item in items] for name, items in parts.items()}
        cap = _cap([sum(each) for each in sizes.values()], excess)
        for name, items in parts.items():
            count = _count(sizes[name], cap)
            if count < len(items):
                omitted[name] = len(items) - count
                del items[count:]
        for number, table in enumerate(data.get("tables", ())):
            if left := omitted.get(f"tables.{number}.{_ROWS}"):
                table.setdefault("rowCount", len(table[_ROWS]) + left)
    return data | ({OMITTED: omitted} if omitted else {})


def _parts(data: dict[str, Any]) -> Iterator[PartOfData]:
    """Return the lists that a page may hold many items in: of tables and lists of records, their rows."""
    for name, value in data.items():
        if isinstance(value, dict):
            inner = cast("dict[str, Any]", value)
            yield from ((f"{name}.{key}", one) for key, one in inner.items() if isinstance(one, list))
        elif isinstance(value, list):
            items = cast("list[dict[str, Any]]", value)
            if all(map(_has_rows, items)):
                yield from ((f"{name}.{number}.{_ROWS}", item[_ROWS]) for number, item in enumerate(items))
            else:
                yield name, items


def _has_rows(item: object) -> bool:
    return isinstance(item, dict) and _ROWS in item


def _cap(sizes: Sequence[int], excess: int) -> int:
    """Return the size that every part is cut to, so that together they lose at least `excess`."""
    low, high = 0, max(sizes, default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(max(0, size - middle) for size in sizes) >= excess:
            low = middle
        else:
            high = middle - 1
    return low


def _count(sizes: Sequence[int], cap: int) -> int:
    """Return how many items fit."""
    for count, size in enumerate(sizes):
        cap -= size
        if cap < 0:
            return count
    return len(sizes)


def _size(item: object) -> int:
    return len(msgspec.json.encode(item))
