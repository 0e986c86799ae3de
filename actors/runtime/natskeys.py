"""The nkeys by which the participants of several hosts are known on a NATS that is run for them.

Each has an account of its own there, as on the NATS that `weft up` starts, and a host is given the keys of those alone
that live on it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path

import msgspec

from actors.actor import grant_like, grant_of
from actors.registry import GATEWAY, kinds
from actors.settings import Settings
from bus.nats import keys
from bus.nats.keys import NKey
from bus.nats.server import CLIENT_PINGS, accounts_block
from bus.permissions import EVERYTHING, OBSERVER, Grant, host, observer, offerer, onlooker
from protocol.faults import Code, FaultError, fault

SUPERVISOR = "supervisor"
"""Who makes what all others use."""

HOST = "host"
"""Who starts and stops the actors of a host, and makes nothing."""

ONLOOKER = "onlooker"
STDIO = "stdio"
"""Those who speak MCP over stdio: they ask what a gateway asks, for a client of their own."""

ACCOUNTS_FILE = "accounts.conf"
KEYS_FILE = "keys.json"

_WANTED_FOR = {
    ONLOOKER: "weft status and weft tap join with it",
    STDIO: "the commands that ask, such as weft browse, weft run and weft mcp, join with it",
    HOST: "a host without the key of supervisor starts its actors with it",
}
"""Whose key is wanted, although no actor has that name, and what for."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,48}")


def participants(offers: Collection[str] = ()) -> dict[str, Grant]:
    """Return what each participant of a Weft may do, with those who bring tools under the names in `offers`."""
    actors = kinds()
    return {
        SUPERVISOR: EVERYTHING,
        HOST: host(),
        ONLOOKER: onlooker(),
        OBSERVER: observer(),
        STDIO: grant_like(STDIO, actors[GATEWAY]),
        **{name: grant_of(kind) for name, kind in actors.items()},
        **{name: offerer(name) for name in offers},
    }


def write_accounts(folder: Path, offers: Collection[str] = ()) -> tuple[Path, Path]:
    """Write the accounts of a nats-server, and the keys that it knows; returns both files.

    Who brings tools gets two keys, because not every client derives the second from the first.

    Raises:
        FaultError: CONFIG_INVALID, when there are keys already, which hosts may use, or a name is none.
    """
    wrong = [name for name in offers if not _NAME.fullmatch(name) or name in participants()]
    if wrong:
        message = f"{wrong[0]!r} is no name for who brings tools: letters, digits, _ and -, and none of ours"
        raise FaultError(fault(Code.CONFIG_INVALID, message, field="offer"))
    grants = participants(offers)
    made = {name: keys.new() for name in grants}
    public = {name: (made[name].public, made[name].store.public, allowed) for name, allowed in grants.items()}
    seeds = {name: key.seed for name, key in made.items()} | {f"{name} store": made[name].store.seed for name in offers}
    accounts, secrets = folder / ACCOUNTS_FILE, folder / KEYS_FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(secrets, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(seeds)))
        accounts.write_text(f"{CLIENT_PINGS}\n{accounts_block(public)}\n")
    except OSError as error:
        message = f"{secrets} cannot be written ({error.strerror}); name another folder"
        raise FaultError(fault(Code.CONFIG_INVALID, message, field="folder")) from None
    return accounts, secrets


def read_keys(settings: Settings) -> dict[str, NKey]:
    """Return the keys of this host's participants on the NATS that it joins; none where the address says who we are.

    Raises:
        FaultError: CONFIG_INVALID, when the file is none of keys.
    """
    if not (settings.nats_url and settings.nats_keys):
        return {}
    try:
        seeds = msgspec.json.decode(Path(settings.nats_keys).read_bytes(), type=dict[str, str])
        return {name: keys.of_seed(seed) for name, seed in seeds.items()}
    except OSError as error:
        message = f"nats_keys: {settings.nats_keys} cannot be read ({error.strerror}); weft nats makes such a file"
        raise FaultError(fault(Code.CONFIG_INVALID, message, field="nats_keys")) from None
    except ValueError as error:
        message = f"nats_keys: {settings.nats_keys} holds no nkeys ({type(error).__name__}); make them with: weft nats"
        raise FaultError(fault(Code.CONFIG_INVALID, message, field="nats_keys")) from None


def supervised_by(known: Collection[str]) -> str:
    """Return by which name a host with the keys of `known` supervises its actors; without keys nobody asks for one."""
    return HOST if known and SUPERVISOR not in known else SUPERVISOR


def key_of(settings: Settings, participant: str) -> NKey | None:
    """Return the key of a participant on the NATS that this host joins; None where the address says who we are.

    Raises:
        FaultError: CONFIG_INVALID, when this host was given other keys.
    """
    known = read_keys(settings)
    if known and participant not in known:
        reason = f" ({_WANTED_FOR[participant]})" if participant in _WANTED_FOR else ""
        message = (
            f"nats_keys: {settings.nats_keys} holds no key of {participant}{reason}; copy that entry from the "
            f"{KEYS_FILE} that weft nats has written, or name a file that has it with WEFT_NATS_KEYS"
        )
        raise FaultError(fault(Code.CONFIG_INVALID, message, field="nats_keys"))
    return known.get(participant)
