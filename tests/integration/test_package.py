"""The wheel: what it ships, and that it works where nothing else of ours is."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import msgspec
import pytest

from actors.gateway.rest.console import FOLDER, PACKAGED
from protocol.browse import BrowseResult
from tests.site import site_in_thread
from tests.support.system import environment

pytestmark = [pytest.mark.nats, pytest.mark.slow, pytest.mark.full]

ROOT = Path(__file__).parents[2]
PACKAGES = ("protocol", "bus", "actors", "config")


def run(*argv: str | Path, cwd: Path, data_dir: Path) -> str:
    """Run a program that has to succeed; gives what it printed."""
    clean = {name: value for name, value in environment(data_dir).items() if not name.startswith("PYTHON")}
    done = subprocess.run(argv, cwd=cwd, env=clean, capture_output=True, text=True, check=False, timeout=50)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel."""
    folder = tmp_path_factory.mktemp("dist")
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    run(*build, cwd=folder, data_dir=folder)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own; gives the folder of its programs.

    What it depends on is seen through a path file, which needs no network; the editable install of the checkout is
    not, because path files are not followed from there.
    """
    folder = tmp_path_factory.mktemp("bare")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder, data_dir=folder)
    python = folder / "bin" / "python"
    install = (sys.executable, "-m", "uv", "pip", "install", "--offline", "--no-deps", "--python", python, wheel)
    run(*install, cwd=folder, data_dir=folder)
    packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder, data_dir=folder)
    Path(packages.strip(), "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent


def test_the_wheel_ships_the_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        information = {name.partition(".dist-info/")[2] for name in archive.namelist() if ".dist-info/" in name}
    sources = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and not {"__pycache__", "node_modules"} & set(path.parts)
    }
    served = {f"actors/gateway/console/{path}" for path in PACKAGED.values() if (FOLDER / path).is_file()}
    packaged = {name for name in names if "/node_modules/" in name}

    assert set(names) - packaged == sources
    assert {name for name in packaged if "LICENSE" not in name} == served
    assert len(packaged - served) == (3 if served else 0)
    assert "config/weft.toml" in names
    assert information == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


def test_what_is_installed_comes_from_the_wheel(bare: Path, tmp_path: Path) -> None:
    script = "import actors, bus, protocol; print(actors.__file__, bus.__file__, protocol.__file__)"
    places = run(bare / "python", "-c", script, cwd=tmp_path, data_dir=tmp_path).split()

    assert all(Path(place).is_relative_to(bare.parent) for place in places)


def test_it_tells_its_version(bare: Path, tmp_path: Path) -> None:
    assert run(bare / "weft", "--version", cwd=tmp_path, data_dir=tmp_path) == "weft 0.1.0\n"


def test_its_doctor_finds_everything(bare: Path, tmp_path: Path) -> None:
    told = msgspec.json.decode(run(bare / "weft", "doctor", "--json", cwd=tmp_path, data_dir=tmp_path / "data"))

    assert told["ok"] is True
    assert {row["name"]: row["origin"] for row in told["settings"]}["allow_private"] == "WEFT_ALLOW_PRIVATE"


def test_it_reads_a_page_with_nothing_running(bare: Path, tmp_path: Path) -> None:
    with site_in_thread() as site:
        said = run(bare / "weft", "browse", site.url("/article"), "--json", cwd=tmp_path, data_dir=tmp_path / "data")

    assert msgspec.json.decode(said, type=BrowseResult).title
