"""Answers FETCH in the tier that runs a page's own scripts without a browser."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import thread_time
from typing import Any, ClassVar

import anyio
from msgspec import structs

from actors.actor import Actor, handles
from actors.extraction.extraction import Extraction
from actors.extraction.page import extract, extract_html
from actors.extraction.parse.formats.kinds import BodyKind, kind_of
from actors.fetchers import answering
from actors.fetchers.extracting import Extractor
from actors.fetchers.lightweight import before, found
from actors.fetchers.lightweight.engine import binary
from actors.fetchers.lightweight.engine.cdp import CdpError, ClosedError
from actors.fetchers.lightweight.engine.engine import Engine
from actors.fetchers.lightweight.engine.process import StartError
from actors.fetchers.lightweight.network import MAX_BYTES
from actors.fetchers.lightweight.outcome import Ill, IllError, fault_of, harms, repeats
from actors.fetchers.lightweight.page import look
from actors.fetchers.lightweight.sight import Sight, Visit, Wish
from actors.fetchers.lightweight.signals import signals
from actors.fetchers.lightweight.tally import Terms
from actors.fetchers.script_engine import evaluate
from actors.fetchers.sessions import Session, Sessions
from actors.fetchers.web import redact
from actors.fetchers.web.client import Response, WebClient, WebRequest
from actors.fetchers.web.shared import BUCKETS, web_client
from actors.settings import Settings
from bus import remaining_ms, span
from protocol import subjects
from protocol.faults import FaultError
from protocol.pages import Fetched, FetchPage
from protocol.replicas import Absence
from protocol.sessions import OriginStorage
from protocol.subjects import Bucket
from protocol.tiers import RenderTier

_TIER = RenderTier.LIGHTWEIGHT.value
_READING_SECONDS = 0.5
"""What is kept of the time to read a page when it has to be ended."""

_LEAST_SECONDS = 0.3
"""With less no page is shown."""

_FIRST_ERROR = 400


@dataclass
class Lightweight(Actor):
    """Gets pages over HTTP, runs their scripts in an engine without pixels, and extracts from what they show."""

    name: ClassVar[str] = "fetchers.lightweight"
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.SESSIONS, *BUCKETS)

    _extractor: Extractor = field(init=False, repr=False)
    _web: WebClient = field(init=False, repr=False)
    _sessions: Sessions = field(init=False, repr=False)
    _engine: Engine = field(init=False, repr=False)

    @classmethod
    def warm(cls) -> None:
        """Load what extraction needs."""
        answering.warm()

    @classmethod
    def unavailability(cls, settings: Settings) -> Absence | None:
        """Say what the engine lacks here."""
        return binary.absence(settings)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Hold the HTTP client, the engine, and what reads pages beside the loop."""
        self._sessions = Sessions(self.bus)
        async with (
            web_client(self.settings, self.bus) as self._web,
            Extractor() as self._extractor,
            Engine(self.settings) as self._engine,
        ):
            yield

    @handles(subjects.FETCH.at(tier=_TIER), at_once=16)
    async def fetch(self, request: FetchPage) -> Fetched:
        """Get one page and run its scripts; a status of 400 and above is an answer like any other."""
        until = anyio.current_time() + answering.time_for_site(remaining_ms()) / 1000
        try:
            async with self._sessions.use(request.session, request.url) as session:
                first = await self._first(request, session, until)
                if not _needs_engine(first):
                    return found.plain(request, first, await self._plain(request, first))
                if len(first.body) > MAX_BYTES:
                    return found.plain(request, first, await self._plain(request, first), cut_short="too_large")
                with span("show page"):
                    sight = await self._sight(request, first, session, until)
            return await self._answer(request, first, sight)
        except FaultError as error:
            raise FaultError(error.fault.at(url=request.url, tier=_TIER)) from error

    async def _first(self, request: FetchPage, session: Session, until: float) -> Response:
        """Get the first document; nothing that redirects ever reaches the engine."""
        asked = WebRequest(
            request.url,
            freshness=request.freshness,
            partition=request.session or "",
            record_body=request.include_network,
            obey_robots=request.obey_robots,
            single_shot=request.single_shot,
        )
        attributes = {"http.request.method": "GET", "url.full": redact.url(request.url)}
        with span("GET", kind="client", attributes=attributes) as seen:
            try:
                left_ms = round((until - anyio.current_time()) * 1000)
                response = await self._web.fetch(asked, session.cookies, max(left_ms, 1))
            except FaultError as error:
                seen.fail(error.fault.code.value)
                raise
            seen.set_attribute("server.address", redact.host(response.url))
            seen.set_attribute("http.response.status_code", response.status)
            return response

    async def _answer(self, request: FetchPage, first: Response, sight: Sight | None) -> Fetched:
        if sight is None:
            return found.plain(request, first, await self._plain(request, first), cut_short="time")
        escalate = signals(found.observed(sight, before.shown_chars(first.body)))
        extraction = await self._extractor.run(
            extract_html,
            sight.shown.html,
            sight.url,
            include_html=request.include_html,
            captured_at=datetime.now(UTC),
            evaluate=evaluate,
        )
        return found.rendered(request, first, sight, extraction, escalate)

    async def _plain(self, request: FetchPage, first: Response) -> Extraction:
        body, content_type = answering.readable(first.body, first.content_type, first.status)
        return await self._extractor.run(
            extract,
            body,
            content_type,
            first.url,
            include_html=request.include_html,
            captured_at=datetime.now(UTC),
            evaluate=evaluate,
            clock=thread_time,
        )

    async def _sight(self, request: FetchPage, first: Response, session: Session, until: float) -> Sight | None:
        """Show a page, once more if it may have suffered from another; None where the time does not suffice."""
        alone, once = False, request.single_shot
        while True:
            try:
                with anyio.fail_after(until - anyio.current_time()):
                    return await self._shown(request, first, session, until, alone=alone)
            except TimeoutError:
                return None
            except IllError as error:
                if once or alone or not repeats(error.ill, alone=error.alone):
                    raise FaultError(fault_of(error.ill)) from error
                alone = True

    async def _shown(
        self, request: FetchPage, first: Response, session: Session, until: float, *, alone: bool
    ) -> Sight | None:
        try:
            async with self._engine.page(request.session or "", alone=alone) as place:
                wish = self._wish(request, until)
                if wish.seconds < _LEAST_SECONDS:
                    return None
                try:
                    sight = await look(place.connection, Visit(first, session, self._web, wish))
                except ClosedError as error:
                    ill = Ill.JS_HANG if await place.outlived() else Ill.RESOURCE_EXHAUSTED
                    raise IllError(ill, alone=place.alone) from error
                except (IllError, CdpError) as error:
                    place.ended_ill()
                    ill = error.ill if isinstance(error, IllError) else Ill.READ_FAILED
                    raise IllError(ill, alone=place.alone) from error
                if harms(sight.cut_short):
                    place.ended_ill()
        except StartError as error:
            raise IllError(Ill.NO_ENGINE) from error
        except ClosedError as error:
            raise IllError(Ill.RESOURCE_EXHAUSTED) from error
        _keep(session, sight)
        return sight

    def _wish(self, request: FetchPage, until: float) -> Wish:
        seconds = until - anyio.current_time() - _READING_SECONDS
        return Wish(
            terms=Terms(
                profile=request.session or "",
                freshness=request.freshness,
                record=request.include_network,
                obey_robots=request.obey_robots,
                single_shot=request.single_shot,
            ),
            agent=self.settings.fetch_user_agent,
            seconds=min(seconds, self.settings.light_settle_ms / 1000),
            selector=request.wait_for_selector,
            scroll=request.scroll_to_load,
            console=request.include_console,
        )


def _keep(session: Session, sight: Sight) -> None:
    stored = sight.stored
    if stored is None:
        return
    former = session.origins.get(stored.origin, OriginStorage(origin=stored.origin))
    if stored.local or stored.session or stored.origin in session.origins:
        session.origins[stored.origin] = structs.replace(
            former, local_storage=stored.local, session_storage=stored.session
        )


def _needs_engine(first: Response) -> bool:
    """Whether a page shows more when its scripts run; that of an error is taken as it came."""
    if first.status >= _FIRST_ERROR:
        return False
    return kind_of(first.body, first.content_type) is BodyKind.HTML and before.runs(first.body)
