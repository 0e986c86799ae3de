"""Runs of login_keep_session over real browsers on a bus, without the queue and the ledger of runs."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup

from actors.runner.browser_session import BrowserSession
from actors.runner.login_types import LoginInputs, LoginResult
from actors.runner.steps import RunStepContext, StepAttempt
from actors.runner.template import Outcome, outcome_of, outcomes_of
from actors.runner.templates.login_keep_session import LOGIN as TEMPLATE
from actors.settings import Settings
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal, new_key
from protocol.browsers.operations import SESSION_PREFIX, CloseSession, Operation
from protocol.browsers.results import Done
from protocol.browsers.sessions import AskBrowser, ListBrowsers
from protocol.codec import encode
from protocol.pages import Fetched, FetchPage
from protocol.runs.events import RunCreated
from protocol.runs.states import Mode, StepStatus
from protocol.subjects import BROWSER, BROWSERS
from tests.site import Site, serve_site
from tests.site.members import PASSWORD
from tests.support.browsers import BrowserReplica, browser_lives
from tests.support.logins import login_of, passed
from tests.support.sharing import Shared, sharing

CALLER = "weaver"
LIMIT_S = 240.0


@dataclass(frozen=True)
class LoginRun:
    """A run: what it was given, and what its steps gave so far; another replica goes on with nothing else."""

    here: Here
    created: RunCreated
    inputs: LoginInputs
    done: dict[int, Outcome] = field(default_factory=dict[int, Outcome])

    @property
    def session(self) -> str:
        """The browser session of the run."""
        return self.created.session_id

    async def to(self, last: int = 4) -> LoginRun:
        """Do the steps up to this one, as a replica does that has never heard of the run."""
        session = BrowserSession(self.here.bus, self.created, 5_000, anyio.Event())
        for index in range(len(self.done), last + 1):
            found = await self._step(session, index)
            self.done[index] = found
            if found.status is StepStatus.FAILED:
                break
        return self

    def told(self) -> tuple[LoginResult | None, Outcome | None]:
        """Return the result, and the step that failed."""
        all_of_them = outcomes_of(TEMPLATE.step_names, self.done)
        failed = next((one for one in all_of_them if one.status is StepStatus.FAILED), None)
        return TEMPLATE.result(self.inputs, all_of_them, self.session), failed

    async def _step(self, session: BrowserSession, index: int) -> Outcome:
        before = {at: msgspec.json.decode(encode(one.output)) for at, one in self.done.items()}
        rule, tries = TEMPLATE.retry(self.inputs, index), 0
        while True:
            tries += 1
            step = StepAttempt(TEMPLATE, self.created, index, 0, tries)
            place = f"{self.created.run_id}.{index}.{tries}.{secrets.token_hex(4)}"
            with anyio.fail_after(LIMIT_S):
                line = await step.execute(_Timed(session, place), self.inputs, before)
            found = outcome_of(line)
            if found.code not in rule.codes or tries >= rule.tries:
                return found


class _Timed(RunStepContext):
    """A context whose time is not that of a call."""

    def remaining_ms(self) -> int:
        return 60_000


@dataclass
class Here:
    """The site, the bus, and whoever asks on it."""

    site: Site
    broker: Broker
    bus: Bus
    settings: Settings
    tasks: TaskGroup
    key: str
    replicas: list[BrowserReplica] = field(default_factory=list[BrowserReplica])

    async def lives(self, name: str) -> BrowserReplica:
        """Start a replica with a browser."""
        replica = await browser_lives(self.broker, self.tasks, name, self.settings, self.key)
        self.replicas.append(replica)
        return replica

    def run(self, kind: str, user: str = "smith", *, session: str = "", **more: Any) -> LoginRun:
        """Begin a run at one of the forms of the site; `session` is one of the caller's."""
        values = {
            "startUrl": self.site.url(f"/members/{kind}/login"),
            "credentials": {"username": user, "password": PASSWORD},
            **more,
        }
        inputs = msgspec.convert(values, LoginInputs)
        TEMPLATE.check(inputs)
        created = RunCreated(
            run_id=f"run_{secrets.token_urlsafe(16)}",
            at=0,
            caller=CALLER,
            local=True,
            template_id=TEMPLATE.template_id,
            version=TEMPLATE.version,
            inputs={},
            steps=TEMPLATE.step_names,
            timeout_ms=60_000,
            mode=Mode.SYNC,
            session_id=session or f"{SESSION_PREFIX}{secrets.token_urlsafe(16)}",
            own_session=not session,
            preserved=True,
        )
        return LoginRun(self, created, inputs)

    async def do(self, do: Operation, expects: str = "") -> Done:
        """Do something in a browser session, as its caller does by the tools."""
        login = login_of(Seal.of(self.key), do, CALLER)
        asked = AskBrowser(do=do, caller=CALLER, at_need=True, local=True, login=login, expects=expects)
        return (await self.bus.call(BROWSER, asked)).done

    async def fetch(self, url: str, profile: str) -> Fetched:
        """Fetch a page with the login of a profile, as its caller may."""
        login = passed(Seal.of(self.key), profile, url, CALLER)
        return await self.replicas[0].actor.fetch(FetchPage(url=url, session=profile, login=login))

    async def anew(self) -> None:
        """Close what is open, and forget what the site was asked."""
        open_ones = await self.bus.call(BROWSERS, ListBrowsers(caller=CALLER))
        for one in open_ones.sessions:
            await self.do(CloseSession(session_id=one.session))
        self.site.asked.clear()


@contextmanager
def shared() -> Generator[Shared[Here]]:
    """Run the site and the replica for the tests of a file."""
    with sharing(here(None)) as one:
        yield one


@asynccontextmanager
async def here(limit_s: float | None = LIMIT_S) -> AsyncGenerator[Here]:
    """Run the site and one replica with a browser on a bus."""
    settings, key = Settings(allow_private=("127.0.0.0/8",), browser_javascript=True), new_key()
    with anyio.fail_after(limit_s):
        async with (
            serve_site() as site,
            Broker() as broker,
            Bus(broker.connect("asker"), "asker", "a1").running() as bus,
            anyio.create_task_group() as tasks,
        ):
            bus.seal = Seal.of(key)
            it = Here(site, broker, bus, settings, tasks, key)
            await it.lives("r1")
            yield it
            tasks.cancel_scope.cancel()
