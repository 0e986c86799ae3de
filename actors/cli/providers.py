"""`weft providers`: the credentials of providers of models, which only the router ever gets."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from actors.cli import terminal
from actors.cli.connection import EdgeRequest, ask_edge, find
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.settings import Loaded, Settings, resolve_vault_key, vault_key_file
from protocol.actions import Action
from protocol.faults import Code, FaultError, fault
from protocol.models import Provider
from protocol.routes import ProviderList, ProviderState

if TYPE_CHECKING:
    from actors.router.credentials import CredentialFile, Stored
    from actors.router.provider import ProviderCredentials, ProviderKind

_NAME_HOST = Action(action="fix_setting", description="Name it: WEFT_MODEL_HOSTS=HOST:PORT,… or in weft.toml.")
_FIX_ADDRESS = Action(action="fix_request", description="Correct --base-url, such as https://models.example/v1.")

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[Provider, typer.Argument(metavar="PROVIDER", help="One of `weft providers list`.", show_default=False)]
Url = Annotated[
    str, typer.Option("--base-url", metavar="URL", help="Address of its API, where it is not the usual one.")
]
Resource = Annotated[str, typer.Option("--resource-name", help="Name of the resource at Azure.")]
Region = Annotated[str, typer.Option("--region", help="Region of AWS.")]
Key = Annotated[bool, typer.Option("--with-key", help="Ask for an API key although the provider needs none.")]
Token = Annotated[bool, typer.Option("--with-session-token", help="Ask for a session token of AWS, too.")]
Model = Annotated[str | None, typer.Option("--model", help="The model to ask, instead of its first.")]

_SECRETS = ("api_key", "access_key_id", "secret_access_key", "session_token")


@app.command()
def add(  # noqa: PLR0913 - the options of a command
    provider: Name,
    *,
    base_url: Url = "",
    resource_name: Resource = "",
    region: Region = "",
    with_key: Key = False,
    with_session_token: Token = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Store the credentials of a provider, encrypted; a running Weft uses them within a second.

    Secrets are asked for, or read from standard input, one a line: they are no arguments, which other users can see.
    """
    from actors.router.credentials import completed  # noqa: PLC0415 - imports the bus
    from actors.router.provider import ProviderCredentials  # noqa: PLC0415 - as above
    from actors.router.providers.table import PROVIDERS  # noqa: PLC0415 - as above

    settings, kind = read(config, data_dir, log_level).settings, PROVIDERS[provider]
    wanted = {"api_key": with_key, "session_token": with_session_token}
    names = [name for name in _SECRETS if name in kind.requires or wanted.get(name)]
    secrets = {name: _secret(provider, name) for name in names}
    given = ProviderCredentials(base_url=base_url, resource_name=resource_name, region=region, **secrets)
    _check(kind, completed(kind, given), settings)
    file = _file(settings)
    file.write({**_stored(file), provider: given})
    (state,) = (one for one in _states_here(settings) if one.provider is provider)
    _show(state, as_json=as_json)


@app.command()
def remove(
    provider: Name,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Forget the stored credentials of a provider; what the environment has of it stays."""
    settings = read(config, data_dir, log_level).settings
    file = _file(settings)
    stored = _stored(file)
    if provider not in stored:
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"Nothing is stored of {provider}.", field="provider"))
    file.write({name: one for name, one in stored.items() if name is not provider})
    (state,) = (one for one in _states_here(settings) if one.provider is provider)
    _show(state, as_json=as_json)


@app.command("list")
def list_providers(
    *, as_json: Json = False, config: ConfigFile = None, data_dir: DataDir = None, log_level: LogLevel = None
) -> None:
    """List the providers: which can be asked, and what the others lack.

    Says it of the running Weft, or else of one that would be started here.
    """
    states = anyio.run(states_of, read(config, data_dir, log_level))
    if as_json:
        terminal.write(terminal.json_text(states))
    else:
        terminal.print_rows(("PROVIDER", "", "FROM", "ADDRESS", ""), [_row(state) for state in states], wrap_last=True)


@app.command("test")
def probe(  # noqa: PLR0913 - the options of a command
    provider: Name,
    *,
    model: Model = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Have the running Weft ask a provider for a few words; that costs what they cost. Ends with 1 if it fails."""
    state = anyio.run(ask_words, read(config, data_dir, log_level), provider, model)
    _show(state, as_json=as_json)
    if not state.available and state.source is None:
        terminal.err().print(f"Give it what it needs: weft providers add {provider}", soft_wrap=True)
    raise typer.Exit(0 if state.works else 1)


async def states_of(loaded: Loaded) -> Sequence[ProviderState]:
    """Return how the providers stand at the running Weft, or at one that would be started here."""
    if await find(loaded.settings) is None:
        return await anyio.to_thread.run_sync(_states_here, loaded.settings)
    return (await ask_edge(loaded, EdgeRequest("GET", "/router/providers"), ProviderList)).providers


async def ask_words(loaded: Loaded, provider: Provider, model: str | None) -> ProviderState:
    """Have the running Weft ask a provider for a few words.

    Raises:
        FaultError: it refused to, or none runs.
    """
    body = {} if model is None else {"model": model}
    return await ask_edge(loaded, EdgeRequest("POST", f"/router/providers/{provider}/test", body=body), ProviderState)


def _states_here(settings: Settings) -> Sequence[ProviderState]:
    """Return how the providers stand by this environment and the stored credentials."""
    from actors.router.pool import ProviderPool  # noqa: PLC0415 - imports the bus

    there_is_one = bool(settings.vault_key) or vault_key_file(settings).exists()
    pool = ProviderPool(os.environ, settings.model_hosts, _file(settings) if there_is_one else None)
    anyio.run(pool.load)
    return pool.states()


def _file(settings: Settings) -> CredentialFile:
    from actors.router.credentials import CredentialFile  # noqa: PLC0415 - imports the bus
    from bus.seal import Seal  # noqa: PLC0415 - as above

    return CredentialFile.of(settings.data_dir, Seal.of(resolve_vault_key(settings)))


def _stored(file: CredentialFile) -> Stored:
    from actors.router.credentials import CredentialsError  # noqa: PLC0415 - imports the bus

    try:
        return file.read()
    except CredentialsError as error:
        raise FaultError(fault(Code.CONFIG_INVALID, f"{error}.", field="vault_key")) from None


def _secret(provider: Provider, name: str) -> str:
    """Ask for a secret at the terminal without showing it, or read the next line of what is piped in."""
    if sys.stdin.isatty():
        text: str = typer.prompt(f"{name.replace('_', ' ')} of {provider}", hide_input=True, err=True)
    else:
        text = sys.stdin.readline()
    return text.strip()


def _check(kind: ProviderKind, credentials: ProviderCredentials, settings: Settings) -> None:
    """Refuse credentials that could not be used.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, with what is missing or what the operator must allow.
    """
    from actors.router.credentials import missing_of  # noqa: PLC0415 - imports the bus
    from actors.router.providers.reach import why_not_reached  # noqa: PLC0415 - as above

    if missing := missing_of(kind, credentials):
        message = f"{kind.provider} needs {' and '.join(missing)}, and nothing was stored."
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=missing[0]))
    if why := why_not_reached(credentials.base_url, settings.model_hosts):
        action = _NAME_HOST if "model_hosts" in why else _FIX_ADDRESS
        message = f"{kind.provider} cannot be asked: {why}. Nothing was stored."
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="base_url", actions=(action,)))


def _show(state: ProviderState, *, as_json: bool) -> None:
    if as_json:
        terminal.write(terminal.json_text(state))
    else:
        terminal.out().print(" ".join(filter(None, map(terminal.one_line, _row(state)))), soft_wrap=True)


def _row(state: ProviderState) -> tuple[str, ...]:
    stands = {True: "works", False: "fails", None: "available" if state.available else "-"}[state.works]
    waits = f"asked again in {terminal.duration_text(state.cooling_ms)}" if state.cooling_ms else ""
    notes = "; ".join(filter(None, (state.message, waits)))
    return state.provider, stands, state.source or "", state.base_url or "", notes
