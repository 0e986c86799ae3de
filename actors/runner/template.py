"""What a template is: inputs and outputs by type, steps by name, and how one step is done.

A template adds one file to `templates/` and one line to `templates/table.py`. It holds no state: what it knows of a run
stands in the inputs and in the outcomes of the steps before, so that any replica goes on where another has stopped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from msgspec import Struct

from actors.runner.collections.captured_page import CapturedPage
from actors.runner.collections.collection_log import CollectionLog
from protocol.access import Scope
from protocol.acting.tree import PageTree
from protocol.browse import BrowseOptions
from protocol.browsers.operations import Operation
from protocol.browsers.results import Done
from protocol.collections import SourceAdded
from protocol.faults import Code, FaultError, fault
from protocol.flows import Flow
from protocol.pages import Browsed
from protocol.policy import ToolOutcome
from protocol.runs.events import StepEnded
from protocol.runs.responses import TemplateLimits
from protocol.runs.states import MAX_RUN_TIMEOUT_MS, Mode, StepStatus, TrustLevel

D = TypeVar("D", bound=Done)
I = TypeVar("I", bound=Struct)  # noqa: E741 - inputs


class SessionUse(StrEnum):
    """The browser session that a run works in, where its caller names none (002 §8.5)."""

    NONE = "none"
    OWN = "own"
    """One of its own, which is closed at its end."""

    KEPT = "kept"
    """One of its own, which the caller goes on with."""


class Stage(Struct, frozen=True):
    """Steps that do not wait for each other, `at_once` of them at the same time; a stage waits for the one before it.

    `in_tabs`: each of them needs a tab of the run's session, whose number is bounded (002 §8.6). `discovered`: what
    each of them does follows from what others have found, by a StepDiscovery; those that nothing is left for never
    begin.
    """

    steps: tuple[str, ...]
    at_once: int = 1
    in_tabs: bool = False
    discovered: bool = False


class Retry(Struct, frozen=True):
    """How often a step is tried at most, at once again after one of these codes."""

    codes: frozenset[Code] = frozenset()
    tries: int = 1


class Outcome(Struct, frozen=True):
    """The outcome of a step: its output as JSON says it, or the fault that it ended in, by our code and the tool's.

    `url` is the address that the fault is about, if it is about one.
    """

    index: int
    name: str
    status: StepStatus
    output: Any = None
    code: Code | None = None
    step_code: str = ""
    message: str = ""
    hint: str = ""
    failed_at: str = ""
    url: str = ""


def outcome_of(line: StepEnded) -> Outcome:
    """Return the outcome that a line of the ledger records."""
    failure = line.fault
    return Outcome(
        index=line.index,
        name=line.name,
        status=line.status,
        output=line.output,
        code=failure.code if failure else None,
        step_code=line.step_code,
        message=failure.message if failure else "",
        hint=failure.actions[0].description if failure and failure.actions else "",
        failed_at=line.failed_at,
        url=failure.context.url if failure and failure.context and failure.context.url else "",
    )


def outcomes_of(names: Sequence[str], recorded: Mapping[int, Outcome]) -> tuple[Outcome, ...]:
    """Return one outcome for each step of a run at its end: a step without one is skipped (002 §6)."""
    return tuple(
        recorded.get(index) or Outcome(index=index, name=name, status=StepStatus.SKIPPED)
        for index, name in enumerate(names)
    )


class ResultTable(Struct, frozen=True):
    """A result as rows, for CSV: every cell is text, a number, a truth or None."""

    header: tuple[str, ...]
    rows: tuple[tuple[str | int | float | bool | None, ...], ...]


class StepDiscovery(Protocol):
    """What the steps of a discovered stage do, as what was done before says it; each replica makes it anew."""

    def learn(self, outcome: Outcome) -> None:
        """Take in the outcome of a step; each one once, in whatever order they come."""
        ...

    def begin(self, index: int) -> bool:
        """Find something for the step of this number to do; False where nothing is left at the moment."""
        ...


class SourceKeeper(Protocol):
    """What keeps pages as sources of collections."""

    @property
    def log(self) -> CollectionLog:
        """The journal of collections."""
        ...

    async def keep(self, line: SourceAdded, page: CapturedPage, name: str, max_chars: int) -> None:
        """Keep a page that was read; by the same name it is kept once.

        Raises:
            FaultError: CONFIG_STORAGE_FULL; the journal is away.
        """
        ...


class SiteFile(Struct, frozen=True):
    """A file of a site as it was sent; `url` is where its redirects led."""

    url: str
    status: int
    body: bytes


class StepContext(Protocol):
    """What a step works with; every call is bounded by the time that the run has left."""

    @property
    def run_id(self) -> str:
        """The run."""
        ...

    @property
    def caller(self) -> str:
        """Whose run it is."""
        ...

    @property
    def session_id(self) -> str | None:
        """The browser session of the run, opened when `browser` is first used; None where it has none."""
        ...

    @property
    def local(self) -> bool:
        """Whether the caller of the run is at this machine (002 §9)."""
        ...

    def remaining_ms(self) -> int:
        """Milliseconds that the run has left."""
        ...

    def part(self, name: str) -> AbstractContextManager[None]:
        """Name what the block does, for `failedStep` when that fails."""
        ...

    @property
    def discovery(self) -> StepDiscovery | None:
        """What the steps of a discovered stage follow."""
        ...

    @property
    def sources(self) -> SourceKeeper | None:
        """What keeps pages in collections of the caller."""
        ...

    async def browse(self, url: str, options: BrowseOptions, *, outlinks: bool = False) -> Browsed:
        """Browse a page: each tier asks the site once, as the run tries again by itself.

        Raises:
            FaultError: why there is none.
        """
        ...

    async def file(self, url: str, timeout_ms: int) -> SiteFile:
        """Fetch a file of a site that is no page; the robots.txt of the site is obeyed, but for itself.

        Raises:
            FaultError: why there is none.
        """
        ...

    def seal(self, text: str, place: str) -> bytes:
        """Encrypt what is secret for the one place where it is needed: it travels in no other form."""
        ...

    async def flow(self, flow_id: str) -> Flow:
        """Return a flow of the caller.

        Raises:
            FaultError: VALIDATION_UNKNOWN_FLOW.
        """
        ...

    async def tree(self) -> PageTree:
        """Read the page in the active tab of the run's session, with the marks of its controls.

        Raises:
            FaultError: there is no page, or no browser.
        """
        ...

    async def call_tool(self, tool: str, arguments: Mapping[str, Any], *, brisk: bool = False) -> ToolOutcome:
        """Have a tool of the browser run in the run's session if the gate allows it; of each step one call, done once.

        With `brisk` the step looks itself whether it came true (see ToolRequest). What the gate asks about is waited
        for: PENDING is what nobody has answered within the time of the run.

        Raises:
            FaultError: the gate is not to be had; VALIDATION_INVALID_REQUEST for `id`, when it was begun before.
        """
        ...

    async def keep_screenshot(self, tab: int | None = None) -> None:
        """Keep how the page in a tab looks, if the run wants that: at the end of a step, which closes the tab itself.

        Without it, the active tab is shown at the end of each step that has used the browser.
        """
        ...

    async def browser(self, operation: Operation) -> Done:
        """Do an operation in the browser session of the run, by its id; what acts on a page is done once at most.

        A CreateSession that comes first says how the session begins; in one of the caller it only finds that there.

        Raises:
            FaultError: why it was not done.
        """
        ...


async def operate(context: StepContext, operation: Operation, kind: type[D]) -> D:
    """Do an operation in the run's browser session, and return its result as the kind that it has.

    Raises:
        FaultError: why it was not done; INTERNAL_ERROR where the result is of another kind.
    """
    result = await context.browser(operation)
    if not isinstance(result, kind):
        raise FaultError(fault(Code.INTERNAL_ERROR, "The browser answered something else than what was asked."))
    return result


class TaskTemplate(ABC, Generic[I]):
    """One template.

    `threshold` is the share of items that has to succeed for a partial success; None: every step has to. `secret` names
    the inputs (in Python) that are kept in memory alone: in `inputs` each of them has a default, for when it is gone.
    """

    template_id: ClassVar[str]
    version: ClassVar[str] = "1.0.0"
    name: ClassVar[str]
    description: ClassVar[str]
    trust: ClassVar[tuple[TrustLevel, ...]] = (TrustLevel.LOCAL, TrustLevel.REMOTE)
    execution: ClassVar[Mode] = Mode.AUTO
    threshold: ClassVar[float | None] = None
    limits: ClassVar[TemplateLimits]
    max_timeout_ms: ClassVar[int] = MAX_RUN_TIMEOUT_MS
    open_ended: ClassVar[bool] = False
    """Whether a run may need fewer steps than it has: those that are no items are not missed at its end."""

    in_pages: ClassVar[bool] = False
    """Whether what its steps have done lives in pages of the session: a run that resumes one whose own session is gone
    takes nothing over."""

    step_names: ClassVar[tuple[str, ...]]
    """As the list of templates shows them."""

    secret: ClassVar[tuple[str, ...]] = ()
    inputs: type[I]
    outputs: type[Struct]

    def check(self, inputs: I) -> None:
        """Raise where inputs contradict each other or lack a secret.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, with the field named.
        """
        del inputs

    @abstractmethod
    def mode(self, inputs: I) -> Mode:
        """Return whether the caller waits for the end, where the request leaves that open: SYNC or ASYNC."""

    @abstractmethod
    def session(self, inputs: I) -> SessionUse:
        """Return what session the run needs."""

    def scopes(self, inputs: I, *, in_session: bool) -> tuple[Scope, ...]:
        """Return what a caller must be good for whose run this is, by what its steps do; in the order they are named.

        `in_session`: the caller named a browser session to work in.
        """
        in_tabs = in_session or self.session(inputs) is not SessionUse.NONE
        return (Scope.BROWSE, Scope.BROWSER) if in_tabs else (Scope.BROWSE,)

    @abstractmethod
    def stages(self, inputs: I, *, in_session: bool) -> tuple[Stage, ...]:
        """Return the stages of the run; `in_session`: the caller named a browser session to work in."""

    def retry(self, inputs: I, index: int) -> Retry:
        """Return when a step is tried again."""
        del inputs, index
        return Retry()

    @abstractmethod
    async def do(self, context: StepContext, inputs: I, index: int, before: Mapping[int, Any]) -> Struct:
        """Do one step and return its output; `before` has the outputs of earlier stages, as JSON says them.

        Raises:
            FaultError: it failed.
        """

    def discovery(self, inputs: I) -> StepDiscovery | None:
        """Return what the steps of the run's discovered stage follow, where it has one."""
        del inputs
        return None

    def items(self, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Return the outcomes of the steps that count as items for the threshold: by default all of them."""
        return outcomes

    @abstractmethod
    def result(self, inputs: I, outcomes: Sequence[Outcome], session_id: str | None) -> Struct | None:
        """Return the result of the steps that were done; None where there is none.

        `outcomes` has one for each step, those not done as pending or skipped.
        """

    @abstractmethod
    def brief(self, result: Any) -> Any:
        """Shorten a result (as JSON says it) that is too long to stand inline."""

    @abstractmethod
    def table(self, result: Any) -> ResultTable:
        """Return a result (as JSON says it) as rows."""

    @abstractmethod
    def markdown(self, result: Any) -> str:
        """Write a result (as JSON says it) for people; the words of pages are made harmless as Markdown."""

    def lines(self, result: Any) -> Iterable[Any]:
        """Return what a result (as JSON says it) has a line of JSON for: by default its rows."""
        table = self.table(result)
        return (dict(zip(table.header, row, strict=True)) for row in table.rows)

    def folder(self, result: Any) -> Iterable[tuple[str, str]]:
        """Return the files of a result (as JSON says it) in a folder of Markdown, with their names: by default one."""
        return (("result.md", self.markdown(result)),)
