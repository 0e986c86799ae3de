"""The gateway keeps MCP as the official suite has it, both its eras, with everything asked over the bus of an actor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from tests.conformance.serving import gateway
from tests.conformance.suite import NEW, OLD, Outcome, required, run
from tests.conftest import COUNTS

pytestmark = [pytest.mark.nats, pytest.mark.slow, pytest.mark.timeout(900)]

RUN_S = 240.0

RecordProperty = Callable[[str, object], None]

TASKS = frozenset(
    {
        "tasks-lifecycle",
        "tasks-capability-negotiation",
        "tasks-wire-fields",
        "tasks-request-state-removal",
        "tasks-mrtr-input",
        "tasks-request-headers",
        "tasks-dispatch-and-envelope",
        "tasks-required-task-error",
        "tasks-mrtr-composition",
    }
)
"""Those of the extension that check anything: one of ten, on notifications, is left out by the suite itself."""


async def judged(folder: Path, package: str, *arguments: str) -> Outcome:
    """Have the suite judge a gateway."""
    with anyio.fail_after(RUN_S):
        async with gateway(folder) as (weft, _, _):
            return await run(package, weft.ready.mcp, weft.key, folder / "found", *arguments)


def scored(outcome: Outcome, names: frozenset[str]) -> str:
    """Say how many of these scenarios were passed, and how many checks that took."""
    passed = len(outcome.passed & names)
    return f"{passed}/{len(names)} scenarios ({outcome.counts(*names & outcome.scenarios.keys())['SUCCESS']} checks)"


async def test_the_stable_suite_finds_nothing_wrong(tmp_path: Path, record_property: RecordProperty) -> None:
    outcome = await judged(tmp_path, OLD)

    found = scored(outcome, frozenset(outcome.scenarios))
    record_property(COUNTS, f"conformance 0.1.16: {found}")
    assert outcome.wrong == [], outcome.log
    assert (outcome.status, found) == (0, "30/30 scenarios (39 checks)")


@pytest.mark.full
async def test_clients_of_the_older_era_get_all_that_it_requires(
    tmp_path: Path, record_property: RecordProperty
) -> None:
    outcome = await judged(tmp_path, NEW, "--requirements", "2025-11-25")

    needed = required("2025-11-25")
    found, more = scored(outcome, needed), scored(outcome, frozenset(outcome.scenarios) - needed)
    record_property(COUNTS, f"conformance 0.2.0-alpha.12, 2025-11-25: {found}, and {more} that are not scored")
    assert outcome.wrong == [], outcome.log
    assert outcome.status == 0
    assert (found, more) == ("30/30 scenarios (69 checks)", "3/3 scenarios (9 checks)")


@pytest.mark.full
async def test_clients_of_the_newer_era_get_all_that_it_requires_and_tasks(
    tmp_path: Path, record_property: RecordProperty
) -> None:
    outcome = await judged(tmp_path, NEW, "--requirements", "2026-07-28")

    parts = {
        "2026-07-28": required("2026-07-28"),
        "tasks": TASKS,
        "http-header-validation": frozenset({"http-header-validation"}),
        "http-custom-header-server-validation": frozenset({"http-custom-header-server-validation"}),
        "json-schema-2020-12": frozenset({"json-schema-2020-12"}),
    }
    found = {name: scored(outcome, names) for name, names in parts.items()}
    record_property(COUNTS, f"conformance 0.2.0-alpha.12, {'; '.join(f'{name}: {one}' for name, one in found.items())}")
    assert outcome.wrong == [], outcome.log
    assert outcome.status == 0
    assert found == {
        "2026-07-28": "37/37 scenarios (120 checks)",
        "tasks": "9/9 scenarios (44 checks)",
        "http-header-validation": "1/1 scenarios (14 checks)",
        "http-custom-header-server-validation": "1/1 scenarios (10 checks)",
        "json-schema-2020-12": "1/1 scenarios (8 checks)",
    }
