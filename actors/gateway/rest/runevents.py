"""The events of a run as server-sent events."""

from __future__ import annotations

from contextlib import aclosing

import structlog
from msgspec import UNSET, Struct, structs
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from actors.gateway import runs
from actors.gateway.app_context import AppContext
from actors.gateway.errors import to_run_fault
from actors.gateway.http.bodies import drain
from actors.gateway.request import RequestContext
from actors.gateway.rest.events import STREAM_FAILED, Stream, event
from protocol.faults import Code, FaultError, fault
from protocol.runs.responses import Run

log = structlog.stdlib.get_logger()

LAST_EVENT_ID = "last-event-id"
_MAX_DIGITS = 15


class RunStream(Stream):
    """What happens to a run after one of its events; when the client leaves, the run goes on."""

    def __init__(self, app: AppContext, request: RequestContext, run: Run, after: int = 0) -> None:
        super().__init__()
        self._app = app
        self._request = request
        self._run = run
        self._after = after
        self._last: tuple[str, Struct] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, the last of them included."""
        await drain(receive)
        self._after = last_event_id(Headers(scope=scope).get(LAST_EVENT_ID, ""), self._after)
        await super().__call__(scope, receive, send)

    async def tell(self, send: Send) -> None:
        """Send what has happened and what happens."""
        try:
            async with aclosing(runs.follow(self._app, self._request, self._run.run_id, self._after)) as stream:
                async for news in stream:
                    self._run = news.run
                    for one in news.events:
                        await send(event(one.event, one, one.id))
            self._last = ("end", structs.replace(self._run, result=UNSET))
        except FaultError as error:
            self._last = ("error", to_run_fault(error.fault, run_id=self._run.run_id))
        except Exception:
            log.exception(STREAM_FAILED)
            self._last = ("error", to_run_fault(fault(Code.INTERNAL_ERROR), run_id=self._run.run_id))

    async def farewell(self, send: Send) -> None:
        """Send how the run stands at its end, or why no more is told; a reader that is cut off comes back by itself."""
        if self._last is not None:
            await send(event(*self._last))


def last_event_id(header: str, otherwise: int) -> int:
    """Read Last-Event-ID; one that is no id of ours says nothing."""
    return int(header) if header.isdecimal() and header.isascii() and len(header) <= _MAX_DIGITS else otherwise
