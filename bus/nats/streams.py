"""Makes streams of JetStream where the server may have less room than they would like."""

from __future__ import annotations

from nats.js import JetStreamContext
from nats.js.api import StreamConfig
from nats.js.errors import APIError

from bus.nats.failures import told

_NO_ROOM = (10028, 10047)
"""Codes of the JetStream API: not enough memory, not enough storage."""


async def make(stream: JetStreamContext, config: StreamConfig) -> None:
    """Make a stream; a server with less room than its `max_bytes` gives it half, or half of that."""
    with told():
        while True:
            try:
                await stream.add_stream(config)
            except APIError as error:
                if error.err_code not in _NO_ROOM or not config.max_bytes:
                    raise
                config = config.evolve(max_bytes=config.max_bytes // 2)
            else:
                return
