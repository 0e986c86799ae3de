"""Names the tests of what a commit changed, for `scripts/test --full`: `python scripts/changed_tests.py [BASE]`.

A file of tests stands for itself, a file of the program for the unit tests that mirror it and the integration tests of
its room.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("protocol", "bus", "actors")
TESTS = Path("tests")


def tests_of(file: Path) -> Iterator[Path]:
    """Yield the files and folders of tests that a file has, whether they are there or not."""
    if file.parts[0] == TESTS.name and file.name.startswith("test_"):
        yield file
    elif file.parts[0] in PACKAGES:
        yield TESTS / "unit" / file.parent / f"test_{file.name}"
        if len(file.parts) > 2:  # noqa: PLR2004 - a package, a room, a file
            yield from (TESTS / "integration" / part for part in file.parts[1:-1])


def changed(base: str) -> list[Path]:
    """Return the files that changed since a commit; none where git knows no such commit."""
    command = ["git", "diff", "--name-only", "--diff-filter=d", base, "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - git
    return [Path(name) for name in done.stdout.splitlines() if name.endswith(".py")]


if __name__ == "__main__":
    paths = {test for file in changed(sys.argv[1] if sys.argv[1:] else "HEAD~1") for test in tests_of(file)}
    for path in sorted(paths):
        if path.exists():
            print(path)
