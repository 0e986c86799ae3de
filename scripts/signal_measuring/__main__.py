"""Measures the signals and writes how they do: `python -m scripts.signal_measuring`."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from scripts.signal_measuring.both import show_all
from scripts.signal_measuring.corpus import samples
from scripts.signal_measuring.learning import cross_validated, learn, marked
from scripts.signal_measuring.report import document
from tests.site.apps import NotBuiltError

REPORT = Path("docs/light-signals.md")


def main() -> None:
    """Show all pages in both, and write the tables."""
    try:
        pages = marked(anyio.run(show_all, samples()))
    except NotBuiltError as error:
        sys.exit(f"measure-signals: {error}")
    written = document(pages, cross_validated(pages), learn(pages))
    REPORT.write_text(written, "utf-8")
    print(written)


if __name__ == "__main__":
    main()
