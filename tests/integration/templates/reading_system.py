"""The runner with a real navigator, verifier and fetchers on a bus in memory, beside the site."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc
import msgspec

from actors.actor import Actor, grant_of, handlers
from actors.fetchers.intelligence.actor import Intelligence
from actors.fetchers.lightweight.actor import Lightweight
from actors.fetchers.playwright.actor import Playwright
from actors.navigator import Navigator
from actors.runner.actor import Runner
from actors.settings import Settings
from actors.verifier.actor import Verifier
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal, new_key
from bus.stores import FileStore, JournalLog
from protocol import subjects
from protocol.access import Scope
from protocol.browsers.operations import CloseSession, ListTabs, Operation
from protocol.browsers.results import Done, Tabs
from protocol.browsers.sessions import AskBrowser, ListBrowsers
from protocol.pages import Browsed, BrowsePage
from protocol.runs.events import LedgerLine, RunEnded, StepEnded, run_topics, slice_name, state_topic
from protocol.runs.requests import CreateRun, RunOptions, inputs_of
from tests.site import Site, serve_site

KEY = new_key()
ME = "somebody"
TEST_S = 240.0
POLL_S = 0.15
STATIC: tuple[type[Actor], ...] = (Navigator, Verifier, Intelligence, Runner)
IN_BROWSER: tuple[type[Actor], ...] = (*STATIC, Playwright)
ALL: tuple[type[Actor], ...] = (*IN_BROWSER, Lightweight)


@dataclass
class Running:
    """The site, and whoever asks on the bus."""

    site: Site
    bus: Bus
    ledger: JournalLog[LedgerLine]
    artifacts: FileStore
    numbers: list[int] = field(default_factory=lambda: [0])

    async def run(self, template: str, inputs: dict[str, Any], session: str | None = None, **options: Any) -> RunEnded:
        """Have a template run, and wait for its end."""
        self.numbers[0] += 1
        run_id = f"run_{self.numbers[0]:022d}"
        sealed = Seal.of(KEY).seal(msgspec.json.encode(inputs), inputs_of(run_id))
        asked = CreateRun(
            run_id=run_id,
            inputs=sealed,
            template_id=template,
            session_id=session,
            options=RunOptions(**options),
            caller=ME,
            scopes=tuple(Scope),
        )
        await self.bus.call(subjects.RUN_CREATE, asked)
        async with self.ledger.follow() as lines:
            async for line in lines:
                if line.topic == state_topic(run_id) and isinstance(line.value, RunEnded):
                    return line.value
        raise AssertionError

    async def whole(self, ended: RunEnded, number: int = 0) -> Any:
        """Read a result from its file."""
        kept = ended.artifacts[number]
        count = max(1, -(-kept.size // kept.slice_bytes))
        slices = [await self.artifacts.get(slice_name(kept.artifact_id, one)) for one in range(count)]
        return msgspec.json.decode(b"".join(slices))

    async def steps(self, ended: RunEnded) -> dict[int, StepEnded]:
        """Read the outcomes of a run's steps."""
        said = [line.value async for line in self.ledger.read(run_topics(ended.run_id))]
        return {one.index: one for one in said if isinstance(one, StepEnded)}

    async def browse(self, url: str, **more: Any) -> Browsed:
        """Browse beside all runs."""
        return await self.bus.call(subjects.BROWSE, BrowsePage(url=url, **more))

    async def do(self, operation: Operation) -> Done:
        """Do something in a browser session."""
        asked = AskBrowser(do=operation, caller=ME, at_need=True)
        return (await self.bus.call(subjects.BROWSER, asked)).done

    async def tabs(self, session: str) -> int:
        """Count the tabs of a session."""
        told = await self.do(ListTabs(session_id=session))
        assert isinstance(told, Tabs)
        return len(told.tabs)

    async def sessions(self, wanted: int) -> tuple[str, ...]:
        """Wait until there are so many browser sessions: that of a run is closed when its end is told already."""
        while True:
            told = await self.bus.call(subjects.BROWSERS, ListBrowsers(caller=ME))
            if len(told.sessions) == wanted:
                return tuple(one.session for one in told.sessions)
            await anyio.sleep(POLL_S)

    async def anew(self) -> None:
        """Close the sessions that are open, and forget what the site was asked."""
        for one in (await self.bus.call(subjects.BROWSERS, ListBrowsers(caller=ME))).sessions:
            await self.do(CloseSession(session_id=one.session))
        self.site.asked.clear()
        self.site.hits.clear()


@asynccontextmanager
async def running(
    kinds: Sequence[type[Actor]], *, limit_s: float | None = TEST_S, **settings: Any
) -> AsyncGenerator[Running]:
    """Run these actors and the site."""
    values: dict[str, Any] = {"allow_private": ("127.0.0.0/8",), "tier_learning": False, **settings}
    chosen = Settings(**values)
    with anyio.fail_after(limit_s):
        async with (
            serve_site() as site,
            Broker() as broker,
            Bus(broker.connect("asker"), "asker", "a1").running() as asker,
            anyio.create_task_group() as tasks,
        ):
            asker.seal = Seal.of(KEY)
            for kind in kinds:
                await tasks.start(_live, broker, kind, chosen)
            yield Running(site, asker, await asker.journal(subjects.LEDGER), await asker.objects(subjects.ARTIFACTS))
            tasks.cancel_scope.cancel()


async def _live(
    broker: Broker, kind: type[Actor], settings: Settings, *, task_status: anyio.abc.TaskStatus[None]
) -> None:
    transport = broker.connect(kind.name, grant_of(kind))
    replica = kind.name.replace(".", "-")
    async with Bus(transport, kind.name, replica).running() as bus:
        bus.seal = Seal.of(KEY)
        actor = kind(bus=bus, settings=settings)
        async with actor.open():
            for handler in handlers(kind):
                subject = handler.subject.answered_by(replica)
                await bus.serve(subject, getattr(actor, handler.method), at_once=actor.room(handler))
            task_status.started()
            await anyio.sleep_forever()
