"""Tells of dialogs, and answers the one that waits."""

from __future__ import annotations

from actors.fetchers.playwright.held import Held
from actors.fetchers.playwright.operations.opening import at_tab
from actors.fetchers.playwright.operations.place import Means
from actors.fetchers.playwright.operations.refusing import invalid, not_done
from actors.fetchers.playwright.operations.settled import settle
from protocol.browsers.operations import GetDialogInfo, HandleDialog
from protocol.browsers.results import Acted, Dialogs


async def dialog_info(_means: Means, held: Held, do: GetDialogInfo) -> Dialogs:
    """Tell the dialog that waits, and those before it."""
    if not held.tabs:
        return Dialogs()
    number = held.number(do.tab_id)
    awake = held.awake(number)
    if awake is None:
        return Dialogs(tab_id=number)
    return Dialogs(tab_id=number, pending_dialog=awake.dialogs.pending, dialog_history=tuple(awake.dialogs.past))


async def handle_dialog(means: Means, held: Held, number: int, do: HandleDialog, deadline_s: float) -> Acted:
    """Answer the dialog that waits; the page goes on, and may call up another."""
    awake = held.awake(number)
    if awake is None or awake.dialogs.pending is None:
        raise not_done("No dialog of this tab waits for an answer.")
    if do.text is not None and awake.dialogs.pending.type != "prompt":
        raise invalid("text", f"only a prompt takes one, and this is a dialog of the kind {awake.dialogs.pending.type}")
    before = held.record.last_tab
    answered = await awake.dialogs.answer(accept=do.action == "accept", text=do.text)
    following = awake.dialogs.waits()
    if following is not None:
        return Acted(success=True, tab_id=number, dialog=following)
    at, _ = await at_tab(means, held, number, deadline_s)
    said = f"The dialog was {answered.response if answered else 'dismissed'}."
    return await settle(at, before, said, awake.before)
