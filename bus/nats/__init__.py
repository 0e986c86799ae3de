"""NATS as the transport: the only code that knows nats-py and nats-server."""

from __future__ import annotations

import sys

# nats-py would import it, for WebSockets that nobody uses, at 40 % of the CPU time of a start.
sys.modules.setdefault("aiohttp", None)  # type: ignore[arg-type]  # None is how Python blocks an import
