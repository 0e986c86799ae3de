"""Gives the scripts that run in pages, from the files beside."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def script(name: str) -> str:
    """Read a script of `scripts/`."""
    return (resources.files("actors.fetchers.playwright") / "scripts" / f"{name}.js").read_text(encoding="utf-8")
