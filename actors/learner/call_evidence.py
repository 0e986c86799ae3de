"""What the calls of tools say of their models: a fold over the lines of MODEL_CALLS, in their order.

Only what counts for the next decision is kept: the calls since the route of the tool was last changed, or its model was
last found to have become worse. What a decision has changed comes from its own line, so that whoever reads the same
lines has the same state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from actors.learner.statistics import Cusum, Ratio
from protocol.models import LearningStep, ModelName, RoutesLearned, RouteStep

WORSE: Final = Cusum(Ratio(0.82, 0.58), alarm=4.2)
"""A model has become worse: what was counted before says nothing of it now."""

PROBATION: Final = Cusum(Ratio(0.93, 0.82), alarm=3.0)
"""A cheaper model is not as good as its test made it look."""

UPGRADE_BELOW: Final = 0.70
"""004 `SUCCESS_RATE_UPGRADE_THRESHOLD`."""

FIRST_BACKOFF: Final = 40
DOUBLINGS: Final = 5
"""Calls of a tool before a cheaper model is tried again, and how often failures double them: 40 to 1,280."""


class Window(Struct, frozen=True, array_like=True):
    """The calls of a route that count, from the line `since` on.

    `score` is how much speaks for a change (WORSE), and `run` are the calls since nothing did, from `run_since` on:
    those that are left when there was one.
    """

    since: int = 0
    calls: int = 0
    successes: int = 0
    score: float = 0.0
    run_since: int = 0
    run_calls: int = 0
    run_successes: int = 0

    @property
    def rate(self) -> float | None:
        """The share of calls that went well."""
        return self.successes / self.calls if self.calls else None

    def after(self, sequence: int, *, success: bool) -> Window:
        """Return the window with one more call."""
        score = max(0.0, self.score + WORSE.ratio.of(success=success))
        if score == 0.0:
            return Window(self.since, self.calls + 1, self.successes + success)
        since = self.run_since if self.run_calls else sequence
        calls, successes = self.run_calls + 1, self.run_successes + success
        return Window(self.since, self.calls + 1, self.successes + success, score, since, calls, successes).checked()

    def checked(self) -> Window:
        """Return the window from its last change on, if there was one that its rate does not show."""
        if self.score < WORSE.alarm:
            return self
        if self.successes < UPGRADE_BELOW * self.calls:
            return replace(self, score=WORSE.alarm)
        return Window(self.run_since, self.run_calls, self.run_successes)

    def corrected(self, sequence: int, *, success: bool) -> Window:
        """Return the window after one of its calls has turned out to be the opposite of what was counted."""
        if sequence < self.since:
            return self
        change = 1 if success else -1
        corrected = replace(self, successes=self.successes + change)
        if self.run_calls and sequence >= self.run_since:
            score = WORSE.corrected(self.score, success=success)
            return replace(corrected, score=score, run_successes=self.run_successes + change).checked()
        if success:
            return corrected
        since = min(self.run_since, sequence) if self.run_calls else sequence
        score = self.score + WORSE.ratio.on_failure  # as a success it had not lowered the sum, which was 0 then
        return replace(corrected, score=score, run_since=since, run_calls=self.run_calls + 1).checked()


class Trial(Struct, frozen=True, kw_only=True):
    """A model that is being tested for a tool: the calls that it got from the line `since` on.

    `returning`: it is the one that a stronger has replaced.
    """

    name: ModelName
    since: int
    started_at: int
    returning: bool
    share: float
    calls: int = 0
    successes: int = 0


class ToolEvidence(Struct, frozen=True, kw_only=True):
    """What is known of a tool: `route` is who is asked, and `home` who would be if nothing were learned.

    `before` is who was asked before the last change that was learned, if it may still be undone: a change `down` once
    `doubt` (PROBATION) is too great, a change `up` by a test. After `failures` nothing is tried until the tool has had
    `quiet_until` calls in all.
    """

    calls: int = 0
    route: ModelName | None = None
    home: ModelName | None = None
    window: Window = Window()
    trial: Trial | None = None
    before: ModelName | None = None
    direction: Literal["up", "down"] | None = None
    doubt: float = 0.0
    failures: int = 0
    quiet_until: int = 0
    changed_at: int = 0
    """When the last decision was made (ms since the epoch)."""

    @property
    def learned(self) -> bool:
        """Whether calls go elsewhere than they would if nothing were learned."""
        return self.home is not None and (self.route != self.home or self.trial is not None)

    def after_call(self, sequence: int, name: ModelName, *, success: bool | None) -> ToolEvidence:
        """Return what is known after a call; `success` is None where it failed for reasons that are not the model's."""
        calls, trial = self.calls + 1, self.trial
        if success is None:
            return replace(self, calls=calls)
        if trial is not None and name == trial.name:
            trial = replace(trial, calls=trial.calls + 1, successes=trial.successes + success)
            return replace(self, calls=calls, trial=trial)
        if self.route is None:
            window = Window().after(sequence, success=success)
            return replace(self, calls=calls, route=name, window=window)
        if name != self.route:
            return replace(self, calls=calls)
        window = self.window.after(sequence, success=success)
        if self.direction != "down" or self.doubt >= PROBATION.alarm:  # an alarm stands until somebody looks
            return replace(self, calls=calls, window=window)
        return replace(self, calls=calls, window=window, doubt=PROBATION.after(self.doubt, success=success))

    def after_verdict(self, sequence: int, name: ModelName, *, success: bool) -> ToolEvidence:
        """Return what is known after the call of that line has turned out to be the opposite of what was counted."""
        trial = self.trial
        if trial is not None and name == trial.name and sequence > trial.since:
            return replace(self, trial=replace(trial, successes=trial.successes + (1 if success else -1)))
        if name != self.route or sequence < self.window.since:
            return self
        doubt = PROBATION.corrected(self.doubt, success=success) if self.direction == "down" else self.doubt
        return replace(self, window=self.window.corrected(sequence, success=success), doubt=doubt)

    def after_step(self, sequence: int, at: int, step: RouteStep) -> ToolEvidence:
        """Return what is known after a decision that was written down as the line `sequence`."""
        if step.step is LearningStep.TEST_STARTED and step.tested is not None:
            trial = _trial(self, sequence, at, step, step.tested)
            return replace(self, home=step.home, trial=trial, changed_at=self.changed_at or at)
        if step.step is LearningStep.TEST_FAILED:
            return _backed_off(replace(self, home=step.home, trial=None))
        window = Window(since=sequence + 1)
        routed = ToolEvidence(calls=self.calls, route=step.new, home=step.home, window=window, changed_at=at)
        if step.step is LearningStep.REROUTED:
            return routed
        routed = replace(routed, failures=self.failures, quiet_until=self.quiet_until)
        if step.step is LearningStep.TEST_PASSED and step.new != step.home:
            return replace(routed, before=step.old, direction="down")
        if step.step is LearningStep.UPGRADED:
            routed = replace(routed, before=step.old, direction="up")
        return _backed_off(routed) if step.step in _FAILURES else routed


_FAILURES: Final = frozenset({LearningStep.UPGRADED, LearningStep.UNDONE})
"""By what a model turns out to be too weak for a tool."""


def _trial(known: ToolEvidence, sequence: int, at: int, step: RouteStep, tested: ModelName) -> Trial:
    returning = known.direction == "up" and tested == known.before
    return Trial(name=tested, since=sequence, started_at=at, returning=returning, share=step.share)


def _backed_off(known: ToolEvidence) -> ToolEvidence:
    """Count a failure of a cheaper model, and let the tool be for a while, twice as long as the last time."""
    calls = FIRST_BACKOFF * 2 ** min(known.failures, DOUBLINGS)
    return replace(known, failures=known.failures + 1, quiet_until=known.calls + calls)


@dataclass
class CallEvidence:
    """What is known of all tools, after the lines that were applied.

    `uncounted` are the calls since it was last looked for tests.
    """

    tools: dict[str, ToolEvidence] = field(default_factory=dict[str, ToolEvidence])
    uncounted: int = 0

    def call(self, sequence: int, tool: str, name: ModelName, *, success: bool | None) -> None:
        """Apply a call."""
        self.uncounted += 1
        known = self.tools.get(tool) or ToolEvidence()
        self.tools[tool] = known.after_call(sequence, name, success=success)

    def verdict(self, sequence: int, tool: str, name: ModelName, *, success: bool) -> None:
        """Apply that the call of that line turned out to be the opposite of what was counted."""
        if (known := self.tools.get(tool)) is not None:
            self.tools[tool] = known.after_verdict(sequence, name, success=success)

    def learned(self, sequence: int, line: RoutesLearned) -> None:
        """Apply what one look has changed."""
        if line.counted:
            self.uncounted = 0
        for step in line.steps:
            known = self.tools.get(step.tool) or ToolEvidence()
            self.tools[step.tool] = known.after_step(sequence, line.at, step)

    def pending(self) -> Iterable[str]:
        """Return the tools for which a model is being tested."""
        return (tool for tool, known in self.tools.items() if known.trial is not None)
