"""A template whose steps do as they are told, and a browser and a navigator that note what they are asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import anyio
import msgspec
from anyio.abc import TaskStatus
from msgspec import Struct

from actors.actor import grant_of, handlers
from actors.runner.actor import Runner
from actors.runner.template import Outcome, ResultTable, Retry, SessionUse, Stage, StepContext, TaskTemplate
from actors.runner.templates.table import catalogue
from actors.settings import Settings
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal, new_key
from bus.stores import FileStore, JournalLog
from bus.transport import Transport
from protocol import subjects
from protocol.access import Scope
from protocol.browse import BrowseOptions
from protocol.browsers.operations import CloseSession, CreateSession, CreateTab, ListTabs
from protocol.browsers.results import BrowserTab, Done, SessionClosed, SessionCreated, TabCreated, Tabs
from protocol.browsers.sessions import FULL_SESSION, AskBrowser, BrowserAnswer
from protocol.faults import Code, FaultError, fault
from protocol.pages import Browsed, BrowsePage
from protocol.runs.events import LedgerLine, RunEnded, RunTaken, StepEnded, run_topics, slice_name, state_topic
from protocol.runs.requests import AskRun, CreateRun, RunOptions, inputs_of
from protocol.runs.responses import CancelAnswer, RunAccepted, TemplateLimits
from protocol.runs.states import Mode, RunStatus, StepStatus, TrustLevel
from tests.unit.actors.gateway_data import browsed

KEY = new_key()
ME = "somebody"
PASSWORD = "hunter2-very-secret"
CHORES, LOGIN = "chores", "fake_login"
TEST_S = 90.0
PAGE_MS = 7_000

Connect = Callable[[], AbstractAsyncContextManager[Transport]]
"""Takes part as a runner."""


class Login(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is secret."""

    user: str
    password: str


class ChoreInputs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The steps by their names, which say what they do (`alone`: no last one); `use` is the session that they want."""

    chores: tuple[str, ...]
    at_once: int = 3
    in_tabs: bool = False
    use: SessionUse = SessionUse.NONE
    tries: int = 1
    size: int = 1
    login: Login | None = None


class ChoreDone(Struct, frozen=True, kw_only=True):
    """What a step gives."""

    chore: str
    words: str = ""


class ChoreResult(Struct, frozen=True, kw_only=True):
    """What all of them give."""

    summary: dict[str, int]
    items: tuple[dict[str, Any], ...]


@dataclass
class Chores(TaskTemplate[ChoreInputs]):
    """Does what the names of its steps say; `held` holds those named `hold` until it is let go."""

    template_id: ClassVar[str] = CHORES
    name: ClassVar[str] = "Chores"
    description: ClassVar[str] = "Steps of the tests."
    threshold: ClassVar[float | None] = 0.5
    limits: ClassVar[TemplateLimits] = TemplateLimits()
    max_timeout_ms: ClassVar[int] = 60_000
    step_names: ClassVar[tuple[str, ...]] = ("chore",)
    inputs: type[ChoreInputs] = ChoreInputs
    outputs: type[Struct] = ChoreResult

    let_go: anyio.Event = field(default_factory=anyio.Event)
    begun: list[str] = field(default_factory=list[str])
    done: list[str] = field(default_factory=list[str])
    at_work: int = 0
    most: int = 0
    seen: list[Mapping[int, Any]] = field(default_factory=list[Mapping[int, Any]])

    def mode(self, inputs: ChoreInputs) -> Mode:
        """Say."""
        return Mode.SYNC if len(inputs.chores) < 3 else Mode.ASYNC

    def session(self, inputs: ChoreInputs) -> SessionUse:
        """Say."""
        return inputs.use

    def stages(self, inputs: ChoreInputs, *, in_session: bool) -> tuple[Stage, ...]:
        """Return one stage, and a last step of its own."""
        del in_session
        first = Stage(tuple(f"chore {one}" for one in inputs.chores if one != "alone"), inputs.at_once, inputs.in_tabs)
        return (first,) if "alone" in inputs.chores else (first, Stage(("last",)))

    def retry(self, inputs: ChoreInputs, index: int) -> Retry:
        """Try again after a timeout."""
        del index
        return Retry(frozenset({Code.NETWORK_TIMEOUT}), inputs.tries)

    async def do(self, context: StepContext, inputs: ChoreInputs, index: int, before: Mapping[int, Any]) -> ChoreDone:
        """Do a step as its name says."""
        name = inputs.chores[index] if index < len(inputs.chores) else "last"
        self.begun.append(name)
        self.seen.append(before)
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        try:
            await self._do(context, inputs, name)
        finally:
            self.at_work -= 1
        self.done.append(name)
        return ChoreDone(chore=name, words="x" * inputs.size)

    async def _do(self, context: StepContext, inputs: ChoreInputs, name: str) -> None:
        match name.partition(":")[0]:
            case "hold":
                await self.let_go.wait()
            case "fail":
                with context.part("outer"), context.part("inner"):
                    raise FaultError(fault(Code(name.partition(":")[2])))
            case "break":
                msg = f"broken with {PASSWORD}"
                raise RuntimeError(msg)
            case "page":
                await context.browse("https://www.example.com/", BrowseOptions(max_latency_ms=PAGE_MS))
            case "tab":
                await context.browser(CreateTab())
            case "secret" if inputs.login is None:
                raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, field="inputs.login"))
            case _:
                await anyio.lowlevel.checkpoint()

    def items(self, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Count all but the last."""
        return [one for one in outcomes if one.name != "last"]

    def result(self, inputs: ChoreInputs, outcomes: Sequence[Outcome], session_id: str | None) -> ChoreResult:
        """Put it together."""
        del inputs, session_id
        items = tuple({"name": one.name, "status": one.status, "said": one.output} for one in self.items(outcomes))
        good = sum(one.status is StepStatus.SUCCEEDED for one in self.items(outcomes))
        return ChoreResult(summary={"total": len(items), "succeeded": good}, items=items)

    def brief(self, result: Any) -> Any:
        """Leave the words out."""
        return {**result, "items": [{**one, "said": None} for one in result["items"]]}

    def table(self, result: Any) -> ResultTable:
        """Return name and status."""
        return ResultTable(("name", "status"), tuple((one["name"], one["status"]) for one in result["items"]))

    def markdown(self, result: Any) -> str:
        """List the names."""
        return "".join(f"- {one['name']}\n" for one in result["items"])


class FakeLogin(Chores):
    """For local callers; has a secret, and no step may fail."""

    template_id: ClassVar[str] = LOGIN
    threshold: ClassVar[float | None] = None
    trust: ClassVar[tuple[TrustLevel, ...]] = (TrustLevel.LOCAL,)
    secret: ClassVar[tuple[str, ...]] = ("login",)

    def check(self, inputs: ChoreInputs) -> None:
        """Want the secret."""
        if inputs.login is None:
            message = "inputs.login: it is missing; give user and password"
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="inputs.login"))


@dataclass
class World:
    """Who asks, what the others were asked, and what may be looked at."""

    broker: Broker
    bus: Bus
    ledger: JournalLog[LedgerLine]
    artifacts: FileStore
    settings: Settings
    connect: Connect
    chores: Chores = field(default_factory=Chores)
    login: FakeLogin = field(default_factory=FakeLogin)
    browser: list[AskBrowser] = field(default_factory=list[AskBrowser])
    pages: list[BrowsePage] = field(default_factory=list[BrowsePage])
    tabs: int = 0
    known: set[str] = field(default_factory=set[str])
    busy: int = 0
    """How often the browser has no room yet."""

    full: bool = False
    """Whether the session of the caller has as many tabs as it may have."""

    _numbers: int = 0

    def new_id(self) -> str:
        """Make the id of a run."""
        self._numbers += 1
        return f"run_{self._numbers:022d}"

    def asked(self, chores: Sequence[str] = ("a", "b"), /, template: str = CHORES, **more: Any) -> CreateRun:
        """Make what is asked for a run; what is no field of CreateRun or of its options is an input."""
        ours = {name: more.pop(name) for name in list(more) if name in CreateRun.__struct_fields__}
        options = {name: more.pop(name) for name in list(more) if name in RunOptions.__struct_fields__}
        run_id = ours.pop("run_id", None) or self.new_id()
        given = ours.pop("inputs", {"chores": chores, **more})
        sealed = Seal.of(KEY).seal(msgspec.json.encode(given), inputs_of(run_id))
        defaults: dict[str, Any] = {
            "caller": ME,
            "scopes": tuple(Scope),
            "options": RunOptions(**options),
            "template_id": template,
        }
        return CreateRun(run_id=run_id, inputs=sealed, **{**defaults, **ours})

    async def create(self, chores: Sequence[str] = ("a", "b"), /, **more: Any) -> RunAccepted:
        """Ask for a run."""
        return await self.bus.call(subjects.RUN_CREATE, self.asked(chores, **more))

    async def cancel(self, run_id: str, caller: str = ME) -> CancelAnswer:
        """Cancel a run."""
        return await self.bus.call(subjects.RUN_CANCEL, AskRun(run_id=run_id, caller=caller))

    async def lines(self, run_id: str) -> list[LedgerLine]:
        """Read the lines of a run."""
        return [line.value async for line in self.ledger.read(run_topics(run_id))]

    async def ended(self, run_id: str) -> RunEnded:
        """Wait for the end of a run."""
        async with self.ledger.follow() as lines:
            async for line in lines:
                if line.topic == state_topic(run_id) and isinstance(line.value, RunEnded):
                    return line.value
        raise AssertionError

    async def done(self, chores: Sequence[str] = ("a", "b"), /, **more: Any) -> RunEnded:
        """Ask for a run and wait for its end."""
        return await self.ended((await self.create(chores, **more)).run_id)

    async def steps(self, run_id: str) -> dict[int, StepEnded]:
        """Read the outcomes of a run's steps."""
        return {line.index: line for line in await self.lines(run_id) if isinstance(line, StepEnded)}

    async def file(self, ended: RunEnded, number: int = 0) -> bytes:
        """Put a file of a run together."""
        kept = ended.artifacts[number]
        count = max(1, -(-kept.size // kept.slice_bytes))
        return b"".join([await self.artifacts.get(slice_name(kept.artifact_id, one)) for one in range(count)])

    async def ask_browser(self, asked: AskBrowser) -> BrowserAnswer:
        """Do as a browser does."""
        self.browser.append(asked)
        return BrowserAnswer(done=self._browser(asked))

    def _browser(self, asked: AskBrowser) -> Done:
        session = asked.do.session_id or ""
        match asked.do:
            case CreateSession():
                self.known.add(session)
                return SessionCreated(session_id=session)
            case CloseSession():
                self.known.discard(session)
                return SessionClosed(success=True)
            case _ if session not in self.known:
                raise FaultError(fault(Code.SESSION_NOT_FOUND))
            case ListTabs():
                return Tabs(tabs=tuple(BrowserTab(tab=number + 1, url="") for number in range(self.tabs)))
            case CreateTab() if self.full:
                raise FaultError(fault(Code.INTERNAL_BUSY, "Full", field=FULL_SESSION))
            case CreateTab() if self.busy:
                self.busy -= 1
                raise FaultError(fault(Code.INTERNAL_BUSY))
            case _:
                return TabCreated(url="", tab_id=1)

    async def browse(self, page: BrowsePage) -> Browsed:
        """Do as a navigator does."""
        self.pages.append(page)
        return browsed()

    @asynccontextmanager
    async def runner(self, replica: str, **replaced: Any) -> AsyncGenerator[Bus]:
        """Run one more replica."""
        settings = msgspec.structs.replace(self.settings, **replaced)
        async with self.connect() as transport, Bus(transport, "runner", replica).running() as bus:
            bus.seal = Seal.of(KEY)
            actor = Runner(bus=bus, settings=settings, templates=catalogue((self.chores, self.login)))
            async with actor.open():
                for handler in handlers(Runner):
                    subject = handler.subject.answered_by(replica)
                    await bus.serve(subject, getattr(actor, handler.method), at_once=actor.room(handler))
                yield bus


@asynccontextmanager
async def world(replicas: Sequence[str] = ("r1",), **settings: Any) -> AsyncGenerator[World]:
    """Run some replicas of the runner among fakes."""
    with anyio.fail_after(TEST_S):
        async with (
            Broker() as broker,
            Bus(broker.connect("browser"), "browser", "b1").running() as browser,
            Bus(broker.connect("asker"), "asker", "a1").running() as asker,
        ):

            @asynccontextmanager
            async def connect() -> AsyncGenerator[Transport]:
                transport = broker.connect("runner", grant_of(Runner))
                try:
                    yield transport
                finally:
                    with anyio.CancelScope(shield=True):
                        await transport.close()

            async with among(browser, asker, connect, replicas, broker=broker, **settings) as made:
                yield made


@asynccontextmanager
async def among(
    browser: Bus,
    asker: Bus,
    connect: Connect,
    replicas: Sequence[str],
    *,
    broker: Broker | None = None,
    **settings: Any,
) -> AsyncGenerator[World]:
    """Run some replicas of the runner, with a fake browser that answers there."""
    asker.seal = Seal.of(KEY)
    ledger, artifacts = await asker.journal(subjects.LEDGER), await asker.objects(subjects.ARTIFACTS)
    made = World(broker or Broker(), asker, ledger, artifacts, Settings(**settings), connect)
    await browser.serve(subjects.BROWSER, made.ask_browser, at_once=32)
    await browser.serve(subjects.BROWSE, made.browse, at_once=32)
    async with anyio.create_task_group() as tasks:
        for replica in replicas:
            await tasks.start(_live, made, replica)
        yield made
        made.chores.let_go.set()
        tasks.cancel_scope.cancel()


async def _live(made: World, replica: str, *, task_status: TaskStatus[None]) -> None:
    async with made.runner(replica):
        task_status.started()
        await anyio.sleep_forever()


@asynccontextmanager
async def doomed(here: World, replica: str) -> AsyncGenerator[anyio.CancelScope]:
    """Run a replica that dies when the scope is cancelled."""
    async with anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()

        async def live(*, task_status: TaskStatus[None]) -> None:
            with scope:
                await _live(here, replica, task_status=task_status)

        await tasks.start(live)
        yield scope
        tasks.cancel_scope.cancel()


def hand_out_again(here: World) -> None:
    """Let the time be over after which the queue hands out what shows no life."""
    for held in here.broker.queues.values():
        for item in held.waiting.values():
            item.visible_at = 0.0


async def taken(here: World, run_id: str) -> list[tuple[str, int]]:
    """Return which replicas have taken a run."""
    return [(line.replica, line.attempt) for line in await here.lines(run_id) if isinstance(line, RunTaken)]


def status(ended: RunEnded) -> tuple[RunStatus, Code | None]:
    """Sum an end up."""
    return ended.status, ended.fault.code if ended.fault else None
