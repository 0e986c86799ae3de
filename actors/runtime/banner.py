"""What a person reads when a system serves: where it listens, the key, and what to paste."""

from __future__ import annotations

import msgspec

from actors.runtime.rundir import Ready


def banner(ready: Ready, replicas: int, version: str, key: str) -> str:
    """Write it; `key` is the API key, or how a shell gets it where others may read along."""
    lines = [f"Weft {version} serves: {replicas} actor replicas, NATS at {ready.nats}"]
    if ready.rest:
        lines += [
            f"  REST     {ready.rest}/api/browse   ({ready.rest}/openapi.json)",
            f"  MCP      {ready.mcp}",
            f"  console  {ready.rest}/   (still to come)",
            f"  API key  {key}   (kept in {ready.key_file})",
            "Paste into your MCP client, or into .mcp.json:",
            f"  claude mcp add --transport http weft {ready.mcp} --header 'Authorization: Bearer {key}'",
            f"  {_snippet(ready.mcp, key)}",
        ]
    return "\n".join([*lines, "Ctrl-C stops it."])


def _snippet(url: str, key: str) -> str:
    server = {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {key}"}}
    return msgspec.json.encode({"mcpServers": {"weft": server}}).decode()
