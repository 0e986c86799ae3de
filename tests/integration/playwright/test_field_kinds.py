"""Fields as sites have them, shown by a browser: what nobody may type into is told, and hardly anything else."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import anyio
import pytest

from actors.fields.field_kinds import field_kind
from protocol.browsers.operations import GetPageInfo
from protocol.browsers.pageinfo import ElementKind
from protocol.browsers.results import PageInfo
from protocol.policy import AskField, FieldFacts, FieldKind
from tests.hostile.fields import CorpusField, CorpusForm, forms
from tests.integration.playwright.browsing import Browsing
from tests.integration.playwright.driving import Driving, driving, site_and_browser
from tests.support.scale import sized

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

LIMIT_S = 240.0
MOST_FALSE_DENIES = 0.03
FIELDS = frozenset({ElementKind.INPUT, ElementKind.SELECT, ElementKind.FILE, ElementKind.EDITOR})


@dataclass(frozen=True)
class Told:
    """A field of the corpus, and what was said of it."""

    field: CorpusField
    kind: FieldKind
    why: str
    facts: FieldFacts


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with site_and_browser() as running:
        yield running


@pytest.fixture(scope="module")
def told(web: Browsing) -> tuple[Told, ...]:
    with driving(web) as it:
        tried = forms()[:: len(forms()) // sized(len(forms()) // 2, len(forms()))]
        return tuple(one for form in tried for one in _told(it, form))


def _told(it: Driving, form: CorpusForm) -> list[Told]:
    it.show(form.html)
    info = it.do(GetPageInfo(max_elements=200, visible_only=False), PageInfo)
    ids = [one.id for one in info.elements if one.type in FIELDS]
    assert len(ids) == len(form.fields), form.id
    facts = {one.id: one for one in it.web.portal.call(_facts, it, ids)}
    return [Told(field, *field_kind(facts[field.element]), facts[field.element]) for field in form.fields]


async def _facts(it: Driving, ids: Sequence[str]) -> list[FieldFacts]:
    with anyio.fail_after(LIMIT_S):
        return [
            await it.web.actor.describe_field(AskField(caller="driver", session=it.session, element_id=one))
            for one in ids
        ]


@pytest.mark.parametrize("held_out", [False, True], ids=["tuning", "held out"])
def test_every_sensitive_field_is_told(told: tuple[Told, ...], held_out: bool) -> None:  # noqa: FBT001 - a parameter of the test
    sensitive = [one for one in told if one.field.kind.sensitive and one.field.held_out is held_out]
    missed = [(one.field.id, one.facts.label, one.why) for one in sensitive if not one.kind.sensitive]

    assert missed == []


@pytest.mark.parametrize("held_out", [False, True], ids=["tuning", "held out"])
def test_hardly_any_other_field_is(told: tuple[Told, ...], held_out: bool) -> None:  # noqa: FBT001 - a parameter of the test
    ordinary = [one for one in told if not one.field.kind.sensitive and one.field.held_out is held_out]
    denied = [(one.field.id, one.facts.label, one.why) for one in ordinary if one.kind.sensitive]

    assert len(denied) <= MOST_FALSE_DENIES * len(ordinary), denied
