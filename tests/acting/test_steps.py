"""In a real browser the verifier tells actions that did what was wanted from those that went wrong."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from actors.verifier.steps.rules import judge_step
from tests.acting.step_cases import collect
from tests.integration.playwright.viewing import Viewing, viewing

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]


@pytest.fixture(scope="module")
def web() -> Generator[Viewing]:
    """Share one browser."""
    with viewing() as running:
        yield running


@pytest.mark.parametrize(
    "first", [2_000, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2_004, 2_044, 4))]
)
def test_verdicts_about_steps_are_true(web: Viewing, first: int) -> None:
    cases = list(collect(web, range(first, first + 4)))

    wrong = [
        (case.seed, case.page, case.mishap) for case in cases if judge_step(case.claim).succeeded is not case.truth
    ]
    assert len(cases) >= 6
    assert wrong == []
