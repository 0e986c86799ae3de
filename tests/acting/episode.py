"""An episode of a task, played in a browser session of the real actor: what its page shows, and what is done there."""

from __future__ import annotations

import re
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, TypeVar

import anyio
import msgspec

from actors.planner.tool_calls import SURFACE, tool_call_of
from protocol.acting.actions import ActionCall
from protocol.acting.tree import AskTree, PageTree, SemanticNode
from protocol.browsers.operations import SESSION_PREFIX, CloseSession, Navigate, Operation
from protocol.browsers.results import Done
from protocol.tools.registry import TOOLS
from tests.acting.miniwob import Episode
from tests.integration.playwright.browsing import Browsing
from tests.integration.playwright.driving import Driving

LIMIT_S: Final = 60.0
"""What one look at a page may take."""

QUERY_HEIGHT: Final = 50
"""The strip in which each page says what it asks, in CSS pixels."""


class NotShownError(LookupError):
    """A page does not show what an oracle looks for."""


@dataclass
class Played:
    """An episode that has begun: an oracle may look at its tree, and act by what stands in it."""

    driving: Driving
    episode: Episode
    goal: str
    page: PageTree = field(default_factory=lambda: PageTree(url=""))

    # -- looking -------------------------------------------------------------------------------------------------------

    def look(self, *, everywhere: bool = True) -> tuple[SemanticNode, ...]:
        """Read the page anew; returns what stands below what it asks."""
        asked = AskTree(
            caller="driver",
            session=self.driving.session,
            max_tokens=None,
            everywhere=everywhere,
            colours=True,
            boxes=True,
        )
        self.page = self.driving.web.portal.call(self._tree, asked)
        return self.shown

    @property
    def shown(self) -> tuple[SemanticNode, ...]:
        """The nodes of the last look, without what the page asks."""
        return tuple(node for node in self.page.nodes if node.centre is None or not 0 <= node.centre[1] < QUERY_HEIGHT)

    def nodes(self, *roles: str) -> list[SemanticNode]:
        """Read the page anew; returns the nodes of these roles, all without any."""
        return [node for node in self.look() if not roles or node.role in roles]

    def find(self, name: str, *roles: str) -> SemanticNode:
        """Read the page anew; returns the node of a name, a control rather than words.

        Raises:
            NotShownError: there is none.
        """
        found = self.seek(name, *roles)
        if found is None:
            raise NotShownError(name)
        return found

    def seek(self, name: str, *roles: str) -> SemanticNode | None:
        """Read the page anew; returns the node of a name, if any."""
        nodes = self.nodes(*roles)
        ways = (
            [one for one in nodes if one.name == name],
            [one for one in nodes if one.name.casefold().strip() == name.casefold().strip()],
            [one for one in nodes if name.casefold() in one.name.casefold()],
        )
        for way in ways:
            if way:
                return min(way, key=lambda one: (len(one.name), one.role in {"text", "img", "h"}))
        return None

    @property
    def quoted(self) -> list[str]:
        """What the goal has in quotes."""
        return re.findall(r'"([^"]*)"', self.goal)

    # -- acting --------------------------------------------------------------------------------------------------------

    def do(self, name: str, /, **arguments: Any) -> Done:
        """Perform an action on the page that was last looked at."""
        call = tool_call_of(ActionCall(name=name, arguments=arguments), self.page)
        tagged = {**call.arguments, "tool": _tags()[call.name]}
        done: object = self.driving.do(msgspec.convert(tagged, Operation), object)
        return msgspec.convert(done, Done) if isinstance(done, Mapping) else done  # type: ignore[return-value]

    def click(self, node: SemanticNode) -> None:
        """Click a node: as the element that it is, or where it stands."""
        if node.id in self.page.elements:
            self.do("click", element=node.id)
        elif node.centre is not None:
            self.click_at(*node.centre)

    def click_at(self, x: float, y: float) -> None:
        """Click a point."""
        self.do("clickAt", x=x, y=y)

    def press(self, name: str, *roles: str) -> None:
        """Click what is called so."""
        self.click(self.find(name, *(roles or ("btn", "link", "text", "item", "menu", "tab"))))

    def submit(self) -> None:
        """Click the button that submits."""
        self.press("Submit", "btn")

    def fill(self, node: SemanticNode, text: str) -> None:
        """Set the value of a field."""
        self.do("setValue", element=node.id, value=text)

    def focus(self, element: str) -> None:
        """Have an element have the focus, if it has not."""
        self.look()
        if self.page.focused != element:
            self.do("focus", element=element)

    def key(self, key: str, *modifiers: str) -> None:
        """Press a key."""
        self.do("press", key=key, modifiers=list(modifiers))

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag from a point to another."""
        self.do("dragFrom", x=start[0], y=start[1], toX=end[0], toY=end[1])

    async def _tree(self, asked: AskTree) -> PageTree:
        with anyio.fail_after(LIMIT_S):
            return await self.driving.web.actor.read_tree(asked)


@cache
def _tags() -> Mapping[str, str]:
    return {tool.name_on(SURFACE): name for name, tool in TOOLS.items()}


def middle(node: SemanticNode) -> tuple[float, float]:
    """Return the middle of the box of a node.

    Raises:
        NotShownError: nothing says where it stands.
    """
    if node.box is not None:
        left, top, width, height = node.box
        return left + width / 2, top + height / 2
    if node.centre is None:
        raise NotShownError(node.id)
    return node.centre


P = TypeVar("P", bound=Played)


@contextmanager
def played(web: Browsing, episode: Episode) -> Generator[Played]:
    """Begin an episode in a session of its own."""
    with played_as(Played, web, episode) as game:
        yield game


@contextmanager
def played_as(kind: type[P], web: Browsing, episode: Episode) -> Generator[P]:
    """Begin an episode in a session of its own, which is seen and played in a way of its own."""
    driving = Driving(web, f"{SESSION_PREFIX}{secrets.token_urlsafe(16)}")
    driving.do(Navigate(url=episode.url), object)
    try:
        yield kind(driving, episode, episode.goal())
    finally:
        driving.do(CloseSession(), object)
