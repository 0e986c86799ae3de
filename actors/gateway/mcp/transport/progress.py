"""The progress of a tool, told to a client that wants to know."""

from __future__ import annotations

from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

from actors.gateway.watching import Watched, watching
from protocol.progress import Progress


def reporting(desk: Watched) -> ServerMiddleware[Any]:
    """Make what stands around the calls of tools, and reports their progress where a client gave a token for it."""

    async def report(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method != "tools/call" or (ctx.meta or {}).get("progress_token") is None:
            return await call_next(ctx)
        reporter = _Reporter(ctx)
        async with watching(desk, reporter.heard):
            return await call_next(ctx)

    return report


class _Reporter:
    """Reports to one client, to whom progress has to grow."""

    def __init__(self, context: ServerRequestContext[Any, Any]) -> None:
        self._context = context
        self._done = -1

    async def heard(self, progress: Progress) -> None:
        if progress.done > self._done:
            self._done = progress.done
            await self._context.session.report_progress(progress.done, progress.total, progress.message)
