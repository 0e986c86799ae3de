"""The HTTP client of the tiers: redirects, cookies, cache, rate limits and robots.txt, all behind the guard."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial
from http import HTTPStatus
from types import TracebackType
from typing import Any, Literal, Self

import anyio
import anyio.to_thread
import httpx2
from msgspec import UNSET, Struct, structs

from actors.settings import Settings
from actors.ungrouped import ungrouped
from actors.web import cache_rules, guard, rate_limits, robots
from actors.web.cache_rules import CacheLookup, CacheUse
from actors.web.cache_store import AnswerStore, MemoryStore, SharedStore
from actors.web.cache_transport import CachingTransport, Clock
from actors.web.cookies import Jar, refusing_jar
from actors.web.exchange import (
    REDIRECTS,
    TO_GET,
    GuardedTransport,
    LimitedTransport,
    RequestCoalescer,
    SiteExchanges,
    WebRequest,
    WebResponse,
    faults,
    trusted,
)
from actors.web.host_limiter import HostLimiter, Turn, key_of
from actors.web.page_redirects import PageRedirect, page_redirect
from actors.web.rate_limits import HostLimits, SlotRequest
from actors.web.recorded import WEB_ANSWER
from actors.web.robots import TERM_S, Robots, RobotsResponse
from bus import Bus, TransportError
from bus.recording import form_of, outside
from bus.stores import KeyValues
from protocol.browse import Freshness, NetworkRequest
from protocol.domains import Foreseen, PaceOutlook, RobotsOutlook
from protocol.faults import Code, FaultError, fault
from protocol.subject_kinds import Bucket
from protocol.subjects import HTTP_CACHE, PACE, ROBOTS
from protocol.web import HostPace, RobotsFile

BUCKETS: tuple[Bucket[Any], ...] = (HTTP_CACHE, PACE, ROBOTS)
"""What an actor declares that opens a client by `web_client`."""

_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.9,*/*;q=0.8"
_ACCEPT_LANGUAGE = "en,*;q=0.5"
_ROBOTS_TIMEOUT_MS = 10_000
_LEAST_S = 0.001
_MARKUP = re.compile("html", re.IGNORECASE)
_SHARE = 8
"""The cache takes a quarter of the bus at most: what cannot be got again must have room."""

_NOBODY = "nobody"
"""The replica in whose name a preview requests a slot, which it does not take."""

_MINUTE_MS = 60_000

_DIRECTIVES = {Freshness.REALTIME: "no-cache", Freshness.CACHED: "max-stale"}


class Politeness(Struct, frozen=True):
    """The limits that a client holds, and what it shares with other replicas; without `limits` nothing waits."""

    limits: HostLimits | None = None
    robots: Literal["asked", "always", "never"] = "asked"
    robots_term_s: float = TERM_S
    store: AnswerStore | None = None
    paces: KeyValues[HostPace] | None = None
    files: KeyValues[RobotsFile] | None = None


class _Followed(Struct, frozen=True):
    """An answer, and those on the way to it, whose cookies are for everybody who shares it."""

    response: WebResponse
    hops: tuple[httpx2.Response, ...]

    def then(self, led: _Followed) -> _Followed:
        """Return the answer that this one led to, with the exchanges of both."""
        response = structs.replace(
            led.response,
            exchanges=(*self.response.exchanges, *led.response.exchanges),
            retry_count=self.response.retry_count + led.response.retry_count,
        )
        return _Followed(response, (*self.hops, *led.hops))


class WebClient:
    """A polite HTTP client for pages; one for the life of an actor, open with `async with`."""

    def __init__(
        self,
        settings: Settings,
        resolve: guard.Resolve = guard.resolve,
        politeness: Politeness | None = None,
        clock: Clock = time.time,
    ) -> None:
        self._settings = settings
        self._resolve = resolve
        self._politeness = politeness or Politeness()
        self._now = clock
        self._open = AsyncExitStack()
        self._exchanges: SiteExchanges | None = None
        self._limiter: HostLimiter | None = None
        self._cache: CachingTransport | None = None
        self._coalescer = RequestCoalescer[_Followed]()
        self._own = guard.networks(settings.allow_private)
        self._store = self._politeness.store or MemoryStore(settings.fetch_cache_bytes)
        term_s, files = self._politeness.robots_term_s, self._politeness.files
        self.robots = Robots(self._robots_txt, settings.fetch_user_agent, clock, files, term_s)

    async def __aenter__(self) -> Self:
        """Load the certificate authorities, and get ready to connect."""
        context = await anyio.to_thread.run_sync(trusted, self._settings.fetch_ca_file)
        backend = guard.GuardedBackend(self._own, self._resolve)
        transport: httpx2.AsyncBaseTransport = GuardedTransport(context, backend)
        if self._politeness.limits is not None:
            self._limiter = HostLimiter(self._politeness.limits, self._politeness.paces, self._now)
            await self._open.enter_async_context(self._limiter.running())
            transport = LimitedTransport(transport, self._limiter, self._own)
        if self._settings.fetch_cache_bytes:
            self._open.enter_context(ungrouped())
            tasks = await self._open.enter_async_context(anyio.create_task_group())
            max_body = self._settings.fetch_cache_bytes // 4
            transport = self._cache = CachingTransport(transport, self._store, self._now, max_body, tasks)
        headers = {
            "User-Agent": self._settings.fetch_user_agent,
            "Accept": _ACCEPT,
            "Accept-Language": _ACCEPT_LANGUAGE,
        }
        client = httpx2.AsyncClient(transport=transport, trust_env=False, headers=headers, cookies=refusing_jar())
        http = await self._open.enter_async_context(client)
        self._exchanges = SiteExchanges(http, self._settings.fetch_max_bytes, self._now)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every connection."""
        await self._open.__aexit__(kind, error, trace)

    async def fetch(self, request: WebRequest, cookies: Jar, timeout_ms: int, *, ahead: bool = False) -> WebResponse:
        """Fetch a resource, whatever its status; what it sets goes into `cookies`.

        Equal requests at the same time share one answer. With `ahead` it is returned before it is stored, which
        `stored` waits for: whoever answers earlier could have another replica change a page that is stored after it.

        Raises:
            FaultError: NETWORK_*, SECURITY_*, HTTP_TOO_MANY_REDIRECTS, CONTENT_TOO_LARGE, RATE_LIMIT_EXCEEDED or
                BLOCKED_BY_ROBOTS.
        """
        fetch = partial(self._fetch, request, cookies, timeout_ms)
        response = await outside("web.fetch", request, fetch, WEB_ANSWER, withhold=bool(request.partition))
        if not ahead:
            await self.stored()
        return response

    async def stored(self) -> None:
        """Wait until what was fetched so far is stored, where it may be."""
        if self._cache is not None:
            await self._cache.flush()

    async def _fetch(self, request: WebRequest, cookies: Jar, timeout_ms: int) -> WebResponse:
        until = self._now() + timeout_ms / 1000
        try:
            with anyio.fail_after(timeout_ms / 1000), faults():
                if request.method != "GET" or request.body:
                    return (await self._follow(request, cookies, until)).response
                return await self._shared(request, cookies, until)
        except TimeoutError as error:
            raise FaultError(fault(Code.NETWORK_TIMEOUT)) from error

    @asynccontextmanager
    async def turn(self, url: str, timeout_ms: int, *, obey_robots: bool = False) -> AsyncGenerator[None]:
        """Wait until a page may be fetched by other means than `fetch`, and count it as open while the block lasts.

        Raises:
            FaultError: RATE_LIMIT_EXCEEDED where its turn comes too late, or BLOCKED_BY_ROBOTS.
        """
        checked = guard.check_url(url)
        host = checked.raw_host.decode("ascii")
        turn = await self._turn(WebRequest(url, obey_robots=obey_robots), checked, self._now() + timeout_ms / 1000)
        if self._limiter is None or guard.is_own(host, self._own):
            yield
            return
        await self._limiter.enter(host, turn)
        try:
            yield
        finally:
            self._limiter.leave(host)

    async def check_robots(self, url: str, *, obey_robots: bool) -> None:
        """Hold a page that is got by other addresses than its own to its robots.txt, where that is to be obeyed.

        Raises:
            FaultError: BLOCKED_BY_ROBOTS, or SECURITY_* for what is no address to be fetched.
        """
        checked = guard.check_url(url)
        if self._obeys(WebRequest(url, obey_robots=obey_robots)):
            await outside("web.robots", str(checked), partial(self.robots.check, str(checked)), form_of(float))

    async def preview(self, request: WebRequest, cookies: Jar) -> Foreseen:
        """Return what would happen to a request now; nothing is sent, no name is looked up."""
        look = partial(self._preview, request, cookies)
        return await outside("web.preview", request, look, form_of(Foreseen), withhold=bool(request.partition))

    async def _preview(self, request: WebRequest, cookies: Jar) -> Foreseen:
        try:
            url = guard.check_without_lookup(request.url, self._own)
        except FaultError as error:
            return Foreseen(refused=error.fault)
        now = self._now()
        hop = self._request(request, url, Turn(now))
        cookies.set_cookie_header(hop)
        rules = await self._robots_outlook(str(hop.url), obeys=self._obeys(request))
        delay_ms = rules.crawl_delay_ms if rules.obeyed and rules.crawl_delay_ms is not UNSET else 0
        return Foreseen(
            cached=await self._is_cached(hop, now),
            robots=rules,
            pace=await self._pace_outlook(hop.url.raw_host.decode("ascii"), now * 1_000, delay_ms),
        )

    async def _shared(self, request: WebRequest, cookies: Jar, until: float) -> WebResponse:
        key = (request, _cookie_header(cookies, request.url))
        followed, own = await self._coalescer.once(key, lambda: self._follow(request, cookies, until))
        if not own:
            for hop in followed.hops:
                cookies.extract_cookies(hop)
        return followed.response

    async def _follow(self, request: WebRequest, cookies: Jar, until: float) -> _Followed:
        """Fetch a resource, and a page to where its document leads."""
        followed = await self._redirected(request, guard.check_url(request.url), cookies, until)
        visited: set[tuple[str, str]] = set()
        while request.as_page and (redirect := _redirect_of(followed.response)) is not None:
            url = guard.check_redirect(httpx2.URL(followed.response.url), redirect.url)
            step = (str(url), _cookie_header(cookies, str(url)))
            if step in visited or len(visited) == self._settings.fetch_max_redirects:
                raise FaultError(fault(Code.HTTP_TOO_MANY_REDIRECTS))
            visited.add(step)
            further = structs.replace(request, url=str(url), method="GET", body=b"")
            followed = followed.then(await self._redirected(further, url, cookies, until, is_led=True))
        return followed

    async def _redirected(
        self, request: WebRequest, url: httpx2.URL, cookies: Jar, until: float, *, is_led: bool = False
    ) -> _Followed:
        """Fetch from redirect to redirect; `is_led`: another document led to `url`, nobody asked for it."""
        method, body = request.method, request.body
        exchanges: list[NetworkRequest] = []
        hops: list[httpx2.Response] = []
        visited: set[tuple[str, str]] = set()
        retries = 0
        for _ in range(self._settings.fetch_max_redirects + 1):
            turn = await self._turn(request, url, until)
            hop = self._request(structs.replace(request, method=method, body=body), url, turn)
            cookies.set_cookie_header(hop)
            step = (str(url), hop.headers.get("cookie", ""))
            if step in visited:
                break
            visited.add(step)
            with nullcontext() if hops or is_led else guard.requested_address():
                answer, response = await self._opened.make(hop, request, cookies)
            hops.append(response)
            exchanges += answer.exchanges
            retries += answer.retry_count
            location = answer.headers.get("location")
            if answer.status not in REDIRECTS or location is None or not request.follow:
                answer = structs.replace(answer, url=str(url), exchanges=tuple(exchanges), retry_count=retries)
                return _Followed(answer, tuple(hops))
            url = guard.check_redirect(url, location)
            if answer.status == HTTPStatus.SEE_OTHER or (answer.status in TO_GET and method == "POST"):
                method, body = "GET", b""
        raise FaultError(fault(Code.HTTP_TOO_MANY_REDIRECTS))

    async def _turn(self, request: WebRequest, url: httpx2.URL, until: float) -> Turn:
        """Check robots.txt where it is to be obeyed, and return the turn of a request."""
        interval_ms = await self.robots.check(str(url)) if self._obeys(request) else 0.0
        return Turn(until, request.sub_resource, interval_ms)

    def _obeys(self, request: WebRequest) -> bool:
        always = self._politeness.robots == "always" and not request.sub_resource
        return (request.obey_robots or always) and self._politeness.robots != "never"

    async def _robots_txt(self, url: str) -> RobotsResponse:
        """Fetch a robots.txt; raise only where no page of the site can be fetched either."""
        request = WebRequest(url, sub_resource=True, cut_bytes=robots.MAX_BYTES)
        try:
            with anyio.fail_after(_ROBOTS_TIMEOUT_MS / 1000), faults():
                followed = await self._follow(request, Jar(), self._now() + _ROBOTS_TIMEOUT_MS / 1000)
        except TimeoutError:
            return RobotsResponse(0, unreached=Code.NETWORK_TIMEOUT)
        except FaultError as error:
            return robots.response_of(error)
        return RobotsResponse(followed.response.status, followed.response.body)

    def _request(self, request: WebRequest, url: httpx2.URL, turn: Turn) -> httpx2.Request:
        total = max(turn.until - self._now(), _LEAST_S)
        connect = min(self._settings.fetch_connect_timeout_ms / 1000, total)
        headers = httpx2.Headers(request.headers)
        if directive := _DIRECTIVES.get(request.freshness):
            headers["Cache-Control"] = directive
        return self._opened.http.build_request(
            request.method,
            url.copy_with(fragment=None) if url.fragment else url,
            headers=headers,
            content=request.body or None,
            timeout=httpx2.Timeout(total, connect=connect),
            extensions={"partition": request.partition, "turn": turn},
        )

    async def _is_cached(self, request: httpx2.Request, now: float) -> bool:
        """Return whether a stored answer may be served without asking the site."""
        lookup = CacheLookup.of(request)
        lookup.stored = await self._store.get(lookup.key)
        kept = lookup.matching()
        if kept is None:
            return False
        return cache_rules.judge(kept, lookup.directives, now, shared=lookup.shared) is not CacheUse.VALIDATE

    async def _robots_outlook(self, url: str, *, obeys: bool) -> RobotsOutlook:
        """Return the rules of a robots.txt that some replica has read."""
        rules = await self.robots.known(url)
        if rules is None:
            return RobotsOutlook(known=False, obeyed=obeys)
        allows, interval_ms = rules
        return RobotsOutlook(known=True, obeyed=obeys, allows=allows, crawl_delay_ms=round(interval_ms) or UNSET)

    async def _pace_outlook(self, host: str, now_ms: float, delay_ms: int) -> PaceOutlook:
        """Return how long one more page would wait, and by which limits."""
        limits = self._politeness.limits
        if limits is None or guard.is_own(host, self._own):
            return PaceOutlook(limited=False, wait_ms=0, pages_per_minute=0, burst=0, at_once=0)
        limits, pace = limits.spaced(delay_ms), await self._host_pace(host)
        request = SlotRequest(_NOBODY, 1, 1, now_ms + rate_limits.MAX_WAIT_MS)
        _, granted = rate_limits.grant(pace, request, limits, now_ms)
        begins_ms = granted.slots[0] if granted.slots else granted.wait_until_ms
        return PaceOutlook(
            limited=True,
            wait_ms=max(round(begins_ms - now_ms), 0),
            pages_per_minute=round(_MINUTE_MS / limits.interval_ms) if limits.interval_ms else 0,
            burst=limits.burst,
            at_once=limits.at_once,
            refusals=pace.strikes,
        )

    async def _host_pace(self, host: str) -> HostPace:
        try:
            paces = self._politeness.paces
            change = await paces.get(key_of(host)) if paces is not None else None
        except (TransportError, TimeoutError, FaultError):
            change = None
        return (change.value if change else None) or HostPace()

    @property
    def _opened(self) -> SiteExchanges:
        if self._exchanges is None:
            raise RuntimeError("the client is not open")
        return self._exchanges


@asynccontextmanager
async def web_client(settings: Settings, bus: Bus | None) -> AsyncGenerator[WebClient]:
    """Open the client of a tier, which shares its cache and limits with all others on the bus; without one, alone."""
    limits = HostLimits(
        interval_ms=60_000 / settings.fetch_host_rate if settings.fetch_host_rate else 0.0,
        burst=settings.fetch_host_burst,
        at_once=settings.fetch_host_at_once,
    )
    async with _shared_store(settings, bus) as store:
        politeness = Politeness(
            limits=limits,
            robots=settings.fetch_robots,
            robots_term_s=settings.fetch_robots_ttl_ms / 1000,
            store=store,
            paces=await bus.table(PACE) if bus is not None else None,
            files=await bus.table(ROBOTS) if bus is not None else None,
        )
        async with WebClient(settings, politeness=politeness) as client:
            yield client


@asynccontextmanager
async def _shared_store(settings: Settings, bus: Bus | None) -> AsyncGenerator[AnswerStore | None]:
    """Open the shared cache for those who have the key to it: pages of a login are private."""
    if bus is None or bus.seal is None or not bus.seal.holds(HTTP_CACHE.name) or not settings.fetch_shared_cache_bytes:
        yield None
        return
    max_bytes = min(settings.fetch_shared_cache_bytes, settings.jetstream_max_bytes // _SHARE)
    table = await bus.table(HTTP_CACHE)
    with ungrouped():
        async with table.presence() as presence:
            yield SharedStore(table, MemoryStore(settings.fetch_cache_bytes), max_bytes, presence)


def _redirect_of(response: WebResponse) -> PageRedirect | None:
    """Return where the document of an answer leads."""
    if response.status != HTTPStatus.OK or not _MARKUP.search(response.content_type or "html"):
        return None
    return page_redirect(response.body, response.url, response.headers.get("refresh", ""))


def _cookie_header(cookies: Jar, url: str) -> str:
    if not cookies:
        return ""
    request = httpx2.Request("GET", guard.check_url(url))
    cookies.set_cookie_header(request)
    return str(request.headers.get("cookie", ""))
