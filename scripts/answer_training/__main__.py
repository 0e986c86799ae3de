"""`scripts/train-answers DATA_DIR`: train what tells answers from what looks alike, and print how well it does."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from actors.answerer.local.support import PassageEvidence
from scripts.answer_training import fitting
from scripts.answer_training.data import CHINESE, ENGLISH, Setting, examples

MODEL = Path("actors/answerer/local/package_data/support.json")


def main(arguments: list[str]) -> int:
    """Train on the questions of a folder."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: scripts/train-answers DATA_DIR", file=sys.stderr)
        return 2
    rows = examples(Path(arguments[0]))
    model = fitting.trained(rows)
    MODEL.write_bytes(msgspec.json.format(msgspec.json.encode(model)) + b"\n")
    results = fitting.held_out(rows)
    print(f"held out, {fitting.ROUNDS} times in halves by paragraph:")
    for dataset in (ENGLISH, CHINESE):
        auroc, error = fitting.auroc(results, dataset), fitting.calibration_error(results, dataset)
        print(f"{dataset}: AUROC {auroc:.3f}, ECE {error:.3f}; taken for answered:")
        for setting, answers in [(Setting.OWN, True), *((each, False) for each in Setting)]:
            share = fitting.supported(results, dataset, setting, answers=answers)
            print(f"  {setting.value}, {'answerable' if answers else 'not answerable'}: {share:.2f}")
    for name, spaced, unspaced in zip(
        PassageEvidence._fields, model.spaced.weights, model.unspaced.weights, strict=True
    ):
        print(f"{name}: {spaced} in scripts with blanks, {unspaced} without")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
