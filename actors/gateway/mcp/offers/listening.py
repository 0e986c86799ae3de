"""`subscriptions/listen`: one long answer that tells a client what has changed of what it wants to know."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

import anyio
import msgspec
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    Notification,
    NotificationParams,
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    ResourceUpdatedNotificationParams,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    ToolListChangedNotification,
)
from pydantic import ConfigDict

from actors.gateway.mcp.offers import written
from actors.gateway.mcp.offers.clients import Context, knows_tasks
from actors.gateway.mcp.offers.handles import Handles, TaskName
from actors.gateway.mcp.offers.known import ListsChanged, News, Offers
from actors.gateway.mcp.offers.written import Wire
from actors.gateway.request import RequestContext
from protocol.offers.results import ResourceUpdated, TaskChanged

MAX_BEHIND = 1_000
"""News that a client may be behind: then its stream ends, and it asks anew for all it wants to know."""

MAX_WANTED = 1_000
"""Tasks and resources that one client may listen for."""

_TASK_IDS = "taskIds"


MAX_FOLLOWED = 32
"""Tasks of our own that one client may listen for: each is asked for as long as it lasts."""


class FollowedTasks(Protocol):
    """Tasks of our own tools."""

    async def is_there(self, request: RequestContext, task_id: str) -> bool:
        """Whether it is a task of the caller."""
        ...

    def follow(self, request: RequestContext, task_id: str) -> AsyncGenerator[Wire]:
        """Return how a task of the caller stands, now and whenever that changes, until it is over or cannot be told."""
        ...


class TaskNotificationParams(NotificationParams):
    """How a task stands."""

    model_config = ConfigDict(extra="allow")


class TaskNotification(Notification[TaskNotificationParams, Literal["notifications/tasks"]]):
    """A task stands differently."""

    method: Literal["notifications/tasks"] = "notifications/tasks"
    params: TaskNotificationParams


@dataclass(frozen=True)
class Wish:
    """What one client listens for; `tasks` are those of the caller, by the ids that the client has for them.

    `own` are those that no offering actor does.
    """

    lists: SubscriptionFilter
    resources: frozenset[str]
    tasks: Mapping[TaskName, str]
    caller: str
    own: tuple[str, ...] = ()

    def acknowledged(self) -> SubscriptionFilter:
        """Say what of it is heeded."""
        ids = [*self.tasks.values(), *self.own]
        tasks = {_TASK_IDS: ids} if ids else {}
        return SubscriptionFilter(
            tools_list_changed=self.lists.tools_list_changed or None,
            prompts_list_changed=self.lists.prompts_list_changed or None,
            resources_list_changed=self.lists.resources_list_changed or None,
            resource_subscriptions=sorted(self.resources) or None,
            **cast("dict[str, Any]", tasks),
        )

    def notices(self, news: News, meta: dict[str, Any]) -> list[Notification[Any, Any]]:
        """Write news for the client, as far as it wants to hear them."""
        match news:
            case ListsChanged():
                told: list[tuple[bool, bool | None, type[Any]]] = [
                    (news.tools, self.lists.tools_list_changed, ToolListChangedNotification),
                    (news.prompts, self.lists.prompts_list_changed, PromptListChangedNotification),
                    (news.resources, self.lists.resources_list_changed, ResourceListChangedNotification),
                ]
                return [
                    kind(params=NotificationParams(_meta=meta)) for changed, wanted, kind in told if changed and wanted
                ]
            case ResourceUpdated():
                params = ResourceUpdatedNotificationParams(uri=news.uri, _meta=meta)
                return [ResourceUpdatedNotification(params=params)] if news.uri in self.resources else []
            case TaskChanged():
                return self._task(news, meta)

    def _task(self, news: TaskChanged, meta: dict[str, Any]) -> list[Notification[Any, Any]]:
        handle = self.tasks.get(TaskName(news.actor, news.task.id)) if news.caller == self.caller else None
        if handle is None:
            return []
        tell = written.task if written.is_too_long(news.task) else written.detailed_task
        told = tell(news.task, handle)
        return [TaskNotification(params=TaskNotificationParams.model_validate({**told, "_meta": meta}))]


@dataclass(frozen=True)
class Listening:
    """Answers `subscriptions/listen`."""

    offers: Offers
    handles: Handles
    own: FollowedTasks

    async def __call__(self, context: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Tell one client what it wants to know, until it leaves."""
        wish = await self._wish(context, params.notifications)
        meta = {SUBSCRIPTION_ID_META_KEY: context.request_id}
        send, receive = anyio.create_memory_object_stream[News](MAX_BEHIND)

        def put(news: News) -> None:
            try:
                send.send_nowait(news)
            except anyio.WouldBlock:
                send.close()
            except anyio.ClosedResourceError:
                return

        with send, receive, self.offers.waiting(put):
            acknowledged = SubscriptionsAcknowledgedNotificationParams(notifications=wish.acknowledged(), _meta=meta)
            await self._say(context, SubscriptionsAcknowledgedNotification(params=acknowledged))
            async with anyio.create_task_group() as followers:
                for task_id in wish.own:
                    followers.start_soon(self._follow, context, task_id, meta)
                async for news in receive:
                    for notice in wish.notices(news, meta):
                        await self._say(context, notice)
                followers.cancel_scope.cancel()
        return SubscriptionsListenResult(_meta=meta)

    async def _follow(self, context: Context, task_id: str, meta: dict[str, Any]) -> None:
        async with aclosing(self.own.follow(context.lifespan_context, task_id)) as told:
            async for task in told:
                params = TaskNotificationParams.model_validate({**task, "_meta": meta})
                await self._say(context, TaskNotification(params=params))

    async def _wish(self, context: Context, asked: SubscriptionFilter) -> Wish:
        request = context.lifespan_context
        more: dict[str, Any] = asked.model_extra or {}
        ids = more.get(_TASK_IDS) if knows_tasks(context) else None
        handles = _strings(ids)
        resources = asked.resource_subscriptions or []
        if len(handles) + len(resources) > MAX_WANTED:
            raise MCPError(INTERNAL_ERROR, f"More than {MAX_WANTED} tasks and resources are listened for")
        opened = ((self.handles.open_task(request.caller, handle), handle) for handle in handles)
        tasks = {name: handle for name, handle in opened if name is not None}
        others = [handle for handle in dict.fromkeys(handles) if handle not in tasks.values()][:MAX_FOLLOWED]
        own = tuple([handle for handle in others if await self.own.is_there(request, handle)])
        return Wish(asked, frozenset(resources), tasks, request.caller.name, own)

    async def _say(self, context: Context, notice: Any) -> None:
        await context.session.send_notification(notice, related_request_id=context.request_id)


def _strings(given: object) -> list[str]:
    try:
        return msgspec.convert(given, list[str])
    except msgspec.ValidationError:
        return []
