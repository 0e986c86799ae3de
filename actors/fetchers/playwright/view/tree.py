"""Reads a page and its frames as one tree of short nodes (001, V3), as much of it as fits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors import redact
from actors.fetchers.playwright.devtools import Way
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.documents import FRAMES_S, TabDocument, main_document
from actors.fetchers.playwright.view.snapshot import mark_click_listeners
from protocol.acting.interact import MAX_EVENTS
from protocol.acting.tree import PageTree, ReceivedInput, ScrollContainer, SemanticNode, Viewport
from protocol.browsers.operations import ReadTree
from protocol.browsers.results import TreeRead
from protocol.faults import FaultError

_MAX_DEPTH = 3
_MAX_FRAMES = 12

_COMPLETE = "complete"

_Node = dict[str, Any]
"""A node as the page wrote it: SemanticNode in short keys."""


class _Frame(Struct, frozen=True, kw_only=True):
    """A frame in a document: the way to it, where it begins in the page, and what of it the window shows.

    `at` counts the nodes before it.
    """

    id: str
    number: int
    way: Way
    at: int
    shown: bool
    x: float
    y: float
    left: float
    top: float
    right: float
    bottom: float
    covered: bool


class _DocumentTree(Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of `semantic` for one document; `ids` are the ids of the browser tools, by those of nodes."""

    url: str
    title: str
    ready: str
    fresh: tuple[tuple[str, dict[str, str]], ...]
    frames: tuple[_Frame, ...]
    nodes: tuple[_Node, ...]
    ids: dict[str, str]
    total: int
    focused: str
    width: float
    height: float
    scroll_position: str
    containers: tuple[ScrollContainer, ...]
    packed: _PackedNodes | None = None
    recent_events: tuple[str, ...] = ()
    has_errors: bool = False
    has_success: bool = False
    inputs: tuple[ReceivedInput, ...] = ()
    selection: str = ""


class _PackedNodes(Struct, frozen=True, kw_only=True):
    """The nodes that fit, and the hash of all."""

    nodes: tuple[_Node, ...]
    hash: str
    left_out: int
    next: str
    tokens: int


async def read_tree(tab: Tab, do: ReadTree) -> TreeRead:
    """Read the tree of a page; the number of tabs is for the caller to fill in.

    Raises:
        FaultError: BROWSER_PAGE_HUNG where the page does not respond; PAGE_CRASHED.
    """
    document, options = main_document(tab), _options(do)
    await document.watch_from_start()
    await mark_click_listeners(document)
    whole = await _read(document, options)
    packed = whole.packed
    if packed is None:
        inner = _FrameNodes(options, time.monotonic() + FRAMES_S)
        whole = await inner.merged(document, whole, _MAX_DEPTH)
        packed = await document.call("fitting", _PackedNodes, nodes=whole.nodes, **options)
    tree = replace(_tree(whole, packed), status=tab.error_status)
    if do.known and do.known == packed.hash:
        tree = replace(tree, nodes=(), unchanged=True, left_out=0, next="", tokens=0)
    return TreeRead(tree=tree)


def _options(do: ReadTree) -> dict[str, Any]:
    names = ("query", "max_tokens", "everywhere", "text", "colours", "boxes", "selectors", "marks", "after")
    return {name: getattr(do, name) for name in names}


async def _read(document: TabDocument, options: dict[str, Any]) -> _DocumentTree:
    tree = await document.call("semantic", _DocumentTree, **options)
    document.memory.remember(tree.url, tree.fresh)
    return tree


def _tree(whole: _DocumentTree, packed: _PackedNodes) -> PageTree:
    nodes = msgspec.convert(packed.nodes, tuple[SemanticNode, ...])
    return PageTree(
        url=redact.url(whole.url),
        title=whole.title,
        nodes=nodes,
        viewport=Viewport(width=whole.width, height=whole.height),
        scroll_position=whole.scroll_position,
        scrollable_containers=whole.containers,
        recent_events=whole.recent_events,
        has_errors=whole.has_errors,
        has_success=whole.has_success,
        inputs=whole.inputs,
        selection=whole.selection,
        hash=packed.hash,
        original_node_count=whole.total,
        left_out=packed.left_out,
        next=packed.next,
        tokens=packed.tokens,
        focused=whole.focused,
        elements={node.id: whole.ids[node.id] for node in nodes if node.id in whole.ids},
        ready=whole.ready == _COMPLETE,
    )


@dataclass
class _FrameNodes:
    """Adds the nodes in the frames of a page to its own, where the frames stand, until the time is up."""

    options: dict[str, Any]
    until_s: float
    frames: int = field(default=0, init=False)

    async def merged(self, document: TabDocument, outer: _DocumentTree, depth: int) -> _DocumentTree:
        """Return the tree of a document with those of its frames in it."""
        nodes, ids, containers = [*outer.nodes], dict(outer.ids), [*outer.containers]
        total, focused, events = outer.total, outer.focused, [*outer.recent_events]
        errors, success = outer.has_errors, outer.has_success
        inputs, selection = outer.inputs, outer.selection
        for frame in sorted(outer.frames, key=lambda one: -one.at):
            inner = await self._inner(document, frame, depth)
            if inner is None:
                continue
            nodes[frame.at : frame.at] = inner.nodes
            ids |= inner.ids
            containers += inner.containers
            total += inner.total
            focused = inner.focused or focused
            events += inner.recent_events
            errors, success = errors or inner.has_errors, success or inner.has_success
            inputs += inner.inputs
            selection = selection or inner.selection
        return replace(
            outer,
            nodes=tuple(nodes),
            ids=ids,
            containers=tuple(containers),
            total=total,
            focused=focused,
            recent_events=tuple(events[-MAX_EVENTS:]),
            has_errors=errors,
            has_success=success,
            inputs=inputs,
            selection=selection,
        )

    async def _inner(self, document: TabDocument, frame: _Frame, depth: int) -> _DocumentTree | None:
        if depth == 0 or self.frames >= _MAX_FRAMES or time.monotonic() > self.until_s:
            return None
        if not frame.shown and not self.options["everywhere"]:
            return None
        self.frames += 1
        inner = await document.inner(frame.id, frame.way, frame.number)
        if inner is None:
            return None
        placed = {**msgspec.to_builtins(frame), "number": inner.number}
        try:
            tree = await _read(inner, {**self.options, "frame": placed})
            tree = replace(tree, ids={node: f"{inner.prefix}{name}" for node, name in tree.ids.items()})
            return await self.merged(inner, tree, depth - 1)
        except FaultError:
            return None
