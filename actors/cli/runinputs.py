"""The inputs of a run, as a file or whatever comes in holds them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from protocol.faults import Code, FaultError, fault

STDIN = "-"

Input = Annotated[
    str | None,
    typer.Option(
        "--input", metavar="FILE|-", help="JSON object of the inputs; - for what comes in.", show_default=False
    ),
]


def read_inputs(source: str | None) -> dict[str, Any]:
    """Read a JSON object; without a source it is empty.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST; no word of the file is repeated, as it may hold a password.
    """
    if source is None:
        return {}
    try:
        written = sys.stdin.buffer.read() if source == STDIN else Path(source).read_bytes()
        return msgspec.json.decode(written, type=dict[str, Any])
    except OSError as error:
        complaint = f"{source}: {error.strerror or type(error).__name__}"
    except (msgspec.DecodeError, UnicodeDecodeError):
        complaint = f"{source}: no JSON object"
    raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, complaint, field="--input"))
