"""Steps of a run: the context that they work with, and one attempt at one of them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

import anyio
import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace

from actors.runner.browser_session import BrowserSession, StoppedError, call_with_room
from actors.runner.flows.replaying import step_call
from actors.runner.flows.shelf import FlowShelf
from actors.runner.template import SiteFile, SourceKeeper, StepDiscovery, TaskTemplate
from actors.usage import UsageLedger
from actors.web.client import WebClient
from actors.web.cookies import Jar
from actors.web.exchange import WebRequest
from bus import remaining_ms
from bus.clock import now_ms
from protocol.acting.tree import AskTree, PageTree
from protocol.browse import BrowseOptions
from protocol.browsers.operations import Operation, TakeScreenshot
from protocol.browsers.results import ERROR_CODES, Done, ErrorCode, Navigated, ScreenshotTaken
from protocol.codec import encode
from protocol.faults import Code, Fault, FaultError, fault
from protocol.flows import AskFlow, Flow
from protocol.pages import Browsed, BrowsePage
from protocol.policy import CALL_PREFIX, ToolOutcome, ToolStatus
from protocol.runs.events import RunCreated, StepEnded
from protocol.runs.states import StepStatus
from protocol.subjects import BROWSE, BROWSER_TREE, POLICY_CALL
from protocol.tiers import BROWSER

log = structlog.stdlib.get_logger()

STEP_BROKE = "step_broke"

MAX_OUTPUT_BYTES: Final = 900_000
"""The JSON of an output: with what surrounds it, it has to fit into one message of NATS (1 MiB)."""

CUT_MS: Final = 50
"""A fault that comes so shortly before the end of the run's time came of that."""

ANSWER_LOOK_S: Final = 1.0
"""How often it is looked whether somebody has answered for a call that waits for it."""

ANSWER_MARGIN_MS: Final = 3_000
"""What is left of the time of a run when it waits for answers no longer: to end, and to say why."""

_SCREENSHOT_S: Final = 5.0
"""How long a screenshot may take, beside what its step takes."""

_SCREENSHOT_QUALITY: Final = 50

T = TypeVar("T")


class StepTools(Struct, frozen=True):
    """What steps work with beside the browser session; pages that they read count for the caller in `usage`."""

    web: WebClient | None = None
    sources: SourceKeeper | None = None
    discovery: StepDiscovery | None = None
    flows: FlowShelf | None = None
    usage: UsageLedger = msgspec.field(default_factory=UsageLedger)


@dataclass(eq=False)
class RunStepContext:
    """The context of one attempt at one step."""

    session: BrowserSession
    name: str
    """The name of the attempt, unique among those of all runs."""

    tools: StepTools = field(default_factory=StepTools)
    failed_at: str = ""
    screenshot: str = ""
    """How the page looked at the end, by its name in CAPTURES, if the run keeps that."""

    _operations: int = 0
    _failure: FaultError | None = None
    _in_browser: bool = False

    @property
    def run_id(self) -> str:
        """The run."""
        return self.session.run.run_id

    @property
    def caller(self) -> str:
        """Whose run it is."""
        return self.session.run.caller

    @property
    def session_id(self) -> str | None:
        """The browser session of the run."""
        return self.session.run.session_id or None

    @property
    def local(self) -> bool:
        """Whether the caller of the run is at this machine (002 §9)."""
        return self.session.run.local

    def remaining_ms(self) -> int:
        """Milliseconds that the run has left."""
        return remaining_ms() or 0

    @contextmanager
    def part(self, name: str) -> Generator[None]:
        """Name what the block does; of two nested names the inner one counts."""
        try:
            yield
        except FaultError as error:
            if self._failure is not error:
                self._failure, self.failed_at = error, name
            raise

    def failed_part(self, failure: FaultError) -> str:
        """Return the part in which the step has failed, `""` where it was in none."""
        return self.failed_at if self._failure is failure else ""

    @property
    def discovery(self) -> StepDiscovery | None:
        """What the steps of a discovered stage follow."""
        return self.tools.discovery

    @property
    def sources(self) -> SourceKeeper | None:
        """What keeps pages in collections of the caller."""
        return self.tools.sources

    async def file(self, url: str, timeout_ms: int) -> SiteFile:
        """Fetch a file of a site that is no page."""
        if self.tools.web is None:
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE))
        request = WebRequest(url, sub_resource=True, obey_robots=not url.endswith("/robots.txt"))
        answer = await self.tools.web.fetch(request, Jar(), max(min(timeout_ms, self.remaining_ms()), 1))
        return SiteFile(answer.url, answer.status, answer.body)

    async def browse(self, url: str, options: BrowseOptions, *, outlinks: bool = False) -> Browsed:
        """Browse a page as soon as there is room."""

        async def call() -> Browsed:
            # The deadline of the run shrinks down to every fetch (002 §10).
            left_ms = max(min(options.max_latency_ms, self.remaining_ms()), 1)
            bounded = replace(options, max_latency_ms=left_ms)
            # The run tries an item again by itself, which is not to multiply with what the fetchers do.
            page = BrowsePage(url=url, options=bounded, obey_robots=True, single_shot=True, outlinks=outlinks)
            return await self.session.bus.call(BROWSE, page, timeout_ms=left_ms, wait_ms=self.session.grace_ms)

        browsed = await call_with_room(call, self.session.canceled)
        self.tools.usage.counters(self.caller).page_read(browsed.page.tier, browsed.pages)
        return browsed

    def seal(self, text: str, place: str) -> bytes:
        """Encrypt what is secret for the one place where it is needed."""
        seal = self.session.bus.seal
        if seal is None:
            raise FaultError(fault(Code.INTERNAL_ERROR))
        return seal.seal(text.encode(), place)

    async def flow(self, flow_id: str) -> Flow:
        """Return a flow of the caller."""
        if self.tools.flows is None:
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE))
        return await self.tools.flows.get(AskFlow(flow_id=flow_id, caller=self.caller))

    async def tree(self) -> PageTree:
        """Read the page in the active tab."""
        look = AskTree(caller=self.caller, session=self.session_id or "", max_tokens=None, everywhere=True, marks=True)
        return await self.session.bus.call(BROWSER_TREE, look, wait_ms=self.session.grace_ms)

    async def call_tool(self, tool: str, arguments: Mapping[str, Any], *, brisk: bool = False) -> ToolOutcome:
        """Have a tool of the browser run if the gate allows it, at once or when somebody has answered.

        `brisk` as ToolRequest has it. What nobody answers within the time of the run is PENDING.

        Raises:
            FaultError: as its protocol says.
            StoppedError: the run was canceled while it waited for an answer.
        """
        call = CALL_PREFIX + order_of(f"{self.name.rpartition('.')[0]}.call")
        request = step_call(self.session.run, call, tool, arguments, brisk=brisk)
        self._in_browser = True
        while True:
            outcome = await self.session.bus.call(POLICY_CALL, request, wait_ms=self.session.grace_ms)
            if outcome.status is not ToolStatus.PENDING or self.remaining_ms() <= ANSWER_MARGIN_MS:
                return outcome
            with anyio.move_on_after(ANSWER_LOOK_S):
                await self.session.canceled.wait()
            if self.session.canceled.is_set():
                raise StoppedError

    async def browser(self, operation: Operation) -> Done:
        """Do an operation in the run's browser session; repeated, the same one of the same attempt is done once."""
        self._operations += 1
        self._in_browser = True
        done = await self.session.do(operation, order_of(f"{self.name}.{self._operations}"))
        if isinstance(done, Navigated):
            self.tools.usage.counters(self.caller).page_read(BROWSER)
        return done

    async def keep_screenshot(self, tab: int | None = None) -> None:
        """Keep how the page looks, if the run wants that; the first screenshot counts, and a step can do without."""
        if not (self.session.run.screenshots and self._in_browser) or self.screenshot:
            return
        with anyio.move_on_after(_SCREENSHOT_S), suppress(FaultError):
            taken = await self.session.do(TakeScreenshot(tab_id=tab, format="jpeg", quality=_SCREENSHOT_QUALITY), "")
            if isinstance(taken, ScreenshotTaken):
                self.screenshot = taken.image.name


class StepAttempt(Struct, frozen=True):
    """One attempt at a step; `started` is when the first one began (ms since the epoch)."""

    template: TaskTemplate[Any]
    run: RunCreated
    index: int
    started: int
    tries: int

    async def execute(self, context: RunStepContext, inputs: Any, before: Mapping[int, Any]) -> StepEnded:
        """Do the step, and return the line that records its outcome.

        Raises:
            StoppedError: the run was canceled before it had really begun.
        """
        try:
            output = await self.template.do(context, inputs, self.index, before)
            done = self._succeeded(msgspec.to_builtins(output, str_keys=True))
            await context.keep_screenshot()
            return replace(done, screenshot=context.screenshot)
        except StoppedError:
            raise
        except Exception as error:  # noqa: BLE001 - the edge of what a template does
            failure = first_failure(error)
        if isinstance(failure, StoppedError):
            raise failure
        if context.remaining_ms() <= CUT_MS:
            await anyio.sleep_forever()  # 002 §10: the time of the run cuts it off
        await context.keep_screenshot()
        return replace(self._failed(failure, context), screenshot=context.screenshot)

    def _succeeded(self, output: Any) -> StepEnded:
        if len(encode(output)) > MAX_OUTPUT_BYTES:
            message = f"What came of the step is longer than the {MAX_OUTPUT_BYTES} bytes that are kept of one."
            raise FaultError(fault(Code.CONTENT_TOO_LARGE, message))
        return self._line(StepStatus.SUCCEEDED, output=output)

    def _failed(self, failure: BaseException, context: RunStepContext) -> StepEnded:
        if isinstance(failure, FaultError):
            why, failed_at = failure.fault, context.failed_part(failure)
        else:
            self._log(failure)
            why, failed_at = fault(Code.INTERNAL_ERROR), ""
        return self._line(StepStatus.FAILED, why=why, failed_at=failed_at, step_code=step_code(why))

    def _line(
        self,
        status: StepStatus,
        *,
        output: Any = None,
        why: Fault | None = None,
        failed_at: str = "",
        step_code: str = "",
    ) -> StepEnded:
        return StepEnded(
            run_id=self.run.run_id,
            at=now_ms(),
            index=self.index,
            name=self.run.steps[self.index],
            status=status,
            output=output,
            fault=why,
            failed_at=failed_at,
            step_code=step_code,
            tries=self.tries,
            started=self.started,
        )

    def _log(self, failure: BaseException) -> None:
        """Log what broke; where a run has secrets, nothing that could quote one."""
        line = {"template": self.template.template_id, "step": self.run.steps[self.index], "run": self.run.run_id}
        if self.template.secret:
            log.error(STEP_BROKE, kind=type(failure).__name__, **line)
        else:
            log.error(STEP_BROKE, exc_info=failure, **line)


_OWN_CODES: Final = frozenset(
    {
        Code.TPL_LOGIN_FIELD_NOT_FOUND,
        Code.STEP_VERIFICATION_FAILED,
        Code.SECURITY_POLICY_DENIED,
        Code.SECURITY_APPROVAL_REQUIRED,
    }
)
"""What a step fails with that has no code in the tool layer."""


def step_code(why: Fault) -> str:
    """Return the code of the tool layer for what a step failed with (002 §7.3)."""
    if why.code in _OWN_CODES:
        return why.code.value
    return ERROR_CODES.get(why.code, ErrorCode.EXECUTION_ERROR).value


def first_failure(error: BaseException) -> BaseException:
    """Return the failure that a group stands for: a cancel before a fault, a fault before anything else."""
    leaves = list(_leaves(error))
    for kind in (StoppedError, FaultError):
        for leaf in leaves:
            if isinstance(leaf, kind):
                return leaf
    return leaves[0]


def order_of(name: str) -> str:
    """Return the order of an operation: a short hash of its name."""
    return base64.urlsafe_b64encode(hashlib.sha256(name.encode()).digest()).decode().rstrip("=")


def _leaves(error: BaseException) -> Sequence[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return (error,)
    group = cast("BaseExceptionGroup[BaseException]", error)
    return [leaf for one in group.exceptions for leaf in _leaves(one)]
