"""Goes to a tab: opens one that sleeps, and sees that its page can be handled."""

from __future__ import annotations

from actors.fetchers.playwright.awake import Awake
from actors.fetchers.playwright.held import NOWHERE, Held
from actors.fetchers.playwright.operations.place import Means, Place
from actors.fetchers.playwright.operations.refusing import dialog_waits
from actors.fetchers.playwright.operations.visiting import go


async def at_tab(
    means: Means, held: Held, number: int, deadline_s: float, *, local: bool = False
) -> tuple[Place, bool]:
    """Go to a tab, and tell whether it had to be opened: then it is empty.

    Raises:
        FaultError: EXECUTION_ERROR where a dialog waits; PAGE_CRASHED; INTERNAL_BUSY.
    """
    awake, is_fresh = await held.open(number)
    check(awake)
    return Place(means, held, number, awake, await awake.tab(), local, deadline_s), is_fresh


async def at_page(means: Means, held: Held, number: int, deadline_s: float, *, local: bool = False) -> Place:
    """Go to a tab where it was; one that slept gets its page again.

    Raises:
        FaultError: as `at_tab`, or what the page cannot be had for.
    """
    before = held.url(number)
    at, is_fresh = await at_tab(means, held, number, deadline_s, local=local)
    if is_fresh and before != NOWHERE:
        await go(at, before)
        check(at.awake)
    return at


def check(awake: Awake) -> None:
    """See that no dialog waits.

    Raises:
        FaultError: EXECUTION_ERROR.
    """
    if awake.dialogs.pending is not None:
        raise dialog_waits(awake.dialogs.pending)
