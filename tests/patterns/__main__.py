"""`python -m tests.patterns LATENCY_MS NAME...`: serve applications, and print an address of each on one line."""

from __future__ import annotations

import sys

import anyio
import msgspec

from tests.patterns.apps import APART, APPLICATIONS, UNLEARNABLE
from tests.patterns.serving import serving


def main(latency_ms: int, names: list[str]) -> None:
    """Serve until the process is ended."""
    every = [*APPLICATIONS, *APART, *UNLEARNABLE]
    chosen = [app for name in names for app in every if app.name == name] or every
    with serving(chosen, 20) as served:
        for one in served:
            one.latency_ms = latency_ms
        urls = {one.app.name: [one.url(page) for page in one.pages()] for one in served}
        print(msgspec.json.encode(urls).decode(), flush=True)  # noqa: T201 - who started it reads it
        anyio.run(anyio.sleep_forever)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
