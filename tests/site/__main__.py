"""Serves the site on a given port until it is killed: `python -m tests.site PORT [HOST]`."""

from __future__ import annotations

import sys

import anyio

from tests.site.server import serve_site


async def main(port: int = 0, host: str = "127.0.0.1") -> None:
    """Serve, and say where."""
    async with serve_site(port, host) as site:
        sys.stdout.write(f"{site.url('/')}\n")
        sys.stdout.flush()
        await anyio.sleep_forever()


if __name__ == "__main__":
    try:
        given = dict(enumerate(sys.argv))
        anyio.run(main, int(given.get(1, "0")), given.get(2, "127.0.0.1"))
    except KeyboardInterrupt:
        sys.exit(130)
