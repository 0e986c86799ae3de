"""The template `crawl_site`: walks through a site by its site maps and links, and keeps each of its pages once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct

from actors.page_addresses import page_address
from actors.runner.crawl_types import MAX_PAGES, CrawledPage, CrawlInputs, CrawlResult, CrawlSummary
from actors.runner.crawling.addresses import address_of, scope_of
from actors.runner.crawling.frontier import Frontier, VisitedPage
from actors.runner.crawling.reading import FoundAddresses, read_site_maps, visit
from actors.runner.crawling.sources import keep_source, open_collection
from actors.runner.page_items import MAX_CONCURRENCY, brief, failed_item
from actors.runner.page_markdown import cell, quoted, table, words
from actors.runner.template import (
    Outcome,
    ResultTable,
    Retry,
    SessionUse,
    Stage,
    StepContext,
    StepDiscovery,
    TaskTemplate,
)
from actors.runner.templates.batch_extract_pages import PAGE_RETRY
from protocol.access import Scope
from protocol.faults import Code, FaultError, fault
from protocol.runs.responses import TemplateLimits
from protocol.runs.states import DEFAULT_THRESHOLD, MAX_RUN_TIMEOUT_MS, Mode, StepStatus

MAX_TEXT_BYTES: Final = 100_000_000
"""What the words of all pages together may come to, so that a result fits into the memory of a replica."""

MAPS, PAGE = "read_site_maps", "crawl_page"


class CrawlSite(TaskTemplate[CrawlInputs]):
    """Each step after the first reads the page that the frontier names next: what the steps before it have found."""

    template_id = "crawl_site"
    name = "整站采集"
    description = (
        "Walk through a site from one address by its site maps and links, within bounds of depth, pages, paths and "
        "languages, and keep each page once: as items, files (jsonl, a zip of Markdown), or sources of a collection. "
        "robots.txt and the pace of the host are heeded; traps and duplicates are passed over."
    )
    threshold: ClassVar[float | None] = DEFAULT_THRESHOLD
    open_ended: ClassVar[bool] = True
    limits = TemplateLimits(max_urls=MAX_PAGES, max_concurrency=MAX_CONCURRENCY, max_timeout_ms=MAX_RUN_TIMEOUT_MS)
    max_timeout_ms = MAX_RUN_TIMEOUT_MS
    step_names: ClassVar[tuple[str, ...]] = (MAPS, PAGE)
    inputs = CrawlInputs
    outputs: type[Struct] = CrawlResult

    def check(self, inputs: CrawlInputs) -> None:
        """Raise where the start is no address, a host is none, or a collection is named without need.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, with the field named.
        """
        if address_of(_start(inputs)) is None:
            raise _invalid("url", "give an address of the web, such as https://example.com/")
        scope_of(_start(inputs), inputs.hosts, (), (), ())
        if inputs.collection_id is not None and inputs.to != "collection":
            raise _invalid("collectionId", 'it is for `"to": "collection"` alone')

    def mode(self, inputs: CrawlInputs) -> Mode:
        """Return ASYNC: nobody knows how long it takes."""
        del inputs
        return Mode.ASYNC

    def session(self, inputs: CrawlInputs) -> SessionUse:
        """Return NONE: no session is needed."""
        del inputs
        return SessionUse.NONE

    def scopes(self, inputs: CrawlInputs, *, in_session: bool) -> tuple[Scope, ...]:
        """Return what reads pages, and what keeps them where they become sources."""
        del in_session
        return (Scope.BROWSE, Scope.COLLECTIONS) if inputs.to == "collection" else (Scope.BROWSE,)

    def stages(self, inputs: CrawlInputs, *, in_session: bool) -> tuple[Stage, ...]:
        """Return a stage for the site maps, and one for the pages, as many as there may be."""
        del in_session
        pages = Stage(steps=(PAGE,) * inputs.pages, at_once=inputs.concurrency, discovered=True)
        return (Stage(steps=(MAPS,)), pages)

    def retry(self, inputs: CrawlInputs, index: int) -> Retry:
        """Return that what came too late or crashed is tried once more at once."""
        del inputs
        return PAGE_RETRY if index else Retry()

    def discovery(self, inputs: CrawlInputs) -> StepDiscovery:
        """Return where the steps go."""
        return _Walk(inputs)

    async def do(
        self, context: StepContext, inputs: CrawlInputs, index: int, before: Mapping[int, Any]
    ) -> FoundAddresses | VisitedPage:
        """Read the site maps, or the page that is next.

        Raises:
            FaultError: why the page cannot be read.
        """
        del before
        walk = context.discovery
        assert isinstance(walk, _Walk)  # noqa: S101 - it is what `discovery` returns
        frontier = walk.frontier
        if index == 0:
            return await self._begin(context, inputs, frontier)
        target = frontier.target(index)
        if target is None:
            raise FaultError(fault(Code.INTERNAL_ERROR, "No address is left for this step."))
        most = min(inputs.max_chars, MAX_TEXT_BYTES // inputs.pages) if inputs.to == "pages" else 0
        try:
            page, browsed = await visit(context, frontier, target, most)
            if inputs.to == "collection" and browsed is not None:
                source = await keep_source(context, walk.collection, browsed, inputs.max_chars)
                return msgspec.structs.replace(page, source_id=source)
        except FaultError as error:
            raise FaultError(error.fault.at(url=target.address.url)) from error
        return page

    async def _begin(self, context: StepContext, inputs: CrawlInputs, frontier: Frontier) -> FoundAddresses:
        """Open the collection, where there is to be one, and read the site maps."""
        kept = inputs.to == "collection"
        collection = await open_collection(context, inputs.collection_id, _start(inputs)) if kept else ""
        wanted = inputs.site_maps and inputs.depth > 0
        maps = await read_site_maps(context, _start(inputs), frontier) if wanted else FoundAddresses()
        return msgspec.structs.replace(maps, collection_id=collection)

    def items(self, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Return the pages that were asked for."""
        return [one for one in outcomes if one.index and one.status in _DONE]

    def result(self, inputs: CrawlInputs, outcomes: Sequence[Outcome], session_id: str | None) -> CrawlResult:
        """Return the pages that were kept and those that failed; all others are counted."""
        del session_id
        walk, items, left_out = _Walk(inputs), list[CrawledPage](), Counter[str]()
        done = self.items(outcomes)
        for outcome in outcomes:
            if outcome.status in _DONE:
                walk.learn(outcome)
        for outcome in done:
            page = msgspec.convert(outcome.output, VisitedPage) if outcome.status is StepStatus.SUCCEEDED else None
            known = walk.frontier.known_as(page.url if page else outcome.url)
            on = known.found_on if known else ""
            if page is None:
                depth = known.depth if known else 0
                items.append(CrawledPage(url=outcome.url, depth=depth, found_on=on, error=failed_item(outcome)))
            elif page.left_out is None:
                items.append(_item(page, on))
            else:
                left_out[page.left_out] += 1
        failed = sum(item.error is not None for item in items)
        frontier = walk.frontier
        summary = CrawlSummary(
            discovered=len(frontier.known),
            requested=len(done),
            kept=len(items) - failed,
            failed=failed,
            complete=frontier.take(0) is None,
            collection_id=walk.collection,
            left_out=dict(sorted(left_out.items())),
            not_requested={str(why): count for why, count in sorted(frontier.left_out.items())},
        )
        listed = inputs.to == "addresses"
        addresses = tuple(target.address.url for target in frontier.known.values()) if listed else ()
        return CrawlResult(summary=summary, items=() if listed else tuple(items), addresses=addresses)

    def brief(self, result: Any) -> Any:
        """Leave out the contents, and the last pages where even that is too long; `itemsLeftOut` counts them."""
        return brief(result, "items")

    def table(self, result: Any) -> ResultTable:
        """Return a row for every page."""
        return ResultTable(header=_HEADER, rows=tuple(_row(item) for item in _read(result).items))

    def markdown(self, result: Any) -> str:
        """Write an overview, and the content of every page."""
        crawl = _read(result)
        summary = crawl.summary
        counts = f"{summary.kept} pages of {summary.requested} that were asked for; {summary.failed} failed."
        rows = ((item.url, item.title, item.language, item.error.code if item.error else "") for item in crawl.items)
        parts = ["# Site", counts, table(("URL", "Title", "Language", "Error"), rows)]
        for item in crawl.items:
            if item.content:
                parts += [f"## {words(item.title or item.url)}", words(item.url), quoted(item.content)]
        parts += [cell(address) for address in crawl.addresses]
        return "\n\n".join(parts) + "\n"

    def lines(self, result: Any) -> Iterable[Any]:
        """Return the pages, or the addresses."""
        crawl = _read(result)
        return ({"url": address} for address in crawl.addresses) if crawl.addresses else crawl.items

    def folder(self, result: Any) -> Iterable[tuple[str, str]]:
        """Return a file for every page, by its path, with what is known of it as front matter."""
        import frontmatter  # noqa: PLC0415 - costs every start 25 ms

        taken = Counter[str]()
        for item in _read(result).items:
            if item.error is None:
                name = file_name(item.url)
                taken[name.lower()] += 1
                number = taken[name.lower()]
                known = {"title": item.title, "url": item.url, "language": item.language}
                post = frontmatter.Post(item.content)
                post.metadata.update({key: value for key, value in known.items() if value})
                yield f"{name}{'' if number == 1 else f'-{number}'}.md", frontmatter.dumps(post) + "\n"


class _Walk:
    """The frontier of one crawl, fed by the outcomes of its steps."""

    def __init__(self, inputs: CrawlInputs) -> None:
        scope = scope_of(_start(inputs), inputs.hosts, inputs.include, inputs.exclude, inputs.languages)
        self.frontier = Frontier(scope, inputs.depth)
        self.frontier.start(_start(inputs))
        self.collection = ""

    def learn(self, outcome: Outcome) -> None:
        """Take in what a step has found."""
        target = self.frontier.target(outcome.index)
        if outcome.status is not StepStatus.SUCCEEDED:
            self.frontier.failed(target.address.url if target else outcome.url)
        elif outcome.index == 0:
            maps = msgspec.convert(outcome.output, FoundAddresses)
            self.collection = maps.collection_id
            self.frontier.left_out.update(maps.refused)
            self.frontier.found(maps.addresses, 1)
        else:
            self.frontier.read(msgspec.convert(outcome.output, VisitedPage))
        self.frontier.put_down(outcome.index)

    def begin(self, index: int) -> bool:
        """Find the next page for a step."""
        return self.frontier.target(index) is not None or self.frontier.take(index) is not None


CRAWL = CrawlSite()


def _start(inputs: CrawlInputs) -> str:
    """Return the address that is meant: one without a scheme is of https.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for what is none.
    """
    return page_address(inputs.url, "inputs.url")


_DONE = frozenset({StepStatus.SUCCEEDED, StepStatus.FAILED})
_NO_NAME = re.compile(r"[^\w.-]+")
_NAME_CHARS = 80

_HEADER = (
    "url",
    "title",
    "depth",
    "language",
    "tier",
    "confidence",
    "truncated",
    "sourceId",
    "code",
    "error",
    "content",
)


def file_name(url: str) -> str:
    """Return the path of a page below a folder, made of its address; no part of it leads out of there."""
    parts = urlsplit(url)
    segments = [_NO_NAME.sub("-", unquote(part)).strip(".-")[:_NAME_CHARS] for part in parts.path.split("/")]
    path = "/".join(part for part in segments if part) or "index"
    query = _NO_NAME.sub("-", unquote(parts.query)).strip(".-")[:_NAME_CHARS]
    return f"{path}{'-' if query else ''}{query}"


def _row(item: CrawledPage) -> tuple[str | int | float | bool | None, ...]:
    error = (item.error.code, item.error.error) if item.error else (None, None)
    known = (item.url, item.title, item.depth, item.language, item.tier, item.confidence, item.truncated)
    return (*known, item.source_id or None, *error, item.content)


def _item(page: VisitedPage, found_on: str) -> CrawledPage:
    return CrawledPage(
        url=page.final_url or page.url,
        title=page.title,
        depth=page.depth,
        found_on=found_on,
        language=page.language,
        content=page.content,
        truncated=page.truncated,
        tier=page.tier,
        confidence=page.confidence,
        source_id=page.source_id,
    )


def _read(result: Any) -> CrawlResult:
    return msgspec.convert(result, CrawlResult)


def _invalid(name: str, reason: str) -> FaultError:
    field = f"inputs.{name}"
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{field}: {reason}", field=field))
