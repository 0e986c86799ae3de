"""Decides behind which layers a browser runs on this machine, and writes the program that puts it there."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

from actors.fetchers.playwright import launcher
from protocol.replicas import Absence

Choice = Literal["auto", "on", "off"]

_TRIAL_S = 20.0
_NAMES = {
    "user": f"as another user ({launcher.BROWSER})",
    "landlock": "behind Landlock",
    "calls": "behind seccomp",
    "namespaces": "in Chromium's own sandbox",
}
_OFF_CURE = (
    "Let this user make user namespaces (or run Linux 5.13 or later with Landlock), or accept a browser that pages may "
    'break out of: browser_sandbox = "off".'
)
_SCRIPT = "launch"


class BrowserSandbox(Struct, frozen=True):
    """The layers of `launcher.LAYERS` that hold a browser, and why the others do not."""

    layers: tuple[str, ...]
    missing: tuple[str, ...] = ()

    @property
    def own(self) -> bool:
        """Whether Chromium puts up its own sandbox."""
        return "namespaces" in self.layers

    @property
    def whole(self) -> bool:
        """Whether nothing is missing."""
        return bool(self.layers) and not self.missing

    @property
    def detail(self) -> str:
        """Describe it, for people."""
        there = ", ".join(_NAMES[name] for name in self.layers) or "without any sandbox"
        return f"{there}; not {', '.join(self.missing)}" if self.missing else there


def decide(choice: Choice, layers: BrowserSandbox, *, root: bool) -> BrowserSandbox | Absence:
    """Decide what holds a browser, from what this machine has; an absence where that would be too little.

    As root it must be another user, and nobody's goes without both Landlock and Chromium's own sandbox.
    """
    if choice == "off":
        return BrowserSandbox(())
    lacks = "; ".join(layers.missing)
    if choice == "on" and layers.missing:
        return Absence(reason=f"The browser's sandbox lacks a layer: {lacks}.", cure=_OFF_CURE)
    if (root and "user" not in layers.layers) or not ({"landlock", "namespaces"} & set(layers.layers)):
        return Absence(reason=f"No sandbox holds a browser here: {lacks}.", cure=_OFF_CURE)
    return layers


def of_this_machine(choice: Choice) -> BrowserSandbox | Absence:
    """Return what holds a browser here; the first time it takes a tenth of a second."""
    if choice == "off":
        return BrowserSandbox(())
    root = sys.platform == "linux" and os.geteuid() == 0
    return decide(choice, _tried(root=root) if sys.platform == "linux" else BrowserSandbox(("namespaces",)), root=root)


@cache
def _tried(*, root: bool) -> BrowserSandbox:
    """Put up each layer in a process of its own."""
    wanted = launcher.LAYERS if root else launcher.LAYERS[1:]
    with tempfile.TemporaryDirectory(prefix="weft-browser-trial-") as folder:
        try:
            trial = subprocess.run(  # noqa: S603 - our own launcher
                launcher.arguments(wanted, folder), capture_output=True, text=True, timeout=_TRIAL_S, check=True
            )
        except (OSError, subprocess.SubprocessError) as error:
            return BrowserSandbox((), (f"the launcher: {type(error).__name__}",))
    missing = tuple(trial.stdout.splitlines())
    lacking = {line.partition(":")[0] for line in missing}
    return BrowserSandbox(tuple(name for name in wanted if name not in lacking), missing)


def write_launcher(sandbox: BrowserSandbox, folder: Path, program: Path, port: int) -> Path:
    """Write the program that Playwright starts instead of Chromium, into the folder of the browser, and return it."""
    if not sandbox.layers or sys.platform != "linux":
        return program
    if "user" in sandbox.layers and not _reachable(program):
        program = _staged(program, folder / launcher.PROGRAM)
    command = launcher.arguments(sandbox.layers, str(folder), str(program), port)
    script = folder / _SCRIPT
    script.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return script


def _reachable(program: Path) -> bool:
    """Return whether any user may run a program."""
    real = program.resolve()
    return all(path.stat().st_mode & stat.S_IXOTH for path in (real, *real.parents))


def _staged(program: Path, place: Path) -> Path:
    """Link, or else copy, the folder of a program that lies in somebody's home to where another user reaches it."""
    folder = program.resolve().parent
    try:
        shutil.copytree(folder, place, copy_function=os.link)
    except (OSError, shutil.Error):
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder, place)
    for path in (place, *place.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
    return place / program.resolve().name
