"""`weft sessions`: what a file says, and what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.cli.main import run
from actors.cli.sessions import read_state
from protocol.faults import Code, FaultError
from protocol.sessions import StorageState, StoredCookie

COOKIES = """# Netscape HTTP Cookie File
#HttpOnly_.example.com\tTRUE\t/\tTRUE\t2000000000\tsid\tvery-secret
www.example.com\tFALSE\t/a\tFALSE\t0\there\t
"""


def test_cookies_txt_is_read(tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    file.write_text(COOKIES)

    assert read_state(file) == StorageState(
        cookies=(
            StoredCookie(
                name="sid", value="very-secret", domain=".example.com", expires=2e9, secure=True, http_only=True
            ),
            StoredCookie(name="here", value="", domain="www.example.com", path="/a"),
        )
    )


def test_a_storage_state_is_read(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text(' {"cookies": [{"name": "a", "value": "b", "domain": "x", "unknown": 1}], "origins": []}')

    assert read_state(file) == StorageState(cookies=(StoredCookie(name="a", value="b", domain="x"),))


@pytest.mark.parametrize(
    "text", ["", "very-secret", '{"cookies": [{"name": "very-secret"}]}', '{"cookies": "very-secret', "\0"]
)
def test_what_is_neither_is_refused_without_a_word_of_it(text: str, tmp_path: Path) -> None:
    file = tmp_path / "state"
    file.write_text(text)

    with pytest.raises(FaultError) as caught:
        read_state(file)

    assert caught.value.fault.code is Code.VALIDATION_INVALID_REQUEST
    assert "very-secret" not in caught.value.fault.message


@pytest.mark.parametrize("arguments", [["list"], ["refresh", "example.com"], ["delete", "example.com"]])
def test_where_no_weft_runs_nothing_is_known(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sessions", *arguments, "--data-dir", str(tmp_path)]) == 3
    assert "weft up" in capsys.readouterr().err
