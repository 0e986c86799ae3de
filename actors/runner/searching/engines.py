"""Asks search engines: their APIs, or their result pages, which are read as any other page is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

import msgspec
import stamina
from msgspec import Struct

from actors.runner.outside import OutsideAnswer, OutsideClient
from actors.runner.searching.ranking import MAX_READ, FoundResult
from actors.usage import UsageLedger
from bus import Bus
from bus.context import current_account
from protocol.browse import BrowseOptions, Part
from protocol.faults import Code, FaultError, fault
from protocol.page import RecordList
from protocol.pages import BrowsePage
from protocol.search import EngineKind, SearchEngine
from protocol.subjects import BROWSE

MAX_ANSWER_BYTES: Final = 2_000_000
_WANTED: Final = 20
_TRIES: Final = 2
_WAIT_S: Final = 0.3
_LEAST_TITLE_CHARS: Final = 3


class _SearxngResult(Struct, frozen=True):
    url: str = ""
    title: str = ""
    content: str | None = None
    publishedDate: str | None = None  # noqa: N815 - SearXNG has it so


class _Searxng(Struct, frozen=True):
    results: list[_SearxngResult]


class _BraveResult(Struct, frozen=True):
    url: str = ""
    title: str = ""
    description: str = ""
    page_age: str | None = None


class _BraveWeb(Struct, frozen=True):
    results: list[_BraveResult] = []


class _Brave(Struct, frozen=True):
    web: _BraveWeb = _BraveWeb()


class _TavilyResult(Struct, frozen=True):
    url: str = ""
    title: str = ""
    content: str = ""
    score: float = 1.0


class _Tavily(Struct, frozen=True):
    results: list[_TavilyResult]


@dataclass(frozen=True)
class Engines:
    """Asks engines; `keys` are variables of the environment."""

    bus: Bus
    outside: OutsideClient
    keys: Mapping[str, str] = field(repr=False)
    usage: UsageLedger = field(default_factory=UsageLedger, repr=False)

    def usable(self, engines: tuple[SearchEngine, ...]) -> list[SearchEngine]:
        """Return those that can be asked."""
        return [one for one in engines if one.enabled and (one.key_variable is None or self.keys.get(one.key_variable))]

    async def ask(self, engine: SearchEngine, query: str) -> list[FoundResult]:
        """Return what an engine finds, in its order; what may pass is tried twice.

        Raises:
            FaultError: why it has answered nothing that can be read.
        """
        ask = _ASKS[engine.kind]
        async for attempt in stamina.retry_context(
            on=_may_pass, attempts=_TRIES, wait_initial=_WAIT_S, wait_jitter=_WAIT_S, timeout=None
        ):
            with attempt:
                return await ask(self, engine, query)
        raise FaultError(fault(Code.INTERNAL_ERROR))  # a context always ends in an answer or an exception

    async def searxng(self, engine: SearchEngine, query: str) -> list[FoundResult]:
        """Ask the JSON API of a SearXNG."""
        key = self._key(engine)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        answer = _decoded(await self._get(engine, {"q": query, "format": "json"}, headers), _Searxng)
        return [
            FoundResult(url=one.url, title=one.title, snippet=one.content or "", published=one.publishedDate or "")
            for one in answer.results[:MAX_READ]
        ]

    async def brave(self, engine: SearchEngine, query: str) -> list[FoundResult]:
        """Ask the API of Brave Search."""
        headers = {"X-Subscription-Token": self._key(engine)}
        answer = _decoded(await self._get(engine, {"q": query, "count": str(_WANTED)}, headers), _Brave)
        return [
            FoundResult(url=one.url, title=one.title, snippet=one.description, published=one.page_age or "")
            for one in answer.web.results[:MAX_READ]
        ]

    async def tavily(self, engine: SearchEngine, query: str) -> list[FoundResult]:
        """Ask the API of Tavily, which says how good a result is."""
        body = msgspec.json.encode({"query": query, "max_results": _WANTED})
        headers = {"Authorization": f"Bearer {self._key(engine)}", "Content-Type": "application/json"}
        answer = _decoded(await self._send("POST", engine, engine.url, headers, body), _Tavily)
        return [
            FoundResult(url=one.url, title=one.title, snippet=one.content, weight=0.5 + min(max(one.score, 0), 1) / 2)
            for one in answer.results[:MAX_READ]
        ]

    async def page(self, engine: SearchEngine, query: str) -> list[FoundResult]:
        """Have a result page read, and take the list of records that leads away from its site most often."""
        url = engine.url.replace("{query}", quote(query, safe=""))
        options = BrowseOptions(max_latency_ms=engine.timeout_ms, include=(Part.LISTS, Part.LINKS))
        request = BrowsePage(url=url, options=options, obey_robots=engine.obey_robots, single_shot=True)
        browsed = await self.bus.call(BROWSE, request, timeout_ms=engine.timeout_ms + 1_000)
        if (asks := current_account()) is not None:
            self.usage.counters(asks.name).page_read(browsed.page.tier, browsed.pages)
        lists = [_records(one) for one in browsed.page.document.content.parts.lists]
        own = urlsplit(url).hostname
        best = max(
            lists, key=lambda rows: len({host for host in map(_host, rows) if host != own}), default=list[FoundResult]()
        )
        if not best:
            raise FaultError(fault(Code.CONTENT_EMPTY, "The result page has no list of results."))
        return best

    async def _get(self, engine: SearchEngine, query: Mapping[str, str], headers: Mapping[str, str]) -> OutsideAnswer:
        return await self._send("GET", engine, f"{engine.url}?{urlencode(query)}", headers)

    async def _send(
        self, method: str, engine: SearchEngine, url: str, headers: Mapping[str, str], content: bytes = b""
    ) -> OutsideAnswer:
        return await self.outside.ask(
            method,
            url,
            headers={"Accept": "application/json", **headers},
            content=content,
            private=engine.allow_private,
            timeout_ms=engine.timeout_ms,
            max_bytes=MAX_ANSWER_BYTES,
        )

    def _key(self, engine: SearchEngine) -> str:
        return self.keys.get(engine.key_variable, "") if engine.key_variable else ""


_Asks = Callable[[Engines, SearchEngine, str], Awaitable[list[FoundResult]]]
_ASKS: Final[Mapping[EngineKind, _Asks]] = MappingProxyType(
    {
        EngineKind.SEARXNG: Engines.searxng,
        EngineKind.BRAVE: Engines.brave,
        EngineKind.TAVILY: Engines.tavily,
        EngineKind.PAGE: Engines.page,
    }
)


def _may_pass(error: Exception) -> bool:
    return isinstance(error, FaultError) and error.fault.retryable and error.fault.code is not Code.NETWORK_TIMEOUT


def _decoded(answer: OutsideAnswer, kind: Any) -> Any:
    try:
        if answer.cut:
            raise FaultError(fault(Code.CONTENT_TOO_LARGE, f"The answer is larger than {MAX_ANSWER_BYTES} bytes."))
        return msgspec.json.decode(answer.body, type=kind, strict=False)
    except msgspec.DecodeError:
        raise FaultError(fault(Code.CONTENT_UNSUPPORTED_TYPE, "The answer is not what the API says.")) from None


def _records(listed: RecordList) -> list[FoundResult]:
    """Return the rows of a list that have an address and a title."""
    rows = [dict(zip(listed.columns, row, strict=False)) for row in listed.rows[:MAX_READ]]
    results = [
        FoundResult(
            url=row.get("url", ""),
            title=row.get("title", ""),
            snippet=row.get("text", ""),
            published=row.get("date", ""),
        )
        for row in rows
    ]
    return [one for one in results if one.url and len(one.title) >= _LEAST_TITLE_CHARS]


def _host(result: FoundResult) -> str | None:
    try:
        return urlsplit(result.url).hostname
    except ValueError:
        return None
