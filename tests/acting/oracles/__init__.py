"""Scripted players of the tasks of MiniWoB++: each uses what a tree says, the actions on it, and the words of its goal.

What none of them can play stands in `UNSOLVED` with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from tests.acting.episode import Played
from tests.acting.oracles import clicking, drawing, filling, posts, widgets

Oracle = Callable[[Played], None]

ORACLES: Final[Mapping[str, Oracle]] = MappingProxyType(
    {**clicking.ORACLES, **drawing.ORACLES, **filling.ORACLES, **posts.ORACLES, **widgets.ORACLES}
)
"""Who plays a task."""

UNSOLVED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "chase-circle": "what has to be hovered over moves all the time, and an action takes a moment",
        "count-sides": "the figure is drawn on a canvas, of which a tree says nothing but that it is one",
        "daily-calendar": "an event is named only where the pointer is let go over what was drawn below it meanwhile",
        "drag-cube": "a cube that is turned by moving the pointer; no node says which side faces the reader",
        "draw-circle": "a path of many points; a drag has two",
        "hover-shape": "its page never ends an episode, so that nothing can be reached",
        "moving-items": "what has to be clicked moves all the time, and a tree is of a moment ago",
        "simon-says": "what has to be seen is shown for a quarter of a second, between two looks",
        "visual-addition": "the blocks have neither words nor roles nor listeners, so that no tree has them",
    }
)
"""What nobody plays, and why not."""
