"""Writes the Markdown of the reference: pages, tables, times."""

from __future__ import annotations

from collections.abc import Iterable

NOTE = "<!-- Written by scripts/generate_docs.py: change the code, then run it. -->"


def page(title: str, parts: Iterable[str]) -> str:
    """Write a page."""
    return "\n\n".join([f"# {title}", NOTE, *parts]) + "\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Write a table."""
    lines = [head, tuple("---" for _ in head), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def ms(value: int | None) -> str:
    """Write a duration; without one it lasts for ever."""
    if value is None:
        return "ever"
    return f"{value / 1000:g} s" if value >= 1000 else f"{value} ms"  # noqa: PLR2004 - milliseconds of a second
