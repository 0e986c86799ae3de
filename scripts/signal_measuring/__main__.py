"""Prints how well the signals do: `python -m scripts.signal_measuring [--learn]`."""

from __future__ import annotations

import argparse
import sys

import anyio

from scripts.signal_measuring.both import show_all
from scripts.signal_measuring.corpus import samples
from scripts.signal_measuring.learning import cross_validated, judge, learn, marked
from scripts.signal_measuring.report import differing, marks_table, rule_text, table
from tests.site.apps import NotBuiltError


def main() -> None:
    """Show all pages in both, and print the tables."""
    parser = argparse.ArgumentParser(description="Measure the signals of the tier lightweight against Chromium.")
    parser.add_argument("--learn", action="store_true", help="also print the rule that all pages together teach")
    asked = parser.parse_args()
    try:
        pages = marked(anyio.run(show_all, samples()))
    except NotBuiltError as error:
        sys.exit(f"measure-signals: {error}")
    print(table("The rule in use", judge(pages)))
    print(table("Rules learned without the page's family", cross_validated(pages)))
    print(marks_table(pages))
    print(differing(judge(pages)))
    if asked.learn:
        print(rule_text(learn(pages)))


if __name__ == "__main__":
    main()
