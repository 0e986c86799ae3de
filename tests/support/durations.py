"""How long tests take: recorded on a quiet machine, kept in `tests/durations.json`; the longest files begin.

`tests/unit/test_durations.py` holds them to a budget.
"""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

FILE = Path(__file__).parents[1] / "durations.json"

KEPT_S = 0.5
"""Tests that take less are told only in the sum of their file."""

UNMARKED_S = 2.0
"""What a test may take that is not marked as slow; to start what it shares with others is not counted."""

SUITE_S = 600.0
"""What the whole suite may take, on two quiet cores."""


class TestDuration(Struct, frozen=True, kw_only=True, rename="camel"):
    """One test that takes long: its own time in seconds, and whether it is marked as slow."""

    __test__ = False

    seconds: float
    slow: bool


class Durations(Struct, frozen=True, kw_only=True, rename="camel"):
    """A run of the whole suite: its time, the time of each file with all set-up, the tests that take long."""

    wall_s: float
    workers: int
    files: dict[str, float]
    tests: dict[str, TestDuration]


def read() -> Durations:
    """Read what was recorded last."""
    return msgspec.json.decode(FILE.read_bytes(), type=Durations)


class Recorder:
    """A plugin that records a run of the whole suite."""

    def __init__(self, root: Path) -> None:
        """Record paths relative to `root`."""
        self._root = root
        self._began = time.monotonic()
        self._files: dict[str, float] = {}
        self._tests: dict[str, TestDuration] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up what a phase of a test took; with workers, their reports come here too."""
        file = report.nodeid.partition("::")[0]
        self._files[file] = self._files.get(file, 0.0) + report.duration
        if report.when == "call" and report.duration >= KEPT_S:
            slow = "slow" in report.keywords
            self._tests[report.nodeid] = TestDuration(seconds=round(report.duration, 1), slow=slow)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        """Write the file, in the controller alone; a run of some files replaces only what was recorded of these."""
        if hasattr(config, "workerinput"):
            return
        whole = config.args_source is not pytest.Config.ArgsSource.ARGS
        before = Durations(wall_s=0, workers=1, files={}, tests={}) if whole or not FILE.exists() else read()
        tests = {name: one for name, one in before.tests.items() if name.partition("::")[0] not in self._files}
        files = before.files | {file: round(seconds, 1) for file, seconds in self._files.items()}
        durations = Durations(
            wall_s=round(time.monotonic() - self._began, 1) if whole else before.wall_s,
            workers=int(config.getoption("numprocesses", 0) or 1) if whole else before.workers,
            files=dict(sorted(files.items())),
            tests=dict(sorted((tests | self._tests).items())),
        )
        FILE.write_bytes(msgspec.json.format(msgspec.json.encode(durations), indent=1) + b"\n")
        terminalreporter.write_line(f"recorded {FILE.relative_to(self._root)}")
