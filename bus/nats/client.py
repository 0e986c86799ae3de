"""The client of nats-py, without the way in which a cancelled wait makes it deaf."""

from __future__ import annotations

import asyncio

from nats.aio.client import Client


class HearingClient(Client):
    """A client that goes on reading when the answer to a PING comes for somebody who has been cancelled.

    nats-py 2.16 gives it to the future of who waited; that one is done, the error ends the task that reads, and nobody
    hears anything any more until the pings of the connection itself are missed, 10 s later.
    """

    async def _process_pong(self) -> None:
        if self._pongs and self._pongs[0].done():
            self._pongs[0] = asyncio.get_running_loop().create_future()
        await super()._process_pong()
