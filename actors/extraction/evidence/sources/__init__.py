"""The sources of evidence: one file each, all asked in the same way."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import cast

from actors.extraction.evidence.claim import EvidenceSource

__all__ = ["EvidenceSource", "sources"]


@cache
def sources() -> tuple[EvidenceSource, ...]:
    """Return every source, by the name of its module: each module of this folder that makes claims is one."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    return tuple(cast("EvidenceSource", module) for module in modules if hasattr(module, "claims"))
