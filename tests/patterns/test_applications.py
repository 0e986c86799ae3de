"""Applications are learned from a few visits, and then a page that nobody has seen needs no document and no script."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.conftest import COUNTS
from tests.flows.system import System
from tests.patterns.apps import APART, APPLICATIONS, COUNTED, UNLEARNABLE
from tests.patterns.apps.model import Application
from tests.patterns.learning import EQUAL, VISITS, Lesson, is_learned, learn
from tests.patterns.serving import serving
from tests.patterns.visits import visit, wrong

pytestmark = [pytest.mark.nats, pytest.mark.browser, pytest.mark.slow]

FIRST = ("stories", "press", "remixed")
"""The applications that are always tried: articles by id, those of WordPress by slug, and by a data route of Next."""

LEARNED = 35
"""Of the forty that are known, so many are learned at least."""

REFUSED_S = 2.0
"""How long nothing may be learned of what must not be."""

Record = Callable[[str, object], None]


def named(*names: str) -> list[Application]:
    return [app for app in (*APPLICATIONS, *UNLEARNABLE) if app.name in names]


def lessons(weft: System, apps: Sequence[Application], first: int) -> list[Lesson]:
    with serving(apps, first) as served:
        return [learn(weft, one) for one in served]


def test_pages_that_nobody_has_seen_come_from_the_api_alone(weft: System) -> None:
    found = lessons(weft, named(*FIRST), 1)

    assert [(one.name, one.learned, one.why, one.unsafe) for one in found] == [(name, True, "", 0) for name in FIRST]
    assert min(one.fields for one in found) >= EQUAL


def test_what_counts_visits_is_never_asked_again(weft: System) -> None:
    (found,) = lessons(weft, named(COUNTED), 2)

    assert (found.learned, found.why, found.unsafe) == (True, "", 0)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(app.name, marks=[] if app.name == "signed" else [pytest.mark.full])
        for app in UNLEARNABLE
        if app.name != COUNTED
    ],
)
def test_what_must_not_be_learned_is_not(weft: System, name: str) -> None:
    with serving(named(name), 3) as (served,):
        for page in served.pages()[:VISITS]:
            assert visit(weft, served, page).result is not None
        learned = is_learned(weft, served, REFUSED_S)
        found = [visit(weft, served, page) for page in served.pages()[VISITS : VISITS + 2]]
        reasons = [one.code if one.result is None else wrong(one.result, served, one.page) for one in found]

        assert (learned, [one.by_pattern for one in found], reasons, served.unsafe) == (False, [False] * 2, [""] * 2, 0)


@pytest.mark.full
@pytest.mark.timeout(1_800)
def test_most_of_forty_applications_are_learned(weft: System, record_property: Record) -> None:
    found = lessons(weft, APPLICATIONS, 4)
    good = [one for one in found if one.learned and not one.why]

    _record(record_property, found, "known")
    assert (sum(one.unsafe for one in found), _wrong(found)) == (0, [])
    assert len(good) >= LEARNED, [(one.name, one.why) for one in found if one not in good]


@pytest.mark.full
@pytest.mark.timeout(900)
def test_applications_that_were_kept_apart(weft: System, record_property: Record) -> None:
    found = lessons(weft, APART, 5)

    _record(record_property, found, "kept apart")
    assert (sum(one.unsafe for one in found), _wrong(found)) == (0, [])


def _wrong(found: Sequence[Lesson]) -> list[tuple[str, str]]:
    """Return the lessons in which something wrong was given as good."""
    return [(one.name, one.why) for one in found if "lacks" in one.why or "has of" in one.why or "unlike" in one.why]


def _record(record_property: Record, found: Sequence[Lesson], what: str) -> None:
    good = [one for one in found if one.learned and not one.why]
    fields = sum(one.fields for one in good) / max(1, len(good))
    left = ", ".join(f"{one.name}: {one.why}" for one in found if one not in good)
    short = ", ".join(f"{one.name}: {one.left_out[:3]}" for one in found if one.left_out)
    said = f"{len(good)} of {len(found)} {what} learned, {fields:.1%} of fields equal; {left}; left out: {short}"
    record_property(COUNTS, said)
