"""What holds for every test: how much is tried, how long it may take, and the figures that are shown at last."""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support import durations, scale, warm

_ON_A_BUSY_MACHINE = (HealthCheck.too_slow,)
settings.register_profile("quick", max_examples=10, deadline=None, suppress_health_check=_ON_A_BUSY_MACHINE)
settings.register_profile("full", max_examples=100, deadline=None, suppress_health_check=_ON_A_BUSY_MACHINE)

MAX_RERUN = 8
"""How many tests may pass at their second run alone (`--reruns 1`, in CI): a machine is busy or slow at times."""

COUNTS = "counts"
"""The property by which a test records figures of its own: `record_property(COUNTS, "30 of 30 scenarios")`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--full` and `--record-durations`."""
    parser.addoption(
        "--full", action="store_true", help="try everything: every matrix, large hostile pages, 100 examples"
    )
    parser.addoption("--record-durations", action="store_true", help="write tests/durations.json; on a quiet machine")


def pytest_configure(config: pytest.Config) -> None:
    """Choose how much is tried, before the modules of tests are imported: some ask for it as they are."""
    full = bool(config.getoption("full"))
    scale.choose(full=full)
    warm.want(wanted=not full)
    if config.getoption("numprocesses", default=None) and not hasattr(config, "workerinput"):
        warm.share()
    settings.load_profile("full" if full else "quick")
    # anyio asks sniffio where it is installed (the SDKs of providers bring it), and that knows no loop in a callback of
    # the loops of pytest-asyncio, as it does below `anyio.run`, which is how Weft runs.
    pytest.MonkeyPatch().setattr("anyio._core._eventloop.sniffio", None)
    if config.getoption("record_durations"):
        config.pluginmanager.register(durations.Recorder(config.rootpath))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without looking for garbage, and look for none among them later: there are thousands."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """End what all tests have shared."""
    warm.end()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the files that take longest; leave out what only `--full` tries, unless asked for by its name."""
    _longest_first(items)
    named = any("::" in argument for argument in config.invocation_params.args)
    if config.getoption("full") or named:
        return
    left_out = [item for item in items if item.get_closest_marker("full") is not None]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = _without(items, left_out)


def _longest_first(items: list[pytest.Item]) -> None:
    """Sort files by what was recorded of them, so that no worker is left with a long one at the end."""
    seconds = durations.read().files if durations.FILE.exists() else {}
    items.sort(key=lambda item: -seconds.get(item.nodeid.partition("::")[0], 0.0))


def _without(items: Sequence[pytest.Item], left_out: Sequence[pytest.Item]) -> list[pytest.Item]:
    gone = set(map(id, left_out))
    return [item for item in items if id(item) not in gone]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where more than a few tests had to be run again, however they ended."""
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    again = len(reporter.stats.get("rerun", ())) if reporter is not None else 0
    if again > MAX_RERUN and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


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
