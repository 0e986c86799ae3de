"""The providers that can be asked (004 "ProviderPool"): their credentials, wherever from, and one client of each."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Final, Literal

import anyio
import structlog
from anyio import to_thread
from msgspec import Struct

from actors.router.credentials import (
    CredentialFile,
    CredentialsError,
    Stored,
    completed,
    from_environment,
    missing_of,
)
from actors.router.provider import ProviderClient, ProviderCredentials, ProviderError, ProviderKind
from actors.router.providers.table import PROVIDERS
from actors.router.withholding import WithholdingClient
from protocol.models import CallErrorKind, Provider
from protocol.routes import ProviderState

log = structlog.stdlib.get_logger()

CHANGED: Final = "providers_changed"
UNREADABLE: Final = "providers_unreadable"

LOOK_EVERY_S: Final = 1.0
"""How soon a change of the stored credentials is seen."""


class _Entry(Struct, frozen=True):
    """How a provider stands; `why_not` is empty where it can be asked."""

    kind: ProviderKind
    credentials: ProviderCredentials | None = None
    source: Literal["environment", "stored", "built_in"] | None = None
    why_not: str = ""


class ProviderPool:
    """Knows who can be asked, and has their clients; what the environment says goes before what is stored.

    Decisions read `available`, which is a plain attribute and changes as a whole.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        hosts: Collection[str],
        file: CredentialFile | None = None,
        kinds: Mapping[Provider, ProviderKind] = PROVIDERS,
    ) -> None:
        """Take the variables of the environment and the setting `model_hosts`; nothing is read before `load`."""
        self._environ = environ
        self._hosts = frozenset(hosts)
        self._file = file
        self._kinds = kinds
        self._entries: dict[Provider, _Entry] = {}
        self._clients: dict[Provider, ProviderClient] = {}
        self._version: tuple[int, int] | None = None
        self.available: tuple[Provider, ...] = ()
        """Who can be asked, in the order of the table."""

    async def load(self) -> None:
        """Read the credentials anew; the clients of those that have changed are closed."""
        stored: Stored = {}
        if self._file is not None:
            self._version = await to_thread.run_sync(self._file.version)
            try:
                stored = await to_thread.run_sync(self._file.read)
            except CredentialsError as error:
                log.warning(UNREADABLE, reason=str(error))
        entries = {provider: self._entry(kind, stored.get(provider)) for provider, kind in self._kinds.items()}
        changed = [name for name in self._clients if entries[name].credentials != self._entries[name].credentials]
        self._entries = entries
        self.available = tuple(name for name, entry in entries.items() if not entry.why_not)
        for name in changed:
            await self._clients.pop(name).aclose()

    async def watch(self) -> None:
        """Load again whenever the file changes, for as long as this runs."""
        while self._file is not None:
            await anyio.sleep(LOOK_EVERY_S)
            if await to_thread.run_sync(self._file.version) != self._version:
                await self.load()
                log.info(CHANGED, available=list(self.available))

    def client(self, provider: Provider) -> ProviderClient:
        """Return the client of a provider, which is made when it is first asked for.

        Raises:
            ProviderError: it cannot be asked.
        """
        entry = self._entries.get(provider)
        if entry is None or entry.credentials is None or entry.why_not:
            why = entry.why_not if entry else "nothing is known of it"
            raise ProviderError(CallErrorKind.AUTH, f"{provider} cannot be asked: {why}")
        if provider not in self._clients:
            client = entry.kind.make(entry.credentials, self._hosts)
            self._clients[provider] = WithholdingClient.of(client, entry.credentials)
        return self._clients[provider]

    def credentials(self, provider: Provider) -> ProviderCredentials | None:
        """Return what a provider is asked with, for callers in this process alone (004 "buildConfigForTool")."""
        entry = self._entries.get(provider)
        return entry.credentials if entry else None

    def states(self) -> tuple[ProviderState, ...]:
        """Return how each provider stands, without any secret."""
        return tuple(_state(entry) for entry in self._entries.values())

    async def aclose(self) -> None:
        """Close every client."""
        while self._clients:
            _, client = self._clients.popitem()
            await client.aclose()

    def _entry(self, kind: ProviderKind, stored: ProviderCredentials | None) -> _Entry:
        given = from_environment(kind, self._environ)
        if given is not None and not missing_of(kind, given):
            return _Entry(kind, given, "environment", self._why_not(kind, given))
        if stored is not None:
            whole = completed(kind, stored)
            return _Entry(kind, whole, "stored", self._why_not(kind, whole))
        return _Entry(kind, given, None, "it has no credentials")

    def _why_not(self, kind: ProviderKind, credentials: ProviderCredentials) -> str:
        """Return why a provider cannot be asked that has been set."""
        if missing := missing_of(kind, credentials):
            return f"it needs {' and '.join(missing)}"
        if not _installed(kind.modules):
            return "its client is not installed: pip install 'weft[llm]', or requirements-llm.lock in a checkout"
        from actors.router.providers.reach import why_not_reached  # noqa: PLC0415 - loads httpx2

        return why_not_reached(credentials.base_url, self._hosts) or ""


def _installed(modules: tuple[str, ...]) -> bool:
    """Return whether these modules are there, without loading them."""
    with suppress(ModuleNotFoundError):  # of the package above
        return all(importlib.util.find_spec(name) is not None for name in modules)
    return False


def _wire_name(field: str) -> str:
    """Return the name that 004 has for a field of credentials, such as `apiKey`."""
    first, *others = field.split("_")
    return first + "".join(map(str.title, others))


def _state(entry: _Entry) -> ProviderState:
    kind, known = entry.kind, entry.credentials
    base_url = known.base_url if known else ""
    return ProviderState(
        provider=kind.provider,
        available=not entry.why_not,
        source=entry.source,
        missing=tuple(map(_wire_name, missing_of(kind, known))),
        base_url=base_url if base_url and "@" not in base_url else None,
        message=entry.why_not,
    )
