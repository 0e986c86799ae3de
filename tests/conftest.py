"""What holds for every test: examples that hypothesis makes up may take their time, and figures are shown at last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("weft", settings(), deadline=None)
settings.load_profile("weft")

COUNTS = "counts"
"""The property by which a test records figures of its own: `record_property(COUNTS, "30 of 30 scenarios")`."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what tests have counted, also where all is well and they ran in other processes."""
    reports: Iterable[Any] = (report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind))
    lines = [
        f"{report.nodeid.rpartition('::')[2]}: {value}"
        for report in reports
        for name, value in report.user_properties
        if name == COUNTS
    ]
    if lines:
        terminalreporter.section("counts")
        for line in lines:
            terminalreporter.write_line(line)
