"""Renders one page in the engine, from its first document to the snapshot of what it shows."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import Any, Final, TypeVar

import anyio
import msgspec
from anyio import CancelScope
from anyio.abc import TaskGroup

from actors.fetchers.lightweight import origins
from actors.fetchers.lightweight.cdp import CdpConnection, CdpError
from actors.fetchers.lightweight.network import CONFINED
from actors.fetchers.lightweight.rendering import (
    DIALOG_LOOP,
    POLL_MS,
    SOFT_MS,
    THIN_CHARS,
    PageStorage,
    RenderedContent,
    RenderError,
    RenderFailure,
    ScriptReport,
    SettleResult,
    Snapshot,
    StabilityWatch,
)
from actors.fetchers.lightweight.target import (
    INVALID_SELECTOR,
    PageTarget,
    PageVisit,
    load_first,
    load_more_script,
    open_target,
    read_script,
    selector_script,
    storage_script,
)
from actors.ungrouped import ungrouped
from protocol.browse import ConsoleMessage
from protocol.pages import Dialog

T = TypeVar("T")

MAX_MORE: Final = 10
"""How often a page is scrolled to its end, or its "load more" pressed."""

_WORLD: Final = "weft"
_WORLDS: Final = 3
"""How many documents in turn may come before a world of our own is made in one that stays."""

_PATIENT_MS: Final = 2_500
"""A request that is under way longer holds up no page that shows something and rests."""


async def render(connection: CdpConnection, visit: PageVisit) -> Snapshot:
    """Render a page, whose first document is there, and return its snapshot, taken at the deadline at the latest.

    Raises:
        RenderError: there is none.
        CdpError: the engine refused to open it.
        ClosedError: the connection broke off.
    """
    snapshot: Snapshot | None = None
    until = anyio.current_time() + visit.options.seconds
    with ungrouped():
        async with anyio.create_task_group() as tasks:
            with CancelScope(deadline=until + visit.options.grace_seconds):
                target = await open_target(connection, tasks, visit)
                try:
                    snapshot = await _Page(target, tasks, visit).render(until)
                finally:
                    target.network.end()
            tasks.cancel_scope.cancel()
    if snapshot is None:
        raise RenderError(RenderFailure.ENGINE_STUCK)
    return snapshot


class _Page:
    def __init__(self, target: PageTarget, tasks: TaskGroup, visit: PageVisit) -> None:
        self._target, self._tasks, self._visit, self._options = target, tasks, visit, visit.options
        self._network, self._frames, self._cookies = target.network, target.frames, target.cookies
        self._name = f"_{secrets.token_hex(8)}"
        self._report = ScriptReport()
        self._loaded, self._selector_found = False, True
        self._world_id: int | None = None
        """The isolated world in the document that the main frame holds."""

    async def render(self, until: float) -> Snapshot:
        settling = SettleResult.HARD
        self._listen()
        await load_first(self._target, self._visit, self._name)
        with CancelScope(deadline=until):
            settling = await self._settle()
        return await self._snapshot(settling)

    def _listen(self) -> None:
        listen = self._target.connection.listen
        listen("Fetch.requestPaused", self._network.paused)
        listen("Page.frameAttached", lambda params, _: self._frames.attached(params))
        listen("Page.frameNavigated", self._navigated)
        listen("Page.frameStoppedLoading", self._stopped)
        self._tasks.start_soon(self._wake)

    def _navigated(self, params: dict[str, Any], _: str) -> None:
        self._frames.navigated(params)
        if params.get("frame", {}).get("id") == self._frames.main:
            self._loaded = False
            self._world_id = None

    def _stopped(self, params: dict[str, Any], _: str) -> None:
        if params.get("frameId") == self._frames.main:
            self._loaded = True
            self._network.touch()

    async def _wake(self) -> None:
        await self._target.connection.closed.wait()
        self._network.touch()

    async def _settle(self) -> SettleResult:
        settling = await self._rest()
        for _ in range(MAX_MORE if self._options.scroll else 0):
            before = self._network.counters.requests, self._report.activity
            await self._in_world(load_more_script(press=True))
            settling = await self._rest()
            if before == (self._network.counters.requests, self._report.activity):
                break
        return settling

    async def _rest(self) -> SettleResult:
        watch, network = StabilityWatch(), self._network
        while not network.counters.limit:
            if not self._loaded or (network.in_flight and not await self._need_not_wait()):
                await self._network_activity()
                watch.restart()
                continue
            self._report = await self._read_report()
            quiet_ms = (anyio.current_time() - network.touched_at) * 1000
            step = watch.assess(self._report, network.counters.requests, quiet_ms)
            if isinstance(step, SettleResult) and await self._has_selector():
                return step
            if await self._becomes_active(POLL_MS if isinstance(step, SettleResult) else step):
                watch.restart()
        return SettleResult.HARD

    async def _need_not_wait(self) -> bool:
        """Return whether requests in flight need not be waited for: they take long, and the page shows something."""
        if self._network.newest_ms(anyio.current_time()) < _PATIENT_MS:
            return False
        return (await self._read_report()).chars >= THIN_CHARS

    async def _network_activity(self) -> None:
        """Wait for network activity, for half a second at most, as a request may never end."""
        if self._target.connection.closed.is_set():
            await self._target.call("Page.getFrameTree", {})  # says what has happened
        with anyio.move_on_after(SOFT_MS / 4_000):
            await self._network.changed()

    async def _becomes_active(self, ms: float) -> bool:
        """Wait; return at once, and true, when a request begins or ends meanwhile."""
        with anyio.move_on_after(ms / 1000):
            await self._network.changed()
            return True
        return False

    async def _has_selector(self) -> bool:
        """Return whether there is nothing to wait for any more: nothing comes by a selector that is not valid here."""
        selector = self._options.selector
        if selector is None:
            return True
        answer = await self._in_world(selector_script(selector))
        self._selector_found = answer is True
        return self._selector_found or answer == INVALID_SELECTOR

    async def _snapshot(self, settling: SettleResult) -> Snapshot:
        network, counters = self._network, self._network.counters
        limit = counters.limit or ("time" if settling is SettleResult.HARD else "")
        unanswered = network.in_flight
        await network.give_up()
        self._report = await self._read_report()
        content = await self._content()
        if not self._selector_found:
            await self._has_selector()
        storage = None
        if counters.limit != CONFINED:  # what is confined must not change a login
            storage = await self._storage()
            await self._cookies.take_back(self._target.connection)
        if self._report.n_dialog_loop:
            limit = DIALOG_LOOP
        document = self._frames.document(self._frames.main) or self._visit.first.url
        own = origins.same_origin(origins.origin(content.href), origins.origin(document))
        return Snapshot(
            url=content.href if own else document,
            status=network.status,
            content=content,
            report=self._report,
            settling=settling,
            counters=counters,
            cut_short=limit or ("too_large" if content.truncated else ""),
            unanswered=unanswered,
            storage=storage,
            selector_found=self._selector_found,
            console=await self._lines(),
            dialogs=await self._dialogs(),
        )

    async def _content(self) -> RenderedContent:
        content = _decoded(await self._in_world(read_script()), RenderedContent)
        if content is None or not content.html:
            raise RenderError(RenderFailure.READ_FAILED)
        return content

    async def _storage(self) -> PageStorage | None:
        storage = _decoded(await self._in_world(storage_script()), PageStorage)
        document = self._frames.document(self._frames.main)
        return storage if storage and storage.origin == origins.origin(document) else None

    async def _lines(self) -> tuple[ConsoleMessage, ...]:
        if not self._options.console:
            return ()
        return _decoded(await self._try_evaluate(f"{self._name}('console')"), tuple[ConsoleMessage, ...]) or ()

    async def _dialogs(self) -> tuple[Dialog, ...]:
        if not self._report.dialogs:
            return ()
        return _decoded(await self._try_evaluate(f"{self._name}('dialogs')"), tuple[Dialog, ...]) or ()

    async def _read_report(self) -> ScriptReport:
        return _decoded(await self._try_evaluate(f"{self._name}()"), ScriptReport) or ScriptReport()

    async def _in_world(self, expression: str) -> object:
        """Evaluate in an isolated world, whose prototypes no page has touched; in the page's own as a last resort.

        What the page forges there is its own text, which it may write as it likes.
        """
        for _ in range(_WORLDS):
            if self._world_id is None:
                params = {"frameId": self._frames.main, "worldName": _WORLD}
                with suppress(CdpError):
                    self._world_id = int(
                        (await self._target.call("Page.createIsolatedWorld", params))["executionContextId"]
                    )
            try:
                return await self._evaluate(expression, self._world_id)
            except CdpError:
                self._world_id = None  # a document that came meanwhile has taken the world away
        return None

    async def _try_evaluate(self, expression: str) -> object:
        try:
            return await self._evaluate(expression)
        except CdpError:
            return None

    async def _evaluate(self, expression: str, context: int | None = None) -> object:
        params: dict[str, Any] = {"expression": expression, "returnByValue": True}
        if context is not None:
            params["contextId"] = context
        answer = await self._target.call("Runtime.evaluate", params)
        return answer.get("result", {}).get("value")


def _decoded(value: object, kind: type[T]) -> T | None:
    if not isinstance(value, str):
        return None
    try:
        return msgspec.json.decode(value, type=kind)
    except msgspec.DecodeError:
        return None
