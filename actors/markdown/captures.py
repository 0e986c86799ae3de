"""Writes a page as a capture of it wants it: its words, or the records that it lists (003, the modes of a capture)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from protocol.collections import CaptureMode
from protocol.documents import WebObservationSummary
from protocol.page import RecordList

SHORT_CHARS: Final = 500
"""Words below which a page that holds lists is kept by them, in the mode `auto`."""


def captured_markdown(content: WebObservationSummary, mode: CaptureMode) -> str:
    """Return a page in Markdown, as a mode has it."""
    lists = content.parts.lists
    if lists and (mode == "list" or (mode == "auto" and len(content.markdown) < SHORT_CHARS)):
        return _listed(content.title, lists)
    return content.markdown


def in_one_line(text: str) -> str:
    """Return words with a space between each two."""
    return " ".join(text.split())


def _listed(title: str, lists: Sequence[RecordList]) -> str:
    parts = [f"# {in_one_line(title)}"]
    for records in lists:
        if records.caption:
            parts.append(f"## {in_one_line(records.caption)}")
        parts.append("\n".join(_record(records.columns, row) for row in records.rows))
    return "\n\n".join(parts) + "\n"


def _record(columns: Sequence[str], row: Sequence[str]) -> str:
    cells = [
        f"{in_one_line(name)}: {in_one_line(cell)}" if name else in_one_line(cell)
        for name, cell in zip(columns, row, strict=False)
        if cell
    ]
    return f"- {'; '.join(cells)}"
