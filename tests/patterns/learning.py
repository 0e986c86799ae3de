"""How an application is learned: some visits as a client makes them, and whether the next page needs no document."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from tests.flows.system import System
from tests.patterns.serving import Served
from tests.patterns.visits import Visit, alike, equal_fields, keep_login, missing, stray, visit, wrong

VISITS = 3
"""Visits within which a kind of page is to be learned, or learned anew."""

EQUAL = 0.95
"""The share of fields, and the likeness of texts, from which on a page is the same as a rendered visit shows it."""

LEARN_S = 12.0
"""How long the learner may take for what it was told."""

_POLL_S = 0.1


@dataclass(frozen=True)
class Lesson:
    """What came of the visits of an application: `why` tells what is amiss, "" if nothing is.

    `left_out` are texts that extraction leaves out of rendered pages: a pattern has nobody to learn them from.
    """

    name: str
    learned: bool
    why: str = ""
    fields: float = 0.0
    text: float = 0.0
    unsafe: int = 0
    left_out: tuple[str, ...] = ()


def learn(weft: System, served: Served) -> Lesson:
    """Visit pages of an application, then one that nobody has seen, and compare that with a rendered visit of it."""
    keep_login(weft, served)
    left_out = list[str]()
    for page in served.pages()[:VISITS]:
        seen = visit(weft, served, page)
        if seen.result is None or stray(seen.result, served, page):
            return _lesson(served, seen, "a rendered visit")
        left_out += missing(seen.result, page)
    if not is_learned(weft, served, number=VISITS - 1):
        return Lesson(served.app.name, learned=False, why="not learned", unsafe=served.unsafe)
    return replace(_unseen(weft, served), left_out=tuple(left_out))


def is_learned(weft: System, served: Served, within_s: float = LEARN_S, number: int = 0) -> bool:
    """Return whether a page that was seen is made without its document, as soon as it is; renders none."""
    until = time.monotonic() + within_s
    while not (found := _without_rendering(weft, served, number)) and time.monotonic() < until:
        time.sleep(_POLL_S)
    return found


def _without_rendering(weft: System, served: Served, number: int) -> bool:
    return visit(weft, served, served.pages()[number], maxCostTier="intelligence").by_pattern


def _unseen(weft: System, served: Served) -> Lesson:
    page = served.pages()[VISITS]
    served.counts.clear()
    made = visit(weft, served, page)
    documents, unsafe = served.counts["page"] + served.counts["script"], served.unsafe
    if made.result is None or not made.by_pattern or (why := stray(made.result, served, page)) or documents:
        return _lesson(served, made, f"an unseen page, {documents} documents")
    rendered = visit(weft, served, page, forceTier="playwright", includeHtml=True)
    if rendered.result is None:
        return _lesson(served, rendered, "the rendered page")
    fields, unlike = equal_fields(made.result, rendered.result)
    text = alike(made.result, rendered.result)
    why = "" if fields >= EQUAL and text >= EQUAL else f"unlike {unlike[:5]}"
    if lacking := set(missing(made.result, page)) - set(missing(rendered.result, page)):
        why = f"lacks {sorted(lacking)[:3]}"
    return Lesson(served.app.name, learned=True, why=why, fields=fields, text=text, unsafe=unsafe + served.unsafe)


def _lesson(served: Served, seen: Visit, what: str) -> Lesson:
    why = wrong(seen.result, served, seen.page) if seen.result is not None else seen.code
    return Lesson(served.app.name, learned=False, why=f"{what}: {why} ({seen.tiers})", unsafe=served.unsafe)
