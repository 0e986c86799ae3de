"""An episode of a task, played in a browser session of the real actor: what its page shows, and what is done there."""

from __future__ import annotations

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio

from protocol.acting.tree import AskTree, PageTree, SemanticNode
from protocol.browsers.operations import SESSION_PREFIX, CloseSession, Navigate, Operation
from protocol.browsers.results import Done
from tests.acting.miniwob import Episode
from tests.integration.playwright.browsing import Browsing
from tests.integration.playwright.driving import Driving

LIMIT_S = 60.0
"""What one look at a page may take."""


@dataclass
class Played:
    """An episode that has begun: an oracle may look at its tree, and act by what stands in it."""

    driving: Driving
    episode: Episode
    goal: str
    latest: PageTree = field(default_factory=lambda: PageTree(url=""))

    def tree(self, **options: Any) -> PageTree:
        """Look at the page, all of it."""
        asked = AskTree(caller="driver", session=self.driving.session, max_tokens=None, everywhere=True, **options)
        self.latest = self.driving.web.portal.call(self._tree, asked)
        return self.latest

    def operate(self, do: Operation) -> Done:
        """Perform an operation of the browser."""
        done: Done = self.driving.do(do, object)  # type: ignore[assignment]
        return done

    async def _tree(self, asked: AskTree) -> PageTree:
        with anyio.fail_after(LIMIT_S):
            return await self.driving.web.actor.read_tree(asked)


def by_role(tree: PageTree, *roles: str) -> tuple[SemanticNode, ...]:
    """Return the nodes of these roles."""
    return tuple(node for node in tree.nodes if node.role in roles)


@contextmanager
def played(web: Browsing, episode: Episode) -> Generator[Played]:
    """Begin an episode in a session of its own."""
    driving = Driving(web, f"{SESSION_PREFIX}{secrets.token_urlsafe(16)}")
    driving.do(Navigate(url=episode.url), object)
    try:
        yield Played(driving, episode, episode.goal())
    finally:
        driving.do(CloseSession(), object)
