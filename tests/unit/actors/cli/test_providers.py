"""`weft providers`: what is stored, how, and what is shown of it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import msgspec
import pytest

from actors.cli.main import run
from actors.router.credentials import CredentialFile
from actors.router.provider import ProviderCredentials
from actors.settings import Settings, resolve_vault_key
from bus.seal import Seal
from protocol.models import Provider
from protocol.routes import ProviderState

KEY = "sk-planted-b3c4"


def weft(folder: Path, *words: str) -> int:
    """Run a command with a data folder."""
    return run(["providers", *words, "--data-dir", str(folder)])


def pipe(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Have the next command read this."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def stored(folder: Path) -> dict[Provider, ProviderCredentials]:
    """Read what is stored, with the key of the data folder."""
    return CredentialFile.of(folder, Seal.of(resolve_vault_key(Settings(data_dir=folder)))).read()


def test_what_is_added_is_stored_encrypted_and_listed_without_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe(monkeypatch, f"{KEY}\nsecret-{KEY}\n")

    assert weft(tmp_path, "add", "bedrock", "--region", "eu-central-1") == 0
    assert weft(tmp_path, "list", "--json") == 0

    shown = capsys.readouterr().out
    states = msgspec.json.decode(shown[shown.index("[") :], type=list[ProviderState])
    assert KEY not in shown
    assert stored(tmp_path) == {
        Provider.BEDROCK: ProviderCredentials(
            region="eu-central-1", access_key_id=KEY, secret_access_key=f"secret-{KEY}"
        )
    }
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.iterdir())
    assert [(one.provider, one.source) for one in states if one.available] == [("bedrock", "stored")]


@pytest.mark.slow
def test_what_is_removed_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe(monkeypatch, f"{KEY}\n")
    assert weft(tmp_path, "add", "openai") == 0
    assert weft(tmp_path, "add", "ollama") == 0

    assert weft(tmp_path, "remove", "openai") == 0

    assert stored(tmp_path) == {Provider.OLLAMA: ProviderCredentials()}
    assert weft(tmp_path, "remove", "openai") == 1
    assert "Nothing is stored of openai" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("openai",), "openai needs api_key"),
        (("azure",), "azure needs api_key and base_url and resource_name"),
        (("openai", "--base-url", "http://models.example/v1"), "openai needs api_key"),
        (("ollama", "--base-url", "http://192.168.1.4:11434"), "the setting model_hosts names it"),
        (("lmstudio", "--base-url", "http://169.254.169.254/"), "the setting model_hosts names it"),
        (("lmstudio", "--base-url", "javascript:alert(1)"), "Correct --base-url"),
    ],
)
def test_what_could_not_be_used_is_not_stored(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pipe(monkeypatch, "")

    assert weft(tmp_path, "add", *words) == 1

    assert said in capsys.readouterr().err
    assert stored(tmp_path) == {}


def test_credentials_of_another_vault_key_are_an_error_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe(monkeypatch, f"{KEY}\n")
    assert weft(tmp_path, "add", "openai") == 0
    (tmp_path / "vault-key").unlink()

    assert weft(tmp_path, "remove", "openai") == 1

    assert "cannot be opened with the vault key" in capsys.readouterr().err
