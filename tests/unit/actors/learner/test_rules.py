"""The documented policy at the edges of its numbers, and the guards that take back what turned out badly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec import structs

from actors.learner.call_evidence import CallEvidence
from actors.learner.rules import CurrentRoute, Look, decide, helpless, stop_tests
from protocol.models import LearningStep, ModelName, Provider, RoutesLearned, RouteStep
from protocol.routing import Routing
from tests.requirements import requirement

NOW = 1_800_000_000_000
TOOL = "browser_navigate"


def model(name: str, provider: Provider = Provider.ANTHROPIC) -> ModelName:
    return ModelName(provider=provider, model=name)


HAIKU, SONNET, OPUS = model("haiku"), model("sonnet"), model("opus")
SMALL, LARGE = model("small", Provider.OPENAI), model("large", Provider.OPENAI)
ALONE = model("qwen3:8b", Provider.OLLAMA)
ROUTING = Routing(ladders={Provider.ANTHROPIC: ("haiku", "sonnet", "opus"), Provider.OPENAI: ("small", "large")})


@dataclass
class Course:
    """The calls of tools, and what is decided between them; lines are numbered as a journal does."""

    homes: Mapping[str, ModelName] = field(default_factory=lambda: {TOOL: HAIKU})
    sequential: bool = False
    manual: frozenset[str] = frozenset()
    evidence: CallEvidence = field(default_factory=CallEvidence)
    line: int = 0

    def calls(self, outcomes: str, name: ModelName, tool: str = TOOL) -> int:
        """Make a call for each letter: + went well, - did not, x failed for other reasons; returns the first line."""
        first = self.line + 1
        for outcome in outcomes:
            self.line += 1
            self.evidence.call(self.line, tool, name, success={"+": True, "-": False, "x": None}[outcome])
        return first

    def at(self, **other: Any) -> Look:
        current = {
            tool: CurrentRoute(home, manual=tool in self.manual, void="By hand." if tool in self.manual else "")
            for tool, home in self.homes.items()
        }
        look = Look(at=NOW, routes=current, routing=ROUTING, sequential=self.sequential)
        return structs.replace(look, **other)

    def look(self, look: Look | None = None) -> list[tuple[str, LearningStep, ModelName]]:
        """Look once, write down what follows, and return it: the tool, the step, and the new or the tested model."""
        learned = decide(self.evidence, look or self.at())
        if learned is None:
            return []
        self.write(learned)
        return [(step.tool, step.step, step.tested or step.new) for step in learned.steps]

    def write(self, learned: RoutesLearned) -> None:
        self.line += 1
        self.evidence.learned(self.line, learned)

    def count_up(self) -> None:
        """Make the calls of another tool that are missing until tests are looked for."""
        self.calls("x" * (500 - self.evidence.uncounted), ALONE, "other")

    @classmethod
    def in_test(cls, home: ModelName = SONNET, *, sequential: bool = False) -> Course:
        course = cls(homes={TOOL: home}, sequential=sequential)
        course.calls("+" * 20, home)
        course.count_up()
        course.look()
        return course


UPGRADED = LearningStep.UPGRADED


@requirement("004.learning.upgrade")
@pytest.mark.parametrize(
    ("calls", "home", "upgraded"),
    [
        ("+" * 6 + "-" * 3, HAIKU, None),  # 9 calls are too few
        ("+" * 7 + "-" * 3, HAIKU, None),  # exactly 70 %
        ("+" * 6 + "-" * 4, HAIKU, SONNET),
        ("++-" * 10, HAIKU, SONNET),  # 66.7 %
        ("+" * 6 + "-" * 4, SONNET, OPUS),
        ("+" * 6 + "-" * 4, OPUS, None),  # nothing above
        ("-" * 10, SMALL, LARGE),
        ("-" * 10, ALONE, None),  # no ladder
        ("x" * 100, HAIKU, None),  # an outage says nothing of the model
    ],
)
def test_a_model_below_70_percent_of_10_calls_is_replaced(
    calls: str, home: ModelName, upgraded: ModelName | None
) -> None:
    course = Course(homes={TOOL: home})
    course.calls(calls, home)

    assert course.look() == ([] if upgraded is None else [(TOOL, UPGRADED, upgraded)])
    assert course.look() == []


STARTED = LearningStep.TEST_STARTED


@requirement("004.learning.downgrade")
@pytest.mark.parametrize(
    ("calls", "home", "tested"),
    [
        ("+" * 19, SONNET, None),  # 19 calls are too few
        ("+" * 20, SONNET, HAIKU),
        ("+" * 19 + "-", SONNET, HAIKU),  # exactly 95 %
        ("+" * 37 + "--", SONNET, None),  # 94.9 %
        ("+" * 20, OPUS, SONNET),
        ("+" * 20, HAIKU, None),  # nothing below
        ("+" * 20, LARGE, SMALL),
        ("+" * 20, ALONE, None),  # no ladder
    ],
)
def test_a_cheaper_model_is_tested_from_95_percent_of_20_calls(
    calls: str, home: ModelName, tested: ModelName | None
) -> None:
    course = Course(homes={TOOL: home})
    course.calls(calls, home)
    course.count_up()

    assert course.look() == ([] if tested is None else [(TOOL, STARTED, tested)])


@requirement("004.learning.downgrade")
def test_tests_are_looked_for_every_500_calls() -> None:
    course = Course(homes={TOOL: SONNET})
    course.calls("+" * 499, SONNET)
    before = course.look()
    course.calls("+", SONNET)

    assert before == []
    assert course.look() == [(TOOL, STARTED, HAIKU)]
    assert course.evidence.uncounted == 0


@requirement("004.learning.downgrade")
def test_two_tests_begin_at_once_and_three_are_pending() -> None:
    tools = {f"tool_{number}": SONNET for number in range(5)}
    course = Course(homes=tools)
    begun = list[int]()
    for _ in range(3):
        for place, tool in enumerate(tools):
            course.calls("+" * (30 + place), SONNET, tool)
        course.count_up()
        begun.append(len(course.look()))

    assert begun == [2, 1, 0]
    assert sorted(course.evidence.pending()) == ["tool_2", "tool_3", "tool_4"]  # those that are used most


PASSED, FAILED = LearningStep.TEST_PASSED, LearningStep.TEST_FAILED


@requirement("004.learning.downgrade")
@pytest.mark.parametrize(
    ("calls", "ended"),
    [
        ("+" * 9, None),
        ("+" * 9 + "-", (PASSED, HAIKU)),  # exactly 90 %
        ("+" * 8 + "--", (FAILED, SONNET)),
        ("--", (FAILED, SONNET)),  # it can no longer be passed
        ("-x" * 9, (FAILED, SONNET)),
        ("+" * 18 + "--", (PASSED, HAIKU)),  # more calls than were wanted count too
        ("x" * 100, None),
    ],
)
def test_a_test_is_passed_with_90_percent_of_10_calls(calls: str, ended: tuple[LearningStep, ModelName] | None) -> None:
    course = Course.in_test()
    course.calls(calls, HAIKU)

    assert course.look() == ([] if ended is None else [(TOOL, *ended)])


@pytest.mark.parametrize(
    ("calls", "ended"),
    [
        ("+" * 10, None),  # not sure yet
        ("+" * 15, (PASSED, HAIKU)),
        ("-+", None),
        ("--", (FAILED, SONNET)),
        (("+" * 9 + "-") * 6, (PASSED, HAIKU)),  # 60 calls are enough in any case
        (("+" * 8 + "-") * 6 + "+" * 5 + "-", (FAILED, SONNET)),
    ],
)
def test_a_sequential_test_ends_when_it_is_sure(calls: str, ended: tuple[LearningStep, ModelName] | None) -> None:
    course = Course.in_test(sequential=True)
    course.calls(calls, HAIKU)

    assert course.look() == ([] if ended is None else [(TOOL, *ended)])


@requirement("004.learning.audit")
def test_a_step_says_what_changed_why_and_what_it_saves() -> None:
    course = Course.in_test()
    course.calls("+" * 9 + "-", HAIKU)
    costs = {(TOOL, SONNET): 0.003, (TOOL, HAIKU): 0.001}

    learned = decide(course.evidence, course.at(costs=costs))

    step = RouteStep(
        tool=TOOL,
        step=PASSED,
        home=SONNET,
        old=SONNET,
        new=HAIKU,
        why="90 % of 10 calls of the test went well.",
        old_rate=1.0,
        new_rate=0.9,
        savings_usd=0.002,
    )
    assert learned == RoutesLearned(at=NOW, steps=(step,))


def test_a_failed_test_waits_longer_each_time() -> None:
    course = Course.in_test()
    waits = list[int]()
    for _ in range(7):
        course.calls("--", HAIKU)
        course.look()
        known = course.evidence.tools[TOOL]
        waits.append(known.quiet_until - known.calls)
        course.calls("+" * (known.quiet_until - known.calls - 1), SONNET)
        course.count_up()
        assert course.look() == []  # one call too early
        course.calls("+", SONNET)
        course.count_up()
        assert course.look() == [(TOOL, STARTED, HAIKU)]

    assert waits == [40, 80, 160, 320, 640, 1_280, 1_280]


def test_a_downgrade_that_turns_out_badly_is_undone() -> None:
    course = Course.in_test()
    course.calls("+" * 10, HAIKU)
    course.look()
    course.calls("+" * 20, HAIKU)
    good = course.look()
    course.calls("+++-" * 5, HAIKU)

    assert good == []
    assert course.look() == [(TOOL, LearningStep.UNDONE, SONNET)]
    assert not course.evidence.tools[TOOL].learned


@pytest.mark.parametrize(
    ("calls", "ended"),
    [("+" * 17 + "---", (PASSED, HAIKU)), ("+" * 16 + "----", (FAILED, SONNET)), ("-" * 4, (FAILED, SONNET))],
)
def test_the_model_before_an_upgrade_is_tested_again(calls: str, ended: tuple[LearningStep, ModelName]) -> None:
    course = Course()
    course.calls("-" * 10, HAIKU)
    course.look()
    course.calls("+" * 39, SONNET)
    early = course.look()
    course.calls("+", SONNET)
    begun = course.look()
    course.calls(calls, HAIKU)

    assert (early, begun) == ([], [(TOOL, STARTED, HAIKU)])
    assert course.look() == [(TOOL, *ended)]


def test_a_model_that_breaks_is_not_excused_by_its_past() -> None:
    course = Course()
    course.calls("+" * 2_000, HAIKU)
    calls = 0
    while calls < 100:
        calls += 1
        course.calls("+" if calls % 3 == 0 else "-", HAIKU)
        if course.look():
            break

    assert calls < 20
    assert course.evidence.tools[TOOL].route == SONNET


def test_a_verdict_counts_instead_of_what_was_returned() -> None:
    course = Course()
    first = course.calls("+" * 10, HAIKU)
    before = course.look()
    for line in range(first, first + 4):
        course.evidence.verdict(line, TOOL, HAIKU, success=False)

    assert before == []
    assert course.look() == [(TOOL, UPGRADED, SONNET)]


def test_a_model_whose_answers_turn_out_to_be_wrong_is_not_excused_by_its_past() -> None:
    course = Course()
    course.calls("+" * 2_000, HAIKU)
    calls = 0
    while calls < 100:
        calls += 1
        line = course.calls("+", HAIKU)
        if calls % 3:
            course.evidence.verdict(line, TOOL, HAIKU, success=False)
        if course.look():
            break

    assert calls < 20
    assert course.evidence.tools[TOOL].route == SONNET


def test_a_verdict_of_a_call_before_a_change_says_nothing_of_what_is_now() -> None:
    course = Course.in_test()
    known = course.evidence.tools[TOOL]
    course.evidence.verdict(1, TOOL, HAIKU, success=False)

    assert course.evidence.tools[TOOL] == known


def test_what_a_person_has_set_is_left_alone() -> None:
    course = Course(manual=frozenset({TOOL}))
    course.calls("-" * 100, HAIKU)
    course.count_up()

    assert course.look() == []


def test_who_sets_a_route_by_hand_ends_what_was_learned_of_it() -> None:
    course = Course.in_test()
    course.manual = frozenset({TOOL})
    course.homes = {TOOL: OPUS}
    by_hand = course.look()
    course.calls("-" * 20, OPUS)

    assert by_hand == [(TOOL, LearningStep.REROUTED, OPUS)]
    assert not course.evidence.tools[TOOL].learned
    assert course.look() == []


def test_who_takes_a_learned_route_back_is_obeyed() -> None:
    course = Course()
    course.calls("-" * 10, HAIKU)
    course.look()
    taken_back = course.look(course.at(routes={TOOL: CurrentRoute(HAIKU, void="Taken back.")}))
    course.calls("-" * 9, HAIKU)

    assert taken_back == [(TOOL, LearningStep.REROUTED, HAIKU)]
    assert course.look() == []
    course.calls("-", HAIKU)
    assert course.look() == [(TOOL, UPGRADED, SONNET)]


def test_a_changed_table_begins_a_new_count() -> None:
    course = Course()
    course.calls("-" * 9, HAIKU)
    course.homes = {TOOL: SMALL}
    changed = course.look()
    course.calls("-" * 9, SMALL)

    assert changed == [(TOOL, LearningStep.REROUTED, SMALL)]
    assert course.look() == []


def test_a_busy_tool_gives_a_test_a_share_of_its_calls() -> None:
    course = Course(homes={TOOL: SONNET})
    course.calls("+" * 500, SONNET)

    learned = decide(course.evidence, course.at(routes={TOOL: CurrentRoute(SONNET, per_look=500)}))

    assert learned is not None
    assert [step.share for step in learned.steps] == [0.04]


def test_an_upgrade_goes_before_a_test_that_is_pending() -> None:
    course = Course.in_test()
    course.calls("-" * 12, SONNET)

    assert course.look() == [(TOOL, UPGRADED, OPUS)]
    assert list(course.evidence.pending()) == []


def test_the_strongest_model_below_70_percent_is_named() -> None:
    course = Course(homes={TOOL: OPUS})
    course.calls("-" * 10, OPUS)

    assert list(helpless(course.evidence, course.at())) == [TOOL]


def test_tests_end_where_nothing_is_to_be_learned_any_more() -> None:
    course = Course.in_test()
    stopped = stop_tests(course.evidence, course.at())
    assert stopped is not None
    course.write(stopped)

    assert list(course.evidence.pending()) == []
    assert stop_tests(course.evidence, course.at()) is None
