"""Says why an operation is not done, in words for whoever asked."""

from __future__ import annotations

from protocol.browsers.pageinfo import PastDialog
from protocol.faults import Action, Code, FaultError, fault

_ANSWER = Action(action="handle_dialog", description="Answer the dialog, then go on.", tool_to_use="handle_dialog")
_READ = Action(
    action="get_dialog_info", description="See what the dialog says.", tool_to_use="get_dialog_info", priority=2
)


def dialog_waits(dialog: PastDialog) -> FaultError:
    """Say that the page does nothing before its dialog has an answer; what it says is the web's, and not told here."""
    message = f"A dialog ({dialog.type}) of the page waits for an answer: the page does nothing before it has one."
    return FaultError(fault(Code.EXECUTION_ERROR, message, actions=(_ANSWER, _READ)))


def invalid(field: str, message: str) -> FaultError:
    """Say what is wrong with an argument, by its name in the tool."""
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{field}: {message}", field=field))


def not_done(message: str, *, field: str | None = None) -> FaultError:
    """Say why the page did not let itself be handled so."""
    return FaultError(fault(Code.EXECUTION_ERROR, message, field=field))


def hung() -> FaultError:
    """Say that the page does not answer."""
    return FaultError(
        fault(
            Code.BROWSER_PAGE_HUNG,
            "The page does not answer: a script of it does not end.",
            actions=(
                Action(action="navigate", description="Go to an address: the tab begins anew.", tool_to_use="navigate"),
            ),
        )
    )
