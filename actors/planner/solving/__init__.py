"""Rules that plan and act without a model: what words of a goal mean, and what on the page they are about."""

from __future__ import annotations

from actors.planner.solving.plans import make_plan
from actors.planner.solving.solver import solve, wants_colours

__all__ = ["make_plan", "solve", "wants_colours"]
