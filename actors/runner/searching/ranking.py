"""Chooses among what an engine has found, pure: no advertisement, nothing twice, few of one host."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from actors.normalized_urls import normalized
from protocol.faults import FaultError
from protocol.search import MAX_PER_HOST, MAX_RESULTS, EngineKind, SearchHit

MAX_TITLE_CHARS: Final = 300
MAX_SNIPPET_CHARS: Final = 500
MAX_READ: Final = 200
"""Results of one answer that are looked at."""

PRIORS: Final[Mapping[EngineKind | None, float]] = MappingProxyType(
    {EngineKind.SEARXNG: 0.85, EngineKind.BRAVE: 0.9, EngineKind.TAVILY: 0.9, EngineKind.PAGE: 0.7, None: 0.6}
)
"""How sure it is that a first result is one, by who has found it: an API says what is none, on a page it is guessed.
None: the own index. Set by judgement: nobody has labelled results for it."""

_UNCOVERED: Final = 0.5
"""What is left of that where a result has no word of the query."""

_FADING: Final = 0.97
"""What is left of it from one result to the next."""

_WRAPPED: Final[Mapping[str, str]] = MappingProxyType({"/url": "q", "/l/": "uddg", "/r/": "u", "/redirect": "url"})
"""The parameter of an engine's own address that names where it leads, by its path."""

_YAHOO: Final = re.compile(r"/RU=([^/]+)/")
_ADS: Final = re.compile(
    r"(?:^|\.)(?:doubleclick\.net|googleadservices\.com|googlesyndication\.com|adservice\.google\.[a-z.]+|bingads\.com)$"
)
_AD_PATHS: Final = re.compile(r"^/(?:aclick?|aclk|y\.js|ck/a)\b")
_TAG: Final = re.compile(r"<[^<>]{0,200}>")
_WORD: Final = re.compile(r"\w+")


class FoundResult(Struct, frozen=True, kw_only=True):
    """A result as an engine tells it; `weight` is how good the engine says it is (0 to 1)."""

    url: str
    title: str
    snippet: str = ""
    published: str = ""
    weight: float = 1.0


def best_hits(results: Iterable[FoundResult], query: str, kind: EngineKind, engine_url: str) -> tuple[SearchHit, ...]:
    """Return the results to show, in the order of the engine."""
    own, hosts, places = _site(urlsplit(engine_url).hostname or ""), Counter[str](), set[str]()
    hits = list[SearchHit]()
    for result, _ in zip(results, range(MAX_READ), strict=False):
        url = _led_to(result.url, own)
        if (place := _spelled(url)) is None or place in places or _is_noise(url, own):
            continue
        host = _bare(urlsplit(url).hostname or "")
        title, snippet = cleaned(result.title, MAX_TITLE_CHARS), cleaned(result.snippet, MAX_SNIPPET_CHARS)
        places.add(place)
        if not title or hosts[host] == MAX_PER_HOST:
            continue
        hosts[host] += 1
        sure = confidence(PRIORS[kind] * result.weight, query, f"{title} {snippet} {url}", len(hits))
        hits.append(SearchHit(url=url, title=title, snippet=snippet, confidence=sure, published=result.published[:40]))
        if len(hits) == MAX_RESULTS:
            break
    return tuple(hits)


def confidence(prior: float, query: str, text: str, place: int) -> float:
    """Return how sure it is that a text is a result: less without the words of the query, and further down."""
    wanted = {word for word in _words(query) if len(word) > 1} or set(_words(query))
    covered = len(wanted & set(_words(text))) / len(wanted) if wanted else 0.0
    return round(min(max(prior, 0.0), 1.0) * (_UNCOVERED + (1 - _UNCOVERED) * covered) * _FADING**place, 3)


def cleaned(text: str, most: int) -> str:
    """Return a text in one line, without tags, cut at a word."""
    line = " ".join(unescape(_TAG.sub("", text[: 8 * most])).split())
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]}…"


def _words(text: str) -> Iterator[str]:
    return (match[0].removesuffix("s") for match in _WORD.finditer(text.casefold()))


def _led_to(url: str, own: str) -> str:
    """Return where an address of the engine's own leads, or the address itself."""
    try:
        parts = urlsplit(url.strip())
        if _site(parts.hostname or "") != own:
            return url.strip()
        if (yahoo := _YAHOO.search(parts.path)) is not None:
            return parse_qs(f"u={yahoo[1]}")["u"][0]
        name = next((one for path, one in _WRAPPED.items() if parts.path.startswith(path)), "")
        return parse_qs(parts.query).get(name, [url.strip()])[0]
    except (ValueError, KeyError):
        return url.strip()


def _spelled(url: str) -> str | None:
    """Return the one spelling of an address of the web; None for anything else, which is no result."""
    if not url.lower().startswith(("http://", "https://")):
        return None
    try:
        return normalized(url)
    except (ValueError, FaultError):
        return None


def _is_noise(url: str, own: str) -> bool:
    """Return whether an address leads to the engine itself, or is an advertisement."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return bool(_ADS.search(host) or _AD_PATHS.search(parts.path)) or (bool(own) and _site(host) == own)


def _site(host: str) -> str:
    """Return what the hosts of an engine have in common: its last two labels, or an address whole."""
    return host if re.fullmatch(r"[\d.]+|.*:.*", host) else ".".join(host.split(".")[-2:])


def _bare(host: str) -> str:
    return host.removeprefix("www.")
