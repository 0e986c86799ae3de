"""What is never learned nor replayed: requests that change something, that hold secrets, or that lead elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from actors.page_addresses import is_local
from actors.patterns.graphql import is_query
from actors.redact import REDACTED, is_secret
from actors.sites import site_of
from protocol.faults import FaultError
from protocol.patterns.sample import ApiExchange

MAX_URL_CHARS: Final = 4_000
MAX_SENT_CHARS: Final = 16_000
MAX_ASKED_HEADERS: Final = 8
MAX_HEADER_CHARS: Final = 200

_OK: Final = range(200, 300)
_METHODS: Final = frozenset({"GET", "HEAD", "POST"})

_SIGNED: Final = frozenset(
    {"sig", "signature", "hmac", "expires", "expire", "expiry", "validuntil", "nonce", "hdnea", "hdnts", "jwt", "otp"}
    | {"ticket", "awsaccesskeyid", "googleaccessid", "key-pair-id"}
)
_SIGNERS: Final = ("x-amz-", "x-goog-", "x-oss-", "x-cos-", "q-sign-", "oauth_", "cloudfront-")
"""What the names of the parameters of signed addresses begin with."""

_MILD: Final = re.compile(r"(?:[A-Za-z]{0,24}[-_]?)(?:code|state|key|pass)", re.IGNORECASE)
"""Names that mean a credential in one place and a country, a product or a filter in another: the value decides."""

_API_KEY: Final = re.compile(r"(?:api|access|app|client|auth|secret|private|subscription|maps)[-_]?key", re.IGNORECASE)
_MILD_VALUE: Final = re.compile(r"[\w .,:-]{0,24}")
_JWT: Final = re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}")

_VERBS: Final = frozenset(
    {"add", "remove", "delete", "destroy", "create", "update", "insert", "save", "submit", "send", "cancel", "logout"}
    | {"signout", "login", "signin", "signup", "unsubscribe", "upvote", "downvote", "unlike", "unfollow", "upload"}
)
"""What the names of calls begin with that do something: `addToCart`, `delete-account`."""

_ACTING: Final = _VERBS | frozenset(
    {"edit", "register", "subscribe", "vote", "like", "follow", "checkout", "purchase", "buy", "pay", "confirm"}
    | {"approve", "reject", "reset", "publish", "increment", "mark", "clear", "revoke", "rename", "refund", "apply"}
)
"""Whole names of calls that do something; within a name they may be words of a title."""

_ACTING_NAMES: Final = frozenset({"action", "do", "cmd", "op", "method", "_method", "wc-ajax", "add-to-cart"})
_OVERRIDES: Final = frozenset({"x-http-method-override", "x-http-method", "x-method-override"})
_MAX_WORDS: Final = 3
_MAX_NAME_CHARS: Final = 64
_WORDS: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")

_BEACONS: Final = frozenset(
    {
        "beacon",
        "collect",
        "analytics",
        "telemetry",
        "pixel",
        "rum",
        "impression",
        "impressions",
        "pageview",
        "pageviews",
    }
    | {"heartbeat", "ping", "csp-report", "web-vitals", "vitals", "tracking", "hit", "track"}
)
_BEACONS_SENT: Final = _BEACONS | {"events", "event", "log", "logs", "metrics", "stats", "errors", "report", "reports"}
_BEACON_HOSTS: Final = frozenset(
    {
        "google-analytics.com",
        "googletagmanager.com",
        "doubleclick.net",
        "googlesyndication.com",
        "segment.io",
        "segment.com",
    }
    | {"mixpanel.com", "amplitude.com", "sentry.io", "datadoghq.com", "browser-intake-datadoghq.com", "nr-data.net"}
    | {"hotjar.com", "hotjar.io", "clarity.ms", "fullstory.com", "optimizely.com", "launchdarkly.com", "posthog.com"}
    | {"plausible.io", "matomo.cloud", "bugsnag.com", "logrocket.io", "intercom.io", "heap.io", "heapanalytics.com"}
    | {
        "scorecardresearch.com",
        "chartbeat.net",
        "parsely.com",
        "criteo.com",
        "adnxs.com",
        "cookielaw.org",
        "onetrust.com",
    }
)
_SEARCHES: Final = frozenset(
    {"search", "_search", "query", "queries", "_query", "find", "lookup", "autocomplete", "suggest", "suggestions"}
    | {"_msearch", "searches", "filter", "browse"}
)

_STANDARD: Final = frozenset(
    {"host", "connection", "user-agent", "accept-encoding", "accept-language", "accept-charset", "content-length"}
    | {"content-type", "origin", "referer", "referrer", "dnt", "cache-control", "pragma", "te", "trailer", "upgrade"}
    | {"transfer-encoding", "keep-alive", "if-none-match", "if-modified-since", "if-match", "range", "via", "forwarded"}
    | {"priority", "purpose", "upgrade-insecure-requests", "save-data", "viewport-width", "expect", "date"}
)
_PASSING: Final = re.compile(
    r"(?:sec-|proxy-|x-forwarded-|x-real-ip|x-b3-|x-datadog-|traceparent|tracestate|baggage|sentry-trace|newrelic|x-newrelic-"
    r"|(?:x-)?(?:request|correlation|trace|transaction|client-request|visitor|device|amzn-trace|cloud-trace)-?(?:id|context)$)"
)
"""Headers that are another with each request, or that speak for the client's network."""

_HEADER_NAME: Final = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]{1,64}")
_HEADER_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


def refusal(exchange: ApiExchange, page_url: str) -> str:
    """Return why a request is never learned nor replayed; "" for one that may be."""
    checks = (_unanswered, _unreadable, _unsafe, _beacon, _acting, _short_lived)
    why = next((why for check in checks if (why := check(exchange))), "")
    return why or _elsewhere(exchange, page_url) or (_unsafe_post(exchange) if exchange.method == "POST" else "")


def headers_worth_asking(exchange: ApiExchange) -> tuple[str, ...]:
    """Return the headers that a script itself has set and that may matter to the answer, none of them a secret.

    In lower case and in order. `content-type` is none of them: it goes with what is sent.
    """
    names = {name.lower() for name, value in exchange.headers.items() if _is_worth(name.lower(), value)}
    return tuple(sorted(names))[:MAX_ASKED_HEADERS]


def credential_headers(exchange: ApiExchange) -> tuple[str, ...]:
    """Return the names of the headers by which a request is authorized; of one-time tokens against forgery none."""
    names = {name.lower() for name, value in exchange.headers.items() if value == REDACTED or is_secret(name)}
    return tuple(sorted(name for name in names if name != "cookie" and not _is_csrf(name)))


def header_values(exchange: ApiExchange, names: Iterable[str]) -> dict[str, str]:
    """Return the values of some headers, by their names in lower case."""
    given = {name.lower(): value for name, value in exchange.headers.items()}
    return {name: given[name] for name in names if name in given}


def _unanswered(exchange: ApiExchange) -> str:
    if exchange.from_state:
        return "it stood in the page, and nothing was asked"
    return "" if exchange.status in _OK and exchange.body is not None else "it was not answered with JSON"


def _unreadable(exchange: ApiExchange) -> str:
    if len(exchange.url) > MAX_URL_CHARS or len(exchange.sent) > MAX_SENT_CHARS:
        return "it is too long"
    try:
        parts = urlsplit(exchange.url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return "its address cannot be read"
    if not known or "@" in parts.netloc:
        return "its address is none of the web"
    return "a credential is in it" if REDACTED in unquote(exchange.url) or REDACTED in exchange.sent else ""


def _unsafe(exchange: ApiExchange) -> str:
    if exchange.method not in _METHODS or any(name.lower() in _OVERRIDES for name in exchange.headers):
        return "its method may change something"
    return "a body goes with a method that has none" if exchange.sent and exchange.method != "POST" else ""


def _beacon(exchange: ApiExchange) -> str:
    host = (urlsplit(exchange.url).hostname or "").lower()
    words = _segments(exchange.url)
    beacons = _BEACONS_SENT if exchange.method == "POST" else _BEACONS
    known = any(host == one or host.endswith(f".{one}") for one in _BEACON_HOSTS)
    return "it tells of the visitor" if known or (words and words[-1].lower() in beacons) else ""


def _acting(exchange: ApiExchange) -> str:
    named = [value for name, value in _parameters(exchange) if name.lower() in _ACTING_NAMES]
    if any(name.lower() in ("_method", "add-to-cart", "wc-ajax") for name, _ in _parameters(exchange)):
        return "it may change something"
    documents = [value for name, value in _parameters(exchange) if name == "query" and "{" in value]
    acts = any(map(_begins_acting, (*_segments(exchange.url), *named))) or not all(map(is_query, documents))
    return "it may change something" if acts else ""


def _short_lived(exchange: ApiExchange) -> str:
    if _JWT.search(unquote(exchange.url)) or _JWT.search(exchange.sent):
        return "a token is in it"
    for name, value in (*_parameters(exchange), *_sent_values(exchange)):
        lowered = name.lower()
        if lowered in _SIGNED or lowered.startswith(_SIGNERS) or _is_csrf(lowered):
            return "it is signed, or good for a short time"
        if is_secret(name) and (
            _API_KEY.fullmatch(name) or not (_MILD.fullmatch(name) and _MILD_VALUE.fullmatch(value))
        ):
            return "a credential is in it"
    return ""


def _elsewhere(exchange: ApiExchange, page_url: str) -> str:
    page, address = urlsplit(page_url), urlsplit(exchange.url)
    if page.scheme == "https" and address.scheme != "https":
        return "it is not encrypted, and its page is"
    if is_local(address.hostname or "") and not is_local(page.hostname or ""):
        return "it leads into a private network"
    if (site := site_or_nothing(exchange.url)) and site == site_or_nothing(page_url):
        return ""
    if exchange.method == "POST":
        return "something is sent to another site"
    secret = exchange.with_cookies or credential_headers(exchange) or any(map(is_secret, exchange.headers))
    return "a credential is sent to another site" if secret else ""


def _unsafe_post(exchange: ApiExchange) -> str:
    if any(_is_csrf(name.lower()) for name in exchange.headers):
        return "it carries a token against forgery"
    body = _json(exchange.sent)
    batch = cast("list[object]", body) if isinstance(body, list) else [body]
    documents = [cast("dict[str, Any]", one).get("query") if isinstance(one, dict) else None for one in batch]
    if documents and all(isinstance(one, str) and is_query(one) for one in documents):
        return ""
    if any(isinstance(one, str) and "{" in one for one in documents) or "graphql" in exchange.url.lower():
        return "it is no query of GraphQL"
    segments = [segment.lower() for segment in _segments(exchange.url)]
    is_search = any(segment in _SEARCHES for segment in segments[-2:])
    return (
        ""
        if is_search and (isinstance(body, dict) or _is_form(exchange.sent))
        else "it sends something, and is no search"
    )


def _segments(url: str) -> list[str]:
    return [unquote(segment) for segment in urlsplit(url).path.split("/") if segment]


def _begins_acting(text: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(text[:_MAX_NAME_CHARS])]
    return (words[:1] == ["".join(words)] and words[0] in _ACTING) or (
        0 < len(words) <= _MAX_WORDS and words[0] in _VERBS
    )


def _parameters(exchange: ApiExchange) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(exchange.url).query, keep_blank_values=True)


def _sent_values(exchange: ApiExchange) -> Iterator[tuple[str, str]]:
    """Yield what is sent, by the names of its fields, however deep they lie."""
    body = _json(exchange.sent)
    if body is None:
        yield from parse_qsl(exchange.sent, keep_blank_values=True)
        return
    waiting: list[tuple[str, Any]] = [("", body)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += cast("dict[str, Any]", value).items()
        elif isinstance(value, list):
            waiting += [(name, one) for one in cast("list[object]", value)]
        elif name:
            yield name, str(value)


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None


def _is_form(sent: str) -> bool:
    return all("=" in pair for pair in sent.split("&")) and sent.isprintable() and " " not in sent


def _is_worth(name: str, value: str) -> bool:
    return (
        is_header(name, value)
        and name not in _STANDARD
        and name not in _OVERRIDES
        and value != REDACTED
        and not is_secret(name)
        and not _PASSING.match(name)
        and not (name == "accept" and value.strip() == "*/*")
    )


def is_header(name: str, value: str) -> bool:
    """Return whether a header may be kept: written properly, short, and without a token."""
    written = _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value)
    return bool(written) and len(value) <= MAX_HEADER_CHARS and not _JWT.search(value)


def _is_csrf(name: str) -> bool:
    return "csrf" in name or "xsrf" in name or name in ("authenticity_token", "__requestverificationtoken", "_wpnonce")


def site_or_nothing(url: str) -> str:
    """Return the site of an address or a host; "" for what has none."""
    try:
        return site_of(url)
    except FaultError:
        return ""
