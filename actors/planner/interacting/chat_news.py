"""Publishes to gateways what was said in chat sessions, for the clients that are connected to them (001 §3.5).

It is news: what does not reach a client is in the journal, where whoever asks for the messages reads it.
"""

from __future__ import annotations

from typing import Final

import anyio
import structlog
from msgspec import Struct

from bus import Bus
from protocol.acting.chats import ChatMessageAdded
from protocol.codec import encode
from protocol.faults import FaultError
from protocol.push import PUSH, MessageTold, RoundTold, SealedPush
from protocol.subjects import PUSH_NEWS

log = structlog.stdlib.get_logger()

CHAT_NEWS_LOST: Final = "chat_news_lost"

TELL_S: Final = 2.0
"""What telling may take: no round waits longer for it."""


class ChatNews(Struct, frozen=True):
    """Publishes the messages and rounds of chat sessions, sealed; without a key it publishes nothing."""

    bus: Bus

    async def message(self, message: ChatMessageAdded) -> None:
        """Publish a message that was added."""
        await self._publish(MessageTold(message=message))

    async def round(self, answered: RoundTold) -> None:
        """Publish a round that was answered."""
        await self._publish(answered)

    async def _publish(self, news: MessageTold | RoundTold) -> None:
        if self.bus.seal is None or not self.bus.seal.holds(PUSH):
            return
        sealed = SealedPush(sealed=self.bus.seal.seal(encode(news), PUSH))
        with anyio.move_on_after(TELL_S) as waiting:
            try:
                await self.bus.tell(PUSH_NEWS, sealed)
            except FaultError as error:
                log.warning(CHAT_NEWS_LOST, code=error.fault.code)
        if waiting.cancelled_caught:
            log.warning(CHAT_NEWS_LOST, code="late")
