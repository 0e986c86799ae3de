"""`weft artifact`: a file that a run left."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import anyio
import typer

from actors.cli import terminal
from actors.cli.connection import at_gateway
from actors.cli.options import ConfigFile, DataDir, LogLevel, read
from actors.settings import Loaded
from protocol.faults import Code, FaultError, fault

if TYPE_CHECKING:
    from actors.gateway.client import GatewayClient

STDOUT = "-"


def artifact(
    artifact_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the file, as its run tells.")],
    *,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE|-", help="Where it goes; - prints it.")
    ] = STDOUT,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Save a file that a run left; it appears when it is whole."""
    loaded = read(config, data_dir, log_level)
    if output != STDOUT:
        terminal.check_file(Path(output), "--output")
        anyio.run(_save, loaded, artifact_id, Path(output))
        return
    whole = anyio.run(_whole, loaded, artifact_id)
    if sys.stdout.isatty():
        terminal.write(terminal.plain(whole.decode(errors="replace")))
    else:
        sys.stdout.buffer.write(whole)


async def pieces(loaded: Loaded, artifact_id: str) -> AsyncGenerator[bytes]:
    """Read a file of the running Weft from end to end.

    Raises:
        FaultError: ARTIFACT_NOT_FOUND or ARTIFACT_EXPIRED.
        NotRunningError: there is no Weft.
    """
    async with at_gateway(loaded) as client, aclosing(pieces_of(client, artifact_id)) as stream:
        async for piece in stream:
            yield piece


async def pieces_of(client: GatewayClient, artifact_id: str) -> AsyncGenerator[bytes]:
    """Read a file from end to end.

    Raises:
        FaultError: ARTIFACT_NOT_FOUND or ARTIFACT_EXPIRED.
    """
    from actors.gateway.client import ArtifactRequest  # noqa: PLC0415 - imports the gateway

    offset = 0
    while True:
        piece = await client.artifact(ArtifactRequest(artifact_id=artifact_id, offset=offset))
        yield piece.data
        offset += len(piece.data)
        if piece.complete:
            return
        if not piece.data:
            message = f"The file ends after {offset} of {piece.size} bytes."
            raise FaultError(fault(Code.INTERNAL_ERROR, message))


async def _whole(loaded: Loaded, artifact_id: str) -> bytes:
    async with aclosing(pieces(loaded, artifact_id)) as stream:
        return b"".join([piece async for piece in stream])


async def _save(loaded: Loaded, artifact_id: str, path: Path) -> None:
    """Write beside the place, and move it there when it is whole."""
    async with aclosing(pieces(loaded, artifact_id)) as stream:
        first = await anext(stream)  # nothing is written where there is nothing
        with _draft(path) as draft:
            try:
                draft.write(first)
                async for piece in stream:
                    draft.write(piece)
                draft.close()
                os.replace(draft.name, path)  # noqa: PTH105 - the name is a text
            except BaseException:
                with suppress(OSError):
                    os.unlink(draft.name)  # noqa: PTH108 - as above
                raise


def _draft(path: Path) -> IO[bytes]:
    with terminal.writing(path, "--output"):
        return tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False)
