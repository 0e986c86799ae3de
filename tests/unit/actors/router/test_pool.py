"""Which providers can be asked, and what with."""

from __future__ import annotations

import stat
from pathlib import Path

import anyio
import pytest
from msgspec import structs

from actors.router.credentials import CredentialFile, CredentialsError
from actors.router.pool import ProviderPool
from actors.router.provider import ProviderCredentials, ProviderError
from actors.router.providers.table import PROVIDERS
from bus.seal import Seal, new_key
from protocol.models import CallErrorKind, Provider
from tests.requirements import requirement

HOSTS = ("127.0.0.1:11434", "127.0.0.1:1234")
KEY = "sk-planted-77aa"


async def pool_of(environ: dict[str, str], file: CredentialFile | None = None) -> ProviderPool:
    """Return a pool that has read all."""
    pool = ProviderPool(environ, HOSTS, file)
    await pool.load()
    return pool


@requirement("004.providers")
async def test_who_has_its_credentials_can_be_asked() -> None:
    pool = await pool_of(
        {
            "OPENAI_API_KEY": KEY,
            "OPENROUTER_API_KEY": "  ",
            "AZURE_OPENAI_API_KEY": KEY,
            "AZURE_OPENAI_ENDPOINT": "https://weft.openai.azure.com/",
            "OLLAMA_HOST": "0.0.0.0",  # noqa: S104 - what the server listens on
            "OPENAI_COMPATIBLE_BASE_URL": "https://models.example/v1",
        }
    )

    states = {state.provider: state for state in pool.states()}
    assert pool.available == (Provider.OPENAI, Provider.AZURE, Provider.OLLAMA)
    assert pool.credentials(Provider.AZURE) == ProviderCredentials(
        api_key=KEY, base_url="https://weft.openai.azure.com/openai/v1", resource_name="weft"
    )
    assert states[Provider.OLLAMA].base_url == "http://127.0.0.1:11434/v1"
    assert states[Provider.OPENAI_COMPATIBLE].missing == ("apiKey",)
    assert states[Provider.BEDROCK].missing == ("region", "accessKeyId", "secretAccessKey")
    assert not states[Provider.BROWSEROS].available
    assert KEY not in repr(states)


async def test_a_provider_whose_client_is_not_installed_says_how_to_install_it() -> None:
    kind = structs.replace(PROVIDERS[Provider.ANTHROPIC], modules=("pydantic_ai", "no_such_module"))
    pool = ProviderPool({"ANTHROPIC_API_KEY": KEY}, HOSTS, kinds={Provider.ANTHROPIC: kind})
    await pool.load()

    (state,) = pool.states()
    assert (state.available, pool.available) == (False, ())
    assert "pip install 'weft[llm]'" in state.message


@pytest.mark.parametrize(
    ("given", "base_url"),
    [
        ("127.0.0.1", "http://127.0.0.1:11434/v1"),
        (":11434", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080/v1"),
        ("http://[::1]:11434/", "http://[::1]:11434/v1"),
        ("https://models.example", "https://models.example:443/v1"),
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
        ("localhost:many", "localhost:many"),
        ("http://[::1", "http://[::1"),
    ],
)
async def test_an_address_of_ollama_is_read_as_ollama_reads_it(given: str, base_url: str) -> None:
    credentials = (await pool_of({"OLLAMA_HOST": given})).credentials(Provider.OLLAMA)

    assert credentials is not None
    assert credentials.base_url == base_url


async def test_no_server_of_this_machine_is_believed_to_run_unasked() -> None:
    assert (await pool_of({})).available == ()


@pytest.mark.parametrize(
    ("base_url", "why"),
    [
        ("http://models.example/v1", "models.example:80 is reached without TLS only where the setting"),
        ("https://169.254.169.254/", "169.254.169.254:443 is private"),
        ("https://models.internal/v1", "models.internal:443 is private"),
        ("http://127.0.0.1:8080/v1", "127.0.0.1:8080 is reached without TLS only"),
        ("https://user:secret@models.example/", "without a password"),
        ("file:///etc/passwd", "the base URL is to be http(s)"),
        ("https://models.example/v1#x", "the base URL is to be http(s)"),
        ("https://[models", "the base URL has no host"),
    ],
)
async def test_an_address_that_is_not_public_must_be_named(base_url: str, why: str) -> None:
    pool = await pool_of({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": base_url})

    (state,) = (state for state in pool.states() if state.provider is Provider.OPENAI)
    assert not state.available
    assert why in state.message
    assert "secret" not in repr(state)
    with pytest.raises(ProviderError) as caught:
        pool.client(Provider.OPENAI)
    assert caught.value.kind is CallErrorKind.AUTH


async def test_what_is_stored_counts_as_soon_as_it_is_written_and_the_environment_goes_before_it(
    tmp_path: Path,
) -> None:
    file = CredentialFile.of(tmp_path, Seal.of(new_key()))
    pool = await pool_of({"OPENAI_API_KEY": KEY}, file)
    before = pool.available
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pool.watch)
        file.write(
            {
                Provider.OPENAI: ProviderCredentials(api_key="other"),
                Provider.OPENROUTER: ProviderCredentials(api_key=KEY),
            }
        )
        with anyio.fail_after(90):
            while pool.available == before:
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()

    assert pool.available == (Provider.OPENAI, Provider.OPENROUTER)
    assert [state.source for state in pool.states() if state.available] == ["environment", "stored"]
    stored = pool.credentials(Provider.OPENAI)
    assert stored is not None
    assert stored.api_key == KEY


def test_the_file_is_sealed_and_its_owners_alone(tmp_path: Path) -> None:
    file = CredentialFile.of(tmp_path, Seal.of(new_key()))

    file.write({Provider.OPENAI: ProviderCredentials(api_key=KEY)})

    (path,) = tmp_path.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert KEY.encode() not in path.read_bytes()
    assert file.read() == {Provider.OPENAI: ProviderCredentials(api_key=KEY)}
    with pytest.raises(CredentialsError, match="cannot be opened with the vault key"):
        CredentialFile.of(tmp_path, Seal.of(new_key())).read()
