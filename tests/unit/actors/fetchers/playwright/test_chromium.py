"""Which Chromium is found, and what is said where there is none."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from actors.fetchers.playwright import chromium
from actors.settings import Settings


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a machine that has nothing: own PATH, own cache of Playwright's, no program behind Debian's scripts."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "own"))
    monkeypatch.setattr(chromium, "_BEHIND_SCRIPTS", tmp_path / "lib")
    return tmp_path


def program(path: Path, text: str = "ELF", mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def test_nothing_is_found_where_nothing_is() -> None:
    assert chromium.find(Settings()) is None
    absence = chromium.unavailability(Settings())
    assert absence is not None
    assert "apt install" in absence.cure


def test_the_order_is_setting_own_system(machine: Path) -> None:
    system = program(machine / "bin" / "chromium")
    assert chromium.find(Settings()) == system

    shell = program(machine / "bin" / "chromium-headless-shell")
    assert chromium.find(Settings()) == shell

    own = program(machine / "own" / "chromium-1200" / "chrome-linux" / "chrome")
    assert chromium.find(Settings()) == own

    newer = program(machine / "own" / "chromium_headless_shell-1200" / "chrome-linux" / "headless_shell")
    assert chromium.find(Settings()) == newer

    chosen = program(machine / "elsewhere" / "chrome")
    assert chromium.find(Settings(browser_executable=str(chosen))) == chosen
    assert chromium.unavailability(Settings(browser_executable=str(chosen))) is None


def test_what_is_set_and_is_no_program_is_not_replaced_by_another(machine: Path) -> None:
    program(machine / "bin" / "chromium")
    text = program(machine / "notes.txt", mode=0o644)

    for chosen in (text, machine / "nowhere"):
        absence = chromium.unavailability(Settings(browser_executable=str(chosen)))
        assert absence is not None
        assert "WEFT_BROWSER_EXECUTABLE" in absence.cure


def test_a_script_gives_way_to_the_program_behind_it(machine: Path) -> None:
    program(machine / "bin" / "chromium", "#!/bin/sh\nexec /usr/lib/chromium/chromium\n")
    behind = program(machine / "lib" / "chromium")

    assert chromium.find(Settings()) == behind


def test_the_browser_gets_none_of_our_secrets(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_API_KEY", "hush")
    given = chromium.environment(machine)

    assert (given["HOME"], "hush" in given.values()) == (str(machine), False)


@pytest.mark.parametrize(("user", "chosen", "expected"), [(0, "auto", False), (7, "auto", True), (7, "off", False)])
def test_the_sandbox_is_up_wherever_it_can_be(
    monkeypatch: pytest.MonkeyPatch, user: int, chosen: str, *, expected: bool
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: user)

    assert chromium.sandboxed(Settings(browser_sandbox=chosen)) is expected  # type: ignore[arg-type]  # one of both
