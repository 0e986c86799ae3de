"""`weft keys`: what is read of the command line, and what is printed where."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.cli import keys
from actors.cli.connection import EdgeRequest
from actors.cli.main import run
from protocol.access import KeysAnswer, NewKey, RevokedKey, Scope
from protocol.faults import Code, FaultError

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()
INFO = RevokedKey(id="abcdefgh1234", name="laptop", scopes=(Scope.BROWSE,), created=0, expires=4_000_000_000_000)
MADE = NewKey(key="weft_very_secret", **msgspec.structs.asdict(INFO))
Answering = Callable[[msgspec.Struct], list[EdgeRequest]]


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Answering:
    """Answer in place of an edge, and tell what was asked."""
    asked: list[EdgeRequest] = []

    def install(answer: msgspec.Struct) -> list[EdgeRequest]:
        async def ask_edge(_loaded: Any, ask: EdgeRequest, kind: type[msgspec.Struct]) -> msgspec.Struct:
            asked.append(ask)
            assert isinstance(answer, kind)
            return answer

        monkeypatch.setattr(keys, "ask_edge", ask_edge)
        return asked

    return install


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90m", 5_400),
        ("12h", 43_200),
        ("30d", 2_592_000),
        ("2w", 1_209_600),
        ("1y", 31_536_000),
        ("2026-11-22", 43_200),
        ("2026-11-21T13:00", 3_600),
        ("2026-11-21T13:00+01:00", 0),
        ("2026-11-21T15:00+02:00", 3_600),
    ],
)
def test_a_time_is_read_as_people_write_it(text: str, seconds: int) -> None:
    if seconds:
        assert keys.seconds_of(text, NOW) == seconds
    else:
        with pytest.raises(FaultError, match="over"):
            keys.seconds_of(text, NOW)


@pytest.mark.parametrize("text", ["", "soon", "30", "-1d", "0d", "1.5h", "2026-13-01", "2020-01-01"])
def test_what_is_no_time_to_come_is_refused(text: str) -> None:
    with pytest.raises(FaultError) as caught:
        keys.seconds_of(text, NOW)

    assert (caught.value.fault.code, caught.value.fault.field) == (Code.VALIDATION_INVALID_REQUEST, "expires")


@pytest.mark.parametrize("text", ["", "at-once", "at-once=", "at-once=-1", "pages=3", "weight=²"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(FaultError) as caught:
        keys.limits_of([text])

    assert (caught.value.fault.code, caught.value.fault.field) == (Code.VALIDATION_INVALID_REQUEST, "limits")
    assert keys.limits_of(["at-once=10", "per-minute=60"]) == {"atOnce": 10, "perMinute": 60}


def test_a_key_is_printed_alone_so_that_it_can_be_piped(
    answering: Answering, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = answering(MADE)

    code = run(["keys", "add", "laptop", "--scope", "browse", "--scope", "runs", "--expires", "1d"])

    printed = capsys.readouterr()
    assert (code, printed.out) == (0, "weft_very_secret\n")
    assert "laptop" in printed.err
    assert "weft_very_secret" not in printed.err
    assert asked == [
        EdgeRequest("POST", "/api/keys", body={"name": "laptop", "scopes": ["browse", "runs"], "expiresIn": 86_400})
    ]


def test_keys_are_listed_without_the_keys(answering: Answering, capsys: pytest.CaptureFixture[str]) -> None:
    expired = RevokedKey(id="zyxw", name="old", scopes=(), created=0, expires=1, expired=True)
    answering(KeysAnswer(keys=(INFO, expired)))

    assert run(["keys", "list"]) == 0

    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["NAME", "ID", "SCOPES", "MADE", "ENDS"]
    assert [line[:2] for line in lines[1:]] == [["laptop", "abcdefgh1234"], ["old", "zyxw"]]
    assert lines[2][-1] == "expired"


def test_a_name_cannot_lead_elsewhere(answering: Answering) -> None:
    asked = answering(INFO)

    assert run(["keys", "revoke", "../sessions/a?b#c"]) == 0

    assert asked == [EdgeRequest("DELETE", "/api/keys/..%2Fsessions%2Fa%3Fb%23c")]


@pytest.mark.parametrize("arguments", [["add", "a"], ["list"], ["revoke", "a"]])
def test_where_no_weft_runs_there_are_no_keys(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["keys", *arguments, "--data-dir", str(tmp_path)]) == 3
    assert "weft up" in capsys.readouterr().err


def test_a_scope_that_there_is_not_is_a_wrong_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["keys", "add", "a", "--scope", "everything"]) == 2
    assert "everything" in capsys.readouterr().err
