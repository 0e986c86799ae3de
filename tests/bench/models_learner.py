"""What learning costs and is worth: a line read, a look, and how two policies stand against the bare rules of 004.

The rows are part of `./scripts/bench models`.
"""

from __future__ import annotations

import time
from random import Random
from typing import Final

from actors.learner.beliefs import Beliefs
from actors.learner.call_evidence import CallEvidence
from actors.learner.economic import Economy
from actors.learner.rules import CurrentRoute, Look, decide
from tests.bench.table import Row
from tests.support.routing_policies import MODELS, POLICIES, ROUTING
from tests.support.routing_world import figures, simulate

CALLS: Final = 20_000
TOOLS: Final = 200
LOOKS: Final = 20
WORLDS: Final = 8


async def measure() -> list[Row]:
    """Return the rows of this benchmark."""
    return [*_costs(), *_worth()]


def _costs() -> list[Row]:
    evidence, beliefs, random = CallEvidence(), Beliefs(), Random(1)
    tools = [f"tool_{number}" for number in range(TOOLS)]
    begun = time.perf_counter()
    for sequence in range(1, CALLS + 1):
        tool, success = tools[sequence % TOOLS], random.random() < 0.93
        evidence.call(sequence, tool, MODELS[1], success=success)
        beliefs.call(tool, MODELS[1], success=success)
    call_us = (time.perf_counter() - begun) / CALLS * 1e6
    look = Look(at=0, routes={tool: CurrentRoute(MODELS[1]) for tool in tools}, routing=ROUTING)
    economy = Economy(beliefs, 20.0, random)
    begun = time.perf_counter()
    for _ in range(LOOKS):
        decide(evidence, look)
        economy.decide(evidence, look)
    tool_ms = (time.perf_counter() - begun) / LOOKS / TOOLS * 1e3
    return [
        Row("learner: a call counted", f"{call_us:.1f} µs", "-", call_us, 50.0, "<=", "µs"),
        Row("learner: a tool decided, by both policies", f"{tool_ms * 1e3:.0f} µs", "-", tool_ms, 1.0, "<=", "ms"),
    ]


def _worth() -> list[Row]:
    bare, documented, economic = (
        figures([simulate(POLICIES[policy], "abrupt", seed, CALLS) for seed in range(WORLDS)])
        for policy in ("plain", "documented", "economic")
    )
    return [
        Row("learner: regret where things change, documented with guards", f"{documented.regret:.2f}",
            f"bare rules {bare.regret:.2f}", documented.regret / bare.regret, 0.85, "<="),
        Row("learner: regret where things change, economic", f"{economic.regret:.2f}",
            f"bare rules {bare.regret:.2f}", economic.regret / bare.regret, 0.5, "<="),
        Row("learner: harmful changes never repaired", f"{documented.never_repaired:.0%}",
            f"bare rules {bare.never_repaired:.0%}", documented.never_repaired, 0.2, "<=", ""),
    ]  # fmt: skip
