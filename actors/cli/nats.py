"""`weft nats`: the accounts and keys of a Weft on a NATS that is run for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from actors.cli import terminal

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write them; made if there is none.")]
Offers = Annotated[
    list[str] | None,
    typer.Option("--offer", metavar="NAME", help="An actor of yours that brings tools; may be repeated."),
]


def nats(folder: Folder, *, offer: Offers = None) -> None:
    """Write accounts and keys for a NATS of several hosts.

    accounts.conf is for the configuration of each server (include it), keys.json for WEFT_NATS_KEYS: leave each host
    the keys of its actors and of host; one host has that of supervisor, too, which makes what all others use.
    """
    from actors.runtime.natskeys import write_accounts  # noqa: PLC0415 - imports every actor

    for path in write_accounts(folder, offer or ()):
        terminal.write(str(path))
