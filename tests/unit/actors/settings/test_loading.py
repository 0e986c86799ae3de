"""The settings: layers, errors, what is never shown, and the key file."""

from __future__ import annotations

import json
import stat
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from actors.settings import (
    Loaded,
    Settings,
    describe,
    env_name,
    key_file,
    load,
    masked,
    resolve_api_key,
    resolve_vault_key,
    vault_key_file,
)
from bus.seal import Seal
from protocol.faults import Code, Fault, FaultError
from protocol.subject_kinds import Journal, Objects
from protocol.subjects import table

SHIPPED = Path(__file__).parents[4] / "config" / "weft.toml"


def read(
    *, file: Path | None = None, environ: Mapping[str, str] | None = None, **overrides: str | int | Path | None
) -> Loaded:
    return load(config_file=file, overrides=overrides, environ=environ or {})


def refused(*, file: Path | None = None, environ: Mapping[str, str] | None = None, **overrides: Any) -> Fault:
    with pytest.raises(FaultError) as caught:
        read(file=file, environ=environ, **overrides)
    assert caught.value.fault.code is Code.CONFIG_INVALID
    return caught.value.fault


def toml(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_any_layer_every_setting_is_its_default() -> None:
    loaded = read()

    assert loaded.settings == Settings()
    assert set(loaded.origins.values()) == {"default"}
    assert list(loaded.origins) == list(Settings.__struct_fields__)


def test_the_disk_of_the_bus_holds_all_that_is_reserved_and_the_cache() -> None:
    reserved = sum(entry.max_bytes for _, entry in table() if isinstance(entry, Objects | Journal))

    assert reserved <= Settings().jetstream_max_bytes * 3 // 4


def test_each_layer_wins_over_those_below_it(tmp_path: Path) -> None:
    file = toml(tmp_path, 'port = 1\nhost = "a"\nlog_level = "error"\n')

    loaded = read(file=file, environ={"WEFT_HOST": "b", "WEFT_LOG_LEVEL": "debug", "HOME": "/x"}, log_level="warning")

    assert loaded.settings == Settings(port=1, host="b", log_level="warning")
    changed = {name: origin for name, origin in loaded.origins.items() if origin != "default"}
    assert changed == {"port": str(file), "host": "WEFT_HOST", "log_level": "--log-level"}


def test_what_the_command_line_leaves_out_stays() -> None:
    loaded = read(environ={"WEFT_PORT": "7"}, port=None)

    assert (loaded.settings.port, loaded.origins["port"]) == (7, "WEFT_PORT")


def test_a_variable_is_read_as_the_type_of_its_setting() -> None:
    environ = {
        "WEFT_PORT": "0",
        "WEFT_ALLOW_PRIVATE": "127.0.0.0/8, ::1,10.0.0.5",
        "WEFT_DATA_DIR": "~/weft",
        "WEFT_API_KEY": "1234",
        "WEFT_ALLOWED_HOSTS": "",
        "WEFT_NATS_URL": "nats://a:4222,tls://b:4222",
    }

    settings = read(environ=environ).settings

    assert settings == Settings(
        port=0,
        allow_private=("127.0.0.0/8", "::1/128", "10.0.0.5/32"),
        data_dir=Path.home() / "weft",
        api_key="1234",
        nats_url="nats://a:4222,tls://b:4222",
    )


def test_a_relative_folder_is_one_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert read(data_dir=Path("here")).settings.data_dir == tmp_path / "here"


def test_a_list_of_a_file_may_be_empty_again_above_it(tmp_path: Path) -> None:
    file = toml(tmp_path, 'allow_private = ["10.0.0.0/8"]')

    assert read(file=file).settings.allow_private == ("10.0.0.0/8",)
    assert read(file=file, environ={"WEFT_ALLOW_PRIVATE": ""}).settings.allow_private == ()


def test_variables_of_the_scripts_are_no_settings() -> None:
    assert read(environ={"WEFT_PYTHON": "python3.12"}).settings == Settings()


@pytest.mark.parametrize(
    ("environ", "field", "told"),
    [
        ({"WEFT_PROT": "1"}, "prot", ("WEFT_PROT", "Did you mean WEFT_PORT?")),
        ({"WEFT_ZZZZZZ": "1"}, "zzzzzz", ("WEFT_ZZZZZZ", "weft doctor")),
        ({"WEFT_PORT": "x"}, "port", ("WEFT_PORT", "an integer from 0 to 65535")),
        ({"WEFT_PORT": ""}, "port", ("WEFT_PORT", "an integer from 0 to 65535")),
        ({"WEFT_PORT": "65536"}, "port", ("WEFT_PORT", "an integer from 0 to 65535")),
        ({"WEFT_PORT": "9" * 5000}, "port", ("WEFT_PORT",)),
        ({"WEFT_DRAIN_MS": "-1"}, "drain_ms", ("WEFT_DRAIN_MS",)),
        ({"WEFT_HOST": ""}, "host", ("WEFT_HOST",)),
        ({"WEFT_LOG_LEVEL": "loud"}, "log_level", ("WEFT_LOG_LEVEL", "debug | info | warning | error")),
        ({"WEFT_ALLOW_PRIVATE": "10.0.0.1/8"}, "allow_private", ("10.0.0.1/8 has host bits set", "CIDR")),
        ({"WEFT_ALLOW_PRIVATE": "localhost"}, "allow_private", ("localhost", "CIDR")),
        ({"WEFT_DATA_DIR": ""}, "data_dir", ("WEFT_DATA_DIR", "the path of a folder")),
        ({"WEFT_DATA_DIR": "~nobody-of-that-name/x"}, "data_dir", ("WEFT_DATA_DIR",)),
        ({"WEFT_NATS_URL": "http://a"}, "nats_url", ("WEFT_NATS_URL", "nats://host:4222")),
        ({"WEFT_API_KEY": "two words"}, "api_key", ("WEFT_API_KEY",)),
        ({"WEFT_FETCH_USER_AGENT": "a\r\nX-Evil: 1"}, "fetch_user_agent", ("WEFT_FETCH_USER_AGENT",)),
    ],
)
def test_a_bad_variable_is_named_with_the_way_out(environ: dict[str, str], field: str, told: tuple[str, ...]) -> None:
    fault = refused(environ=environ)

    assert fault.field == field
    assert [words for words in told if words not in fault.message] == []
    assert fault.actions[0].description in fault.message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("prot = 1", ("prot", "Did you mean port?")),
        ("[gateway]\nport = 1", ("gateway",)),
        ('port = "1"', ("port", "Expected `int`, got `str`")),
        ("port = true", ("port", "Expected `int`, got `bool`")),
        ('allow_private = "10.0.0.0/8"', ("allow_private", "list")),
        ("allow_private = [1]", ("allow_private",)),
        ("data_dir = 1", ("data_dir", "the path of a folder")),
        ("port =", ("is not TOML",)),
    ],
)
def test_a_bad_file_is_named_with_the_way_out(text: str, told: tuple[str, ...], tmp_path: Path) -> None:
    file = toml(tmp_path, text)

    fault = refused(file=file)

    assert [words for words in (str(file), *told) if words not in fault.message] == []


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'host = "\xe9"')

    assert str(tmp_path / "none.toml") in refused(file=tmp_path / "none.toml").message
    assert str(tmp_path) in refused(file=tmp_path).message
    assert str(latin) in refused(file=latin).message


def test_an_option_is_named_as_it_was_typed() -> None:
    assert "--nats-port" in refused(nats_port="x").message
    assert "--data-dir" in refused(data_dir="").message
    assert "--wrong" in refused(wrong=1).message


SECRETS = st.from_regex(r"S3cr3t[A-Za-z0-9]{6,20}", fullmatch=True)  # a word that no description has


@given(SECRETS, SECRETS)
def test_no_view_of_the_settings_shows_a_secret(key: str, password: str) -> None:
    url = f"nats://user:{password}@a:4222,tls://{password}@b"
    loaded = read(environ={"WEFT_API_KEY": key, "WEFT_NATS_URL": url})
    console = Console(width=10_000)

    with console.capture() as printed:
        console.print(loaded.settings)
    views = f"{loaded} {loaded.settings!r} {describe(loaded)} {printed.get()}"

    assert key not in views
    assert password not in views
    assert "nats://***@a:4222,tls://***@b" in views


@given(SECRETS)
def test_no_error_shows_a_secret(secret: str) -> None:
    environs = ({"WEFT_API_KEY": f"a {secret}"}, {"WEFT_NATS_URL": f"http://u:{secret}@a"})

    told = [refused(environ=environ) for environ in environs]

    assert secret not in str(told)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("", ""),
        ("nats://a:4222", "nats://a:4222"),
        ("nats://u:p@a", "nats://***@a"),
        ("nats://u:p@ss/w@a", "nats://***@a"),
        ("nats://u:p,w@a,nats://b", "nats://***@a,nats://b"),
    ],
)
def test_credentials_of_a_url_are_masked(url: str, shown: str) -> None:
    assert masked("nats_url", url) == shown


def test_every_setting_is_described() -> None:
    rows = describe()

    assert [row.name for row in rows] == list(Settings.__struct_fields__)
    assert [row.name for row in rows if not row.description.endswith(".") or not row.type] == []
    assert [row.env for row in rows if row.env != f"WEFT_{row.name.upper()}"] == []
    port = next(row for row in rows if row.name == "port")
    assert (port.env, port.type, port.default) == (env_name("port"), "an integer from 0 to 65535", "8720")


def test_no_default_in_the_docs_is_one_of_this_machine() -> None:
    assert str(Path.home()) not in str(describe())


def test_the_shipped_file_holds_every_setting_as_a_comment_with_its_default() -> None:
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    uncommented = "\n".join(line.removeprefix("# ") for line in lines if " = " in line)

    given_there = tomllib.loads(uncommented)
    defaults = json.loads(msgspec.json.encode(Settings(data_dir=Path()), enc_hook=str))

    assert all(not line or line.startswith("#") for line in lines)
    assert list(given_there) == list(Settings.__struct_fields__)
    assert {**given_there, "data_dir": "."} == defaults


def test_the_key_is_made_once_for_this_user_alone(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "deep" / "data")

    first, second = resolve_api_key(settings), resolve_api_key(settings)

    path = key_file(settings)
    assert first == second == path.read_text(encoding="ascii").strip()
    assert len(first) >= 43  # 256 bits in base64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["api-key"]


def test_many_that_start_at_once_get_one_key(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")

    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(resolve_api_key, [settings] * 64))

    assert keys == {key_file(settings).read_text(encoding="ascii").strip()}


def test_a_key_that_is_set_makes_no_file(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, api_key="mine")

    assert resolve_api_key(settings) == "mine"
    assert list(tmp_path.iterdir()) == []


def test_a_key_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = key_file(Settings(data_dir=tmp_path))
    path.write_text("kept\n", encoding="ascii")
    path.chmod(0o644)

    assert resolve_api_key(Settings(data_dir=tmp_path)) == "kept"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe"])
def test_a_key_file_without_a_key_is_an_error_with_its_cure(content: bytes, tmp_path: Path) -> None:
    path = key_file(Settings(data_dir=tmp_path))
    path.write_bytes(content)

    with pytest.raises(FaultError, match="api-key") as caught:
        resolve_api_key(Settings(data_dir=tmp_path))

    assert caught.value.fault.code is Code.CONFIG_INVALID
    assert caught.value.fault.actions != ()


def test_a_data_folder_that_is_a_file_is_an_error_with_its_cure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(FaultError, match="cannot be used"):
        resolve_api_key(Settings(data_dir=tmp_path / "file"))


def test_a_vault_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")

    first, second = resolve_vault_key(settings), resolve_vault_key(settings)

    path = vault_key_file(settings)
    assert first == second == path.read_text(encoding="ascii").strip() != resolve_api_key(settings)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert Seal.of(first).unseal(Seal.of(second).seal(b"x", "here"), "here") == b"x"


def test_a_vault_key_that_is_set_leaves_no_file(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, vault_key="A" * 43)

    assert resolve_vault_key(settings) == "A" * 43
    assert not vault_key_file(settings).exists()


@pytest.mark.parametrize("key", ["short", "A" * 42, "A" * 45, "?" * 43])
def test_what_is_no_vault_key_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(FaultError) as caught:
        load(config_file=None, overrides={}, environ={"WEFT_VAULT_KEY": key})

    assert caught.value.fault.field == "vault_key"
    assert key not in caught.value.fault.message
    assert key not in str(masked("vault_key", key))


@pytest.mark.parametrize(("text", "said"), [("true", True), ("false", False), ("TRUE", True), (" False ", False)])
def test_a_variable_says_yes_or_no(text: str, said: bool) -> None:  # noqa: FBT001 - data
    assert load(config_file=None, overrides={}, environ={"WEFT_TIER_LEARNING": text}).settings.tier_learning is said


@pytest.mark.parametrize("text", ["", "1", "yes", "None"])
def test_what_is_neither_yes_nor_no_is_refused(text: str) -> None:
    with pytest.raises(FaultError, match="tier_learning is true or false"):
        load(config_file=None, overrides={}, environ={"WEFT_TIER_LEARNING": text})


def test_a_word_that_is_no_choice_is_told_with_those_that_are() -> None:
    with pytest.raises(FaultError) as caught:
        load(config_file=None, overrides={}, environ={"WEFT_TOOLSETS": "core,corr"})

    said = "toolsets, set by WEFT_TOOLSETS: Invalid enum value 'corr'; there are acting, browser, collections, "
    assert caught.value.fault.message.startswith(said)
