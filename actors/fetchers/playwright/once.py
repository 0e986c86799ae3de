"""What is done once at most: it is noted before it begins, and what is noted is not begun again."""

from __future__ import annotations

from protocol.browsers.operations import (
    Click,
    ExecuteJavascript,
    GoBack,
    HandleDialog,
    PressKey,
    SelectOption,
    SetValue,
    TypeText,
    UploadFile,
)
from protocol.browsers.sessions import MAX_ORDERS, AskBrowser
from protocol.faults import Code, FaultError, fault

_ACTING = (
    Click,
    TypeText,
    SelectOption,
    SetValue,
    PressKey,
    HandleDialog,
    UploadFile,
    GoBack,
    ExecuteJavascript,
)
"""What may change something at the site, so that twice is not the same as once."""

_INTERRUPTED = (
    "The browser, or the way to it, went away in the middle of this: it may have been done, and it may not. It is not "
    "done again by itself."
)


def noted(orders: tuple[str, ...], asked: AskBrowser) -> tuple[str, ...] | None:
    """Add an order that is about to be done to those that were begun; None where it may be done any number of times.

    Raises:
        FaultError: EXECUTION_ERROR where it was begun before.
    """
    if not asked.order or not isinstance(asked.do, _ACTING):
        return None
    if asked.order in orders:
        raise FaultError(fault(Code.EXECUTION_ERROR, _INTERRUPTED))
    return (*orders, asked.order)[-MAX_ORDERS:]
