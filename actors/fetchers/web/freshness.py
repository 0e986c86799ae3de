"""Judges by RFC 9111 whether a stored answer may be given again, by what is said in headers and the time of day."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_tz
from enum import Enum, auto
from http import HTTPStatus

from protocol.web import KeptAnswer

HEURISTIC = frozenset({200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501})
"""Statuses that may be given again although nothing says for how long (RFC 9110 §15.1); partial ones are not kept."""

ERRORS = frozenset({500, 502, 503, 504})
"""What RFC 5861 §4 calls an error."""

_HEURISTIC_SHARE = 0.1
"""Of the time since the last change, as RFC 9111 §4.2.2 has it."""

_HEURISTIC_MAX_S = 7 * 86_400.0
_FOREVER_S = 2**31
"""What RFC 9111 §1.2.2 has a cache take for more than it can count."""

_DIRECTIVE = re.compile(r'([!#$%&\'*+.^_`|~\w-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?', re.ASCII)


class Use(Enum):
    """What is to be done with a stored answer."""

    FRESH = auto()
    STALE = auto()
    VALIDATE = auto()


@dataclass(frozen=True)
class Asked:
    """What the Cache-Control of a request says; times in seconds."""

    no_cache: bool = False
    no_store: bool = False
    only_if_cached: bool = False
    max_age: float | None = None
    min_fresh: float = 0.0
    max_stale: float | None = None
    stale_if_error: float | None = None

    @classmethod
    def of(cls, cache_control: str | None) -> Asked:
        """Read the field of a request."""
        said = directives(cache_control)
        return cls(
            no_cache="no-cache" in said,
            no_store="no-store" in said,
            only_if_cached="only-if-cached" in said,
            max_age=seconds(said["max-age"]) if "max-age" in said else None,
            min_fresh=seconds(said.get("min-fresh")),
            max_stale=seconds(said["max-stale"] or str(_FOREVER_S)) if "max-stale" in said else None,
            stale_if_error=seconds(said["stale-if-error"]) if "stale-if-error" in said else None,
        )


def directives(cache_control: str | None) -> dict[str, str]:
    """Read a Cache-Control field; of several directives of one name the first counts (RFC 9111 §4.2.1)."""
    said: dict[str, str] = {}
    for name, quoted, token in _DIRECTIVE.findall(cache_control or ""):
        said.setdefault(name.lower(), quoted or token)
    return said


def seconds(value: str | None) -> float:
    """Read a number of seconds; what is none counts as 0, which makes stale (RFC 9111 §4.2.1)."""
    if value is None or not (value.isascii() and value.isdigit()):
        return 0.0
    return float(min(int(value[:11]), _FOREVER_S))


def http_date(value: str | None) -> float | None:
    """Read a date of HTTP in one of its three forms, as seconds since the epoch; None for what is none."""
    if not value:
        return None
    read = parsedate_tz(value)
    if read is None:
        return None
    try:
        return datetime(*read[:6], tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return None


def initial_age(headers: Mapping[str, str], asked_at: float, received_at: float) -> float:
    """Return how old an answer was when it came (RFC 9111 §4.2.3)."""
    date = http_date(headers.get("date"))
    apparent = max(0.0, received_at - date) if date is not None else 0.0
    # Of several values the first counts, and one that is no number is ignored (§5.1).
    first = headers.get("age", "").partition(",")[0].strip()
    return max(apparent, seconds(first) + (received_at - asked_at))


def age(kept: KeptAnswer, now: float) -> float:
    """Return how old a stored answer is (RFC 9111 §4.2.3)."""
    return kept.initial_age + max(0.0, now - kept.received_at)


def lifetime(kept: KeptAnswer, *, shared: bool = False) -> float:
    """Tell for how long an answer is fresh, from its Date on (RFC 9111 §4.2.1); 0 where nothing says so."""
    said = directives(kept.header("cache-control"))
    if shared and "s-maxage" in said:
        return seconds(said["s-maxage"])
    if "max-age" in said:
        return seconds(said["max-age"])
    date = http_date(kept.header("date")) or kept.received_at
    if (expires := _first(kept, "expires")) is not None:
        until = http_date(expires)
        return 0.0 if until is None else max(0.0, until - date)  # §5.3: an invalid date lies in the past
    return _heuristic(kept, date, public="public" in said)


def _heuristic(kept: KeptAnswer, date: float, *, public: bool) -> float:
    changed = http_date(kept.header("last-modified"))
    if changed is None or not (public or kept.status in HEURISTIC):
        return 0.0
    return min(max(0.0, (date - changed) * _HEURISTIC_SHARE), _HEURISTIC_MAX_S)


def judge(kept: KeptAnswer, asked: Asked, now: float, *, shared: bool = False) -> Use:
    """Return whether a stored answer that matches a request may be given without asking the site (RFC 9111 §4)."""
    if asked.no_cache or said_no_cache(kept):
        return Use.VALIDATE
    left = lifetime(kept, shared=shared) - age(kept, now)
    too_old = asked.max_age is not None and age(kept, now) > asked.max_age
    if left > 0 and left >= asked.min_fresh and not (too_old and asked.max_stale is None):
        return Use.FRESH
    if asked.max_stale is None or left < -asked.max_stale or never_stale(kept, shared=shared):
        return Use.VALIDATE
    return Use.STALE if left <= 0 else Use.FRESH


def may_replace_error(kept: KeptAnswer, asked: Asked, now: float, *, shared: bool = False) -> bool:
    """Return whether a stored answer may be given where the site fails (RFC 5861 §4)."""
    if asked.no_cache or said_no_cache(kept) or never_stale(kept, shared=shared):
        return False
    said = directives(kept.header("cache-control"))
    windows = [seconds(said["stale-if-error"])] if "stale-if-error" in said else []
    if asked.stale_if_error is not None:
        windows.append(asked.stale_if_error)
    return bool(windows) and age(kept, now) - lifetime(kept, shared=shared) <= max(windows)


def said_no_cache(kept: KeptAnswer) -> bool:
    """Return whether the whole answer is never given without asking; with names, only those fields (§5.2.2.4)."""
    return directives(kept.header("cache-control")).get("no-cache") == ""


def never_stale(kept: KeptAnswer, *, shared: bool = False) -> bool:
    """Return whether an answer is never given once it is stale, come what may (RFC 9111 §5.2.2.2, §5.2.2.8)."""
    said = directives(kept.header("cache-control"))
    return "must-revalidate" in said or (shared and ("proxy-revalidate" in said or "s-maxage" in said))


def storable(status: int, cache_control: str | None, vary: str, asked: Asked) -> bool:
    """Return whether anything forbids to keep an answer that hishel does not look at (RFC 9111 §3)."""
    if asked.no_store or "*" in names(vary):
        return False
    return "must-understand" not in directives(cache_control) or understood(status)


def understood(status: int) -> bool:
    """Return whether a status is one whose caching is known (RFC 9111 §5.2.2.3)."""
    return any(status == known for known in HTTPStatus) and status != HTTPStatus.PARTIAL_CONTENT


def names(vary: str | None) -> tuple[str, ...]:
    """Read a Vary field, in lower case."""
    return tuple(name.strip().lower() for name in (vary or "").split(",") if name.strip())


def matches(kept: KeptAnswer, fields: Mapping[str, str | None]) -> bool:
    """Return whether a request has what the Vary of a stored answer names (RFC 9111 §4.1)."""
    return all(normal(fields.get(name)) == value for name, value in kept.vary)


def normal(value: str | None) -> str | None:
    """Write a field so that whitespace about its commas makes no difference (RFC 9111 §4.1)."""
    return None if value is None else ",".join(part.strip() for part in value.split(","))


def newest(kept: Iterable[KeptAnswer]) -> KeptAnswer | None:
    """Return the most recent of several answers, by their Date (RFC 9111 §4)."""
    return max(kept, key=lambda one: (http_date(one.header("date")) or one.received_at, one.received_at), default=None)


def _first(kept: KeptAnswer, name: str) -> str | None:
    return next((value for field, value in kept.headers if field == name), None)
