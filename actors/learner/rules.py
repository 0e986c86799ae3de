"""The documented policy (004 "Self-Learning Mechanism"): what one look at the calls of all tools changes.

Every number of the document stands here, and every trigger of it fires. What it lacks are guards: they take back what
turns out badly, and keep a test that failed from beginning again at once (evidence.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import Struct

from actors.learner.call_evidence import PROBATION, UPGRADE_BELOW, CallEvidence, ToolEvidence, Trial, Window
from actors.learner.statistics import Ratio, SampleVerdict, SequentialTest
from protocol.models import LearningStep, ModelName, RoutesLearned, RouteStep
from protocol.routing import Routing

MIN_CALLS: Final = 10
"""004 `minCallsForOptimization`."""

TEST_FROM_RATE: Final = 0.95
TEST_FROM_CALLS: Final = 20
"""004 "Schedule Downgrade Tests", "Criteria"."""

TEST_EVERY: Final = 500
"""004 `DOWNGRADE_TEST_INTERVAL`: calls of all tools."""

SAMPLE: Final = 10
"""004 `DOWNGRADE_TEST_SAMPLE_SIZE`."""

KEEP_FROM: Final = 0.90
"""004 `SUCCESS_RATE_KEEP_THRESHOLD`."""

MAX_PENDING: Final = 3
MAX_NEW: Final = 2
"""004 "Max 3 pending tests at a time. Max 2 new tests per cycle"."""

RETURN_SAMPLE: Final = 20
RETURN_FROM: Final = 0.85
"""The test of a model that was replaced by a stronger one: 17 of 20."""

SEQUENTIAL: Final = SequentialTest(Ratio(0.82, 0.95), least=SAMPLE, most=60, accept=2.2, reject=-2.2)
SEQUENTIAL_UPGRADE: Final = 1.2
"""With `sequential_tests`: how much must speak for a change (WORSE) beside the rate before a model is replaced."""


class CurrentRoute(Struct, frozen=True):
    """Who is asked for a tool where nothing is learned, and whether a person wants it so.

    `void` is why what was learned of the tool no longer holds, if so. `per_look` are the calls between two looks.
    """

    name: ModelName
    manual: bool = False
    void: str = ""
    per_look: int = 0


class Look(Struct, frozen=True):
    """What a look is made with beside the evidence; `at` in ms since the epoch.

    `costs` are what a call of a tool to a model costs on average, in USD, where that is known.
    """

    at: int
    routes: Mapping[str, CurrentRoute]
    routing: Routing
    costs: Mapping[tuple[str, ModelName], float] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    sequential: bool = False


def decide(evidence: CallEvidence, look: Look) -> RoutesLearned | None:
    """Decide what a look changes; None where nothing does, and the calls need not be counted anew."""
    steps = dict[str, RouteStep]()
    for tool, current in look.routes.items():
        known = evidence.tools.get(tool, ToolEvidence())
        step = rerouted(tool, known, current) or (_corrected(tool, known, look) if not current.manual else None)
        if step is not None:
            steps[tool] = step
    room = min(MAX_NEW, MAX_PENDING - sum(tool not in steps for tool in evidence.pending()))
    counted = evidence.uncounted >= TEST_EVERY
    for tool, name in _wanted_tests(evidence, look, steps, counted=counted):
        if room <= 0:
            break
        steps[tool] = _test_started(tool, evidence.tools[tool], name, look)
        room -= 1
    for tool in evidence.pending():
        if tool not in steps and (ended := _evaluated(tool, evidence.tools[tool], look)) is not None:
            steps[tool] = ended
    return RoutesLearned(at=look.at, steps=tuple(steps.values()), counted=counted) if steps or counted else None


def stop_tests(evidence: CallEvidence, look: Look) -> RoutesLearned | None:
    """End all tests, as where nothing is to be learned any more; what was learned stays."""
    steps = [
        step_of(tool, known, look, LearningStep.TEST_FAILED, known.route, "Learning was switched off.")
        for tool, known in evidence.tools.items()
        if known.trial is not None and known.route is not None and tool in look.routes
    ]
    return RoutesLearned(at=look.at, steps=tuple(steps)) if steps else None


def helpless(evidence: CallEvidence, look: Look) -> Iterable[str]:
    """Return the tools whose model fails too often although there is no stronger one."""
    for tool in look.routes:
        route, window = (known := evidence.tools.get(tool, ToolEvidence())).route, known.window
        if route is not None and _fails(window) and look.routing.stronger(route) is None:
            yield tool


def rerouted(tool: str, known: ToolEvidence, current: CurrentRoute) -> RouteStep | None:
    """Note that somebody else has changed the route of a tool, by which all that was learned of it is void."""
    old = known.route or current.name
    moved = "" if old == current.name else "Its calls go to another model now."
    why = current.void if known.learned else moved
    if not why:
        return None
    return RouteStep(tool=tool, step=LearningStep.REROUTED, home=current.name, old=old, new=current.name, why=why)


def _corrected(tool: str, known: ToolEvidence, look: Look) -> RouteStep | None:
    """Replace a model that is not good enough: by the one before it if that was better, else by a stronger one."""
    route, window = known.route, known.window
    if route is None:
        return None
    if known.direction == "down" and known.before is not None and known.doubt >= PROBATION.alarm:
        why = f"{rate_text(window.rate)} of {window.calls} calls since it was replaced: its test was too kind."
        return step_of(tool, known, look, LearningStep.UNDONE, known.before, why, window.rate)
    if not _fails(window):
        return None
    stronger = look.routing.stronger(route)
    if stronger is None or (look.sequential and window.score < SEQUENTIAL_UPGRADE):
        return None
    why = f"{rate_text(window.rate)} of {window.calls} calls went well, less than {rate_text(UPGRADE_BELOW)}."
    return step_of(tool, known, look, LearningStep.UPGRADED, stronger, why, window.rate)


def _fails(window: Window) -> bool:
    return window.calls >= MIN_CALLS and window.successes < UPGRADE_BELOW * window.calls


def _wanted_tests(
    evidence: CallEvidence, look: Look, taken: Mapping[str, RouteStep], *, counted: bool
) -> Iterable[tuple[str, ModelName]]:
    """Return the tools that are to be tested with another model: what is used most first, as it saves most."""
    wanted = list[tuple[int, str, ModelName]]()
    for tool, current in look.routes.items():
        known = evidence.tools.get(tool)
        if known is None or known.route is None or known.trial is not None or current.manual or tool in taken:
            continue
        name = _wanted_test(known, look.routing, counted=counted)
        if name is not None and known.calls >= known.quiet_until:
            wanted.append((known.window.calls, tool, name))
    return [(tool, name) for _, tool, name in sorted(wanted, key=lambda one: (-one[0], one[1]))]


def _wanted_test(known: ToolEvidence, routing: Routing, *, counted: bool) -> ModelName | None:
    if known.direction == "up" and known.before is not None:
        return known.before
    window = known.window
    if not counted or known.route is None or window.calls < TEST_FROM_CALLS:
        return None
    return routing.cheaper(known.route) if window.successes >= TEST_FROM_RATE * window.calls else None


def _test_started(tool: str, known: ToolEvidence, name: ModelName, look: Look) -> RouteStep:
    returning = name == known.before
    sample = RETURN_SAMPLE if returning else SAMPLE
    per_look = look.routes[tool].per_look
    window = known.window
    return RouteStep(
        tool=tool,
        step=LearningStep.TEST_STARTED,
        home=known.home or look.routes[tool].name,
        old=known.route or name,
        new=known.route or name,
        why="Is the model that was replaced good enough again?"
        if returning
        else f"{rate_text(window.rate)} of {window.calls} calls went well: may a cheaper model do as well?",
        tested=name,
        share=round(min(1.0, 2 * sample / max(per_look, 1)), 3),
        old_rate=window.rate,
    )


def _evaluated(tool: str, known: ToolEvidence, look: Look) -> RouteStep | None:
    """End a test that has enough calls, or that cannot be passed any more."""
    trial = known.trial
    if trial is None or (verdict := _verdict(trial, sequential=look.sequential)) is SampleVerdict.UNDECIDED:
        return None
    rate = trial.successes / trial.calls
    why = f"{rate_text(rate)} of {trial.calls} calls of the test went well."
    if verdict is SampleVerdict.GOOD:
        return step_of(tool, known, look, LearningStep.TEST_PASSED, trial.name, why, known.window.rate, rate)
    route = known.route or trial.name
    return step_of(tool, known, look, LearningStep.TEST_FAILED, route, why, known.window.rate, rate)


def _verdict(trial: Trial, *, sequential: bool) -> SampleVerdict:
    size, keep_from = (RETURN_SAMPLE, RETURN_FROM) if trial.returning else (SAMPLE, KEEP_FROM)
    if sequential and not trial.returning:
        return SEQUENTIAL.judge(trial.calls, trial.successes, KEEP_FROM)
    if trial.calls < size:
        failures = trial.calls - trial.successes
        return SampleVerdict.BAD if size - failures < keep_from * size else SampleVerdict.UNDECIDED
    return SampleVerdict.GOOD if trial.successes >= keep_from * trial.calls else SampleVerdict.BAD


def step_of(  # noqa: PLR0913, PLR0917 - the fields of a step
    tool: str,
    known: ToolEvidence,
    look: Look,
    step: LearningStep,
    new: ModelName,
    why: str,
    old_rate: float | None = None,
    new_rate: float | None = None,
) -> RouteStep:
    """Make a change of the route of a tool, with what it saves."""
    current = look.routes[tool]
    old = known.route or current.name
    before, after = look.costs.get((tool, old)), look.costs.get((tool, new))
    return RouteStep(
        tool=tool,
        step=step,
        home=known.home or current.name,
        old=old,
        new=new,
        why=why,
        old_rate=old_rate,
        new_rate=new_rate,
        savings_usd=before - after if before is not None and after is not None and old != new else None,
    )


def rate_text(rate: float | None) -> str:
    """Write a rate for people."""
    return "0 %" if rate is None else f"{rate:.0%}".replace("%", " %")
