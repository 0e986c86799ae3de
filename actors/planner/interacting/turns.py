"""What one round of a client is about: its task, its session, its page, and what the user says in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec
from anyio import to_thread

from actors.planner.interacting.chats import SaidByUser
from actors.planner.interacting.selectors import selector_of
from actors.planner.interacting.sent_page import (
    SentPage,
    evidence_of,
    page_summary,
    read_page,
    request_digest,
    round_digest,
)
from actors.planner.task_log import TaskLog
from actors.planner.values import moved, opened_values, sealed_values
from bus.seal import Seal
from protocol.acting.interact import Interact
from protocol.acting.tasks import ActingStatus, TaskBegun, TaskState
from protocol.acting.tree import SemanticNode
from protocol.models import ImagePart

LARGE_CHARS: Final = 20_000
"""HTML that is longer is parsed in a thread."""

_UNCLEAR: Final = frozenset({"goal", "step"})
"""What a task misses where nobody knew what to do with the page as it was sent."""


@dataclass(kw_only=True)
class ClientTurn:
    """One request of a client; `words` is what the user says in it, without the secrets, which are among `values`."""

    order: Interact
    session: str
    log: TaskLog
    seal: Seal | None = field(repr=False)
    values: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    words: str = ""
    page: SentPage = field(init=False, repr=False)
    picture: ImagePart | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Take the secrets out of what the user says."""
        state = self.log.known
        values = opened_values(self.seal, self.log.task, state.given) if state is not None else {}
        self.words, self.values = moved(self.order.request.query, values)

    @property
    def digest(self) -> str:
        """A digest of the whole request."""
        return request_digest(self.order.caller, self.order.request)

    @property
    def name(self) -> str:
        """A digest of the round, whichever parts of the page come with it."""
        done = len(self.log.known.actions) if self.log.known is not None else 0
        return round_digest(self.order.caller, self.order.request, done)

    @property
    def goal(self) -> str:
        """What the task is to reach."""
        return self.log.known.goal if self.log.known is not None else self.words

    @property
    def speaks(self) -> bool:
        """Whether the user says something else than what the task is."""
        return self.words != self.goal

    async def read(self) -> None:
        """Read the page that was sent."""
        request, state = self.order.request, self.log.known
        before = state.before if state is not None else None
        if len(request.dom or "") + len(request.skeleton_dom or "") > LARGE_CHARS:
            self.page = await to_thread.run_sync(read_page, request, before)
        else:
            self.page = read_page(request, before)

    async def look(self) -> ImagePart | None:
        """Return how the page looks, where that was sent and may be shown."""
        return self.picture

    def begun(self, at: int) -> TaskBegun:
        """Return the first line of the task."""
        return TaskBegun(
            task=self.log.task,
            at=at,
            caller=self.order.caller,
            goal=self.words,
            surface="interact",
            session=self.session,
            url=self.order.request.url or "",
            given=sealed_values(self.seal, self.log.task, self.values),
        )

    def message(self) -> SaidByUser:
        """Return what the request says for the session."""
        request = self.order.request
        failure = request.last_action_error
        return SaidByUser(
            session=self.session,
            caller=self.order.caller,
            task=self.log.task,
            words=self.words,
            url=request.url or "",
            domain=request.domain or "",
            summary=page_summary(self.page.tree),
            tab_id=request.tab_id,
            result=evidence_of(request).status,
            failure=msgspec.to_builtins(failure) if failure is not None else None,
        )

    def selector(self, node_id: str) -> str:
        """Return the selector of a node of the page."""
        node = self.page.tree.node(node_id) or SemanticNode(id=node_id, role="")
        return selector_of(node, self.page.skeleton, self.page.nodes_v2)


def waits(state: TaskState) -> bool:
    """Return whether a task waits for its user."""
    return state.status is ActingStatus.NEEDS_USER_INPUT


def is_unclear(state: TaskState) -> bool:
    """Return whether a task waits since nobody knew what to do with the page as it was sent: more of it may help."""
    return waits(state) and state.blocker is None and not state.options and bool(_UNCLEAR & set(state.missing))
