"""Asks the documents of a tab, the main one and those in its frames, each in a world of our own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import anyio
import msgspec
from msgspec import Struct
from playwright.async_api import ElementHandle, Error, Frame

from actors.fetchers.playwright.cdp import of_frame
from actors.fetchers.playwright.loading import script
from actors.fetchers.playwright.pointing import Way, pointed
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.memory import Memory, memory
from actors.fetchers.playwright.world import CrashedError, HungError, World
from protocol.faults import Code, FaultError, fault

BETWEEN = "."
"""Stands in an id between a frame and what is in it."""

_PARTS = ("words", "tree", "kinds", "values", "places", "names", "ids", "signs", "shown", "look", "content", "answer")
_TRIES = 3
"""How often a document may make room for another while it is asked."""

_FRAME_S = 1.0

T = TypeVar("T")


class _Told(Struct, frozen=True):
    """What a function of ours gives, or the address of a document that is `strange` to us, or that it `failed`."""

    strange: str = ""
    failed: bool = False
    told: Any = None


@dataclass(frozen=True)
class Document:
    """The document of a tab, or of one of its frames; `prefix` is what ids in it begin with."""

    tab: Tab
    frame: Frame
    world: World
    prefix: str = ""

    async def ask(self, what: str, kind: type[T], **args: Any) -> T:
        """Call one of our functions; a document that is new to us is told what was known of its page.

        Raises:
            FaultError: BROWSER_PAGE_HUNG where it does not answer; EXECUTION_ERROR; PAGE_CRASHED.
        """
        for _ in range(_TRIES):
            expression = f"({_program()})({msgspec.json.encode([what, args]).decode()})"
            told = await self._run(expression)
            if told is None:
                break
            if told.told is not None:
                return msgspec.convert(told.told, kind)
            if told.failed:
                raise FaultError(fault(Code.EXECUTION_ERROR, "The page does not let itself be looked at."))
            args = {**args, "seeds": self.memory.of(told.strange)}
        raise FaultError(fault(Code.BROWSER_PAGE_HUNG))

    @property
    def memory(self) -> Memory:
        """What is remembered of the tab."""
        return memory(self.tab)

    async def take(self, way: Way) -> ElementHandle | None:
        """Take hold of what a way leads to now."""
        try:
            return await pointed(self.frame, way)
        except Error as error:
            if self.prefix:
                return None  # the frame is gone
            raise self.tab.fault(error) from error

    async def inner(self, name: str, way: Way) -> Document | None:
        """Return the document in a frame of this one; None for one that does not let itself be asked."""
        with anyio.move_on_after(_FRAME_S):
            try:
                handle = await self.take(way)
                frame = await handle.content_frame() if handle is not None else None
                if frame is None:
                    return None
                world = self.memory.world(frame) or await self._world(frame, way)
            except (Error, CrashedError, HungError):
                return None
            if world is None:
                return None
            self.memory.keep_world(frame, world)
            return Document(self.tab, frame, world, f"{self.prefix}{name}{BETWEEN}")
        return None

    async def _world(self, frame: Frame, way: Way) -> World | None:
        """Open a world of ours in a frame: in a process of its own, or in that of the document around it."""
        own = await of_frame(self.tab.page.context, frame)
        if own is not None:
            tree = await own.send("Page.getFrameTree")
            return World(own, str(tree["frameTree"]["frame"]["id"]))
        expression = f"({_program()})({msgspec.json.encode(['at', {'way': way}]).decode()})"
        cdp = self.world.cdp
        found = await cdp.send("Runtime.evaluate", {"expression": expression, "contextId": await self.world.context()})
        if "objectId" not in found["result"]:
            return None
        node = (await cdp.send("DOM.describeNode", {"objectId": found["result"]["objectId"]}))["node"]
        return World(cdp, str(node["frameId"])) if "frameId" in node else None

    async def _run(self, expression: str) -> _Told | None:
        if not self.prefix:
            return await self.tab.run(expression, _Told)
        try:
            return await self.world.ask(expression, _Told, _FRAME_S)
        except (Error, CrashedError, HungError):
            self.memory.drop_world(self.frame)
            return None


def main(tab: Tab) -> Document:
    """Return the document of a tab."""
    return Document(tab, tab.page.main_frame, tab.world)


def parted(element_id: str) -> Sequence[str]:
    """Part an id into those of the frames around an element, and its own."""
    return element_id.split(BETWEEN)


@cache
def _program() -> str:
    parts = ",\n".join(script(f"view/{name}") for name in _PARTS)
    begin = f"const view = {{}}; for (const part of [{parts}]) part(view);"
    return f"([what, args]) => {{ {begin} return view.answer(what, args); }}"
