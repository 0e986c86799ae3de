"""Writes the main content as Markdown."""

from __future__ import annotations

from actors.extraction.write.writer import LeftOut, Written, write

__all__ = ["LeftOut", "Written", "write"]
