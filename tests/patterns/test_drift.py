"""An API that changes is never believed: the page comes right in the same call, and is learned anew."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

import pytest

from tests.conftest import COUNTS
from tests.flows.system import System
from tests.patterns.apps import APART, APPLICATIONS
from tests.patterns.changes import Change, fitting
from tests.patterns.learning import VISITS, is_learned, learn
from tests.patterns.serving import TRANSIENT, Served, serving
from tests.patterns.visits import Visit, missing, stray, visit
from tests.support.scale import first

pytestmark = [pytest.mark.nats, pytest.mark.browser, pytest.mark.slow]

FIRST = ("stories", "remixed")
TRIALS = 1_000
SAME_CALL = 0.99
RECOVERED = 0.9
"""Of all changes: some meet kinds of pages that no page seen before had, which take more visits to learn."""

KEPT = 0.95
"""Of all applications: one whose pages extraction reads unlike each time loses trust without any trouble, too."""

PATIENT_VISITS = 12

Record = Callable[[str, object], None]


@dataclass(frozen=True)
class Trial:
    """What came of a change: `wrong` is what was given as good and is not, `fell_back` whether the call had a page."""

    name: str
    change: str
    wrong: str
    fell_back: bool
    recovered: bool
    unsafe: int


@pytest.fixture(scope="module")
def served(weft: System) -> Generator[list[Served]]:
    """Serve two applications that are known."""
    with serving([app for app in APPLICATIONS if app.name in FIRST], 9) as served:
        for one in served:
            lesson = learn(weft, one)
            assert lesson.learned, lesson.why
        yield served


@pytest.mark.parametrize("change", [Change.RENAMED, Change.EMPTIED, Change.LOGIN_PAGE, Change.STALE])
@pytest.mark.parametrize("number", first(1, range(len(FIRST))), ids=FIRST)
def test_a_change_is_noticed_and_learned_anew(weft: System, served: list[Served], number: int, change: Change) -> None:
    _ready(weft, served[number])

    trial = change_and_visit(weft, served[number], change, itertools.count(VISITS))
    assert (trial.wrong, trial.fell_back, trial.recovered, trial.unsafe) == ("", True, True, 0)


def test_new_words_are_given_at_once(weft: System, served: list[Served]) -> None:
    one = served[0]
    _ready(weft, one)
    one.version += 1

    found = visit(weft, one, one.pages()[4])
    assert (found.by_pattern, _amiss(weft, one, found)) == (True, "")


def test_passing_trouble_changes_no_trust(weft: System, served: list[Served]) -> None:
    one = served[1]
    _ready(weft, one)

    amiss, still = with_trouble(weft, one)
    assert (amiss, still, one.unsafe) == ([], True, 0)


@pytest.mark.full
@pytest.mark.timeout(4 * 3_600)
def test_a_thousand_changes(weft: System, record_property: Record) -> None:
    with serving([*APPLICATIONS, *APART], 10) as served:
        known = _well_known(weft, served)
        trials = list(itertools.islice(_trials(weft, known), TRIALS))
    fell_back, recovered = (sum(values) for values in zip(*((t.fell_back, t.recovered) for t in trials), strict=True))
    bad = [trial for trial in trials if trial.wrong or trial.unsafe]
    stuck = Counter(trial.name for trial in trials if not trial.recovered)

    record_property(COUNTS, f"{fell_back} of {len(trials)} pages in the same call, {recovered} learned anew; {stuck}")
    assert bad == []
    assert fell_back >= SAME_CALL * len(trials)
    assert recovered >= RECOVERED * len(trials)


@pytest.mark.full
@pytest.mark.timeout(3_600)
def test_passing_trouble_of_all_applications_changes_no_trust(weft: System, record_property: Record) -> None:
    with serving([*APPLICATIONS, *APART], 11) as served:
        known = _well_known(weft, served)
        found = {one.app.name: with_trouble(weft, one) for one in known}
    kept = sum(still for _, still in found.values())

    record_property(COUNTS, f"{kept} of {len(found)} are trusted as before, with {TRANSIENT:.0%} of answers failing")
    assert {name: amiss for name, (amiss, _) in found.items() if amiss} == {}
    assert kept >= KEPT * len(found)


def change_and_visit(weft: System, served: Served, change: Change | None, numbers: Iterator[int]) -> Trial:
    """Change an API, and visit pages: the first that comes, and as many as it takes until they need no document."""
    served.counts.clear()
    served.change_to(change)
    pages = served.pages()
    *turn, unseen = (number % len(pages) for number in itertools.islice(numbers, VISITS + 1))
    found = [visit(weft, served, pages[number]) for number in turn]
    amiss = next(filter(None, (_amiss(weft, served, one) for one in found if one.result is not None)), "")
    recovered = is_learned(weft, served, number=turn[-1])
    last = visit(weft, served, pages[unseen])
    amiss = amiss or (_amiss(weft, served, last) if last.result is not None else "")
    what = "back" if change is None else change.value
    return Trial(served.app.name, what, amiss, found[0].result is not None, recovered, served.unsafe)


def with_trouble(weft: System, served: Served) -> tuple[list[str], bool]:
    """Visit pages while some answers fail; returns what was amiss, and whether the application is still trusted."""
    served.failing = TRANSIENT
    found = [visit(weft, served, page) for page in served.pages()[:PATIENT_VISITS]]
    served.failing = 0.0
    amiss = [why for one in found if (why := _amiss(weft, served, one))]
    return amiss, is_learned(weft, served)


def _trials(weft: System, known: list[Served]) -> Iterator[Trial]:
    """Change one application after another, there and back, without end."""
    numbers = itertools.count(VISITS)
    while known:
        for one in known:
            for change in fitting(one.app):
                yield change_and_visit(weft, one, change, numbers)
                if one.change is not None:
                    yield change_and_visit(weft, one, None, numbers)


def _well_known(weft: System, served: list[Served]) -> list[Served]:
    """Learn applications; return those that are made as they are, and whole."""
    lessons = [learn(weft, one) for one in served]
    return [
        one
        for one, lesson in zip(served, lessons, strict=True)
        if lesson.learned and not lesson.why and not lesson.left_out
    ]


def _ready(weft: System, served: Served) -> None:
    """Bring an application back to where it is known, whatever an earlier test has left."""
    served.change_to(None)
    served.left = served.left and Change.STATUS
    for page in served.pages()[:VISITS]:
        visit(weft, served, page)
    assert is_learned(weft, served)


def _amiss(weft: System, served: Served, found: Visit) -> str:
    """Return what is wrong with a page: it has something of another, or lacks what a rendered visit of it has."""
    if found.result is None:
        return found.code
    if why := stray(found.result, served, found.page):
        return why
    lacking = set(missing(found.result, found.page))
    if not lacking:
        return ""
    rendered = visit(weft, served, found.page, forceTier="playwright")
    lacking -= set() if rendered.result is None else set(missing(rendered.result, found.page))
    return f"lacks {sorted(lacking)[:3]}" if lacking else ""
