"""Scripted players of the tasks of MiniWoB++: each uses what a tree says, the actions on it, and the words of its goal.

What none of them can play stands in `UNSOLVED` with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from tests.acting.episode import Played
from tests.acting.oracles import clicking, filling

Oracle = Callable[[Played], None]

ORACLES: Final[Mapping[str, Oracle]] = MappingProxyType({**clicking.ORACLES, **filling.ORACLES})
"""Who plays a task."""

UNSOLVED: Final[Mapping[str, str]] = MappingProxyType({})
"""What nobody plays, and why not."""
