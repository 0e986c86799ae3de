"""Whatever calls, verdicts and looks come: what is known stays sound, and who reads the same lines knows the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.learner.call_evidence import CallEvidence, ToolEvidence, Window
from actors.learner.rules import MAX_NEW, MAX_PENDING, CurrentRoute, Look, decide
from protocol.models import LearningStep, ModelName, Provider, RoutesLearned
from protocol.routing import Routing

LADDER: Final = ("haiku", "sonnet", "opus")
ROUTING: Final = Routing(ladders={Provider.ANTHROPIC: LADDER})
NAMES: Final = tuple(ModelName(provider=Provider.ANTHROPIC, model=model) for model in LADDER)
TOOLS: Final = {f"tool_{number}": NAMES[number % 3] for number in range(6)}

CALLS = st.tuples(
    st.sampled_from(sorted(TOOLS)), st.integers(1, 60), st.sampled_from([0.0, 0.3, 0.8, 1.0]), st.booleans()
)
"""Calls of a tool in a row: how many, how many of them go well, and whether those are then found to be wrong."""


@dataclass
class Course:
    """Calls and looks, each applied to `evidence` and noted as what a journal would have."""

    evidence: CallEvidence = field(default_factory=CallEvidence)
    lines: list[tuple[int, object]] = field(default_factory=list[tuple[int, object]])

    def write(self, line: object) -> None:
        self.lines.append((len(self.lines) + 1, line))
        apply(self.evidence, *self.lines[-1])

    def calls(self, tool: str, number: int, rate: float, *, wrong: bool) -> None:
        known = self.evidence.tools.get(tool, ToolEvidence())
        name = known.trial.name if known.trial is not None else known.route or TOOLS[tool]
        for call in range(number):
            success = (call + 1) * rate // 1 > call * rate // 1
            self.write((tool, name, success))
            if success and wrong:
                self.write((len(self.lines), tool, name))

    def look(self) -> RoutesLearned | None:
        routes = {tool: CurrentRoute(home) for tool, home in TOOLS.items() if tool in self.evidence.tools}
        learned = decide(self.evidence, Look(at=len(self.lines), routes=routes, routing=ROUTING))
        if learned is not None:
            self.write(learned)
        return learned


def apply(evidence: CallEvidence, sequence: int, line: object) -> None:
    match line:
        case RoutesLearned():
            evidence.learned(sequence, line)
        case (str(tool), ModelName() as name, bool(success)):
            evidence.call(sequence, tool, name, success=success)
        case (int(call), str(tool), ModelName() as name):
            evidence.verdict(call, tool, name, success=False)
        case _:
            raise AssertionError(line)


def sound(window: Window) -> bool:
    return 0 <= window.successes <= window.calls and 0 <= window.run_successes <= window.run_calls <= window.calls


@pytest.mark.slow
@given(st.lists(st.one_of(CALLS, st.none()), min_size=20, max_size=60))
def test_whatever_comes_what_is_known_is_sound_and_can_be_read_again(
    course: list[tuple[str, int, float, bool] | None],
) -> None:
    done = Course()
    for part in course:
        if part is not None:
            tool, number, rate, wrong = part
            done.calls(tool, number, rate, wrong=wrong)
            continue
        learned = done.look()
        begun = [] if learned is None else [one for one in learned.steps if one.step is LearningStep.TEST_STARTED]

        assert len(begun) <= MAX_NEW
        assert len(list(done.evidence.pending())) <= MAX_PENDING
    again, written = CallEvidence(), CallEvidence()
    for sequence, line in done.lines:
        apply(again, sequence, line)
        apply(written, sequence, line)
        written.tools = msgspec.json.decode(msgspec.json.encode(written.tools), type=dict[str, ToolEvidence])

    assert done.evidence == again == written
    for known in done.evidence.tools.values():
        assert sound(known.window), known
        assert known.route in NAMES
        assert known.trial is None or known.trial.name != known.route
        assert known.trial is None or 0 <= known.trial.successes <= known.trial.calls
