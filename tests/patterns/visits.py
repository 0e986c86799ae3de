"""Visits of pages over REST, and whether what came is right: the texts of the page, the fields of a rendered visit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from msgspec import UNSET
from rapidfuzz.distance import Indel
from turbohtml import parse

from protocol.browse import BrowseResult
from tests.flows.system import System
from tests.patterns.apps.model import AppPage
from tests.patterns.serving import Served

PROFILE = "reader"

_PARTS = ["tables", "markdown"]
"""What is asked for beside the words: of other parts Weft always shows the page itself."""

_LONG = 40
"""Characters from which a text of one page is not on another by chance."""

_BLOCKS = "p,div,ul,ol,li,dl,table,tr,td,section,article,main,h1,h2,h3,h4"
_LINK = re.compile(r"\[([^][]*)\]\([^()\s]*\)")
_SPACES = re.compile(r"[\s\u00a0\u202f]+")


@dataclass(frozen=True)
class Visit:
    """What came of a page: `result`, or the `code` of an error."""

    page: AppPage
    result: BrowseResult | None
    code: str = ""

    @property
    def by_pattern(self) -> bool:
        """Whether the page was made of an API's answers, without its document."""
        insights = self.result.learning_insights if self.result else UNSET
        return insights is not UNSET and insights.patterns_applied > 0

    @property
    def tiers(self) -> str:
        """The tiers that were tried, with the reasons of those that failed."""
        if self.result is None or self.result.decision_trace is UNSET:
            return self.code
        tried = self.result.decision_trace.tiers
        return ", ".join(f"{one.tier}{'' if one.success else f' ({one.failure_reason})'}" for one in tried)


def visit(weft: System, served: Served, page: AppPage, **options: object) -> Visit:
    """Browse a page of an application as a client does, with its login where it has one."""
    if served.app.login is not None:
        options["sessionProfile"] = PROFILE
    asked = {"includeDecisionTrace": True, "include": _PARTS, "freshnessRequirement": "realtime", **options}
    answer = weft.browse(served.url(page), **asked)
    if answer.status_code != 200:
        return Visit(page, None, str(answer.json()["code"]))
    return Visit(page, msgspec.json.decode(answer.content, type=BrowseResult))


def keep_login(weft: System, served: Served) -> None:
    """Save the login of an application that has one."""
    if served.app.login is None:
        return
    name, value = served.app.login
    state = {"cookies": [{"name": name, "value": value, "domain": served.host, "path": "/"}]}
    body = {"domain": served.host, "profile": PROFILE, "state": state}
    answer = weft.http.post("/api/sessions", json=body)
    assert answer.status_code == 200, answer.text


def missing(result: BrowseResult, page: AppPage) -> tuple[str, ...]:
    """Return the texts of a page that a result does not have."""
    fields = msgspec.json.encode(result.fields).decode() if result.fields is not UNSET else ""
    has = plain(f"{result.title}\n{result.content.text}\n{result.content.markdown}\n{fields}")
    return tuple(fact for fact in page.facts if plain(fact) not in has)


def wrong(result: BrowseResult, served: Served, page: AppPage) -> str:
    """Return why a result is not the page as it is now: what it lacks, or has of another; "" if it is."""
    lacking = missing(result, page)
    return f"lacks {lacking[:3]}" if lacking else stray(result, served, page)


def stray(result: BrowseResult, served: Served, page: AppPage) -> str:
    """Return what a result has of another page, or of this one as it was; "" for nothing."""
    has = plain(result.content.text)
    own = set(page.facts)
    others = [one for one in served.pages() if one.path != page.path]
    earlier = [one for one in served.app.pages(served.version - 1) if one.path == page.path] if served.version else []
    for other in (*others, *earlier):
        strange = next((one for one in other.facts if len(one) > _LONG and one not in own and plain(one) in has), None)
        if strange:
            return f"has of {other.path}: {strange}"
    return ""


def equal_fields(made: BrowseResult, rendered: BrowseResult) -> tuple[float, tuple[str, ...]]:
    """Return the share of fields and lines of two results that are equal, and those that are not.

    A line that the rendered page shows, as its HTML tells, is equal, whether or not extraction has left it out of it.
    """
    mine, theirs = Counter(_fields(made)), Counter(_fields(rendered))
    shown = blocks_of(rendered)
    extra = [one for one in mine - theirs if _LINK.sub(r"\1", one).removeprefix("line: ").strip("#*- ") not in shown]
    unlike = [*extra, *(theirs - mine)]
    return 1 - len(unlike) / (mine | theirs).total(), tuple(unlike)


def blocks_of(rendered: BrowseResult) -> set[str]:
    """Return the texts of the elements of a page, in which no other block stands."""
    assert isinstance(rendered.content.html, str)
    page = parse(rendered.content.html)
    return {plain(element.text) for element in page.select("body *") if not element.select(_BLOCKS)}


def alike(one: BrowseResult, other: BrowseResult) -> float:
    """Return how alike the texts of two results are, word for word."""
    return Indel.normalized_similarity(plain(one.content.text).split(), plain(other.content.text).split())


def plain(text: str) -> str:
    """Return a text without Markdown's signs, its spaces as one."""
    return _SPACES.sub(" ", re.sub(r"\\(?=[^\w\s])", "", text)).strip()


def _fields(result: BrowseResult) -> Iterator[str]:
    """Yield what a result says of a page, each as a text with its name; the lines without their place."""
    yield f"title: {result.title}"
    fields: dict[str, object] = msgspec.to_builtins(result.fields) if result.fields is not UNSET else {}
    yield from (f"{name}: {value}" for name, value in fields.items())
    for place, table in enumerate(result.tables if result.tables is not UNSET else ()):
        yield from (f"table {place}: {row}" for row in (table.headers, *table.rows))
    lines = (plain(line) for line in result.content.markdown.splitlines())
    yield from (f"line: {line}" for line in lines if re.search(r"\w", line))
