"""How the JSON answers of an API become a page: learned from pages, and applied to answers of other pages."""

from __future__ import annotations

from actors.patterns.mapping.comparison import Agreement, agreement
from actors.patterns.mapping.induction import Shown, induce
from actors.patterns.mapping.left_out import leaves_out
from actors.patterns.mapping.rendering import render
from actors.patterns.mapping.values import DriftError, UnknownCaseError

__all__ = ["Agreement", "DriftError", "Shown", "UnknownCaseError", "agreement", "induce", "leaves_out", "render"]
