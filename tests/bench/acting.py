"""Acting on pages, judged by the pages themselves: the tasks of MiniWoB++, which tell what was reached.

Three questions: are the tree and its actions enough for scripted players; what does `act` reach without any model; and
do the verdicts on the last step of an episode agree with its page, also where the episode was sabotaged.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio
import anyio.to_thread
import httpx2

from actors.planner.page_evidence import before_state
from actors.verifier.steps.attribution import StepEvidence
from actors.verifier.steps.rules import verdict_of
from protocol.acting.actions import ActionCall
from protocol.acting.tasks import SUCCESS_CONFIDENCE, ClientEvidence, StepClaim, StepVerdict
from protocol.acting.tree import PageTree
from protocol.browsers.results import Done
from protocol.faults import FaultError
from tests.acting.episode import NotShownError, Played, played_as
from tests.acting.miniwob import Episode, MiniWob, miniwob, tasks
from tests.acting.oracles import ORACLES
from tests.bench.table import Row
from tests.integration.playwright.browsing import Browsing
from tests.integration.playwright.driving import site_and_browser
from tests.support.system import RunningWeft, running_weft

SEEDS: Final = tuple(int(seed) for seed in os.environ.get("WEFT_BENCH_SEEDS", "11,12,13,14,15").split(","))
CHOSEN: Final = frozenset(filter(None, os.environ.get("WEFT_BENCH_TASKS", "").split(",")))
"""The tasks that are played; all of them without any."""

EASIEST: Final = 100
ACT_S: Final = 120.0
CERTAINTY: Final = 0.95
"""How sure a player says to be of its last action."""

SABOTAGES: Final = ("dropped", "wrong target", "neighbour")
READING: Final = frozenset({"wait", "getText", "getAttribute", "dropdownOptions", "screenshot", "getTabs"})
BINS: Final = 10


@dataclass
class Tally:
    """How many episodes of each task were reached, by the words of their pages, and what each episode asks."""

    reached: dict[str, list[bool]] = field(default_factory=lambda: defaultdict[str, list[bool]](list))
    goals: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])

    def add(self, task: str, *, reached: bool) -> None:
        """Count an episode."""
        self.reached[task].append(reached)
        print(f"  {task}: {'reached' if reached else 'missed'}", file=sys.stderr, flush=True)

    def tasks(self, least: int) -> int:
        """Return how many tasks were reached in so many of their episodes."""
        return sum(sum(one) >= least for one in self.reached.values())

    def best(self, count: int) -> float:
        """Return the share of episodes that were reached of the tasks that went best."""
        best = sorted(self.reached.values(), key=sum, reverse=True)[:count]
        return sum(map(sum, best)) / max(sum(map(len, best)), 1)


async def measure() -> list[Row]:
    """Return the rows of this benchmark."""
    with miniwob() as site:
        oracle, judged = await anyio.to_thread.run_sync(_play_all, site)
        return [*_oracle_rows(oracle), *_verdict_rows(judged), *await _act_rows(site, oracle.goals)]


def _names() -> list[str]:
    return [name for name in tasks() if not CHOSEN or name in CHOSEN]


# -- scripted players --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LastStep:
    """The verdict on the last step of an episode, and whether its page has rewarded it."""

    verdict: StepVerdict
    rewarded: bool


@dataclass
class Watched(Played):
    """An episode whose last action is kept for a verdict; one of its actions may be sabotaged."""

    sabotage: str = ""
    at: int = -1
    count: int = 0
    last: tuple[ActionCall, PageTree] | None = None
    sabotaged: bool = False

    def do(self, name: str, /, **arguments: Any) -> Done:
        """Perform an action, or what sabotage makes of it."""
        if name in READING:
            return super().do(name, **arguments)
        place, self.count = self.count, self.count + 1
        self.last = ActionCall(name=name, arguments=arguments), self.page
        if self.sabotage and (self.at in {place, -1}) and not self.sabotaged:
            return self._sabotaged(name, arguments)
        return super().do(name, **arguments)

    def _sabotaged(self, name: str, arguments: dict[str, Any]) -> Done:
        match self.sabotage:
            case "dropped":
                self.sabotaged = True
                return super().do("wait", seconds=0.05)
            case "wrong target" if other := self._other(arguments):
                self.sabotaged = True
                return super().do(name, **{**arguments, "element": other})
            case "neighbour" if name == "setValue" and (other := self._other(arguments)):
                self.sabotaged = True
                return super().do(name, **{**arguments, "element": other})
            case _:
                return super().do(name, **arguments)

    def _other(self, arguments: Mapping[str, Any]) -> str:
        """Return another element of the same role."""
        meant = self.page.node(str(arguments.get("element", "")))
        alike = (node for node in self.page.nodes if meant and node.role == meant.role and node.id != meant.id)
        return next((node.id for node in alike if node.id in self.page.elements), "")


def _play_all(site: MiniWob) -> tuple[Tally, list[LastStep]]:
    tally, judged = Tally(), list[LastStep]()
    with site_and_browser() as web:
        for task in _names():
            for place, seed in enumerate(SEEDS):
                episode = site.episode(task, seed)
                last, count = _play(web, episode)
                tally.goals[task, seed] = episode.goal()
                tally.add(task, reached=last is not None and last.rewarded)
                judged += [last] if last else []
                if place == 0:
                    judged += _sabotages(web, site, task, seed, count)
    return tally, judged


def _sabotages(web: Browsing, site: MiniWob, task: str, seed: int, count: int) -> Iterator[LastStep]:
    for sabotage in SABOTAGES if task in ORACLES and count else ():
        at = -1 if sabotage == "neighbour" else count - 1
        last, _ = _play(web, site.episode(task, seed), sabotage, at)
        if last is not None:
            yield last


def _play(web: Browsing, episode: Episode, sabotage: str = "", at: int = -1) -> tuple[LastStep | None, int]:
    """Play an episode; returns what is found of its last step, none where nothing was done, and how many there were."""
    task, seed = episode.task, episode.seed
    with played_as(Watched, web, episode) as game:
        game.sabotage, game.at = sabotage, at
        try:
            ORACLES.get(task, _nobody)(game)
        except (NotShownError, LookupError, StopIteration, ValueError, FaultError, AssertionError) as error:
            print(f"  {task} {seed} {sabotage}: {type(error).__name__} {error}"[:200], file=sys.stderr, flush=True)
        rewarded = (episode.reward() or 0.0) > 0.0
        if game.last is None or (sabotage and not game.sabotaged):
            return None, game.count
        action, before = game.last
        game.look()
        return LastStep(_verdict(game.goal, action, before, game.page), rewarded), game.count


def _nobody(_game: Played) -> None:
    """Play nothing."""


def _verdict(goal: str, action: ActionCall, before: PageTree, after: PageTree) -> StepVerdict:
    claim = StepClaim(
        goal=goal,
        step=goal,
        action=action,
        before=before_state(before),
        after=before_state(after),
        client=ClientEvidence(status="success", element_found=True),
        final=True,
        certainty=CERTAINTY,
        local_only=True,
    )
    return verdict_of(StepEvidence.of(claim))


def _oracle_rows(tally: Tally) -> list[Row]:
    full = tally.tasks(len(SEEDS))
    return [
        Row("tasks that players reach, all seeds", f"{full} tasks", f"{len(tally.reached)} tasks", full, 115, ">=", ""),
        Row(
            f"episodes of the {EASIEST} tasks that go best",
            f"{tally.best(EASIEST):.1%}",
            f"{len(SEEDS)} seeds",
            100 * tally.best(EASIEST),
            95,
            ">=",
            "%",
        ),
    ]


def _verdict_rows(judged: list[LastStep]) -> list[Row]:
    done = [one for one in judged if one.verdict.task_done and one.verdict.task_confidence >= SUCCESS_CONFIDENCE]
    wrong = [one for one in done if not one.rewarded]
    rewarded = [one for one in judged if one.rewarded]
    missed = [one for one in rewarded if one not in done]
    false_share, missed_share = 100 * len(wrong) / max(len(done), 1), 100 * len(missed) / max(len(rewarded), 1)
    return [
        Row("verdicts: false success", f"{len(wrong)} of {len(done)}", "the page", false_share, 2, "<=", "%"),
        Row("verdicts: missed success", f"{len(missed)} of {len(rewarded)}", "the page", missed_share, 5, "<=", "%"),
        Row("verdicts: calibration error", f"{len(judged)} steps", "the page", _ece(judged), 0.05, "<=", ""),
    ]


def _ece(judged: list[LastStep]) -> float:
    """Return the expected calibration error in equal bins of the confidence in the task."""
    bins = defaultdict[int, list[LastStep]](list)
    for one in judged:
        bins[min(int(one.verdict.task_confidence * BINS), BINS - 1)].append(one)
    gaps = (abs(sum(one.verdict.task_confidence - one.rewarded for one in inside)) for inside in bins.values())
    return sum(gaps) / max(len(judged), 1)


# -- act without any model ---------------------------------------------------------------------------------------------


async def _act_rows(site: MiniWob, goals: Mapping[tuple[str, int], str]) -> list[Row]:
    tally, verdicts = Tally(), list[tuple[bool, bool]]()
    with TemporaryDirectory(prefix="weft-bench-") as folder:
        async with running_weft(Path(folder)) as weft:
            for (task, seed), goal in goals.items():
                completed, rewarded = await _act(weft, site.episode(task, seed), goal)
                tally.add(task, reached=rewarded)
                verdicts.append((completed, rewarded))
    least = (len(SEEDS) + 1) // 2
    reached = tally.tasks(least)
    said = [rewarded for completed, rewarded in verdicts if completed]
    false_share = 100 * said.count(False) / max(len(said), 1)
    return [
        Row(
            "tasks that act reaches without a model",
            f"{reached} tasks",
            f"{least} of {len(SEEDS)} seeds",
            reached,
            40,
            ">=",
            "",
        ),
        Row(
            "act: completed, but not by its page",
            f"{said.count(False)} of {len(said)}",
            "the page",
            false_share,
            2,
            "<=",
            "%",
        ),
    ]


async def _act(weft: RunningWeft, episode: Episode, goal: str) -> tuple[bool, bool]:
    """Have an episode reached; returns whether act says that it was, and whether its page does."""
    asked = {"goal": goal, "url": episode.url, "localOnly": True, "screenshot": False}
    answer: dict[str, Any] = {}
    with suppress(httpx2.TimeoutException):
        async with weft.client(ACT_S) as client:
            answer = (await client.post("/api/act", json=asked)).json()
    reward = await anyio.to_thread.run_sync(episode.reward)
    return answer.get("status") == "completed", (reward or 0.0) > 0.0
