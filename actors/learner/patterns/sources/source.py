"""What a source of patterns is, what it may ask of a site, and how what it has found becomes hints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, ClassVar, Final, Literal, Protocol, cast
from urllib.parse import SplitResult, urljoin, urlsplit

import msgspec
from msgspec import Struct

from actors.patterns.acceptance import pattern_refusal
from actors.patterns.templates import AddressSlot, pieces_of
from actors.patterns.trust import first_score
from actors.sites import site_of
from protocol.browse import MAX_URL_CHARS
from protocol.confidence import BASELINES
from protocol.confidence import Source as ConfidenceSource
from protocol.faults import FaultError
from protocol.patterns.pattern import ApiRequest, AuthKind, PagePattern, PatternSource
from protocol.patterns.sample import PageSample

MAX_HINTS: Final = 40
"""What a source has of one page at most."""

MAX_PARAMETERS: Final = 12
"""Parameters of the query that a request has at most."""

MAX_NODES: Final = 2_000
"""Members of a site's document that are looked at."""


def slots_of(template: str) -> tuple[AddressSlot, ...]:
    """Return the slots of a template that whoever uses it fills, in their order; none of what is no template."""
    try:
        return tuple(piece for piece in pieces_of(template) if isinstance(piece, AddressSlot))
    except ValueError:
        return ()


class Ask(Protocol):
    """Asks the site of a sample: by GET, behind the address guard, within its pace, a few times a day at most."""

    async def json(self, url: str) -> Any | None:
        """Return the JSON at an address, YAML as its text; None where there is nothing, or no more may be asked."""
        ...


class HintSource(Protocol):
    """A source of patterns; what it finds are hints until pages were reproduced with them."""

    name: ClassVar[PatternSource]

    async def find(self, sample: PageSample, ask: Ask) -> tuple[PagePattern, ...]:
        """Return the hints that a page leads to, each once."""
        ...


class ApiEndpoint(Struct, frozen=True, kw_only=True):
    """A request that somebody has named: `url`, absolute, and `page` are templates as in PagePattern.

    `baseline` is what it scores before the boost of its source.
    """

    url: str
    page: str = ""
    method: Literal["GET", "POST"] = "GET"
    body: str = ""
    auth: AuthKind | None = None
    auth_headers: tuple[str, ...] = ()
    baseline: float = BASELINES[ConfidenceSource.LEARNED_PATTERN]
    reason: str = ""
    headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


class HintOrigin(Struct, frozen=True):
    """By which source, on which page, with whose login and when something was found."""

    source: PatternSource
    page_url: str
    at_ms: int
    profile: str = ""
    caller: str = ""

    def hint(self, endpoint: ApiEndpoint) -> PagePattern | None:
        """Return the hint that an endpoint is; None where it may not be asked."""
        made = self.hint_or_why(endpoint)
        return made if isinstance(made, PagePattern) else None

    def hint_or_why(self, endpoint: ApiEndpoint) -> PagePattern | str:
        """Return the hint that an endpoint is, or why it may not be asked."""
        if not of_site(endpoint.url, self.page_url):
            return "it asks another site than that of its page"
        if not (_is_template(endpoint.url) and _is_template(endpoint.page)):
            return "its address is no template"
        request = ApiRequest(
            method=endpoint.method,
            url=endpoint.url,
            headers=dict(endpoint.headers),
            body=endpoint.body,
            auth=endpoint.auth,
            auth_headers=endpoint.auth_headers,
        )
        domain = domain_of(self.page_url)
        hint = PagePattern(
            pattern_id=pattern_id(domain, endpoint.page, request, (self.caller, self.profile)),
            domain=domain,
            page=endpoint.page,
            requests=(request,),
            source=self.source,
            score=first_score(self.source, endpoint.baseline),
            created_at=self.at_ms,
            profile=self.profile,
            caller=self.caller,
            reason=endpoint.reason,
        )
        return pattern_refusal(hint) or hint


def hints(source: PatternSource, sample: PageSample, endpoints: Iterable[ApiEndpoint]) -> tuple[PagePattern, ...]:
    """Return hints for the endpoints that may be asked, each once, MAX_HINTS at most."""
    hint_origin = HintOrigin(source, sample.final_url, sample.at_ms, sample.profile, sample.caller)
    by_id: dict[str, PagePattern] = {}
    for endpoint in endpoints:
        if (hint := hint_origin.hint(endpoint)) is not None:
            by_id.setdefault(hint.pattern_id, hint)
        if len(by_id) >= MAX_HINTS:
            break
    return tuple(by_id.values())


def of_site(url: str, page_url: str) -> bool:
    """Return whether an address is one of the page's site."""
    try:
        return site_of(origin_of(url)) == site_of(origin_of(page_url))
    except FaultError:
        return False


def web_address(url: str) -> SplitResult | None:
    """Take an address of the web apart; None for what is none."""
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return None
    return parts if has_host and parts.scheme in ("http", "https") else None


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address of the web; `""` for what is none."""
    parts = web_address(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}" if parts else ""


def resolved(base: str, reference: object) -> str:
    """Return the absolute address that a site's document means; `""` for what is none."""
    if not isinstance(reference, str) or not 0 < len(reference) <= MAX_URL_CHARS:
        return ""
    try:
        address = urljoin(base, reference.strip())
    except ValueError:
        return ""
    return address.partition("#")[0] if web_address(address) else ""


def members(value: object) -> dict[str, Any]:
    """Return what a document has in the place of an object: nothing where it has something else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """Return what a document has in the place of a list: nothing where it has something else."""
    return value[:MAX_NODES] if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType] - JSON


def text(value: object, limit: int = 200) -> str:
    """Return what a document has in the place of a text, cut: `""` where it has something else."""
    return value[:limit] if isinstance(value, str) else ""


def slot_name(name: str) -> str:
    """Return a name as that of a slot: letters, digits and `_`; `""` where nothing is left of it."""
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:40]
    return f"_{plain}" if plain[:1].isdigit() else plain


def with_parameters(url: str, names: Iterable[str]) -> str:
    """Return a template with further parameters of its query; who uses it leaves out those that he does not need."""
    pairs = [f"{name}={{{slot}}}" for name in names if (slot := slot_name(name)) and _PLAIN.fullmatch(name)]
    if not pairs:
        return url
    return f"{url}{'&' if '?' in url else '?'}{'&'.join(pairs[:MAX_PARAMETERS])}"


_PLAIN: Final = re.compile(r"[A-Za-z0-9_.\[\]-]{1,40}")

_VARIABLE_STEP: Final = re.compile(
    r"\d+|[0-9a-f]{8,}|[0-9a-f]{8}-[0-9a-f-]{27}|(?=[\w-]*\d)[\w-]{16,}", re.IGNORECASE | re.ASCII
)


def generalised(url: str) -> str:
    """Return an address as a template: ids in its path and all values of its query become slots."""
    parts = web_address(url)
    if parts is None or "{" in url or "}" in url:
        return ""
    names = _numbered("id")
    steps = [f"{{{next(names)}}}" if _VARIABLE_STEP.fullmatch(step) else step for step in parts.path.split("/")]
    parameters = (pair.partition("=")[0] for pair in parts.query.split("&") if "=" in pair)
    return with_parameters(origin_of(url) + "/".join(steps), dict.fromkeys(parameters))


def _numbered(name: str) -> Iterator[str]:
    yield name
    for number in range(2, MAX_URL_CHARS):
        yield f"{name}{number}"


def _is_template(text: str) -> bool:
    try:
        text.encode()
        pieces_of(text)
    except ValueError:
        return False
    return True


def domain_of(url: str) -> str:
    """Return the domain that patterns of an address are kept under, whoever finds them; "" where it is none."""
    try:
        return site_of(url)
    except FaultError:
        return ""


def host_of(url: str) -> str:
    """Return the host of an address, with its port where that is not the usual one."""
    return origin_of(url).partition("://")[2]


def pattern_id(domain: str, page: str, request: ApiRequest, owner: tuple[str, str]) -> str:
    """Return the id of a hint: the same for the same request, whoever finds it."""
    facts = "\n".join((domain, page, request.method, request.url, request.body, *owner))
    return f"pat_{blake2b(facts.encode(), digest_size=10).hexdigest()}"
