"""Nothing that anybody asks for has a fetcher connect to a forbidden address, and no honest address is refused.

Every address of a namespace is this machine, so that the real resolver, the real fetchers and the real browser may do
their worst, and each connect and each datagram is seen on the wire, whether somebody listens or not.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from _pytest.mark import ParameterSet

from actors.fetchers.lightweight import engine_process
from actors.fetchers.playwright import chromium
from actors.settings import Settings
from protocol.faults import Code
from tests.conftest import COUNTS
from tests.ssrf.corpus import attacks, corpus
from tests.ssrf.findings import Findings, Trial
from tests.ssrf.inside import LEAST_LEADING
from tests.ssrf.ways import EMBEDDINGS, LEADING, WAYS
from tests.support import namespace
from tests.support.scale import first

pytestmark = [
    pytest.mark.skipif(bool(namespace.refusal()), reason=namespace.refusal() or "there is a namespace"),
    pytest.mark.slow,
    pytest.mark.timeout(400),
]

LEAST_ATTACKS, LEAST_CONTROLS = 155, 8
REFUSALS = {code.value for code in (Code.SECURITY_URL_BLOCKED, Code.SECURITY_ADDRESS_BLOCKED, Code.NETWORK_DNS_FAILED)}
ENDED = {Code.NETWORK_CONNECTION_FAILED.value}
"""What a browser says of a redirect to a scheme that it leaves to other programs."""

EVERYWHERE = ("0.0.0.0/0", "::/0")
ABSENCES = {
    "intelligence": None,
    "lightweight": engine_process.unavailability(Settings()),
    "playwright": chromium.unavailability(Settings()),
}


def tier(name: str) -> ParameterSet:
    """Have all tests of a tier in one worker, which tries everything once."""
    absence = ABSENCES[name]
    marks = [pytest.mark.skipif(absence is not None, reason=str(absence))]
    return pytest.param(name, marks=[*marks, pytest.mark.browser] if name == "playwright" else marks)


every_tier = pytest.mark.parametrize("tried", [tier(name) for name in ABSENCES], indirect=True)
with_scripts = pytest.mark.parametrize(
    # What pages do themselves takes a browser two minutes; its walls have a quick test, too.
    "tried",
    first(1, [tier("lightweight"), tier("playwright")]),
    indirect=True,
)


@pytest.fixture
def tried(request: pytest.FixtureRequest) -> Findings:
    """Return what a tier did."""
    return findings(str(request.param))


@cache
def findings(name: str, *networks: str) -> Findings:
    """Try everything with a tier, which may fetch from these networks."""
    with TemporaryDirectory(prefix="weft-ssrf-") as folder:
        file = Path(folder, "findings.json")
        command = namespace.within(sys.executable, "-m", "tests.ssrf.inside", name, str(file), *networks)
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=380)
        assert file.exists(), done.stderr[-4_000:]
        return msgspec.json.decode(file.read_bytes(), type=Findings)


def of(trials: tuple[Trial, ...], kind: str) -> list[Trial]:
    return [trial for trial in trials if trial.kind == kind]


def counted(found: Findings) -> str:
    """Return of each class how many addresses were tried, directly and by a redirect, and how many connected."""
    tried = [*found.direct, *found.redirected, *found.embedded, *found.leading]
    classes = ", ".join(f"{kind} {len(of(found.direct, kind))}" for kind in corpus().attacks)
    leaks = sum(bool(one.leaks) for one in tried) + sum(bool(way.leaks) for way in found.ways)
    seconds = sum(found.seconds.values())
    return (
        f"{found.tier}: {leaks} leaks, {len(found.honest)} controls, {len(found.direct)} attacks ({classes}), as many "
        f"redirects, {len(found.embedded)} pages that hold them all, {len(found.ways)} ways out of a page of which "
        f"{sum(way.leads for way in found.ways)} lead to the public, {len(found.leading)} pages that go there; "
        f"{seconds:.0f} s"
    )


def test_the_corpus_is_large_enough() -> None:
    assert (corpus().count >= LEAST_ATTACKS, len(corpus().honest) >= LEAST_CONTROLS) == (True, True)


@every_tier
@pytest.mark.parametrize("kind", corpus().attacks)
def test_no_attack_connects_to_what_is_forbidden(tried: Findings, kind: str) -> None:
    trials = of(tried.direct, kind)

    refusals = REFUSALS | ENDED if kind == "redirect" else REFUSALS
    assert [trial for trial in trials if trial.leaks or trial.code not in refusals] == []
    assert len(trials) == len(attacks(tried.tier)[kind])


@every_tier
@pytest.mark.parametrize("kind", corpus().attacks)
def test_nor_does_a_redirect_to_one(tried: Findings, kind: str) -> None:
    trials = of(tried.redirected, kind)

    assert [trial for trial in trials if trial.leaks] == []
    assert [trial for trial in trials if not trial.code and trial.title != "Hello"] == []
    assert len(trials) == len(attacks(tried.tier)[kind])


@every_tier
def test_no_honest_address_is_refused(tried: Findings, record_property: Callable[[str, object], None]) -> None:
    record_property(COUNTS, counted(tried))

    assert [trial for trial in tried.honest if (trial.code, trial.title, trial.leaks) != ("", "Hello", ())] == []
    assert len(tried.honest) == len(corpus().honest)


@with_scripts
@pytest.mark.parametrize("kind", [*EMBEDDINGS, "rebinding"])
def test_no_page_reaches_one_that_it_holds(tried: Findings, kind: str) -> None:
    trials = of(tried.embedded, kind)

    assert [trial for trial in trials if trial.leaks] == []
    assert trials


@with_scripts
def test_the_pages_that_held_them_did_ask(tried: Findings) -> None:
    asked = {trial.kind for trial in tried.embedded if trial.title == "reached"}

    assert asked >= {"script", "frame", "fetch", "redirected fetch", "request"}


@with_scripts
def test_there_is_no_way_out_of_a_page(tried: Findings) -> None:
    assert [way for way in tried.ways if way.leaks] == []
    assert {way.name for way in tried.ways} == set(WAYS)
    assert sum(way.leads for way in tried.ways) >= LEAST_LEADING[tried.tier]


@with_scripts
@pytest.mark.parametrize("kind", LEADING)
def test_nor_does_a_page_go_there_itself(tried: Findings, kind: str) -> None:
    trials = of(tried.leading, kind)

    assert [trial for trial in trials if trial.leaks] == []
    followed = tried.tier == "playwright" or kind == "refresh"  # which needs no script
    assert {trial.code for trial in trials} == ({Code.SECURITY_ADDRESS_BLOCKED.value} if followed else {""})


@pytest.mark.full
@pytest.mark.parametrize("kind", ["loopback", "mapped", "tunnelled", "private v4", "metadata", "name", "rebinding"])
def test_who_may_connect_everywhere_is_seen(kind: str) -> None:
    free = findings("intelligence", *EVERYWHERE)

    assert [trial for trial in of(free.direct, kind) if trial.leaks]
