"""Runs the conformance suite against a Weft, and reads what it has checked."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from subprocess import STDOUT

import anyio
import msgspec

from tests.conformance import HERE, programs

NEW, OLD = "@modelcontextprotocol/conformance", "conf16"
"""The packages of the suite: 0.2.0-alpha.12, and 0.1.16."""

PASSED = frozenset({"SUCCESS", "INFO", "SKIPPED"})

_FOLDER = re.compile(r"(?:server-)?(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z")
_REQUIRED = re.compile(r"^server:\n((?:  - \S+\n)+)", re.MULTILINE)


class Check(msgspec.Struct, frozen=True, rename="camel"):
    """One thing that the suite has looked at."""

    id: str
    status: str
    error_message: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a run of the suite has found, by scenario; `log` is what it printed."""

    status: int
    scenarios: dict[str, list[Check]]
    log: str

    @property
    def passed(self) -> frozenset[str]:
        """The scenarios in which nothing was found wrong, not even by a warning."""
        return frozenset(name for name, checks in self.scenarios.items() if {one.status for one in checks} <= PASSED)

    @property
    def wrong(self) -> list[str]:
        """Everything that was found wrong."""
        return [
            f"{name}: {check.id} {check.status} {check.error_message}"
            for name, checks in sorted(self.scenarios.items())
            for check in checks
            if check.status not in PASSED
        ]

    def counts(self, *names: str) -> Counter[str]:
        """Count the checks of some scenarios, or of all, by their status."""
        return Counter(check.status for name in names or self.scenarios for check in self.scenarios[name])


async def run(package: str, url: str, key: str, folder: Path, *arguments: str) -> Outcome:
    """Run a suite against the server at `url`, which wants this key; it leaves its findings in `folder`."""
    installed = programs()
    command = [str(installed / ".bin" / "node"), str(installed / package / "dist" / "index.js"), "server"]
    environment = {**os.environ, "NODE_OPTIONS": f"--import={HERE / 'key.mjs'}", "WEFT_TEST_KEY": key}
    done = await anyio.run_process(
        [*command, "--url", url, "--output-dir", str(folder), *arguments],
        check=False,
        env=environment,
        stderr=STDOUT,
    )
    return Outcome(done.returncode, _read(folder), done.stdout.decode())


def required(revision: str) -> frozenset[str]:
    """Return the scenarios that a revision of the protocol requires of a server."""
    text = (programs() / NEW / "requirements" / f"{revision}.yaml").read_text()
    found = _REQUIRED.search(text)
    assert found is not None, f"the suite has no requirements for {revision}"
    return frozenset(line.removeprefix("  - ") for line in found[1].splitlines())


def _read(folder: Path) -> dict[str, list[Check]]:
    found: dict[str, list[Check]] = {}
    for path in sorted(folder.glob("*/checks.json")):
        name = _FOLDER.fullmatch(path.parent.name)
        assert name is not None, path
        found[name[1]] = msgspec.json.decode(path.read_bytes(), type=list[Check])
    return found
