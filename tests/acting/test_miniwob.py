"""The harness by which MiniWoB++ judges what is done on its pages."""

from __future__ import annotations

import re
from collections.abc import Generator

import pytest

from tests.acting.episode import played
from tests.acting.miniwob import TASKS, MiniWob, miniwob, tasks
from tests.integration.playwright.browsing import Browsing
from tests.integration.playwright.driving import site_and_browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]


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


@pytest.mark.full
def test_that_each_seed_asks_the_same_each_time_and_the_page_judges_what_was_done(web: Browsing, site: MiniWob) -> None:
    goals, rewards = list[str](), list[float | None]()
    for right in (True, False):
        episode = site.episode("click-test-2", 1)
        with played(web, episode) as game:
            goals.append(game.goal)
            wanted = re.findall(r"ONE|TWO", game.goal)[0]
            pressed = wanted if right else ({"ONE", "TWO"} - {wanted}).pop()
            game.press(pressed, "btn")
            rewards.append(episode.reward())

    assert goals == ["Click button ONE."] * 2
    assert rewards == [1.0, -1.0]


def test_that_the_package_has_all_tasks() -> None:
    found = tasks()

    assert len(found) in {0, TASKS}
