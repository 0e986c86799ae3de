"""Finds the engine's program, and says what keeps it from running here."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from actors.fetchers.lightweight.engine import jail
from protocol.replicas import Absence

PACKAGE: Final = "lightpanda"
"""The optional extra `light` installs it; the program lies inside."""

_TRY_SECONDS: Final = 10.0


class Choice(Protocol):
    """What the operator decides."""

    @property
    def light_without_walls(self) -> bool:
        """Whether pages may run although this kernel lacks a wall of the sandbox."""
        ...


class Wall(Struct, frozen=True, kw_only=True):
    """A wall of the sandbox, and whether this machine has it; `detail` is for people."""

    name: str
    present: bool
    detail: str


def absence(settings: Choice) -> Absence | None:
    """Say why the engine cannot work here, if it cannot; runs its program once, so it takes some 50 ms."""
    if sys.platform != "linux":
        return Absence(reason="The sandbox of the light engine needs Linux.")
    found = find()
    if found is None:
        return Absence(
            reason=f"The package {PACKAGE} is not installed.", cure="Install the extra: pip install 'weft[light]'."
        )
    lacking = [wall.detail for wall in walls() if not wall.present]
    if lacking and not settings.light_without_walls:
        return Absence(
            reason=f"The sandbox lacks a wall: {'; '.join(lacking)}.",
            cure="Run on Linux 5.13 or later with Landlock and seccomp, or accept pages without that wall: "
            "light_without_walls = true.",
        )
    why = _trial(found, lenient=settings.light_without_walls)
    if why is None:
        return None
    return Absence(
        reason=f"The program of {PACKAGE} does not run in its sandbox: {why}.",
        cure="It needs glibc 2.35 or later, and where Weft runs as root, the right to become another user.",
    )


@cache
def find() -> Path | None:
    """Find the program, without importing its package."""
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        program = Path(folder) / PACKAGE
        if os.access(program, os.X_OK):
            return program
    return None


def walls() -> tuple[Wall, ...]:
    """Return which walls of the sandbox this kernel has."""
    version = jail.landlock_version()
    filters = jail.seccomp_available()
    return (
        Wall(
            name="landlock",
            present=version > 0,
            detail=f"Landlock, version {version}" if version else "the kernel has no Landlock",
        ),
        Wall(
            name="seccomp",
            present=filters,
            detail="seccomp filters" if filters else "the kernel does not filter system calls on this machine",
        ),
    )


def _trial(program: Path, *, lenient: bool) -> str | None:
    """Run the program for its version inside the walls; give why that failed, if it did."""
    with tempfile.TemporaryDirectory(prefix="weft-light-") as folder:
        reading, writing = os.pipe()
        try:
            order = jail.Order(
                folder=folder,
                parent=os.getpid(),
                report=writing,
                lenient=lenient,
                program=str(program),
            )
            done = subprocess.run(  # noqa: S603 - our own launcher and the program of a package that we name
                jail.arguments(order, ("version",)),
                pass_fds=(writing,),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                timeout=_TRY_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        finally:
            os.close(writing)
            why = _said(reading)
        return why or (f"it ended with {done.returncode}" if done.returncode else None)


def _said(descriptor: int) -> str:
    with os.fdopen(descriptor, "rb") as pipe:
        return pipe.read(1000).decode(errors="replace")
