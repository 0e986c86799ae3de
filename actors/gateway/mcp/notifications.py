"""What clients get besides responses: the progress and log lines of a call, and the changes that they listen for.

Own code in place of the SDK's `ListenHandler`, which knows no tasks.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, cast

import anyio
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.connection import allowed_log_levels
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware
from mcp.shared import subscriptions
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    Notification,
    NotificationParams,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)
from msgspec import Struct
from pydantic import ConfigDict

from actors.gateway.mcp import serializers
from actors.gateway.mcp.clients import Context, supports_tasks
from actors.gateway.mcp.handles import Handles, TaskName
from actors.gateway.mcp.offer_catalogue import ListsChanged, OfferChange, Offers
from actors.gateway.mcp.serializers import Wire
from actors.gateway.request import RequestContext, Watchers, beside, watching
from protocol.offers.results import LogLine, ResourceUpdated, Said, Step, TaskChanged
from protocol.replicas import Progress, Watch

MAX_LINE_BYTES = 64 * 1024
"""A longer line of a log is only said to be too long."""

MAX_BEHIND = 1_000
"""Changes that a client may be behind: then its stream ends, and it listens anew for all that it wants to know."""

MAX_SUBSCRIPTIONS = 1_000
"""Tasks and resources that one client may listen for."""

MAX_FOLLOWED = 32
"""Tasks of our own that one client may listen for: each is followed for as long as it lasts."""


# -- the progress of our own work --------------------------------------------------------------------------------------


def progress_middleware(watchers: Watchers) -> ServerMiddleware[RequestContext]:
    """Build the middleware that sends the progress of a call of a tool, where the client gave a token for it."""

    async def report(ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method != "tools/call" or not _wants_progress(ctx):
            return await call_next(ctx)
        reporter = _ProgressReporter(ctx)
        async with watching(watchers, reporter.report) as watcher:
            return await call_next(replace(ctx, lifespan_context=ctx.lifespan_context.watched_by(watcher)))

    return report


class _ProgressReporter:
    """Reports to one client, to which progress has to grow."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._done = -1

    async def report(self, progress: Progress) -> None:
        if progress.done > self._done:
            self._done = progress.done
            await self._context.session.report_progress(progress.done, progress.total, progress.message)


# -- the progress messages of offering actors --------------------------------------------------------------------------


@dataclass(eq=False)
class ProgressRelay:
    """Takes the messages about one request; `watch` is where to send them, None where the client wants none."""

    watch: Watch | None
    _stream: MemoryObjectSendStream[Said]
    _count: int = 0
    _more: anyio.Event = field(default_factory=anyio.Event)

    def put(self, message: Said) -> None:
        """Take one message; dropped where the client is too far behind."""
        with suppress(anyio.WouldBlock, anyio.BrokenResourceError):
            self._stream.send_nowait(message)
        self._count += 1
        self._more.set()
        self._more = anyio.Event()

    async def wait_for(self, count: int) -> None:
        """Wait until so many messages have come: an answer may overtake what was sent before it."""
        with anyio.move_on_after(_LAST_MESSAGES_S):
            while self.watch is not None and self._count < count:
                await self._more.wait()


@asynccontextmanager
async def progress_messages(offers: Offers, replica: str, context: Context) -> AsyncGenerator[ProgressRelay]:
    """Send the client the messages about the work in the block, as far as it wants them."""
    levels = allowed_log_levels(context.protocol_version, context.meta)
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    send, receive = anyio.create_memory_object_stream[Said](_MAX_MESSAGES_BEHIND)
    wanted = bool(levels) or _wants_progress(context)
    relay = ProgressRelay(Watch(replica=replica, token=token) if wanted else None, send)
    async with beside(lambda: _relay(receive, context, levels), _LAST_MESSAGES_S):
        with send, offers.receiving(token, relay.put):
            yield relay


def _wants_progress(context: Context) -> bool:
    return (context.meta or {}).get("progress_token") is not None


async def _relay(stream: MemoryObjectReceiveStream[Said], context: Context, levels: frozenset[str]) -> None:
    with stream:
        async for message in stream:
            match message.says:
                case Step(done=done, total=total, message=text):
                    await context.session.report_progress(done, total, text or None)
                case LogLine() as line if line.level in levels:
                    await _log(context, line)
                case LogLine():
                    continue


async def _log(context: Context, line: LogLine) -> None:
    long = len(msgspec.json.encode(line.data)) > MAX_LINE_BYTES
    data: Any = f"(longer than {MAX_LINE_BYTES // 1024} KiB)" if long else line.data
    params = LoggingMessageNotificationParams(level=line.level.value, data=data, logger=line.logger or None)
    await _send(context, LoggingMessageNotification(params=params))


# -- subscriptions/listen ----------------------------------------------------------------------------------------------


class FollowedTasks(Protocol):
    """Tasks of our own tools, as far as a client can listen for them."""

    async def is_there(self, request: RequestContext, task_id: str) -> bool:
        """Whether it is a task of the caller."""
        ...

    def follow(self, request: RequestContext, task_id: str) -> AsyncGenerator[Wire]:
        """Yield how a task of the caller stands, now and whenever that changes, until it is over or cannot be read."""
        ...


class SubscriptionHandler(Struct, frozen=True):
    """Answers `subscriptions/listen` by one long response, with the changes of what a client wants to know."""

    offers: Offers
    handles: Handles
    own_tasks: FollowedTasks

    async def __call__(self, context: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Send one client the changes that it listens for, until it leaves."""
        wanted = await self._wanted(context, params.notifications)
        meta = {subscriptions.SUBSCRIPTION_ID_META_KEY: context.request_id}
        send, receive = anyio.create_memory_object_stream[OfferChange](MAX_BEHIND)

        def put(change: OfferChange) -> None:
            try:
                send.send_nowait(change)
            except anyio.WouldBlock:
                send.close()
            except anyio.ClosedResourceError:
                return

        with send, receive, self.offers.subscribed(put):
            acknowledged = SubscriptionsAcknowledgedNotificationParams(notifications=wanted.acknowledged(), _meta=meta)
            await _send(context, SubscriptionsAcknowledgedNotification(params=acknowledged))
            async with anyio.create_task_group() as followers:
                for task_id in wanted.own_tasks:
                    followers.start_soon(self._follow, context, task_id, meta)
                async for change in receive:
                    for notification in wanted.notifications(change, meta):
                        await _send(context, notification)
                followers.cancel_scope.cancel()
        return SubscriptionsListenResult(_meta=meta)

    async def _follow(self, context: Context, task_id: str, meta: dict[str, Any]) -> None:
        async with aclosing(self.own_tasks.follow(context.lifespan_context, task_id)) as standings:
            async for task in standings:
                await _send(context, _task_notification(task, meta))

    async def _wanted(self, context: Context, lists: SubscriptionFilter) -> WantedChanges:
        request = context.lifespan_context
        more: dict[str, Any] = lists.model_extra or {}
        task_ids = _strings(more.get(_TASK_IDS) if supports_tasks(context) else None)
        resources = lists.resource_subscriptions or []
        if len(task_ids) + len(resources) > MAX_SUBSCRIPTIONS:
            raise MCPError(INTERNAL_ERROR, f"More than {MAX_SUBSCRIPTIONS} tasks and resources are listened for")
        names = ((self.handles.open_task(request.caller, task_id), task_id) for task_id in task_ids)
        tasks = {name: task_id for name, task_id in names if name is not None}
        others = [task_id for task_id in dict.fromkeys(task_ids) if task_id not in tasks.values()][:MAX_FOLLOWED]
        own_tasks = tuple([task_id for task_id in others if await self.own_tasks.is_there(request, task_id)])
        return WantedChanges(lists, frozenset(resources), tasks, request.caller.name, own_tasks)


class WantedChanges(Struct, frozen=True):
    """What one client listens for; `tasks` are those of the caller, by the ids that the client has for them.

    `own_tasks` are those that no offering actor does.
    """

    lists: SubscriptionFilter
    resources: frozenset[str]
    tasks: Mapping[TaskName, str]
    caller: str
    own_tasks: tuple[str, ...] = ()

    def acknowledged(self) -> SubscriptionFilter:
        """Return what of it is heeded."""
        task_ids = [*self.tasks.values(), *self.own_tasks]
        tasks = {_TASK_IDS: task_ids} if task_ids else {}
        return SubscriptionFilter(
            tools_list_changed=self.lists.tools_list_changed or None,
            prompts_list_changed=self.lists.prompts_list_changed or None,
            resources_list_changed=self.lists.resources_list_changed or None,
            resource_subscriptions=sorted(self.resources) or None,
            **cast("dict[str, Any]", tasks),
        )

    def notifications(self, change: OfferChange, meta: dict[str, Any]) -> list[Any]:
        """Build the notifications of a change, as far as the client listens for it."""
        if isinstance(change, TaskChanged):
            return self._task(change, meta)
        return [
            subscriptions.event_to_notification(event, meta)
            for event in _events(change)
            if subscriptions.event_matches(self.lists, self.resources, event)
        ]

    def _task(self, change: TaskChanged, meta: dict[str, Any]) -> list[Any]:
        task_id = self.tasks.get(TaskName(change.actor, change.task.id)) if change.caller == self.caller else None
        if task_id is None:
            return []
        write = serializers.task if serializers.is_too_long(change.task) else serializers.detailed_task
        return [_task_notification(write(change.task, task_id), meta)]


class TaskNotificationParams(NotificationParams):
    """How a task stands."""

    model_config = ConfigDict(extra="allow")


class TaskNotification(Notification[TaskNotificationParams, Literal["notifications/tasks"]]):
    """A task stands differently."""

    method: Literal["notifications/tasks"] = "notifications/tasks"
    params: TaskNotificationParams


def _events(change: ListsChanged | ResourceUpdated) -> Iterator[subscriptions.ServerEvent]:
    match change:
        case ResourceUpdated():
            yield subscriptions.ResourceUpdated(change.uri)
        case ListsChanged():
            if change.tools:
                yield subscriptions.ToolsListChanged()
            if change.prompts:
                yield subscriptions.PromptsListChanged()
            if change.resources:
                yield subscriptions.ResourcesListChanged()


def _task_notification(task: Wire, meta: dict[str, Any]) -> TaskNotification:
    return TaskNotification(params=TaskNotificationParams.model_validate({**task, "_meta": meta}))


async def _send(context: Context, notification: Any) -> None:
    await context.session.send_notification(notification, related_request_id=context.request_id)


def _strings(given: object) -> list[str]:
    try:
        return msgspec.convert(given, list[str])
    except msgspec.ValidationError:
        return []


_MAX_MESSAGES_BEHIND = 100
"""Messages that a slow client may be behind."""

_LAST_MESSAGES_S = 5.0
"""How long an answer waits for the messages sent before it, and then for the client to take them; a loop may stall."""

_TOKEN_BYTES = 12
_TASK_IDS = "taskIds"
