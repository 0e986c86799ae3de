"""One round of a task: what was done is verified, and what comes next is chosen, written down and decided about.

Whoever has the page calls it: the loop on browser sessions of ours (acting.py), and the answer to a client that has the
page itself (interacting/). Nothing is performed here but what concerns the task alone (remember, recall, ask, end).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from actors.planner.task_log import TaskLog
from bus import Bus
from protocol.acting.tasks import ClientEvidence, TakenAction, TaskState
from protocol.acting.tree import PageTree


@dataclass(frozen=True, kw_only=True)
class RoundOutcome:
    """How the task stands after a round; `due` is the action that comes next, for whoever has the page.

    Without one the task is over (`state.status.final`), or waits for its user (NEEDS_USER_INPUT: `state.question`,
    `state.missing`, `state.options`, `state.blocker`). Texts of `due.action` may hold `{name}` in place of a value that
    the user has given: `values.filled` puts it in, on its way to the page and nowhere else.
    """

    state: TaskState
    due: TakenAction | None = None


@dataclass(kw_only=True)
class Round:
    """The rounds of one task for one caller; `log` is open and the task begun (`log.begin`).

    `values` are those that the user has given, by name. `client` means that a client performs the actions, so that the
    gate is asked here; otherwise the performer asks it. `request` is a digest of what was asked in this round: it is
    kept with the answer (`state.request`).
    """

    bus: Bus
    log: TaskLog
    values: Mapping[str, str]
    scopes: tuple[str, ...] = ()
    local: bool = False
    local_only: bool = False
    request: str = ""

    async def take(self, page: PageTree, client: ClientEvidence) -> RoundOutcome:
        """Verify the last action by the page as it is now, and choose the next one.

        The same page given again where the last action was not performed yet is a mistake of the caller's: a client
        that repeats a request is answered from `log.state` instead (compare `state.request`).

        Raises:
            FaultError: the task is over; somebody else goes on with it; the verifier or the gate is not to be had.
        """
        raise NotImplementedError
