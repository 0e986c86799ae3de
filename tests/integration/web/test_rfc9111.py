"""The client against a site, by a table of cases and a clock that is put on by hand."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import formatdate

import anyio
import pytest

from actors.settings import Settings
from actors.web.client import WebClient
from actors.web.cookies import Jar
from actors.web.exchange import WebRequest, WebResponse
from protocol.faults import FaultError
from tests.integration.web.caching_case import Case, Fields, Origin, Step, Then
from tests.integration.web.rfc9111_change import CHANGE
from tests.integration.web.rfc9111_reuse import REUSE
from tests.site import Site, site_in_thread
from tests.site.answers import Answer, Ask, Break, Reply
from tests.site.rehearsed import ARRANGED

BEGIN_S = 1_750_000_000.0
CASES = (*REUSE, *CHANGE)
PATH = "/rehearsed/page"
_DATE = re.compile(r"\{([+-]\d+)\}")


@dataclass
class Clock:
    """The time of day, put on by hand."""

    now: float = BEGIN_S

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@dataclass
class World:
    """A site, a client and their clock; `given` counts the answers of the site that had a body."""

    client: WebClient
    origin: str
    clock: Clock
    asked: list[Ask]
    given: int = 0

    async def take(self, step: Step) -> tuple[WebResponse | None, Ask | None, bool]:
        """Make one request; tell the answer, what the site was asked, and whether that was answered by a 304."""
        self.clock.now += step.after
        path = PATH + step.path
        confirmed: list[bool] = []

        def arranged(ask: Ask) -> Answer:
            confirmed.append(_fits(ask, step.site))
            if step.site.breaks:
                return Break()
            if confirmed[-1]:
                fields = step.site.fields if step.site.fields_304 is None else step.site.fields_304
                return Reply(304, headers=filled(fields))
            self.given += 1
            body = b"" if step.site.status == 204 or ask.method == "HEAD" else f"{self.given}".encode()
            return Reply(step.site.status, body, filled(step.site.fields))

        ARRANGED[path] = [arranged]
        self.asked.clear()
        request = WebRequest(
            f"{self.origin}{path}",
            method=step.method,
            headers=step.ask,
            freshness=step.freshness,
            partition=step.partition,
            follow=False,
        )
        try:
            response = await self.client.fetch(request, Jar(), 5_000)
        except FaultError:
            response = None
        return response, self.asked[-1] if self.asked else None, any(confirmed)


def _fits(ask: Ask, site: Origin) -> bool:
    conditions = {"if-none-match": "etag", "if-modified-since": "last-modified"}
    own = {name.lower(): value for name, value in filled(site.fields)}
    return not site.never_304 and any(
        name in ask.headers and ask.headers[name] == own.get(of) for name, of in conditions.items()
    )


def filled(fields: Fields) -> Fields:
    """Write the dates."""
    return tuple((name, dated(value).replace("{path}", PATH)) for name, value in fields)


def dated(value: str) -> str:
    return _DATE.sub(lambda found: formatdate(BEGIN_S + int(found[1]), usegmt=True), value)


@pytest.fixture(scope="module")
def site() -> Generator[Site]:
    with site_in_thread() as running:
        yield running


@asynccontextmanager
async def world(site: Site) -> AsyncGenerator[World]:
    clock = Clock()
    settings = Settings(allow_private=("127.0.0.0/8",))
    with anyio.fail_after(90):
        async with WebClient(settings, clock=clock) as client:
            yield World(client, site.url(""), clock, site.asked)


def became(response: WebResponse | None, asked: Ask | None, step: Step, *, confirmed: bool) -> Then:
    """Return what has become of a request."""
    if response is None:
        assert step.site.breaks
        return Then.ERROR
    if asked is None:
        assert response.from_cache == (response.status != 504)
        return Then.CACHE if response.from_cache else Then.NOTHING
    if response.from_cache:
        return Then.VALIDATED if confirmed else Then.INSTEAD
    assert response.status == step.site.status
    return Then.ERROR if step.then is Then.ERROR and response.status >= 400 else Then.FETCHED


def test_there_are_enough_cases() -> None:
    names = [case.name for case in CASES]

    assert len(names) >= 80
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_case(site: Site, case: Case) -> None:
    async with world(site) as web:
        last: dict[tuple[str, str, str], bytes] = {}
        for number, step in enumerate(case.steps):
            response, asked, confirmed = await web.take(step)

            found = became(response, asked, step, confirmed=confirmed)
            assert found is step.then, f"step {number}"
            for name, value in step.sends:
                assert asked is not None
                assert asked.headers.get(name, "") == dated(value), name
            if response is None:
                continue
            if step.age is not None:
                assert response.headers["age"] == str(step.age)
            like = (step.path, step.partition, dict(step.ask).get("Accept-Language", "").replace(" ", ""))
            if found is Then.FETCHED and step.method == "GET":
                last[like] = response.body
            if response.from_cache:
                assert response.body == (last[like] if step.body is None else b"%d" % step.body)
