"""Gathers what a page's scripts were answered in JSON, and tells the learner of it after the page was given."""

from __future__ import annotations

import secrets
import zlib
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import anyio
import anyio.to_thread
import msgspec
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from msgspec import UNSET, Struct, structs
from turbohtml import Element

from actors import redact
from actors.extraction.decide.blocks import blocks
from actors.extraction.evidence.embedded import embedded
from actors.extraction.parse import tree
from actors.extraction.parse.addresses import absolute
from actors.fetchers.credentials import reference, same_site
from actors.fetchers.logins import Login
from actors.fetchers.page_answer import is_json
from actors.redact import REDACTED
from bus import Bus, TransportError
from bus.clock import now_ms
from bus.seal import Seal
from protocol.codec import encode
from protocol.faults import FaultError
from protocol.pages import Fetched, FetchPage
from protocol.patterns.sample import (
    MAX_EXCHANGE_BYTES,
    MAX_EXCHANGES,
    MAX_SAMPLE_BYTES,
    MAX_SHOWN_CHARS,
    SAMPLES,
    ApiExchange,
    Method,
    PageHints,
    PageSample,
    SealedSample,
)
from protocol.subjects import PAGE_SAMPLED
from protocol.urls import host_of

log = structlog.stdlib.get_logger()

NOT_SAMPLED: Final = "page_not_sampled"

WAITING: Final = 8
"""Samples that wait to be told; a page that comes when there are so many is not sampled."""

TELL_S: Final = 5.0
"""What one sample may take to be made and told."""

MAX_SENT_BYTES: Final = 32_768
"""The longest body of a request that is sampled."""

MAX_HINTS: Final = 50
MAX_HINT_CHARS: Final = 2_000

_METHODS: Final[Mapping[str, Method]] = {"GET": "GET", "HEAD": "HEAD", "POST": "POST"}
_OWN_PREFIXES: Final = ("sec-", "proxy-", ":")
_OWN_HEADERS: Final = frozenset(
    {"accept-encoding", "accept-language", "cache-control", "connection", "content-length", "cookie", "dnt", "host"}
    | {"origin", "pragma", "priority", "referer", "te", "upgrade-insecure-requests", "user-agent", "if-none-match"}
    | {"if-modified-since", "traceparent", "tracestate"}
)
"""What a browser, or an engine, sends of itself."""

_NAMING: Final = ("server", "via", "link")
_OK: Final = range(200, 300)
_FIRST_SERVER_ERROR: Final = 500
_LATER: Final = frozenset({0, 408, 425, 429})
"""How a call ends that may be answered the next time; 0: by no answer."""


@dataclass
class ExchangeLog:
    """The JSON that the scripts of one page were answered, as far as it is sampled."""

    exchanges: list[ApiExchange] = field(default_factory=list[ApiExchange])
    _credentials: list[dict[str, str]] = field(default_factory=list[dict[str, str]], repr=False)
    """The headers of each exchange that hold credentials, as long as the page is open."""

    _begun: int = 0
    _failing: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """The calls, by method and address, that had passing trouble, and were not answered since."""

    def note_status(self, method: str, url: str, status: int) -> None:
        """Take in how a call of a script ended; status 0: it was not answered."""
        if status in _LATER or status >= _FIRST_SERVER_ERROR:
            self._failing.add((method, url))
        else:
            self._failing.discard((method, url))

    def is_whole(self, page_url: str) -> bool:
        """Return whether a page got what it asked its own site, and those that answered it: else it may lack a part."""
        hosts = {host_of(exchange.url) for exchange in self.exchanges}
        return not any(same_site(url, page_url) or host_of(url) in hosts for _, url in self._failing)

    def wants(self, method: str, status: int, content_type: str, length: int) -> bool:
        """Return whether a response is to be read for the sample; `length` in bytes, 0 where nobody knows it."""
        return (
            self._begun < MAX_EXCHANGES
            and method in _METHODS
            and status in _OK
            and is_json(content_type)
            and length <= MAX_EXCHANGE_BYTES
        )

    def begin(self) -> None:
        """Count a response that is being read."""
        self._begun += 1

    def restart(self) -> None:
        """Forget what there is: the page is shown once more."""
        self.exchanges.clear()
        self._credentials.clear()
        self._failing.clear()
        self._begun = 0

    def of_login(self, login: Login, page_url: str) -> tuple[ApiExchange, ...]:
        """Return the exchanges, whose credentials are known by where they stand in a saved login, if they do."""
        if login.profile is None:
            return tuple(self.exchanges)
        return tuple(
            structs.replace(exchange, places=_login_places(secret, login, page_url))
            if secret and same_site(exchange.url, page_url)
            else exchange
            for exchange, secret in zip(self.exchanges, self._credentials, strict=True)
        )

    def add(  # noqa: PLR0913 - what an exchange consists of
        self,
        url: str,
        method: str,
        headers: Mapping[str, str],
        *,
        sent: bytes,
        status: int,
        content_type: str,
        body: bytes,
        took_ms: int,
    ) -> None:
        """Add an exchange, unless it holds a credential in what was sent, or no JSON in what came."""
        if len(body) > MAX_EXCHANGE_BYTES or len(sent) > MAX_SENT_BYTES or method not in _METHODS:
            return
        try:
            parsed: object = msgspec.json.decode(body)
            words = sent.decode()
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return
        if redact.text(words) != words:
            return
        shown = script_headers(headers)
        own = {name.lower(): value for name, value in headers.items()}
        self._credentials.append({name: own[name] for name, value in shown.items() if value == REDACTED})
        self.exchanges.append(
            ApiExchange(
                url=redact.url(url).partition("#")[0],
                method=_METHODS[method],
                headers=shown,
                with_cookies=any(name.lower() == "cookie" for name in headers),
                sent=words,
                status=status,
                content_type=content_type,
                body=parsed,
                took_ms=took_ms,
            )
        )


def _is_plain(request: FetchPage, page: Fetched) -> bool:
    """Return whether a page is shown whole, and as it shows itself."""
    is_moved = request.scroll_to_load or request.wait_for_selector is not None
    return not is_moved and page.status in _OK and not page.evidence.cut_short


def _login_places(secret: Mapping[str, str], login: Login, page_url: str) -> dict[str, str]:
    return {name: place for name, value in secret.items() if (place := reference(value, login, page_url))}


def script_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return those headers of a request that a script has set, the values of credentials redacted."""
    return {
        name: value
        for name, value in redact.headers(headers.items()).items()
        if name not in _OWN_HEADERS and not name.startswith(_OWN_PREFIXES) and (name, value) != ("accept", "*/*")
    }


class PageDraft(Struct, frozen=True):
    """What a sample is made of: the answer, the markup as it was shown, and the headers that it came with."""

    request: FetchPage
    page: Fetched
    html: str
    headers: tuple[tuple[str, str], ...]
    exchanges: tuple[ApiExchange, ...]
    profile: str
    shown_ms: int


@dataclass
class Sampler:
    """Publishes the samples of one tier, one after another, beside its other work; open with `async with`."""

    bus: Bus | None
    enabled: bool
    _send: MemoryObjectSendStream[PageDraft] | None = field(default=None, init=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Sampler]:
        """Publish samples while the block lasts."""
        if not self.enabled or self.bus is None or self.bus.seal is None or not self.bus.seal.holds(SAMPLES):
            yield self
            return
        self._send, receive = anyio.create_memory_object_stream[PageDraft](WAITING)
        async with self._send, receive, anyio.create_task_group() as tasks:
            tasks.start_soon(self._tell_all, self.bus, self.bus.seal, receive)
            try:
                yield self
            finally:
                self._send = None
                tasks.cancel_scope.cancel()

    def log(self) -> ExchangeLog | None:
        """Return where the exchanges of a page are gathered; None where nothing is learned."""
        return None if self._send is None else ExchangeLog()

    def sampled(  # noqa: PLR0913 - what a draft consists of
        self,
        request: FetchPage,
        page: Fetched,
        login: Login,
        *,
        html: str,
        headers: Iterable[tuple[str, str]],
        log: ExchangeLog | None,
        shown_ms: int,
    ) -> Fetched:
        """Return the page, named by its sample where there is one, which is told later; nothing waits for that."""
        if self._send is None or log is None or not log.exchanges or not _is_plain(request, page):
            return page
        if not log.is_whole(page.final_url):
            return page  # passing trouble teaches nothing
        page = structs.replace(page, sample=secrets.token_hex(12))
        exchanges = log.of_login(login, page.final_url)[:MAX_EXCHANGES]
        draft = PageDraft(request, page, html, tuple(headers), exchanges, login.profile or "", shown_ms)
        with suppress(anyio.WouldBlock, anyio.BrokenResourceError):
            self._send.send_nowait(draft)
        return page

    async def _tell_all(self, bus: Bus, seal: Seal, drafts: MemoryObjectReceiveStream[PageDraft]) -> None:
        async for draft in drafts:
            try:
                with anyio.fail_after(TELL_S):
                    packed = await anyio.to_thread.run_sync(packed_sample, draft, now_ms(), abandon_on_cancel=True)
                    await bus.tell(PAGE_SAMPLED, SealedSample(sealed=seal.seal(packed, SAMPLES)))
            except (FaultError, TransportError, TimeoutError) as error:
                log.info(NOT_SAMPLED, reason=type(error).__name__)
            except Exception:  # whatever a page is written like, the tier goes on
                log.exception(NOT_SAMPLED)


def packed_sample(draft: PageDraft, at_ms: int) -> bytes:
    """Make the sample of a page, no larger than it may be, and pack it."""
    sample = sample_of(draft, at_ms)
    while len(written := encode(sample)) > MAX_SAMPLE_BYTES and sample.exchanges:
        largest = max(sample.exchanges, key=lambda exchange: len(encode(exchange.body)))
        sample = structs.replace(sample, exchanges=tuple(one for one in sample.exchanges if one is not largest))
    return zlib.compress(written, 1)


def sample_of(draft: PageDraft, at_ms: int) -> PageSample:
    """Make the sample of a page: its answer, its exchanges, its states, and what hints at the program behind it."""
    page = draft.page
    shown = tree.read(draft.html, page.final_url)
    states = (
        ApiExchange(url=page.final_url, body=state.value, from_state=state.framework.value)
        for state in embedded(shown).states
        if len(encode(state.value)) <= MAX_EXCHANGE_BYTES
    )
    exchanges = [*draft.exchanges, *states][:MAX_EXCHANGES]
    return PageSample(
        url=draft.request.url,
        final_url=page.final_url,
        tier=page.tier,
        page=structs.replace(page.document.content, html=UNSET),
        shown_lines=shown_lines(shown),
        shown_links=shown_links(shown),
        exchanges=tuple(exchanges),
        hints=_hints(shown.root, page.final_url, draft.headers),
        profile=draft.profile,
        caller=draft.request.caller if draft.profile else "",
        at_ms=at_ms,
        shown_ms=draft.shown_ms,
        sample_id=page.sample,
    )


def shown_lines(page: tree.Page) -> tuple[str, ...]:
    """Return the blocks of text that a page shows, in their order, as far as they are sampled."""
    return tuple(_fitting(block.text for block in blocks(page)))


def shown_links(page: tree.Page) -> tuple[str, ...]:
    """Return the addresses that the links of a page lead to, each once, as far as they are sampled."""
    addresses = (absolute(page.url, link.attr("href") or "") for link in page.root.select("a[href]"))
    return tuple(_fitting(dict.fromkeys(filter(None, addresses))))


def _fitting(texts: Iterable[str]) -> Iterator[str]:
    left = MAX_SHOWN_CHARS
    for text in texts:
        left -= len(text)
        if left < 0:
            return
        yield text


def _hints(root: Element, url: str, headers: Iterable[tuple[str, str]]) -> PageHints:
    links = tuple(
        (
            (link.attr("rel") or "")[:100],
            absolute(url, link.attr("href") or "")[:MAX_HINT_CHARS],
            (link.attr("type") or "")[:100],
        )
        for link in root.select("link[rel][href]")[:MAX_HINTS]
    )
    generators = (meta.attr("content") or "" for meta in root.select("meta[name=generator i]")[:1])
    scripts = (absolute(url, script.attr("src") or "")[:MAX_HINT_CHARS] for script in root.select("script[src]"))
    named = {
        name: value[:MAX_HINT_CHARS]
        for name, value in redact.headers(headers).items()
        if value != REDACTED and (name in _NAMING or name.startswith("x-"))
    }
    return PageHints(
        links=links,
        generator=next(generators, "")[:200],
        headers=dict(list(named.items())[:MAX_HINTS]),
        scripts=tuple(scripts)[:MAX_HINTS],
    )
