"""Who asks a whole Weft for a forbidden address hears that it is one, and nothing of what is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from protocol.faults import Code
from tests.ssrf.corpus import corpus
from tests.ssrf.findings import Answer, AtTheEdge
from tests.support import namespace

pytestmark = [
    pytest.mark.skipif(bool(namespace.refusal()), reason=namespace.refusal() or "there is a namespace"),
    pytest.mark.nats,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.full,
]

CODES = {Code.SECURITY_URL_BLOCKED.value, Code.SECURITY_ADDRESS_BLOCKED.value, Code.NETWORK_DNS_FAILED.value}
INVALID = Code.VALIDATION_INVALID_REQUEST.value
PORTS = ("8080", "8081", "8443", "8444")
LED_THERE = ("redirect", "rebinding")
"""What was asked for is public: no field of the request is wrong."""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> AtTheEdge:
    """Have a Weft asked over REST and MCP."""
    folder = tmp_path_factory.mktemp("edge")
    file = folder / "answers.json"
    command = namespace.within(sys.executable, "-m", "tests.ssrf.edge_inside", str(folder), str(file))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    assert file.exists(), done.stderr[-4_000:] + _log(folder)
    return msgspec.json.decode(file.read_bytes(), type=AtTheEdge)


def _log(folder: Path) -> str:
    log = folder / "weft.log"
    return log.read_text()[-2_000:] if log.exists() else ""


@pytest.mark.parametrize("surface", ["rest", "mcp"])
@pytest.mark.parametrize("kind", corpus().attacks)
def test_a_forbidden_address_is_an_error_that_says_so(asked: AtTheEdge, surface: str, kind: str) -> None:
    answers = [answer for answer in asked.answers if (answer.surface, answer.kind) == (surface, kind)]

    assert answers
    assert [one for one in answers if not one.is_error or one.body["code"] not in {*CODES, INVALID}] == []
    assert [one for one in answers if kind not in LED_THERE and one.body.get("field") != "url"] == []


def test_nobody_was_spoken_to(asked: AtTheEdge) -> None:
    assert asked.leaks == ()


@pytest.mark.parametrize("pair", range(12))
def test_an_open_port_and_a_closed_one_are_told_in_the_same_words(asked: AtTheEdge, pair: int) -> None:
    first, second = asked.alike[2 * pair : 2 * pair + 2]

    assert first.url != second.url
    assert first.is_error
    assert without_ports(first) == without_ports(second)


def test_a_public_address_is_answered(asked: AtTheEdge) -> None:
    assert [answer.is_error for answer in asked.honest] == [False]


def without_ports(answer: Answer) -> str:
    """Write an answer without the port that was asked for, and what differs from call to call."""
    text = str({name: value for name, value in answer.body.items() if name != "conversationId"})
    for port in PORTS:
        text = text.replace(port, "PORT")
    return text
