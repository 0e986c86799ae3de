"""The progress of a tool, told to a client that wants to know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

from actors.gateway.request import RequestContext, Watchers, watching
from protocol.replicas import Progress


def reporting(watchers: Watchers) -> ServerMiddleware[RequestContext]:
    """Make what stands around the calls of tools, and reports their progress where a client gave a token for it."""

    async def report(ctx: ServerRequestContext[RequestContext, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method != "tools/call" or (ctx.meta or {}).get("progress_token") is None:
            return await call_next(ctx)
        reporter = _Reporter(ctx)
        async with watching(watchers, reporter.on_progress) as watcher:
            return await call_next(replace(ctx, lifespan_context=ctx.lifespan_context.watched_by(watcher)))

    return report


class _Reporter:
    """Reports to one client, to whom progress has to grow."""

    def __init__(self, context: ServerRequestContext[RequestContext, Any]) -> None:
        self._context = context
        self._done = -1

    async def on_progress(self, progress: Progress) -> None:
        if progress.done > self._done:
            self._done = progress.done
            await self._context.session.report_progress(progress.done, progress.total, progress.message)
