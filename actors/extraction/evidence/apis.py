"""Finds the APIs that the source of a page speaks of; none of them is ever called here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, cast
from urllib.parse import SplitResult, parse_qsl, urlsplit

from msgspec import UNSET, Struct
from turbohtml import Element

from actors.extraction.evidence.embedded import embedded
from actors.extraction.parse.addresses import absolute
from actors.extraction.parse.tree import Page
from protocol.browse import ApiPattern, ApiProvenance
from protocol.patterns.pattern import PatternSource

MAX_APIS = 20
MAX_SCRIPT_CHARS = 400_000
"""How much of one script is searched."""

MAX_TOTAL_CHARS = 1_500_000
MAX_HITS = 200
"""How many places of one page are looked at."""

MAX_ADDRESS_CHARS = 500
MAX_PARAMETERS = 20
MAX_VALUE_CHARS = 100

_FOUND = ApiProvenance(source=PatternSource.API_EXTRACTION)
_SCORE = 0.3
"""What is only read in a source may be dead, or need what nobody sees."""

Method = Literal["GET", "POST", "PUT", "DELETE", "PATCH"]

_ADDRESS = r"""(["'`])((?:https?:)?/[^"'`\s<>]{1,500})"""
_CALLS: dict[str, re.Pattern[str]] = {
    "fetch(": re.compile(rf"\bfetch\(\s{{0,9}}{_ADDRESS}"),
    "axios": re.compile(rf"\baxios(?:\.(?P<method>get|post|put|delete|patch))?\(\s{{0,9}}{_ADDRESS}"),
    ".open(": re.compile(rf"\.open\(\s{{0,9}}[\"'](?P<method>[A-Za-z]{{3,6}})[\"']\s{{0,9}},\s{{0,9}}{_ADDRESS}"),
    "$.": re.compile(rf"\$\.(?P<method>get|post)(?:JSON)?\(\s{{0,9}}{_ADDRESS}"),
    ".ajax(": re.compile(rf"\.ajax\(\s{{0,9}}\{{[^{{}}]{{0,300}}?\burl\s{{0,9}}:\s{{0,9}}{_ADDRESS}"),
}
"""What a script must hold for a pattern to be tried, and the calls with the address that they name."""

_CALLERS = {"fetch(": "fetch", "axios": "axios", ".open(": "XMLHttpRequest", "$.": "jQuery", ".ajax(": "jQuery"}
_MARKS = ("/api/", "/graphql", "/wp-json/", "/rest/v", "/ajax/", "/_next/data/", "/products.json", "/search.json")
_METHOD = re.compile(r"""\b(?:method|type)\s{0,9}:\s{0,9}["'](GET|POST|PUT|DELETE|PATCH)["']""", re.IGNORECASE)
_MEDIA_TYPE = re.compile(r"application/[\w.+-]{1,60}")
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH"})
_PLACEHOLDER = re.compile(r"\$\{([^{}]{0,80})\}")
_LAST_NAME = re.compile(r"[A-Za-z_]\w{0,40}")
_ADDRESS_STARTS = ("/", "http://", "https://")
_ADDRESS_ENDS = "\"'`<> \n\t\\,;()"
_NO_API = re.compile(r"\.(?:m?js|css|png|jpe?g|gif|svg|webp|ico|woff2?|ttf|mp4|pdf|html?|map)$")
_SECRET = re.compile(r"key|token|secret|sig(?:nature)?$|auth|passw|pwd|session|credential|nonce|jwt|hash|code$")
_OPAQUE_STEP = re.compile(r"(?=[^/]{0,80}\d)[\w-]{30,}")
_OPAQUE = re.compile(r"[\w+/=.-]{24,}")
_MASK = "***"

_HOLDERS = (
    "data-api-url", "data-api", "data-endpoint", "data-api-endpoint", "data-ajax-url", "data-rest-url", "data-graphql",
)  # fmt: skip
_MARKED = (
    "link[rel~=alternate][type*=json], link[rel='https://api.w.org/'], link[rel~=preload][as=fetch],"
    " link[rel~=service-desc], link[rel~=service-doc], link[rel~=openapi], form[action],"
    " a[href*=openapi], a[href*=swagger], a[href*=graphql]," + ",".join(f"[{name}]" for name in _HOLDERS)
)
_TYPED = "input[type=text], input[type=search], input:not([type]), select"


class _Mention(Struct, frozen=True):
    """An address that the source names and where; its method, type of answer and parameters, if it says them."""

    address: str
    reason: str
    method: str = ""
    answer: str = ""
    fields: tuple[str, ...] = ()


def discover(page: Page) -> tuple[ApiPattern, ...]:
    """Return the endpoints of the page's own site that its source names, surest places first; each once."""
    patterns: dict[tuple[str, str], ApiPattern] = {}
    site = _site(page.base) or _site(page.url)
    for sighting in _mentions(page):
        pattern = _pattern(page, sighting, site)
        if pattern is not None:
            patterns.setdefault((pattern.method, pattern.endpoint), pattern)
        if len(patterns) >= MAX_APIS:
            break
    return tuple(patterns.values())


def _mentions(page: Page) -> Iterator[_Mention]:
    marked = page.root.select(_MARKED)[:MAX_HITS]
    forms = [element for element in marked if element.tag == "form"]
    yield from _linked([element for element in marked if element.tag in {"link", "a"}])
    codes = list(_codes(page))
    for code in codes:
        yield from _called(code)
    yield from _attributed(marked)
    for code in codes:
        yield from _named(code)
    yield from _forms(forms)


def _linked(elements: Sequence[Element]) -> Iterator[_Mention]:
    for element in elements:
        relation = element.attrs.get("rel") or ""
        words = relation if isinstance(relation, str) else " ".join(relation)
        reason = (
            f'named by a link with rel="{words[:40]}"' if element.tag == "link" else "linked as one that is described"
        )
        kind = (element.attr("type") or "").strip().lower()
        yield _Mention(element.attr("href") or "", reason, answer=kind if _MEDIA_TYPE.fullmatch(kind) else "")


def _called(code: str) -> Iterator[_Mention]:
    for mark, pattern in _CALLS.items():
        if mark not in code:
            continue
        for number, call in enumerate(pattern.finditer(code)):
            if number >= MAX_HITS:
                break
            method = call.groupdict().get("method") or _method_near(code, call.start(), call.end())
            yield _Mention(call.group(call.lastindex or 0), f"called by an inline script ({_CALLERS[mark]})", method)


def _method_near(code: str, start: int, end: int) -> str:
    """Return the method that the options of a call name: they end with its line or bracket."""
    options = code[start : end + 200]
    stop = options.find(")", end - start)
    match = _METHOD.search(options if stop < 0 else options[:stop])
    return match.group(1) if match else ""


def _named(code: str) -> Iterator[_Mention]:
    """Return addresses in texts of a script that look like those of APIs."""
    hits = 0
    for mark in _MARKS:
        position = code.find(mark)
        while position >= 0 and hits < MAX_HITS:
            hits += 1
            start, end = position, position + len(mark)
            while start > 0 and position - start < MAX_ADDRESS_CHARS and code[start - 1] not in _ADDRESS_ENDS:
                start -= 1
            while end < len(code) and end - position < MAX_ADDRESS_CHARS and code[end] not in _ADDRESS_ENDS:
                end += 1
            if (named := code[start:end]).startswith(_ADDRESS_STARTS):
                yield _Mention(named, "named in an inline script")
            position = code.find(mark, end)


def _attributed(elements: Sequence[Element]) -> Iterator[_Mention]:
    for element in elements:
        for name in _HOLDERS:
            if value := element.attr(name):
                yield _Mention(value, f"named by an attribute ({name})")


def _forms(forms: Sequence[Element]) -> Iterator[_Mention]:
    for form in forms:
        if (form.attr("method") or "get").strip().lower() == "get" and (action := form.attr("action")):
            named = [name for field in form.select(_TYPED)[:MAX_PARAMETERS] if (name := field.attr("name"))]
            yield _Mention(action, "where a form of the page is sent", "GET", fields=tuple(named))


def _codes(page: Page) -> Iterator[str]:
    left = MAX_TOTAL_CHARS
    for script in embedded(page).code:
        code = script[: min(MAX_SCRIPT_CHARS, max(left, 0))]
        left -= len(code)
        yield code.replace("\\/", "/") if "\\/" in code else code


def _pattern(page: Page, sighting: _Mention, site: str) -> ApiPattern | None:
    """Describe an endpoint; None for an address of another site, of a file, or for none."""
    address = sighting.address.strip()[:MAX_ADDRESS_CHARS]
    if not address or address[0] in "#?" or "\\" in address:
        return None
    address = _PLACEHOLDER.sub(
        lambda placeholder: f"{{{(_LAST_NAME.findall(placeholder.group(1)) or ['value'])[-1]}}}", address
    )
    parts = _split(absolute(page.base, address))
    if parts is None or _site(f"{parts.scheme}://{parts.netloc}") != site or _NO_API.search(parts.path.lower()):
        return None
    method = sighting.method.upper()
    parameters = {**dict.fromkeys(sighting.fields, ""), **_parameters(parts.query)}
    path = "/".join("{id}" if _OPAQUE_STEP.fullmatch(step) else step for step in parts.path.split("/"))
    return ApiPattern(
        endpoint=f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}",
        method=cast("Method", method) if method in _METHODS else "GET",
        confidence="low",
        can_bypass=False,
        response_type=sighting.answer or UNSET,
        params=parameters or UNSET,
        provenance=_FOUND,
        reason=sighting.reason if method else f"{sighting.reason}; the method is not said",
        confidence_score=_SCORE,
    )


def _parameters(query: str) -> dict[str, str]:
    """Return the parameters of an address; what may be a secret is masked."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        return {}
    return {name[:MAX_VALUE_CHARS]: _masked(name, value) for name, value in pairs}


def _masked(name: str, value: str) -> str:
    if value and (_SECRET.search(name.lower()) or _OPAQUE.fullmatch(value)):
        return _MASK
    return value[:MAX_VALUE_CHARS]


def _split(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return None
    return parts if parts.scheme in {"http", "https"} and host else None


def _site(address: str) -> str:
    """Return the part of a host that its site's hosts share: two labels, three where the last but one is short."""
    parts = _split(address)
    labels = (parts.hostname or "").split(".") if parts else []
    count = 3 if len(labels) > 2 and len(labels[-2]) <= 3 else 2  # noqa: PLR2004 - "co.uk", "com.au"
    return ".".join(labels[-count:])
