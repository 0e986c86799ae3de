"""Serves the applications, each from an address of loopback of its own, and counts what is asked of each."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal
from urllib.parse import parse_qsl

import anyio.from_thread

from tests.patterns.apps.model import Application, AppPage, Record, Route, Store
from tests.patterns.changes import MOVED, Change, adapter, changed
from tests.patterns.scripts import SCRIPT, bundle, document
from tests.site.answers import Answer, Ask, Break, Reply, text
from tests.site.server import Site, serve_site

Kind = Literal["page", "script", "api", "unsafe", "other"]

TRANSIENT = 0.2
"""The share of answers that fail where an application has passing trouble."""

_JSON = "application/json; charset=utf-8"
_UNCACHED = (("Cache-Control", "no-store"),)
_SAFE = ("GET", "HEAD", "OPTIONS")
_MOVED = re.compile(r"(/r\d+)(/.*)")
_LOGIN = (
    "<!doctype html><html lang=en><title>Log in</title><main><h1>Log in</h1><form action=/login method=post>"
    "<label>User name <input name=user></label><label>Password <input type=password name=password></label>"
    "<button>Log in</button></form></main></html>"
)


@dataclass
class Served:
    """An application that is served. `version` and the two that follow may be set at any time; `counts` by kind.

    `change` is how its API differs from that of the beginning, `left` what stays at addresses that it has moved from,
    `moves` how often it has moved.
    """

    app: Application
    change: Change | None = None
    left: Change | None = None
    moves: int = 0
    version: int = 0
    latency_ms: int = 0
    failing: float = 0.0
    counts: Counter[Kind] = field(default_factory=Counter[Kind])
    site: Site | None = None
    draw: random.Random = field(default_factory=lambda: random.Random(7))

    @property
    def host(self) -> str:
        """The host that has this application alone."""
        assert self.site is not None
        return self.site.host

    def url(self, page: AppPage) -> str:
        """Return the address of a page."""
        assert self.site is not None
        return self.site.url(page.path)

    def change_to(self, change: Change | None) -> None:
        """Change the API, and the page's script with it. Where it moves to it stays."""
        self.change = None if change in MOVED else change
        if change in MOVED:
            self.left, self.moves = change, self.moves + 1

    def pages(self) -> tuple[AppPage, ...]:
        """Return the pages, with what a reader must find there as things are now."""
        pages = self.app.pages(self.version)
        if self.change is not Change.REMOVED:
            return pages
        return tuple(AppPage(page.path, _without(page, self.app.key_of or self.app.key), page.record) for page in pages)

    @property
    def unsafe(self) -> int:
        """Unsafe requests beyond those that the pages themselves have made when they were shown."""
        return max(0, self.counts["unsafe"] - self.counts["script"] * self.app.writes)

    def answer(self, ask: Ask) -> Answer:
        """Answer a request, and count it."""
        kind, reply = self._answer(ask)
        self.counts[kind] += 1
        return reply

    def _answer(self, ask: Ask) -> tuple[Kind, Answer]:
        if ask.path == SCRIPT:
            return "script", _script(bundle(self.app, adapter(self.change, self.app), self._base))
        base, path = _split(ask.path)
        here = base == self._base
        inner = Ask(ask.method, path, ask.query, ask.headers, ask.body)
        for route in self.app.api:
            if (match := re.fullmatch(route[0], path)) and (answer := self._routed(inner, route, match, here=here)):
                return self._kind(ask), answer
        return self._page(ask)

    @property
    def _base(self) -> str:
        return f"/r{self.moves}" if self.moves else ""

    def _kind(self, ask: Ask) -> Kind:
        read = ask.method in _SAFE or (self.app.reads and re.search(self.app.reads, ask.body.decode()))
        return "api" if read else "unsafe"

    def _routed(self, ask: Ask, route: Route, match: re.Match[str], *, here: bool) -> Answer | None:
        store = self.app.records(self.version)
        try:
            answer = route[1](store, ask, match)
        except (LookupError, PermissionError) as error:
            status = 403 if isinstance(error, PermissionError) else 404
            return self._data({"error": {"status": status, "message": str(error)}}, status)
        if answer is None or isinstance(answer, Reply):
            return answer
        if self.failing and self.draw.random() < self.failing:
            return self._trouble()
        if not here:
            return self._left_behind(answer, ask, route, match)
        return self._data(self.app.encode(changed(answer, self.change, self.app, ask.query)))

    def _left_behind(self, genuine: Any, ask: Ask, route: Route, match: re.Match[str]) -> Answer:
        """Answer what stays at the old address of an API that has moved."""
        match self.left:
            case Change.STATUS:
                return self._data({"error": "This version of the API has been retired."}, 410)
            case Change.UNAUTHORIZED:
                return self._data({"error": "Authentication required"}, 401)
            case Change.LOGIN_WALL:
                return self._data({"ok": False, "loginRequired": True, "message": "Please log in to continue."})
            case Change.LOGIN_PAGE:
                return text(_LOGIN, headers=_UNCACHED)
            case Change.HTML:
                return text(document(self.app, None, ""), headers=_UNCACHED)
            case _:
                others = (route[1](_Only((one,)), ask, match) for one in self.app.records(self.version).records)
                return self._data(self.app.encode(next((other for other in others if other != genuine), genuine)))

    def _data(self, answer: Any, status: int = 200) -> Reply:
        body = json.dumps(answer, ensure_ascii=False).encode()
        return Reply(status, body, (("Content-Type", _JSON), *_UNCACHED), after_ms=self.latency_ms)

    def _trouble(self) -> Answer:
        kind = self.draw.randrange(3)
        return Break(reset=True) if kind == 0 else self._data({"error": "Try again"}, 429 if kind == 1 else 503)

    def _page(self, ask: Ask) -> tuple[Kind, Answer]:
        number = _by_address(self.app).get(_address(ask.path, ask.query.items()))
        if number is None:
            return "other", text("<!doctype html><title>Not found</title><h1>There is no such page</h1>", status=404)
        record = self.app.records(self.version).records[number]
        state = None
        if self.app.state is not None:
            state = changed(self.app.state(record), self.change, self.app, ask.query)
        return "page", text(document(self.app, state, self.app.token(record)), headers=_UNCACHED)


@contextmanager
def serving(apps: Sequence[Application], first: int = 1) -> Generator[list[Served]]:
    """Serve applications from a thread, at 127.19.`first`.1 and the following."""
    with anyio.from_thread.start_blocking_portal() as portal, ExitStack() as stack:
        served = [Served(app) for app in apps]
        for number, one in enumerate(served):
            host = f"127.19.{first}.{number + 1}"
            one.site = stack.enter_context(portal.wrap_async_context_manager(serve_site(host=host, answers=one.answer)))
        try:
            yield served
        finally:
            stack.close()  # what a test fails with is no concern of the sites'


class _Only(Store):
    """Has one record, and gives it whatever is asked for."""

    def one(self, key: str, value: object) -> Record:
        return self.records[0]

    def some(self, key: str, value: object) -> list[Record]:
        return [self.records[0]]


def _split(path: str) -> tuple[str, str]:
    match = _MOVED.fullmatch(path)
    return (match[1], match[2]) if match else ("", path)


def _script(source: str) -> Reply:
    return text(source, "text/javascript; charset=utf-8", headers=_UNCACHED)


def _without(page: AppPage, key: str) -> tuple[str, ...]:
    """Return the texts of a page that are not gone with a field of its record."""
    gone = _values(page.record, key)
    return tuple(fact for fact in page.facts if not any(one in fact for one in gone))


def _values(value: Any, key: str) -> list[str]:
    if isinstance(value, list):
        return [found for one in value for found in _values(one, key)]  # pyright: ignore[reportUnknownVariableType] - JSON
    if not isinstance(value, dict):
        return []
    return [
        found
        for name, one in value.items()  # pyright: ignore[reportUnknownVariableType] - JSON
        for found in ([one] if name == key and isinstance(one, str) else _values(one, key))
    ]


@cache
def _by_address(app: Application) -> dict[str, int]:
    return {
        _address(path, parse_qsl(query)): number
        for number, page in enumerate(app.pages())
        for path, _, query in [page.path.partition("?")]
    }


def _address(path: str, query: Any) -> str:
    return f"{path}?{sorted(query)}"
