"""The verifier: says whether a page is what was asked for."""

from __future__ import annotations

from actors.verifier.actor import Verifier

__all__ = ["Verifier"]
