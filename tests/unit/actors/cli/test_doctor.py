"""`weft doctor` and `weft schema`."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from actors.cli import doctor
from actors.cli.checks import Check, CheckState
from actors.cli.main import run
from actors.fetchers.lightweight import engine_process
from actors.fetchers.lightweight.engine_process import SandboxLayer
from actors.settings import Settings
from protocol import schemas
from protocol.browse import BrowseResult
from protocol.replicas import Absence
from tests.unit.actors.cli.cli_data import MARK

# -- doctor, schema ---------------------------------------------------------------------------------------------------


def test_the_doctor_shows_every_setting_and_its_origin(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_API_KEY", MARK)
    monkeypatch.setenv("WEFT_PORT", "0")

    code = run(["doctor", "--json"])

    shown = capsys.readouterr().out
    told = json.loads(shown)
    assert code == (0 if told["ok"] else 1)
    assert [row["name"] for row in told["settings"]] == list(Settings.__struct_fields__)
    assert next(row for row in told["settings"] if row["name"] == "port")["origin"] == "WEFT_PORT"
    assert {"config", "python", "nats", "chromium", "port", "data_dir", "disk"} <= {
        row["name"] for row in told["checks"]
    }
    assert MARK not in shown


def test_the_doctor_ends_with_1_and_the_cure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_PROT", "1")

    assert run(["doctor"]) == 1
    shown = capsys.readouterr().out
    assert "missing config" in shown
    assert "cure: Did you mean WEFT_PORT?" in shown


@pytest.mark.parametrize(
    "file",
    [
        ("routing", "[ladders]\nopenai = 3", "line 2: [ladders] openai: Expected"),
        ("patterns", '[[api]]\npage = "https://a.example/"\nurl = "nowhere"', "line 3: [[api]] "),
        ("patterns", "[[api]", "patterns.toml is not TOML: "),
        ("hosts", "static = 1", "hosts.toml does not hold lists of hosts: "),
        ("policy", "[[rules]]\neffect = 1", "line 2: [[rules]] "),
    ],
)
def test_a_file_of_the_operator_that_is_wrong_is_told_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, file: tuple[str, str, str]
) -> None:
    name, text, said = file
    (tmp_path / f"{name}.toml").write_text(text)
    monkeypatch.setenv("WEFT_DATA_DIR", str(tmp_path))
    if name == "hosts":
        monkeypatch.setenv("WEFT_HOSTS_FILE", str(tmp_path / "hosts.toml"))

    assert run(["doctor", "--json"]) == 1

    told = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert (told[name]["state"], said in told[name]["detail"], f"{name}.toml" in told[name]["detail"]) == (
        "missing",
        True,
        True,
    ), told[name]
    assert told[name]["cure"].startswith(f"Write it like config/{name}.toml, or ")


def test_an_old_python_is_missing_something() -> None:
    assert doctor.python((3, 10, 9)).state is CheckState.MISSING
    assert doctor.python((3, 11, 0)).state is CheckState.OK


def test_a_light_engine_that_cannot_run_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: Settings) -> Absence:
        return Absence(reason="It is not there.", cure="Get it.")

    monkeypatch.setattr(engine_process, "unavailability", absent)

    found = doctor.light(Settings())

    assert found == Check(name="light", state=CheckState.WARNING, detail="It is not there.", cure="Get it.")


def test_a_light_engine_without_a_wall_is_worth_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    walls = (
        SandboxLayer(name="landlock", present=False, detail="no Landlock"),
        SandboxLayer(name="x", present=True, detail="x"),
    )

    def present(_: Settings) -> None:
        return None

    monkeypatch.setattr(engine_process, "unavailability", present)
    monkeypatch.setattr(engine_process, "sandbox_layers", lambda: walls)

    found = doctor.light(Settings())

    assert (found.state, found.detail) == (CheckState.WARNING, "lightpanda, behind: no Landlock, x")


def test_a_port_that_is_taken_is_fine_only_for_the_weft_that_runs() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = Settings(port=taken.getsockname()[1], data_dir=Path())

        assert doctor.port(settings, running=False).state is CheckState.MISSING
        assert doctor.port(settings, running=True).state is CheckState.OK


def test_a_data_folder_under_a_file_is_missing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert doctor.data_dir(tmp_path / "file" / "data").state is CheckState.MISSING
    assert doctor.data_dir(tmp_path / "new" / "data").state is CheckState.OK


def test_a_key_that_others_can_read_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "api-key"
    path.touch(0o644)
    path.chmod(0o644)

    check = doctor.api_key(Settings(data_dir=tmp_path))

    assert (check.state, check.cure) == (CheckState.WARNING, f"chmod 600 {path}")


@pytest.mark.slow
def test_schema_prints_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "edge.browse.result"]) == 0
    one = json.loads(capsys.readouterr().out)

    assert one == json.loads(json.dumps(schemas.schema(BrowseResult)))


@pytest.mark.slow
def test_a_schema_that_is_not_there_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "edge.browse.resul"]) == 2
    assert "Did you mean edge.browse.result?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variables", "state", "said"),
    [
        ({}, CheckState.OK, "no provider has credentials"),
        ({"OPENAI_API_KEY": "sk-x", "OLLAMA_HOST": "127.0.0.1"}, CheckState.OK, "openai (environment), ollama"),
        ({"OLLAMA_HOST": "10.0.0.7"}, CheckState.WARNING, "ollama: 10.0.0.7:11434 is reached without TLS only"),
    ],
)
def test_the_doctor_says_which_models_can_be_asked(
    variables: dict[str, str],
    state: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    run(["doctor", "--json"])

    (check,) = (one for one in json.loads(capsys.readouterr().out)["checks"] if one["name"] == "models")
    assert check["state"] == state
    assert said in check["detail"]
    assert "sk-x" not in check["detail"]
