"""The keys that are made at first start, and kept in the data folder for this user alone."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from actors.settings.loading import env_name, invalid
from actors.settings.settings import Settings

KEY_BYTES = 32


def resolve_api_key(settings: Settings) -> str:
    """Return the key that clients must send: the one that is set, else the one in the data folder, made when missing.

    Raises:
        FaultError: CONFIG_INVALID when the file cannot be made or read.
    """
    return settings.api_key or _key_in("api_key", key_file(settings))


def resolve_vault_key(settings: Settings) -> str:
    """Return the key that saved logins are encrypted with: the one that is set, else the one in the data folder.

    Raises:
        FaultError: CONFIG_INVALID when the file cannot be made or read.
    """
    return settings.vault_key or _key_in("vault_key", vault_key_file(settings))


def key_file(settings: Settings) -> Path:
    """Name the file that holds the key when none is set."""
    return settings.data_dir / "api-key"


def vault_key_file(settings: Settings) -> Path:
    """Name the file that holds the key of saved logins when none is set."""
    return settings.data_dir / "vault-key"


def _key_in(name: str, path: Path) -> str:
    try:
        if not path.exists():
            _make_key(path)
        _close_to_others(path)
        key = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise invalid(
            name, f"{path} cannot be used: {error}", f"Repair or delete it, or set {env_name(name)}."
        ) from None
    if not key:
        raise invalid(name, f"{path} is empty", "Delete it, and the next start makes a new key.")
    return key


def _make_key(path: Path) -> None:
    """Write a new key unless somebody else does so first; nobody ever reads half a key."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with open(descriptor, "w", encoding="ascii") as file:  # noqa: PTH123 - with an opener, which Path.open does not take
        file.write(secrets.token_urlsafe(KEY_BYTES) + "\n")
    try:
        os.link(draft, path)  # as exclusive as O_EXCL, and the file is whole when it appears
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _close_to_others(path: Path) -> None:
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        path.chmod(0o600)
