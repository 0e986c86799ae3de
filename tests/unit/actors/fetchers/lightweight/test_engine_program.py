"""Whether the engine can work on this machine, and why not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from actors.fetchers import sandbox, system_calls
from actors.fetchers.lightweight import engine_process
from actors.fetchers.lightweight.engine_process import SandboxLayer
from actors.settings import Settings

STRICT, LENIENT = Settings(), Settings(light_without_walls=True)

linux = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "program"
    path.write_text("no program")
    path.chmod(0o755)
    monkeypatch.setattr(engine_process, "find_program", lambda: path)
    return path


def runs(_program: Path, *, lenient: bool) -> None:
    """Stand for a trial that went well."""


@linux
def test_without_the_package_the_cure_is_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_process, "find_program", lambda: None)

    absence = engine_process.unavailability(STRICT)

    assert absence
    assert absence.reason == "The package lightpanda is not installed."
    assert absence.cure.endswith("pipx inject weft lightpanda==1.0.2")


@linux
def test_a_missing_wall_keeps_the_engine_from_running_unless_that_is_allowed(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "landlock_version", lambda: 0)
    monkeypatch.setattr(engine_process, "_trial", runs)

    absence = engine_process.unavailability(STRICT)

    assert absence
    assert absence.reason == "The sandbox lacks a wall: the kernel has no Landlock."
    assert "light_without_walls" in absence.cure
    assert engine_process.unavailability(LENIENT) is None


@linux
def test_a_program_that_does_not_run_is_told(program: Path) -> None:
    absence = engine_process.unavailability(LENIENT)

    assert absence
    assert absence.reason.startswith("The program of lightpanda does not run in its sandbox: ")


@linux
def test_elsewhere_there_is_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    absence = engine_process.unavailability(STRICT)

    assert absence
    assert "Linux" in absence.reason


def test_walls_say_what_this_kernel_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "landlock_version", lambda: 3)
    monkeypatch.setattr(system_calls, "available", lambda: False)

    assert engine_process.sandbox_layers() == (
        SandboxLayer(name="landlock", present=True, detail="Landlock, version 3"),
        SandboxLayer(name="seccomp", present=False, detail="the kernel does not filter system calls on this machine"),
    )


def test_the_program_is_found_without_importing_its_package() -> None:
    code = (
        "import sys; from actors.fetchers.lightweight import engine_process; found = engine_process.find_program();"
        "sys.exit(found is not None and (not found.is_file() or 'lightpanda' in sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=30).returncode == 0


def test_a_package_that_is_not_there_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_process, "PACKAGE", "no_such_package")
    engine_process.find_program.cache_clear()

    assert engine_process.find_program() is None
    engine_process.find_program.cache_clear()
