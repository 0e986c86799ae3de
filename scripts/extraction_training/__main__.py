"""`scripts/train-extraction DATA_DIR`: train what extraction has learned, print how well it does, write it down."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from scripts.extraction_training import fields, language, report

TRAININGS: tuple[Callable[[Path], str], ...] = (report.content, fields.train, language.train)
"""Each fits its models from the data, writes them into the package, and gives its section of the report."""

REPORT = Path("docs/extraction-model.md")


def main(arguments: list[str]) -> int:
    """Run every training, and write the report."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: scripts/train-extraction DATA_DIR", file=sys.stderr)
        return 2
    sections = [training(Path(arguments[0])) for training in TRAININGS]
    REPORT.write_text("\n\n".join([report.OPENING, *sections]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
