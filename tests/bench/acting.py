"""Acting on pages, judged by the pages themselves: the tasks of MiniWoB++, which tell what was reached.

Three questions: are the tree and its actions enough for scripted players; what does `act` reach without any model; and
do the verdicts on the steps of an episode agree with its page, also where the episode was sabotaged.
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
from msgspec import structs

from actors.planner.page_evidence import before_state
from actors.verifier.steps.attribution import StepEvidence
from actors.verifier.steps.rules import verdict_of
from protocol.acting.actions import ActionCall
from protocol.acting.steps import SUCCESS_CONFIDENCE, ClientEvidence, StepClaim
from protocol.acting.tree import PageTree, SemanticNode
from protocol.browsers.results import Done
from protocol.faults import FaultError
from tests.acting.episode import NotShownError, Played, played_as
from tests.acting.miniwob import Episode, MiniWob, miniwob, tasks
from tests.acting.oracles import ORACLES
from tests.bench.steps import calibration_error
from tests.bench.table import Row
from tests.integration.playwright.browsing import Browsing
from tests.integration.playwright.driving import site_and_browser
from tests.support.system import RunningWeft, running_weft

SEEDS: Final = tuple(int(seed) for seed in os.environ.get("WEFT_BENCH_SEEDS", "11,12,13,14,15").split(","))
CHOSEN: Final = frozenset(filter(None, os.environ.get("WEFT_BENCH_TASKS", "").split(",")))
"""The tasks that are played; all of them without any."""

EASIEST: Final = 100
ACT_S: Final = 120.0
CERTAINTY: Final = 0.98
"""How sure a player says to be of its actions: near the share of the episodes it ended that were right (591 of 599)."""

SABOTAGES: Final = ("dropped", "wrong target", "neighbour")
READING: Final = frozenset({"wait", "getText", "getAttribute", "dropdownOptions", "screenshot", "getTabs"})


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
        rows = [*_oracle_rows(oracle), *_verdict_rows(judged)]
        return [*rows, *await _act_rows(site, oracle.goals)]


def _names() -> list[str]:
    return [name for name in tasks() if not CHOSEN or name in CHOSEN]


# -- scripted players --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EpisodeVerdict:
    """How sure it is by the verdicts on all steps of an episode that its task is done, and whether its page says so."""

    confidence: float
    rewarded: bool

    @property
    def claimed(self) -> bool:
        """Whether that is enough for the task to count as done."""
        return self.confidence >= SUCCESS_CONFIDENCE


@dataclass
class Watched(Played):
    """An episode of which each step is kept for a verdict; one of its actions may be sabotaged."""

    sabotage: str = ""
    at: int = -1
    steps: list[StepClaim] = field(default_factory=list[StepClaim])
    sabotaged: bool = False
    _latest: PageTree | None = None

    def look(self, *, everywhere: bool = True) -> tuple[SemanticNode, ...]:
        """Read the page anew; returns what stands below what it asks."""
        shown = super().look(everywhere=everywhere)
        self._latest = self.page
        return shown

    def do(self, name: str, /, **arguments: Any) -> Done:
        """Perform an action, or what sabotage makes of it, and keep the page before and after it."""
        if name in READING:
            return super().do(name, **arguments)
        before, known = self._latest or self.page, self.page
        sabotaged = self.sabotage and self.at in {len(self.steps), -1} and not self.sabotaged
        done = self._sabotaged(name, arguments) if sabotaged else super().do(name, **arguments)
        self.look()
        after, self.page = self.page, known  # a player goes by what it has seen
        self.steps.append(_claim(ActionCall(name=name, arguments=arguments), before, after))
        return done

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

    def confidence(self) -> float:
        """Return how sure it is that the task is done: no surer than the least sure of its steps.

        A field that was filled again, because something kept it from being filled, counts as it was at last.
        """
        last = structs.replace(self.steps[-1], goal=self.goal, final=True)
        verdicts = [(one.action, verdict_of(StepEvidence.of(one))) for one in (*self.steps[:-1], last)]
        filled = {
            str(action.arguments["element"]): verdict for action, verdict in verdicts if action.name == "setValue"
        }
        others = (verdict for action, verdict in verdicts if action.name != "setValue")
        return min(verdicts[-1][1].task_confidence, *(one.confidence for one in (*filled.values(), *others)))


def _play_all(site: MiniWob) -> tuple[Tally, list[EpisodeVerdict]]:
    tally, judged = Tally(), list[EpisodeVerdict]()
    with site_and_browser() as web:
        for task in _names():
            for place, seed in enumerate(SEEDS):
                episode = site.episode(task, seed)
                verdict, count = _play(web, episode)
                tally.goals[task, seed] = episode.goal()
                tally.add(task, reached=(episode.reward() or 0.0) > 0.0)
                judged += [verdict] if verdict else []
                if place == 0 and task in ORACLES and count:
                    judged += _sabotages(web, site, task, seed, count)
    return tally, judged


def _sabotages(web: Browsing, site: MiniWob, task: str, seed: int, count: int) -> Iterator[EpisodeVerdict]:
    for sabotage in SABOTAGES:
        at = -1 if sabotage == "neighbour" else count - 1
        verdict, _ = _play(web, site.episode(task, seed), sabotage, at)
        if verdict is not None:
            yield verdict


def _play(web: Browsing, episode: Episode, sabotage: str = "", at: int = -1) -> tuple[EpisodeVerdict | None, int]:
    """Play an episode; returns what its steps come to, and how many there were.

    None where its player says itself that it has not come to its end, or where nothing was there to be sabotaged.
    """
    with played_as(Watched, web, episode) as game:
        game.sabotage, game.at = sabotage, at
        try:
            ORACLES.get(episode.task, _nobody)(game)
        except (NotShownError, LookupError, StopIteration, ValueError, FaultError, AssertionError) as error:
            _print(episode, sabotage, f"{type(error).__name__} {error}"[:200])
            return None, len(game.steps)
        if not game.steps or (sabotage and not game.sabotaged):
            return None, len(game.steps)
        verdict = EpisodeVerdict(game.confidence(), (episode.reward() or 0.0) > 0.0)
        if verdict.claimed is not verdict.rewarded:
            _print(episode, sabotage, f"found {verdict.confidence}, rewarded {episode.reward()}")
        return verdict, len(game.steps)


def _print(episode: Episode, sabotage: str, words: str) -> None:
    print(f"  {episode.task} {episode.seed} {sabotage}: {words}", file=sys.stderr, flush=True)


def _nobody(_game: Played) -> None:
    """Play nothing."""


def _claim(action: ActionCall, before: PageTree, after: PageTree) -> StepClaim:
    return StepClaim(
        goal="",
        step="",
        action=action,
        before=before_state(before),
        after=before_state(after),
        client=ClientEvidence(status="success", element_found=True),
        certainty=CERTAINTY,
        local_only=True,
    )


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


def _verdict_rows(judged: list[EpisodeVerdict]) -> list[Row]:
    done = [one for one in judged if one.claimed]
    wrong = [one for one in done if not one.rewarded]
    rewarded = [one for one in judged if one.rewarded]
    missed = [one for one in rewarded if not one.claimed]
    error = calibration_error((one.confidence, one.rewarded) for one in judged)
    false_share, missed_share = 100 * len(wrong) / max(len(done), 1), 100 * len(missed) / max(len(rewarded), 1)
    return [
        Row("verdicts: false success", f"{len(wrong)} of {len(done)}", "the page", false_share, 2, "<=", "%"),
        Row("verdicts: missed success", f"{len(missed)} of {len(rewarded)}", "the page", missed_share, 5, "<=", "%"),
        Row("verdicts: calibration error", f"{len(judged)} episodes", "the page", error, 0.05, "<=", ""),
    ]


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
