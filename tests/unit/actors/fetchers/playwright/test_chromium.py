"""Which Chromium is found, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.fetchers.playwright import browser_sandbox, chromium
from actors.fetchers.playwright.browser_sandbox import BrowserSandbox
from actors.fetchers.playwright.memory import MemoryLimits, ProcessSize, RootMemory, overgrown
from actors.settings import Settings
from protocol.replicas import Absence


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


HERE = ("user", "landlock", "calls", "namespaces")
NO_NAMESPACES = BrowserSandbox(HERE[:3], ("namespaces: not permitted",))
NO_LANDLOCK = BrowserSandbox(("user", "calls", "namespaces"), ("landlock: none",))
NO_USER = BrowserSandbox(HERE[1:], ("user: not permitted",))


@pytest.mark.parametrize(
    ("choice", "root", "there", "layers"),
    [
        ("auto", True, BrowserSandbox(HERE), HERE),
        ("auto", False, BrowserSandbox(HERE[1:]), HERE[1:]),
        ("auto", True, NO_NAMESPACES, HERE[:3]),
        ("auto", True, NO_LANDLOCK, NO_LANDLOCK.layers),
        ("auto", True, NO_USER, None),
        ("auto", False, BrowserSandbox(("calls",), ("landlock: none", "namespaces: not permitted")), None),
        ("on", True, BrowserSandbox(HERE), HERE),
        ("on", True, NO_NAMESPACES, None),
        ("off", True, NO_USER, ()),
    ],
)
def test_no_browser_runs_with_too_little_around_it_unless_that_is_said(
    choice: browser_sandbox.Choice, there: BrowserSandbox, layers: tuple[str, ...] | None, *, root: bool
) -> None:
    decided = browser_sandbox.decide(choice, there, root=root)

    if isinstance(decided, Absence):
        assert layers is None
        assert 'browser_sandbox = "off"' in decided.cure
        assert there.missing[0] in decided.reason
    else:
        assert decided.layers == layers


MB = 1_000_000
LIMITS = MemoryLimits(worn=100 * MB, page=70 * MB, all=300 * MB)


@pytest.mark.parametrize(
    ("pages", "root", "victim"),
    [
        ((10, 70), 20, None),
        ((10, 71), 20, 71),
        ((60,) * 4, 60, None),
        ((60, 61, 60, 60), 60, 61),
        ((60, 61), 200, 200),
        ((), 301, 301),
    ],
)
def test_what_holds_too_much_is_ended_and_the_browser_itself_last(
    pages: tuple[int, ...], root: int, victim: int | None
) -> None:
    held = [ProcessSize(1, root * MB, root=True), *(ProcessSize(n, size * MB) for n, size in enumerate(pages, 2))]

    ended = overgrown(held, LIMITS)

    assert (ended.size if ended else None) == (victim * MB if victim else None)


def test_a_page_answers_for_what_the_browser_keeps_for_it() -> None:
    held = [ProcessSize(1, 90 * MB, root=True), ProcessSize(2, 40 * MB), ProcessSize(3, 10 * MB, kept=61 * MB)]

    ended = overgrown(held, LIMITS)

    assert ended == held[2]


def test_what_the_browser_grows_by_is_shared_out_by_what_pages_computed_meanwhile_and_shrinks_with_it() -> None:
    memory = RootMemory()
    memory.share_out(40 * MB, {2: 500})
    begun = memory.kept
    memory.share_out(140 * MB, {2: 510, 3: 90})
    grown = memory.kept
    memory.share_out(70 * MB, {2: 600, 3: 90})

    assert begun == {2: 0}
    assert grown == {2: 10 * MB, 3: 90 * MB}
    assert memory.kept == {2: 5 * MB, 3: 45 * MB}
