"""Credentials of providers: read from variables of the environment and from the sealed file of `weft providers add`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex
from typing import Final

import msgspec
from msgspec import structs

from actors.router.provider import ProviderCredentials, ProviderKind
from bus.seal import Seal, UnsealError
from protocol.models import Provider

PURPOSE: Final = "providers"
"""What the file is sealed for, and the place of all that is in it."""

Stored = dict[Provider, ProviderCredentials]

_read = msgspec.json.Decoder(Stored).decode


class CredentialsError(Exception):
    """The stored credentials cannot be read; the message says why, and nothing of what is in them."""


def from_environment(kind: ProviderKind, environ: Mapping[str, str]) -> ProviderCredentials | None:
    """Read what the environment has of a provider; None where it has nothing."""
    given = {
        field: value
        for field, names in kind.environment.items()
        if (value := next((environ[name].strip() for name in names if environ.get(name, "").strip()), ""))
    }
    return completed(kind, ProviderCredentials(**given)) if given else None


def completed(kind: ProviderKind, given: ProviderCredentials) -> ProviderCredentials:
    """Add what a provider has by default, and what follows from the rest; an address that is none stays as it is."""
    missing = {name: value for name, value in kind.defaults.items() if not getattr(given, name)}
    try:
        return kind.complete(structs.replace(given, **missing))
    except ValueError:
        return given


def missing_of(kind: ProviderKind, credentials: ProviderCredentials | None) -> tuple[str, ...]:
    """Return the fields that a provider still needs, in the order of the table."""
    if credentials is None:
        return kind.requires
    return tuple(name for name in kind.requires if not getattr(credentials, name))


class CredentialFile:
    """What `weft providers add` has stored: one sealed file, for its owner's eyes, that appears whole or not at all."""

    def __init__(self, path: Path, seal: Seal) -> None:
        """Read and write `path`."""
        self._path = path
        self._seal = seal

    @classmethod
    def of(cls, data_dir: Path, seal: Seal) -> CredentialFile:
        """Return the file of a data folder."""
        return cls(data_dir / "providers.sealed", seal)

    def version(self) -> tuple[int, int] | None:
        """Return what changes with each writing; None where there is no file."""
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_ino

    def read(self) -> Stored:
        """Return what is stored; nothing where there is no file.

        Raises:
            CredentialsError: it was sealed with another key, or is broken.
        """
        try:
            return _read(self._seal.unseal(self._path.read_bytes(), PURPOSE))
        except FileNotFoundError:
            return {}
        except (OSError, UnsealError, msgspec.DecodeError):
            message = f"{self._path} cannot be opened with the vault key; remove it, and add the providers again"
            raise CredentialsError(message) from None

    def write(self, stored: Stored) -> None:
        """Store this instead of what was there."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._path.with_name(f".{self._path.name}.{token_hex(8)}")
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(self._seal.seal(msgspec.json.encode(stored), PURPOSE))
            draft.replace(self._path)
        finally:
            draft.unlink(missing_ok=True)
