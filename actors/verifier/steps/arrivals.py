"""Where the click of an action has arrived, or its keys, as the page itself has heard them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from protocol.acting.steps import StepClaim

_PRESS: Final = "pointerdown"
_CLICK: Final = frozenset({"click", "dblclick"})

_EVENTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    dict.fromkeys(("click", "doubleClick", "check", "uncheck"), _CLICK)
    | {"rightClick": frozenset({"auxclick", "contextmenu"}), "focus": frozenset({"focusin"})}
)
"""The events that show where an action arrived."""

_KEYS: Final = frozenset({"press", "type"})
_KEY: Final = "keydown"


class InputArrival(Struct, frozen=True, kw_only=True):
    """What was heard of a click, or of keys, since the page was read before it.

    `reached`: whether it reached what it was aimed at, or something in it; None where nobody was listening. `answered`:
    the page has changed what was reached, be it in a way that no node tells. `unfinished`: what was meant was pressed,
    and no click came of it, as the page has moved it meanwhile.
    """

    reached: bool | None = None
    answered: bool = False
    unfinished: bool = False

    @staticmethod
    def of(claim: StepClaim) -> InputArrival:
        """Return what was heard of the click of a claim, or of its keys; nothing for others, and for a point."""
        last = max((one.at for one in claim.before.inputs), default=0.0)
        fresh = [one for one in claim.after.inputs if one.at > last]
        if claim.action.name in _KEYS:
            keys = [one for one in fresh if one.kind == _KEY and claim.before.focused in one.ids]
            return InputArrival(reached=True if keys else None, answered=any(one.answered for one in keys))
        wanted, kinds = claim.action.element, _EVENTS.get(claim.action.name, frozenset[str]())
        if not wanted or not kinds:
            return InputArrival()
        clicks = [one for one in fresh if one.kind in kinds]
        own = [one for one in clicks if wanted in one.ids]
        return InputArrival(
            reached=bool(own) if clicks else None,
            answered=any(one.answered for one in own),
            unfinished=not clicks and any(one.kind == _PRESS and wanted in one.ids for one in fresh),
        )
