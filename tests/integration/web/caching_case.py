"""How a case of caching is written: requests one after another, and what becomes of each.

In values `{+30}` is a date of HTTP thirty seconds after the first request, `{-30}` one before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from protocol.browse import Freshness

Fields = tuple[tuple[str, str], ...]


class Then(Enum):
    """What becomes of a request: given from the cache, confirmed by the site, got anew, given for want of better..."""

    CACHE = auto()
    VALIDATED = auto()
    FETCHED = auto()
    INSTEAD = auto()
    """The site was asked and failed: what was kept is given instead."""

    ERROR = auto()
    """The site was asked and failed, and that is the answer."""

    NOTHING = auto()
    """The site was not asked: 504."""


@dataclass(frozen=True)
class Origin:
    """How the site answers: a request whose conditions fit with 304 unless `never_304`; `breaks` off instead."""

    fields: Fields = ()
    status: int = 200
    fields_304: Fields | None = None
    never_304: bool = False
    breaks: bool = False


@dataclass(frozen=True)
class Step:
    """One request, `after` seconds after the one before, what the site would say, and what becomes of it."""

    then: Then
    after: float = 0.0
    ask: Fields = ()
    site: Origin = field(default_factory=Origin)
    method: str = "GET"
    freshness: Freshness = Freshness.ANY
    partition: str = ""
    path: str = ""
    age: int | None = None
    body: int | None = None
    """Which of the site's answers is given, from 1; by itself the last that this request or its like got."""

    sends: Fields = ()
    """What the site must have been sent; an empty value: not at all."""


@dataclass(frozen=True)
class Case:
    """A clause, what it says, and the requests that show it."""

    clause: str
    says: str
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        """How the case is called."""
        return f"{self.clause} {self.says}"


ETAG = ("ETag", '"one"')
CHANGED = ("Last-Modified", "{-1000}")


def control(value: str) -> tuple[str, str]:
    """Write a Cache-Control field."""
    return ("Cache-Control", value)


def case(  # noqa: PLR0913 - a row of a table
    clause: str,
    says: str,
    stored: Fields,
    then: Then,
    *,
    after: float = 0.0,
    ask: Fields = (),
    first: Fields = (),
    status: int = 200,
    site: Origin | None = None,
    freshness: Freshness = Freshness.ANY,
    age: int | None = None,
    sends: Fields = (),
) -> Case:
    """Write a case of two requests: `first` and `ask` are their fields, `stored` those of the first answer."""
    origin = Origin(stored, status)
    begin = Step(Then.FETCHED, ask=first, site=origin)
    again = Step(then, after, ask, site or origin, freshness=freshness, age=age, sends=sends)
    return Case(clause, says, (begin, again))


def flow(clause: str, says: str, *steps: Step) -> Case:
    """Write a case of several requests."""
    return Case(clause, says, steps)


C, V, F = Then.CACHE, Then.VALIDATED, Then.FETCHED
MINUTE = (control("max-age=60"),)
STALE = (control("max-age=60"), ETAG)
DOWN, GONE = Origin(status=503), Origin(breaks=True)
