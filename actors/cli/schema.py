"""`weft schema`: the JSON Schema of every message."""

from __future__ import annotations

import difflib
from typing import Annotated

import typer

from actors.cli import terminal
from protocol.schemas import messages


def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One message, such as web.browse.request; without: all.")
    ] = None,
) -> None:
    """Print the JSON Schema of every message, or of one.

    Examples: weft schema | jq keys · weft schema edge.browse.result
    """
    known = messages()
    if name is None:
        terminal.write(terminal.json_text(known))
    elif name in known:
        terminal.write(terminal.json_text(known[name]))
    else:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(known)}"
        raise typer.BadParameter(f"there is no message {name!r}. {hint}", param_hint="NAME")
