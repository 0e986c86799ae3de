"""A keeper in a process of its own, which a test may kill: `process.py FOLDER URL SEED PUBLIC VAULT_KEY`."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from actors.actor import handlers
from actors.keeper.actor import Keeper
from actors.settings import Settings
from bus import Bus
from bus.nats.keys import NKey
from bus.nats.transport import connect
from bus.seal import Seal


async def main(folder: str, url: str, seed: str, public: str, vault_key: str) -> None:
    key = NKey(seed=seed, public=public)
    async with connect(url, "keeper", key) as transport, Bus(transport, "keeper", "doomed").running() as bus:
        bus.seal = Seal.of(vault_key)
        keeper = Keeper(bus=bus, settings=Settings(data_dir=Path(folder)))
        async with keeper.open():
            for handler in handlers(Keeper):
                await bus.serve(handler.subject, getattr(keeper, handler.method), at_once=handler.at_once)
            await anyio.sleep_forever()


if __name__ == "__main__":
    chosen_folder, server, own_seed, own_public, chosen_key = sys.argv[1:]
    anyio.run(main, chosen_folder, server, own_seed, own_public, chosen_key)
