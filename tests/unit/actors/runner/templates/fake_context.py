"""A step context that has pages of real markup, by the ladder or in tabs, and notes what was done with them."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
from msgspec import structs
from msgspec.structs import replace

from actors.extraction.page import extract
from actors.fetchers import page_answer
from actors.runner.template import Outcome, SiteFile, SourceKeeper, StepDiscovery, TaskTemplate
from protocol.acting.tree import PageTree
from protocol.browse import BrowseOptions, DecisionTrace, TraceSummary
from protocol.browsers.operations import (
    CloseTab,
    CreateTab,
    GetPageContent,
    GetPageInfo,
    HandleDialog,
    Navigate,
    Operation,
    WaitForStable,
)
from protocol.browsers.pageinfo import Element, ElementKind, PageRef, PageSummary, PastDialog, Section, ViewType
from protocol.browsers.results import (
    ERROR_CODES,
    Acted,
    Done,
    ErrorCode,
    Navigated,
    PageContent,
    PageInfo,
    Stable,
    TabCreated,
)
from protocol.codec import encode
from protocol.confidence import FieldConfidence, overall
from protocol.faults import Code, FaultError, fault
from protocol.flows import Flow
from protocol.pages import Browsed
from protocol.policy import ToolOutcome
from protocol.runs.states import StepStatus
from protocol.tiers import RenderTier

PAGES = Path("tests/site/pages")
BASE = "https://notes.example"


def ladder(
    html: str, url: str = f"{BASE}/page", *, status: int = 200, tier: RenderTier = RenderTier.INTELLIGENCE
) -> Browsed:
    """Extract from markup, and give it as the ladder does."""
    found = extract(html.encode(), "text/html; charset=utf-8", url)
    page = page_answer.fetched(tier, found, status=status, content_type="text/html")
    trace = DecisionTrace(
        tiers=(),
        selectors=(),
        title=(),
        summary=TraceSummary(
            total_tiers_attempted=1,
            successful_tier=tier,
            total_selectors_attempted=0,
            selected_selector="",
            total_duration_ms=1,
        ),
    )
    sure = FieldConfidence(title=page.title, content=page.content, overall=overall(page.title, page.content))
    return Browsed(url=url, page=page, confidence=sure, duration_ms=1, trace=trace)


@dataclass(frozen=True)
class Shown:
    """What a tab shows."""

    title: str = "Looms"
    elements: int = 3
    texts: tuple[str, ...] = ("Looms", "They hold the warp.", "They are old.")
    status: int = 200
    path: str = ""
    dialogs: int = 0

    def sections(self) -> tuple[Section, ...]:
        """Return a menu, a heading and paragraphs."""
        menu = Section(tag="li", text="Home", attention=0.2)
        head, *rest = self.texts
        return (
            menu,
            Section(tag="h1", text=head, attention=0.8),
            *(Section(tag="p", text=one, attention=0.7, heading=head) for one in rest),
        )


@dataclass
class FakeStepContext:
    """The context of one step; a URL that nothing stands for fails."""

    pages: dict[str, Browsed | Code] = field(default_factory=dict[str, Browsed | Code])
    tabs: dict[str, Shown | Code] = field(default_factory=dict[str, Shown | Code])
    session_id: str | None = None
    local: bool = False
    left_ms: int = 60_000
    hangs: bool = False
    """Whether a navigation never ends."""

    run_id: str = "run_AAAAAAAAAAAAAAAAAAAAAA"
    caller: str = "owner"
    discovery: StepDiscovery | None = None
    sources: SourceKeeper | None = None
    parts: list[str] = field(default_factory=list[str])
    failed_at: str = ""
    done: list[Operation] = field(default_factory=list[Operation])
    asked: list[tuple[str, BrowseOptions]] = field(default_factory=list[tuple[str, BrowseOptions]])
    open: dict[int, str] = field(default_factory=dict[int, str])
    opened: int = 0
    waiting: dict[int, int] = field(default_factory=dict[int, int])
    """Dialogs of each tab that wait for an answer."""

    navigating: anyio.Event = field(default_factory=anyio.Event)

    def remaining_ms(self) -> int:
        """Return what is left."""
        return self.left_ms

    async def keep_screenshot(self, tab: int | None = None) -> None:
        """Keep none."""

    @contextmanager
    def part(self, name: str) -> Generator[None]:
        """Note a part, and where it fails."""
        self.parts.append(name)
        try:
            yield
        except FaultError:
            self.failed_at = self.failed_at or name
            raise

    def seal(self, text: str, place: str) -> bytes:
        """Have nothing to encrypt."""
        raise AssertionError(place, text)

    async def file(self, url: str, timeout_ms: int) -> SiteFile:
        """Have no files but pages."""
        raise AssertionError(url, timeout_ms)

    async def browse(self, url: str, options: BrowseOptions, *, outlinks: bool = False) -> Browsed:
        """Return the page."""
        del outlinks
        await anyio.lowlevel.checkpoint()
        self.asked.append((url, options))
        page = self.pages.get(url, Code.SECURITY_URL_BLOCKED)
        if isinstance(page, Code):
            raise FaultError(fault(page))
        return page

    async def flow(self, flow_id: str) -> Flow:
        """Have none."""
        await anyio.lowlevel.checkpoint()
        raise FaultError(fault(Code.VALIDATION_UNKNOWN_FLOW, flow_id))

    async def tree(self) -> PageTree:
        """Have no page to act on."""
        await anyio.lowlevel.checkpoint()
        raise FaultError(fault(Code.SESSION_NOT_FOUND))

    async def call_tool(self, tool: str, arguments: Mapping[str, Any], *, brisk: bool = False) -> ToolOutcome:
        """Have no gate."""
        del brisk
        await anyio.lowlevel.checkpoint()
        raise AssertionError((tool, arguments))

    async def browser(self, operation: Operation) -> Done:
        """Do it in a tab."""
        await anyio.lowlevel.checkpoint()
        self.done.append(operation)
        match operation:
            case CreateTab():
                self.opened += 1
                self.open[self.opened] = ""
                return TabCreated(url="about:blank", tab_id=self.opened)
            case CloseTab(tab_id=tab):
                del self.open[tab]
                return Acted(success=True)
            case Navigate(tab_id=tab, url=url):
                return await self._went(tab or 0, url)
            case HandleDialog(tab_id=tab):
                self.waiting[tab or 0] -= 1
                return Acted(success=True, dialog=self._dialog(tab or 0))
            case _ if self.waiting.get(getattr(operation, "tab_id", None) or 0):
                raise FaultError(fault(Code.EXECUTION_ERROR, "A dialog waits."))
            case WaitForStable():
                return Stable(stable=True, dom_stable=True, network_pending=0, load_state="complete")
            case _:
                return self._read(operation)

    async def _went(self, tab: int, url: str) -> Navigated:
        if self.hangs:
            self.navigating.set()
            await anyio.sleep_forever()
        self.open[tab] = url
        shown = self._shown(tab)
        self.waiting[tab] = shown.dialogs
        page = PageRef(url=url, title=shown.title)
        return Navigated(success=True, status_code=shown.status, page=page, dialog=self._dialog(tab))

    def _read(self, operation: Operation) -> Done:
        match operation:
            case GetPageInfo(tab_id=tab, max_elements=most):
                return self._info(tab or 0, most or 50)
            case GetPageContent(tab_id=tab):
                shown = self._shown(tab or 0)
                return PageContent(title=shown.title, sections=shown.sections())
            case _:
                raise AssertionError(operation)

    def _dialog(self, tab: int) -> PastDialog | None:
        return PastDialog(type="alert", message="Mind the loom") if self.waiting[tab] else None

    def _shown(self, tab: int) -> Shown:
        shown = self.tabs.get(self.open[tab], Code.SECURITY_URL_BLOCKED)
        if isinstance(shown, Code):
            raise FaultError(fault(shown))
        return shown

    def _info(self, tab: int, most: int) -> PageInfo:
        shown = self._shown(tab)
        summary = PageSummary(url=self.open[tab], title=shown.title, type=ViewType.ARTICLE, summary="An article.")
        elements = tuple(
            Element(
                id=f"link_{number}", type=ElementKind.LINK, label=f"Link {number}", href=f"{BASE}/{shown.path}{number}"
            )
            for number in range(min(shown.elements, most))
        )
        return PageInfo(page=summary, elements=elements, total_elements=shown.elements)


async def run(template: TaskTemplate[Any], inputs: Any, context: FakeStepContext) -> list[Outcome]:
    """Do the steps of a template one after the other, each as often as it may be tried."""
    outcomes = list[Outcome]()
    outputs = dict[int, Any]()
    names = [
        name for stage in template.stages(inputs, in_session=context.session_id is not None) for name in stage.steps
    ]
    for index, name in enumerate(names):
        outcome = structs.replace(await _tried(template, inputs, context, index, outputs), name=name)
        if outcome.status is StepStatus.SUCCEEDED:
            outputs[index] = outcome.output
        outcomes.append(outcome)
    return outcomes


async def _tried(
    template: TaskTemplate[Any], inputs: Any, context: FakeStepContext, index: int, outputs: dict[int, Any]
) -> Outcome:
    retry = template.retry(inputs, index)
    for number in range(1, retry.tries + 1):
        context.failed_at = ""
        try:
            with anyio.fail_after(90):
                output = await template.do(context, inputs, index, outputs)
        except FaultError as error:
            failed = error.fault
            if failed.code in retry.codes and number < retry.tries:
                continue
            return Outcome(
                index=index,
                name="",
                status=StepStatus.FAILED,
                code=failed.code,
                step_code=ERROR_CODES.get(failed.code, ErrorCode.EXECUTION_ERROR),
                message=failed.message,
                hint=failed.actions[0].description if failed.actions else "",
                failed_at=context.failed_at,
            )
        return Outcome(index=index, name="", status=StepStatus.SUCCEEDED, output=json_of(output))
    raise AssertionError(index)


def json_of(value: Any) -> Any:
    """Return a value as JSON says it."""
    return msgspec.json.decode(encode(value))


def result_of(template: TaskTemplate[Any], inputs: Any, outcomes: Sequence[Outcome]) -> Any:
    """Return the result as JSON says it."""
    return json_of(template.result(inputs, outcomes, None))


def dropped(outcomes: Sequence[Outcome], after: int) -> list[Outcome]:
    """Return outcomes of a run that was stopped after some steps."""
    return [
        one if one.index < after else Outcome(index=one.index, name=one.name, status=StepStatus.SKIPPED)
        for one in outcomes
    ]


def with_title(page: Browsed, title: str) -> Browsed:
    """Return a page with another title."""
    document = page.page.document
    return replace(
        page, page=replace(page.page, document=replace(document, content=replace(document.content, title=title)))
    )
