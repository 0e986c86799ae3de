"""What the tiers share on the way to their answer: time, request, span, faults, its form, and the APIs in it."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, Literal, cast
from urllib.parse import parse_qsl, urlsplit

from msgspec import UNSET, structs

from actors import redact
from actors.extraction import page
from actors.extraction.assets import vendors_of_answer
from actors.extraction.extraction import Extraction
from actors.extraction.parse.formats.kinds import kind_of
from actors.fetchers.extractor import PageSource
from actors.redact import REDACTED, is_secret
from actors.sites import site_of
from actors.web.exchange import WebRequest, WebResponse, trusted
from actors.web.rate_limits import retry_after_ms
from bus import span
from bus.tracing import Span, tracing_on
from protocol.browse import DEFAULT_LATENCY_MS, MIN_CONTENT_CHARS, ApiPattern, ApiProvenance, NetworkRequest
from protocol.confidence import BASELINES, Source
from protocol.documents import untrusted
from protocol.faults import FaultError
from protocol.pages import Fetched, FetchPage, Outlinks
from protocol.patterns.pattern import PatternSource
from protocol.tiers import RenderTier
from protocol.visits import MAX_VISIT_REQUESTS, MAX_VISIT_URL_CHARS, VisitRequest

_RESERVE_SHARE = 10
RESERVE_MS = 1_000
"""A tenth of the time, a second at most, is reserved for the answer: the site must be late before the call is."""

_FIRST_ERROR = 400

HUNG = "hung"
"""What cut a page short whose scripts never ended."""

MANY_DIALOGS = 5
"""A page that opens so many while it loads, and shows little, opens them without end."""

LEADS_ON = "The page leads on to itself or to others without end."
CALLS_UP = "The page opens dialogs without end."

MAX_APIS = 20
_MAX_PARAMETERS = 20
_MAX_VALUE_CHARS = 100

_HIGH, _MEDIUM = 7, 4
_OK, _MULTIPLE = 200, 300
_WITHOUT_BODY = frozenset({204, 304})
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH"})
_AUTH_HEADERS = ("authorization", "x-api-key", "x-auth-token", "x-csrf-token")

Level = Literal["high", "medium", "low"]
Method = Literal["GET", "POST", "PUT", "DELETE", "PATCH"]
AuthType = Literal["cookie", "bearer", "header", "session"]

_ONE_LESS: dict[Level, Level] = {"high": "medium", "medium": "low", "low": "low"}
_SCORES: dict[Level, float] = {
    "high": BASELINES[Source.API_RESPONSE],
    "medium": BASELINES[Source.SELECTOR_MATCH],
    "low": BASELINES[Source.HEURISTIC],
}


def warm() -> None:
    """Load what every tier needs: the models of extraction, the list of public suffixes, and whom to trust."""
    page.warm()
    trusted("")
    site_of("https://weft.example/")


def time_for_site(remaining_ms: int | None, reserve_ms: int = RESERVE_MS) -> int:
    """Return how many of the remaining milliseconds a site may take."""
    left = DEFAULT_LATENCY_MS if remaining_ms is None else remaining_ms
    return max(left - min(left // _RESERVE_SHARE, reserve_ms), 1)


def page_request(
    request: FetchPage, partition: str, url: str = "", headers: tuple[tuple[str, str], ...] = ()
) -> WebRequest:
    """Return the request for a page, or for another address on its behalf; `partition` is that of its login."""
    return WebRequest(
        url or request.url,
        headers=headers,
        freshness=request.freshness,
        partition=partition,
        record_body=request.include_network,
        obey_robots=request.obey_robots,
        single_shot=request.single_shot,
        as_page=not url,
    )


def traffic(request: FetchPage, exchanges: Iterable[NetworkRequest]) -> dict[str, tuple[Any, ...]]:
    """Return what an answer says of the requests that were made: in full where asked for, in short for the history."""
    made = tuple(exchanges)
    return {
        "network": made if request.include_network else (),
        "requests": tuple(map(_in_short, made[:MAX_VISIT_REQUESTS])) if request.for_history else (),
    }


def _in_short(made: NetworkRequest) -> VisitRequest:
    return VisitRequest(
        url=made.url[:MAX_VISIT_URL_CHARS],
        method=made.method,
        status=made.status,
        content_type=made.content_type or "",
        duration_ms=made.duration or 0,
    )


@contextmanager
def faults_located(url: str, tier: RenderTier) -> Generator[None]:
    """Add the address and the tier to the fault that the block ends in."""
    try:
        yield
    except FaultError as error:
        raise FaultError(error.fault.at(url=url, tier=tier.value)) from error


@contextmanager
def fetch_span(url: str) -> Generator[Span]:
    """Record the block as the span of a page's fetch, with the code of the fault that it ends in."""
    attributes = {"http.request.method": "GET", "url.full": redact.url(url)} if tracing_on() else None
    with span("GET", kind="client", attributes=attributes) as current:
        try:
            yield current
        except FaultError as error:
            current.fail(error.fault.code.value)
            raise


def record_answer(current: Span, url: str, status: int) -> None:
    """Add to a span which host answered, and how."""
    current.set_attribute("server.address", redact.host(url))
    current.set_attribute("http.response.status_code", status)


def readable(body: bytes, content_type: str, status: int) -> tuple[bytes, str]:
    """Return what to extract from: of an error without a text nothing, for its status is the answer."""
    if status >= _FIRST_ERROR:
        try:
            kind_of(body, content_type)
        except FaultError:
            return b"", "text/plain"
    return body, content_type


def source_of(response: WebResponse, *, include_html: bool) -> PageSource:
    """Return what to extract from an answer."""
    body, content_type = readable(response.body, response.content_type, response.status)
    return PageSource(body, content_type, response.url, include_html)


def is_little(page: Extraction | Fetched) -> bool:
    """Return whether a page that hangs shows too little to be given all the same."""
    return page.evidence.content_length < MIN_CONTENT_CHARS


def fetched(
    tier: RenderTier,
    extraction: Extraction,
    *,
    headers: Iterable[tuple[str, str]] = (),
    outlinks: bool = False,
    **fields: Any,
) -> Fetched:
    """Return the answer for a page: the result of its extraction, and `fields` beside or in place of it.

    Of the `headers` only the names of the vendors travel whose marks they are, and what they say with `outlinks`.
    """
    headers = tuple(headers)
    url = extraction.summary.url
    digest = blake2b(f"{url}\n{extraction.summary.markdown}".encode("utf-8", "replace"), digest_size=12)
    given: dict[str, Any] = {
        "final_url": url,
        "evidence": extraction.evidence,
        "title": extraction.title,
        "content": extraction.content,
        "tables": extraction.tables,
        "fields": dict(extraction.fields),
        "apis": extraction.apis,
        "selectors": extraction.selectors,
        "titles": extraction.titles,
    }
    document = untrusted(f"page_{digest.hexdigest()}", extraction.summary)
    if outlinks:
        given["outlinks"] = _outlinks(extraction, headers)
    answer = Fetched(tier=tier, document=document, **(given | fields))
    marks = vendors_of_answer(headers, answer.status)
    return structs.replace(answer, evidence=structs.replace(answer.evidence, vendors=marks)) if marks else answer


def fetched_as_sent(tier: RenderTier, response: WebResponse, extraction: Extraction, **fields: Any) -> Fetched:
    """Return the answer for a page as its site has sent it; `fields` replace those of the response."""
    given: dict[str, Any] = {
        "status": response.status,
        "content_type": response.content_type,
        "fetched_at": int(response.received_at * 1000),
        "from_cache": response.from_cache,
        "retry_after_ms": retry_after_ms(response.headers.get("retry-after"), response.received_at),
        "retry_count": response.retry_count,
    }
    return fetched(tier, extraction, **(given | fields), headers=response.headers.items())


def _outlinks(extraction: Extraction, headers: Iterable[tuple[str, str]]) -> Outlinks:
    """Return what a page leads to, by its markup or by what else it is, and what its X-Robots-Tag says of that."""
    leads = extraction.outlinks
    if leads is None:
        leads = Outlinks(links=tuple(dict.fromkeys(link.url for link in extraction.summary.extracted_links)))
    directives = {
        word.strip().lower()
        for name, value in headers
        if name.lower() == "x-robots-tag"
        for word in value.split(",")
        if ":" not in word  # what is for another program alone names it before a colon
    }
    return structs.replace(
        leads,
        noindex=leads.noindex or bool(directives & {"noindex", "none"}),
        nofollow=leads.nofollow or bool(directives & {"nofollow", "none"}),
    )


def merge_apis(
    exchanges: Iterable[NetworkRequest], named: Iterable[ApiPattern], *, by_browser: bool
) -> tuple[ApiPattern, ...]:
    """Return the APIs that answered the page with JSON, then those that its source only names; each once.

    What no real browser has seen counts one level less, and may never stand in for its page.
    """
    patterns: dict[tuple[str, str], ApiPattern] = {}
    for exchange in exchanges:
        pattern = _pattern(exchange, by_browser=by_browser)
        if pattern is not None:
            key = (pattern.method, pattern.endpoint)
            known = patterns.get(key)
            if known is None or (known.confidence_score or 0) < (pattern.confidence_score or 0):
                patterns[key] = pattern
    for pattern in named:
        patterns.setdefault((pattern.method, pattern.endpoint), pattern)
    return tuple(patterns.values())[:MAX_APIS]


def is_json(content_type: str) -> bool:
    """Return whether a media type is one of JSON's."""
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type in ("application/json", "text/json") or media_type.endswith("+json")


def _pattern(exchange: NetworkRequest, *, by_browser: bool) -> ApiPattern | None:
    content_type = str(exchange.content_type or "")
    if exchange.method not in _METHODS or not is_json(content_type):
        return None
    parts = urlsplit(exchange.url)
    auth_type, auth_headers = _auth(exchange)
    level, why = _weighed(exchange, auth_type)
    level = level if by_browser else _ONE_LESS[level]
    return ApiPattern(
        endpoint=f"{parts.scheme}://{parts.netloc}{parts.path}",
        method=cast("Method", exchange.method),
        confidence=level,
        can_bypass=level == "high",
        auth_type=auth_type or UNSET,
        auth_headers=auth_headers or UNSET,
        response_type=content_type.partition(";")[0].strip().lower(),
        params=_parameters(parts.query) or UNSET,
        reason=f"asked for by the page's scripts: {why}",
        provenance=ApiProvenance(source=PatternSource.API_EXTRACTION),
        confidence_score=_SCORES[level],
    )


def _weighed(exchange: NetworkRequest, auth: AuthType | None) -> tuple[Level, str]:
    """Score by status, JSON, method, body and login, as learned patterns are."""
    reads = exchange.method == "GET"
    points = {
        f"status {exchange.status}": 3 if _OK <= exchange.status < _MULTIPLE else 0,
        "JSON": 2,
        "GET": 2 if reads else 0,
        "a change with a login": 2 if not reads and auth else 0,
        "a body": 1 if exchange.status not in _WITHOUT_BODY else 0,
        "a login": 1 if auth in ("cookie", "bearer") else 0,
    }
    score = sum(points.values())
    level: Level = "high" if score >= _HIGH else "medium" if score >= _MEDIUM else "low"
    return level, ", ".join(name for name, given in points.items() if given)


def _auth(exchange: NetworkRequest) -> tuple[AuthType | None, dict[str, str]]:
    """Return how the request was authorized, and by which headers: their names, never their values."""
    names = [name for name in _AUTH_HEADERS if name in exchange.request_headers]
    shown = dict.fromkeys(names, REDACTED)
    if "authorization" in names:
        return "bearer", shown
    if names:
        return "header", shown
    return ("cookie", {}) if "cookie" in exchange.request_headers else (None, {})


def _parameters(query: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_MAX_PARAMETERS)
    except ValueError:
        return {}
    return {name[:_MAX_VALUE_CHARS]: REDACTED if is_secret(name) else value[:_MAX_VALUE_CHARS] for name, value in pairs}
