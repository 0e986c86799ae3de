"""What a tree says and the actions on it are enough to play the tasks of MiniWoB++, whose pages judge it."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.acting.episode import played
from tests.acting.miniwob import MiniWob, miniwob, tasks
from tests.acting.oracles import ORACLES, UNSOLVED
from tests.integration.playwright.browsing import Browsing
from tests.integration.playwright.driving import site_and_browser

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

SEED = 3
QUICK = frozenset(
    (
        "choose-list", "click-dialog-2", "click-shape", "drag-items", "email-inbox-delete", "enter-date",
        "grid-coordinate", "login-user",
    )
)  # fmt: skip
"""Some of all kinds; `--full` plays all."""


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    """Share one browser."""
    with site_and_browser() as running:
        yield running


@pytest.fixture(scope="module")
def site() -> Generator[MiniWob]:
    """Serve the pages of the tasks."""
    with miniwob() as serving:
        yield serving


@pytest.mark.parametrize(
    "task", [pytest.param(task, marks=() if task in QUICK else pytest.mark.full) for task in sorted(ORACLES)]
)
def test_a_task_is_done_by_what_the_tree_says(web: Browsing, site: MiniWob, task: str) -> None:
    episode = site.episode(task, SEED)
    with played(web, episode) as game:
        ORACLES[task](game)

        assert (episode.reward() or 0.0) > 0.0, game.goal


def test_every_task_is_played_or_has_a_reason_why_not() -> None:
    found = tasks()

    assert found == () or set(found) == {*ORACLES, *UNSOLVED}
    assert ORACLES.keys().isdisjoint(UNSOLVED)
