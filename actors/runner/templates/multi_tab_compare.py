"""The template `multi_tab_compare`: reads pages in tabs of one browser session, and shows where they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from itertools import zip_longest
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from actors.runner import page_markdown
from actors.runner.page_items import (
    DEFAULT_CONCURRENCY,
    MAX_CONCURRENCY,
    Concurrency,
    Extract,
    GivenUrl,
    PageItem,
    SectionTold,
    bounded,
    brief,
    items_of,
)
from actors.runner.page_reading import read_in_tab
from actors.runner.template import Outcome, ResultTable, SessionUse, Stage, StepContext, TaskTemplate
from actors.runner.templates.batch_extract_pages import address
from protocol.faults import Code, FaultError, fault
from protocol.runs.responses import TemplateLimits
from protocol.runs.states import DEFAULT_THRESHOLD, Mode, StepStatus

MIN_URLS = 2
MAX_URLS = 10
MAX_TIMEOUT_MS = 180_000
DEFAULT_TOP_SECTIONS = 3
MAX_TOP_SECTIONS = 50

SNAPSHOT, COMPARE_STEP = "snapshot", "compare"

_SHARE = 0.5
"""The attention that a section of the content gets at least, as a share of the greatest; menus get less."""

Value = str | int | tuple[str, ...] | None


class Field(StrEnum):
    """What pages are compared by."""

    TITLE = "title"
    ELEMENT_COUNT = "elementCount"
    TOP_SECTIONS = "topSections"


class Diff(Struct, frozen=True, kw_only=True, rename="camel"):
    """One field: its value at each URL, in their order, None where the page could not be read.

    `same` counts the pages that were read. `delta` is the greatest number less the smallest, `changed_positions` are
    the places (from 0) of sections that are not the same at all of them.
    """

    field: Field
    same: bool
    values: tuple[Value, ...]
    delta: int | UnsetType = UNSET
    changed_positions: tuple[int, ...] | UnsetType = UNSET


class CompareBy(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """What pages are compared by: numbers may be `numeric_tolerance` apart and still count as the same."""

    fields: Annotated[tuple[Field, ...], Meta(min_length=1, max_length=3, description="What to compare.")] = tuple(
        Field
    )
    top_sections: Annotated[
        int, Meta(ge=1, le=MAX_TOP_SECTIONS, description="Sections of the content that are compared, from the first.")
    ] = DEFAULT_TOP_SECTIONS
    numeric_tolerance: Annotated[
        float, Meta(ge=0, le=1_000_000, description="How far numbers may be apart and count as the same.")
    ] = 0


class CompareInputs(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """What a comparison is told: the pages, what to extract, what to compare, and how many tabs at the same time."""

    urls: Annotated[
        tuple[GivenUrl, ...], Meta(min_length=MIN_URLS, max_length=MAX_URLS, description="Pages to compare.")
    ]
    extract: Extract = Extract()
    compare: CompareBy = CompareBy()
    concurrency: Concurrency = DEFAULT_CONCURRENCY


class Compared(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the last step has found."""

    diffs: tuple[Diff, ...]


class CompareSummary(Struct, frozen=True, kw_only=True, rename="camel"):
    """How many pages there were, and how many fields are `different`; without it they were not compared."""

    total: int
    succeeded: int
    failed: int
    skipped: int | UnsetType = UNSET
    different: int | UnsetType = UNSET
    same: bool | UnsetType = UNSET


class CompareResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """The pages in the order of their URLs, and where they differ."""

    summary: CompareSummary
    snapshots: tuple[PageItem, ...]
    diffs: tuple[Diff, ...]


class MultiTabCompare(TaskTemplate[CompareInputs]):
    """A step for each page, and one that compares them."""

    template_id = "multi_tab_compare"
    name = "多标签页对比"
    description = (
        "Open 2 to 10 pages in tabs of one browser session and tell where they differ: in their titles, in how much "
        "there is to act on, and in the first sections of their content. A page that cannot be read is left out."
    )
    threshold: ClassVar[float | None] = DEFAULT_THRESHOLD
    limits = TemplateLimits(max_urls=MAX_URLS, max_concurrency=MAX_CONCURRENCY, max_timeout_ms=MAX_TIMEOUT_MS)
    max_timeout_ms = MAX_TIMEOUT_MS
    step_names: ClassVar[tuple[str, ...]] = (SNAPSHOT, COMPARE_STEP)
    inputs = CompareInputs
    outputs: type[Struct] = CompareResult

    def check(self, inputs: CompareInputs) -> None:
        """Refuse to compare what is not extracted.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, for `inputs.compare.fields`.
        """
        lacking = {Field.TITLE: "pageInfo", Field.ELEMENT_COUNT: "pageInfo", Field.TOP_SECTIONS: "content"}
        off = {
            name for name, on in (("pageInfo", inputs.extract.page_info), ("content", inputs.extract.content)) if not on
        }
        for one in inputs.compare.fields:
            if lacking[one] in off:
                field, need = "inputs.compare.fields", f"inputs.extract.{lacking[one]}"
                message = f"{field}: {one} cannot be compared while {need} is false; leave it out, or extract it."
                raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=field))

    def mode(self, inputs: CompareInputs) -> Mode:
        """Return SYNC: there are few pages."""
        del inputs
        return Mode.SYNC

    def session(self, inputs: CompareInputs) -> SessionUse:
        """Return OWN: the run works in a session of its own."""
        del inputs
        return SessionUse.OWN

    def stages(self, inputs: CompareInputs, *, in_session: bool) -> tuple[Stage, ...]:
        """Return two stages: the pages are read in any order, then compared."""
        del in_session
        snapshots = Stage(steps=(SNAPSHOT,) * len(inputs.urls), at_once=inputs.concurrency, in_tabs=True)
        return snapshots, Stage(steps=(COMPARE_STEP,))

    async def do(self, context: StepContext, inputs: CompareInputs, index: int, before: Mapping[int, Any]) -> Struct:
        """Read one page, or compare those that were read.

        Raises:
            FaultError: why the page cannot be read, or that there are not two to compare.
        """
        if index < len(inputs.urls):
            return bounded(await read_in_tab(context, index, address(inputs.urls[index], index), inputs.extract))
        read = {at: msgspec.convert(page, PageItem) for at, page in before.items() if at < len(inputs.urls)}
        if len(read) < MIN_URLS:
            message = f"Of {len(inputs.urls)} pages {len(read)} could be read: there is nothing to compare."
            raise FaultError(fault(Code.EXECUTION_ERROR, message))
        by = inputs.compare
        differences = diffs(
            read, len(inputs.urls), by.fields, top_sections=by.top_sections, tolerance=by.numeric_tolerance
        )
        return Compared(diffs=differences)

    def items(self, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Count the pages; and a comparison that failed, for without it nothing is a success."""
        return [one for one in outcomes if one.name != COMPARE_STEP or one.status is StepStatus.FAILED]

    def result(self, inputs: CompareInputs, outcomes: Sequence[Outcome], session_id: str | None) -> CompareResult:
        """Return the pages, and where they differ if they were compared."""
        del session_id
        pages = items_of((one for one in outcomes if one.index < len(inputs.urls)), inputs.urls)
        last = next((one for one in outcomes if one.index == len(inputs.urls)), None)
        compared = None
        if last is not None and last.status is StepStatus.SUCCEEDED:
            compared = msgspec.convert(last.output, Compared)
        succeeded = sum(page.success for page in pages)
        different = UNSET if compared is None else sum(not one.same for one in compared.diffs)
        summary = CompareSummary(
            total=len(inputs.urls),
            succeeded=succeeded,
            failed=len(pages) - succeeded,
            skipped=len(inputs.urls) - len(pages) or UNSET,
            different=different,
            same=UNSET if different is UNSET else different == 0,
        )
        return CompareResult(summary=summary, snapshots=pages, diffs=() if compared is None else compared.diffs)

    def brief(self, result: Any) -> Any:
        """Leave out the contents of the pages; the differences stay."""
        return brief(result, "snapshots")

    def table(self, result: Any) -> ResultTable:
        """Return a row for every field of every page."""
        comparison = msgspec.convert(result, CompareResult)
        urls = {page.index: page.url for page in comparison.snapshots}
        rows = tuple(row for diff in comparison.diffs for row in _rows(diff, urls))
        return ResultTable(header=("field", "same", "delta", "changedPositions", "index", "url", "value"), rows=rows)

    def markdown(self, result: Any) -> str:
        """Write an overview, and what each field is on every page."""
        comparison = msgspec.convert(result, CompareResult)
        urls = {page.index: page.url for page in comparison.snapshots}
        counts = f"{comparison.summary.succeeded} of {comparison.summary.total} pages were read."
        parts = ["# Comparison", counts, page_markdown.overview(comparison.snapshots)]
        for diff in comparison.diffs:
            rows = ((at + 1, urls.get(at), value) for at, value in enumerate(diff.values))
            parts.append(f"## {diff.field}: {'the same' if diff.same else 'different'}")
            parts.append(page_markdown.table(("#", "URL", "Value"), rows))
        return "\n\n".join(parts) + "\n"


COMPARE = MultiTabCompare()


def _rows(diff: Diff, urls: Mapping[int, str]) -> list[tuple[str | int | float | bool | None, ...]]:
    changed = diff.changed_positions
    positions = None if changed is UNSET else ", ".join(str(place) for place in changed)
    head = (diff.field.value, diff.same, None if diff.delta is UNSET else diff.delta, positions)
    values = ("\n".join(value) if isinstance(value, tuple) else value for value in diff.values)
    return [(*head, at, urls.get(at), value) for at, value in enumerate(values)]


def diffs(
    snapshots: Mapping[int, PageItem], urls: int, fields: Sequence[Field], *, top_sections: int, tolerance: float
) -> tuple[Diff, ...]:
    """Compare the pages that were read, by the place of their URL, of so many."""

    def values(of: Callable[[PageItem], Value]) -> tuple[Value, ...]:
        return tuple(of(snapshots[at]) if at in snapshots else None for at in range(urls))

    differences = list[Diff]()
    for field in dict.fromkeys(fields):
        match field:
            case Field.TITLE:
                differences.append(_titles(values(lambda page: page.title or "")))
            case Field.ELEMENT_COUNT:
                differences.append(_numbers(values(lambda page: page.element_count or 0), tolerance))
            case Field.TOP_SECTIONS:
                differences.append(_sections(values(lambda page: top(page.content_sections or (), top_sections))))
    return tuple(differences)


def top(sections: Sequence[SectionTold], most: int) -> tuple[str, ...]:
    """Return the words of the first sections that a page is about: those of menus and margins are not.

    What is near the greatest attention counts, and not the greatest alone: a word more moves nothing up or down.
    """
    least = max((one.attention or 0.0 for one in sections), default=0.0) * _SHARE
    return tuple(_plain(one.text) for one in sections if (one.attention or 0.0) >= least)[:most]


def _titles(values: tuple[Value, ...]) -> Diff:
    kinds = {_plain(value).casefold() for value in values if isinstance(value, str)}
    return Diff(field=Field.TITLE, same=len(kinds) <= 1, values=values)


def _numbers(values: tuple[Value, ...], tolerance: float) -> Diff:
    numbers = [value for value in values if isinstance(value, int)]
    delta = max(numbers, default=0) - min(numbers, default=0)
    return Diff(field=Field.ELEMENT_COUNT, same=delta <= tolerance, values=values, delta=delta)


def _sections(values: tuple[Value, ...]) -> Diff:
    pages = [value for value in values if isinstance(value, tuple)]
    changed = tuple(at for at, texts in enumerate(zip_longest(*pages)) if len(set(texts)) > 1)
    return Diff(field=Field.TOP_SECTIONS, same=not changed, values=values, changed_positions=changed)


def _plain(text: str) -> str:
    return " ".join(text.split())
