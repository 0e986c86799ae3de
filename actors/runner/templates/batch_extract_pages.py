"""The template `batch_extract_pages`: reads many pages, each by what is cheapest for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from actors.runner import page_markdown, page_reading
from actors.runner.page_items import (
    DEFAULT_CONCURRENCY,
    MAX_CONCURRENCY,
    Concurrency,
    Extract,
    GivenUrl,
    PageItem,
    bounded,
    brief,
    items_of,
    share_of,
)
from actors.runner.page_reading import check_status, read_in_tab
from actors.runner.template import Outcome, ResultTable, Retry, SessionUse, Stage, StepContext, TaskTemplate
from protocol.browse import DEFAULT_LATENCY_MS, BrowseOptions
from protocol.browsers.results import ERROR_CODES, ErrorCode
from protocol.faults import Code, FaultError, fault
from protocol.runs.responses import TemplateLimits
from protocol.runs.states import DEFAULT_THRESHOLD, MAX_RUN_TIMEOUT_MS, Mode

MAX_URLS = 1_000
SYNC_URLS = 10
"""Up to so many URLs the caller waits for the end, unless the request says otherwise."""

STEP = "extract_page"

_AGAIN = frozenset({ErrorCode.NAVIGATION_TIMEOUT, ErrorCode.PAGE_CRASHED})
PAGE_RETRY = Retry(codes=frozenset(code for code, tool_code in ERROR_CODES.items() if tool_code in _AGAIN), tries=2)


class BatchInputs(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """What a batch is told: the pages, what to extract of each, and how many at the same time."""

    urls: Annotated[
        tuple[GivenUrl, ...], Meta(min_length=1, max_length=MAX_URLS, description="Pages; each is read as given.")
    ]
    extract: Extract = Extract()
    concurrency: Concurrency = DEFAULT_CONCURRENCY


class BatchSummary(Struct, frozen=True, kw_only=True, rename="camel"):
    """How many pages there were; `skipped` were never begun. `by_tier` counts those read by what got them."""

    total: int
    succeeded: int
    failed: int
    skipped: int | UnsetType = UNSET
    by_tier: dict[str, int] | UnsetType = UNSET


class BatchResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """What has become of each page, in the order of the URLs.

    `items_left_out` counts those that a shortened result lacks; the artifact has them all.
    """

    summary: BatchSummary
    items: tuple[PageItem, ...]
    items_left_out: int | UnsetType = UNSET


class BatchExtractPages(TaskTemplate[BatchInputs]):
    """Every URL is a step, also where one is given twice: the caches of HTTP see to it that this costs little.

    Without a browser session the escalation policy gets the pages, so that a static page costs no tab; in a session of
    the caller each is read in a tab of it.
    """

    template_id = "batch_extract_pages"
    name = "批量页面结构化采集"
    description = (
        "Read up to 1,000 pages and tell of each its title, kind, content and what there is to act on. A page that "
        "cannot be read is a failed item, not a failed run. Without a sessionId each page is got by the cheapest tier "
        "that can; with one, in tabs of that browser session."
    )
    threshold: ClassVar[float | None] = DEFAULT_THRESHOLD
    limits = TemplateLimits(max_urls=MAX_URLS, max_concurrency=MAX_CONCURRENCY, max_timeout_ms=MAX_RUN_TIMEOUT_MS)
    max_timeout_ms = MAX_RUN_TIMEOUT_MS
    step_names: ClassVar[tuple[str, ...]] = (STEP,)
    inputs = BatchInputs
    outputs: type[Struct] = BatchResult

    def mode(self, inputs: BatchInputs) -> Mode:
        """Return SYNC for a few pages, ASYNC for many."""
        return Mode.SYNC if len(inputs.urls) <= SYNC_URLS else Mode.ASYNC

    def session(self, inputs: BatchInputs) -> SessionUse:
        """Return NONE: no session is needed."""
        del inputs
        return SessionUse.NONE

    def stages(self, inputs: BatchInputs, *, in_session: bool) -> tuple[Stage, ...]:
        """Return one stage: the pages are read in any order."""
        return (Stage(steps=(STEP,) * len(inputs.urls), at_once=inputs.concurrency, in_tabs=in_session),)

    def retry(self, inputs: BatchInputs, index: int) -> Retry:
        """Return that what came too late or crashed is tried once more at once, in another tab or by another browse."""
        del inputs, index
        return PAGE_RETRY

    async def do(self, context: StepContext, inputs: BatchInputs, index: int, before: Mapping[int, Any]) -> PageItem:
        """Read one page.

        Raises:
            FaultError: why it cannot be read; an address that is none, or the page of an error, is such a reason.
        """
        del before
        url = address(inputs.urls[index], index)
        wanted, most = inputs.extract, share_of(len(inputs.urls))
        if context.session_id is not None:
            return bounded(await read_in_tab(context, index, url, wanted), most)
        options = BrowseOptions(max_latency_ms=max(min(DEFAULT_LATENCY_MS, context.remaining_ms()), 1))
        with context.part("navigate"):
            page = await context.browse(url, options)
            check_status(page.page.status)
        with context.part("extract"):
            return bounded(page_reading.item_of_browse(index, url, page, wanted), most)

    def result(self, inputs: BatchInputs, outcomes: Sequence[Outcome], session_id: str | None) -> BatchResult:
        """Return the pages that were read and those that failed; those never begun are only counted."""
        del session_id
        items = items_of(outcomes, inputs.urls)
        succeeded = sum(item.success for item in items)
        tiers = Counter(item.tier.value for item in items if item.tier is not UNSET)
        summary = BatchSummary(
            total=len(inputs.urls),
            succeeded=succeeded,
            failed=len(items) - succeeded,
            skipped=len(inputs.urls) - len(items) or UNSET,
            by_tier=dict(sorted(tiers.items())) or UNSET,
        )
        return BatchResult(summary=summary, items=items)

    def brief(self, result: Any) -> Any:
        """Leave out the contents, and the last items where even that is too long; `itemsLeftOut` counts them."""
        return brief(result, "items")

    def table(self, result: Any) -> ResultTable:
        """Return a row for every page."""
        return ResultTable(
            header=_HEADER, rows=tuple(_row(item) for item in msgspec.convert(result, BatchResult).items)
        )

    def markdown(self, result: Any) -> str:
        """Write an overview, and the content of every page."""
        batch = msgspec.convert(result, BatchResult)
        summary = batch.summary
        tiers = {} if summary.by_tier is UNSET else summary.by_tier
        by = "".join(f", {count} by {tier}" for tier, count in tiers.items())
        counts = f"{summary.succeeded} of {summary.total} pages were read{by}; {summary.failed} failed."
        return (
            "\n\n".join(["# Pages", counts, page_markdown.overview(batch.items), *page_markdown.pages(batch.items)])
            + "\n"
        )


BATCH = BatchExtractPages()

_HEADER = (
    *("index", "url", "finalUrl", "success", "title", "pageType", "elementCount", "tier", "confidence", "truncated"),
    *("errorCode", "code", "error", "failedStep", "content"),
)


def _row(item: PageItem) -> tuple[str | int | float | bool | None, ...]:
    error = item.error
    of_error = (None,) * 4 if error is UNSET else (error.error_code, error.code, error.error, error.failed_step)
    plain = (item.final_url, item.success, item.title, item.page_type, item.element_count)
    values = (item.index, item.url, *plain, item.tier, item.confidence, item.truncated, *of_error, item.content)
    return tuple(None if value is UNSET else value for value in values)


def address(url: str, index: int) -> str:
    """Return an address without the blanks around it; whether it leads to the web is checked where it is fetched.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST where there is none.
    """
    stripped = url.strip()
    if not stripped:
        field = f"inputs.urls[{index}]"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{field}: this is no address", field=field))
    return stripped
