"""Serves the site on a given port until it is killed: `python -m tests.site PORT`."""

from __future__ import annotations

import sys

import anyio

from tests.site.server import serve_site


async def main(port: int) -> None:
    """Serve, and say where."""
    async with serve_site(port) as site:
        sys.stdout.write(f"{site.url('/')}\n")
        sys.stdout.flush()
        await anyio.sleep_forever()


if __name__ == "__main__":
    try:
        anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    except KeyboardInterrupt:
        sys.exit(130)
