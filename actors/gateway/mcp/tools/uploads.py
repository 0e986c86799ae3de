"""Reads a file of the user's own machine for upload_file, and hands it to the browser through the object store."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio import to_thread

from bus.stores import FileStore
from protocol.faults import Code, FaultError, fault

MAX_FILE_BYTES = 10_000_000
NAME_BYTES = 16

_FIELD = "filePath"
_TIDYING_S = 2.0


@asynccontextmanager
async def stored(store: FileStore, path: str) -> AsyncGenerator[str]:
    """Keep a file in the store while the block lasts; yields its name there.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST: it is no file that may be uploaded.
    """
    data = await to_thread.run_sync(read_file, path)
    name = f"upload-{secrets.token_hex(NAME_BYTES)}"
    await store.put(name, data)
    try:
        yield name
    finally:
        with anyio.move_on_after(_TIDYING_S, shield=True):
            await store.delete(name)


def read_file(path: str) -> bytes:
    """Read a regular file by its full path, without a symlink on the way and without anything hidden.

    What is hidden holds keys and passwords more often than what a site should get.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST: it is none, or larger than MAX_FILE_BYTES.
    """
    where = Path(path)
    if not where.is_absolute() or ".." in where.parts:
        raise _refused("it takes the full path of a file")
    if any(part.startswith(".") for part in where.parts):
        raise _refused("hidden files and folders are not uploaded")
    if any(one.is_symlink() for one in (where, *where.parents)):
        raise _refused("there is a symlink in the path")
    try:
        descriptor = os.open(where, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        raise _refused("there is no such file, or it may not be read") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _refused("that is no regular file")
    with open(descriptor, "rb") as file:  # noqa: PTH123 - of a descriptor, which Path.open does not take
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise _refused(f"the file is larger than {MAX_FILE_BYTES:,} bytes")
    return data


def _refused(why: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{_FIELD}: {why}", field=_FIELD))
