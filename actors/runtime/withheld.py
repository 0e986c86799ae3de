"""Variables of the environment that one actor alone is to have: no other process ever has them in its memory.

What a process was started with stays where it was put for as long as it lives, and every fork has it too: it can be
read in /proc and stands in cores. So a program that was started with such variables starts itself anew without them,
and finds them in a pipe, which it reads once what would inherit them has been forked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

import msgspec

from protocol.faults import Code, FaultError, fault

PIPE_VARIABLE: Final = "WEFT_WITHHELD_PIPE"
"""Tells the program that was started anew which descriptor the pipe has."""

MAX_BYTES: Final = 65_536
"""What a pipe takes without a reader."""

_AGAIN: Final = ("-P", "-c", "from actors.cli.main import main; main()")


@dataclass(frozen=True)
class Withheld:
    """Variables that are out of the environment: in this process, or in a pipe."""

    variables: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    pipe: int | None = None

    def read(self) -> Mapping[str, str]:
        """Return them, once; whoever is forked from now on has them too."""
        if self.pipe is None:
            return self.variables
        with os.fdopen(self.pipe, "rb") as pipe:
            return msgspec.json.decode(pipe.read(), type=dict[str, str])

    def close(self) -> None:
        """Leave them to the process that this one was forked from."""
        if self.pipe is not None:
            os.close(self.pipe)


def withhold(names: Iterable[str], *, anew: bool) -> Withheld:
    """Take variables out of the environment of this process and of whatever it starts.

    A name that ends in `*` stands for all that begin like it. With `anew` this process is replaced by one that never
    had them, and this returns in that one; call it before anything that is not to be done twice.
    """
    if (pipe := os.environ.pop(PIPE_VARIABLE, "")).isdecimal():
        os.set_inheritable(int(pipe), False)  # noqa: FBT003 - the standard library has it so
        return Withheld(pipe=int(pipe))
    taken = {name: os.environ.pop(name) for name in named(names, os.environ)}
    if not taken or not anew:
        return Withheld(taken)
    reader = pipe_with(msgspec.json.encode(taken))
    os.set_inheritable(reader, True)  # noqa: FBT003 - as above
    sys.stdout.flush()
    sys.stderr.flush()
    program, environ = sys.executable, {**os.environ, PIPE_VARIABLE: str(reader)}
    return os.execve(program, [program, *_AGAIN, *sys.argv[1:]], environ)  # noqa: S606 - this very program


def named(names: Iterable[str], variables: Iterable[str]) -> list[str]:
    """Return those of some variables that are named, by their whole name or by how they begin."""
    patterns = tuple(names)
    return [name for name in variables if any(fnmatchcase(name, pattern) for pattern in patterns)]


def pipe_with(data: bytes) -> int:
    """Put data into a pipe, and return the end that they are read from.

    Raises:
        FaultError: CONFIG_INVALID, when they are too long for one.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        whole = len(data) <= MAX_BYTES and os.write(writer, data) == len(data)
    except BlockingIOError:
        whole = False
    finally:
        os.close(writer)
    if not whole:
        os.close(reader)
        message = f"Settings and credentials of one actor are longer than {MAX_BYTES} bytes; shorten the lists"
        raise FaultError(fault(Code.CONFIG_INVALID, message))
    return reader
