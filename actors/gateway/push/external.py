"""Another server of the Pusher protocol that clients are connected to: it is told what is new by signed REST.

What it is told waits in a queue with a bound, and no round waits for it.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import anyio
import httpx2
import msgspec
import stamina
import structlog
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from actors.gateway.push.signatures import PushApp
from actors.settings import Settings
from actors.web.exchange import trusted
from protocol.push import PushEvent

log = structlog.stdlib.get_logger()

PUSH_POST_FAILED: Final = "push_post_failed"
PUSH_POST_DROPPED: Final = "push_post_dropped"

MAX_WAITING: Final = 1_000
"""Events that may wait for the other server; what comes then is dropped, and read by whoever asks."""

MAX_BATCH: Final = 10
"""Events of one request, as Pusher has it."""

POST_S: Final = 5.0
"""What one request may take."""

TRIES: Final = 4
TRIES_S: Final = 30.0
"""What the tries of one request may take together."""

LAST_POSTS_S: Final = 2.0
"""What the posts that are in hand may take at the end."""

_LATER: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


class PostError(Exception):
    """A post that failed, and may not fail the next time."""


@dataclass
class ExternalPush:
    """Posts events to another server, in their order and each once, as far as that server answers."""

    app: PushApp
    url: str
    client: httpx2.AsyncClient
    clock: Callable[[], float] = time.time
    _send: MemoryObjectSendStream[PushEvent] = field(init=False, repr=False)
    _receive: MemoryObjectReceiveStream[PushEvent] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Begin with nothing to post."""
        self._send, self._receive = anyio.create_memory_object_stream[PushEvent](MAX_WAITING)

    def publish(self, events: Sequence[PushEvent]) -> None:
        """Queue events; what there is no room for is dropped."""
        for event in events:
            try:
                self._send.send_nowait(event)
            except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
                log.warning(PUSH_POST_DROPPED, channel=event.channel, name=event.event)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Post what is queued as long as the block lasts, and what is left at its end for a moment."""
        done = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._post_queued, done)
            try:
                yield
            finally:
                self._send.close()
                with anyio.move_on_after(LAST_POSTS_S, shield=True):
                    await done.wait()
                tasks.cancel_scope.cancel()

    async def _post_queued(self, done: anyio.Event) -> None:
        try:
            with self._receive:
                async for event in self._receive:
                    await self._post_batch([event, *self._waiting()])
        finally:
            done.set()

    def _waiting(self) -> list[PushEvent]:
        """Take what waits already, as far as one request has room."""
        events: list[PushEvent] = []
        while len(events) < MAX_BATCH - 1 and self._receive.statistics().current_buffer_used:
            events.append(self._receive.receive_nowait())
        return events

    async def _post_batch(self, events: Sequence[PushEvent]) -> None:
        batch = [{"name": one.event, "channel": one.channel, "data": one.data} for one in events]
        body = msgspec.json.encode({"batch": batch})
        try:
            with anyio.fail_after(TRIES_S):
                async for attempt in stamina.retry_context(
                    on=(PostError, httpx2.TransportError), attempts=TRIES, timeout=TRIES_S, wait_max=5.0
                ):
                    with attempt:
                        await self._post(body)
        except (PostError, httpx2.TransportError, TimeoutError) as error:
            reason = str(error) if isinstance(error, PostError) else type(error).__name__
            log.warning(PUSH_POST_FAILED, events=len(events), reason=reason)

    async def _post(self, body: bytes) -> None:
        path = f"/apps/{self.app.id}/batch_events"
        query = self.app.signed("POST", path, body, int(self.clock()))
        response = await self.client.post(
            self.url + path, params=query, content=body, headers={"Content-Type": "application/json"}
        )
        if response.is_success:
            return
        if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR or response.status_code in _LATER:
            msg = f"status {response.status_code}"
            raise PostError(msg)
        log.warning(PUSH_POST_FAILED, reason=f"status {response.status_code}")


@asynccontextmanager
async def posting(app: PushApp, settings: Settings) -> AsyncGenerator[ExternalPush]:
    """Post to the server of the settings while the block lasts: to who was named, by no proxy of the environment."""
    verify = await to_thread.run_sync(trusted, settings.fetch_ca_file)
    async with httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=POST_S, verify=verify) as client:
        poster = ExternalPush(app, settings.push_url, client)
        async with poster.running():
            yield poster
