"""`scripts/train-judge VERDICT_DIR EXTRACTION_DIR`: train the judge, print how well it does, and write both down."""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.extraction_training import archive
from scripts.judge_training import fitting, report
from scripts.judge_training.data import examples
from scripts.judge_training.made_up import made_up

MODEL = Path("actors/verifier/package_data/judge.npz")
REPORT = Path("docs/judge.md")


def table_of(verdict_dir: Path, extraction_dir: Path) -> fitting.Table:
    """Return all examples in numbers, made-up ones included."""
    real = examples(verdict_dir, extraction_dir)
    lenders = [example for example in real if example.kind is None and not example.made_up]
    return fitting.Table.of([*real, *made_up(lenders)])


def main(arguments: list[str]) -> int:
    """Train on the labelled pages of a folder and the healthy ones of another."""
    if len(arguments) != 2 or not all(Path(argument).is_dir() for argument in arguments):  # noqa: PLR2004
        print("usage: scripts/train-judge VERDICT_DIR EXTRACTION_DIR", file=sys.stderr)
        return 2
    write(table_of(Path(arguments[0]), Path(arguments[1])))
    return 0


def write(table: fitting.Table) -> None:
    """Fit, measure, and write the model and its report."""
    models = fitting.fold_models(table)
    model = fitting.trained(table, models)
    text = report.document(table, fitting.cross_validated(table, models), model)
    archive.write(model.save(), MODEL)
    REPORT.write_text(text)
    print(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
