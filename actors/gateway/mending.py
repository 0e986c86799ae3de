"""A request that breaks the contract, mended: the nearest one that keeps to it, for whoever sends it again."""

from __future__ import annotations

import copy
import difflib
import re
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from actors.gateway.recovery import BROWSE
from protocol.actions import FIX_INPUT, Action
from protocol.codec import NO_CHOICE, choices, fields, parted
from protocol.faults import Fault

MAX_MENDED_BYTES: Final = 10_000
"""A longer request is no call of a model's that went wrong."""

MAX_MENDS: Final = 12
"""Mistakes that are mended in one request."""

_OPTIONS = "options"
_NEEDED = frozenset({"url", "sessionProfile"})
"""What is not left out where it is wrong: without it another page would be read."""

_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_LIMIT = re.compile(r"Expected `(?:int|float)` (>=|<=) (-?\d+)")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


def with_mended(failure: Fault, kind: type[Struct], given: Any, request: str | None) -> Fault:
    """Return a fault of a request to read a page with the request as it should be, where it can be mended.

    `given` is the JSON that came in; `request` is where it is to be sent over REST.
    """
    parameters = mended(kind, given)
    if parameters is None:
        return failure
    action = Action(
        action=FIX_INPUT.action,
        description=f"{FIX_INPUT.description} The parameters are the nearest that can be asked for.",
        tool_to_use=BROWSE,
        parameters=parameters,
        request=request,
    )
    return msgspec.structs.replace(failure, actions=(action,), retryable=True)


def mended(kind: type[Struct], given: Any) -> dict[str, Any] | None:
    """Return the JSON of a `kind` nearest to what was given; None where too much is wrong, or something is missing."""
    try:
        value = copy.deepcopy(given)
    except RecursionError:
        return None
    for _ in range(MAX_MENDS):
        try:
            return cast("dict[str, Any]", msgspec.to_builtins(msgspec.convert(value, kind, strict=False)))
        except msgspec.ValidationError as error:
            reason, path = parted(str(error))
        if not _mend(kind, value, reason, path):
            return None
    return None


def _mend(kind: type[Struct], value: Any, reason: str, path: str) -> bool:
    """Mend one mistake in place; return whether that was possible."""
    *outer, last = [one[1] or int(one[2]) for one in _STEP.finditer(path)] or [""]
    unknown, limit = _UNKNOWN.fullmatch(reason), _LIMIT.fullmatch(reason)
    try:
        for step in outer if unknown is None else [*outer, last] if last else outer:
            value = value[step]
        if unknown is not None:
            _rename(value, unknown[1], fields(kind, path), fields(kind, f"{path}.{_OPTIONS}"))
        elif limit is not None:
            value[last] = int(limit[2])
        elif meant := _nearest(str(value[last]), choices(kind, path) if reason.startswith(NO_CHOICE) else ()):
            value[last] = meant
        elif last in _NEEDED:
            return False
        else:
            del value[last]
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _rename(holder: dict[str, Any], wrong: str, known: tuple[str, ...], of_options: tuple[str, ...]) -> None:
    """Put what stands under a wrong name in its right place; where there is none, leave it out."""
    value, options = holder.pop(wrong), holder.get(_OPTIONS, {})
    if isinstance(options, dict) and (option := _nearest(wrong, of_options)) and option not in options:
        holder[_OPTIONS] = {**cast("dict[str, Any]", options), option: value}
    elif (meant := _nearest(wrong, known)) and meant not in holder:
        holder[meant] = value


def _nearest(word: str, words: tuple[str, ...]) -> str:
    """Return the word that is meant, or nothing where none is near."""
    known: Mapping[str, str] = {one.lower(): one for one in words}
    close = difflib.get_close_matches(word.lower(), known, n=1)
    return known[close[0]] if close else ""
