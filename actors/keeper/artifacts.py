"""The files of runs: read in pieces, and deleted when their time is over."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import anyio
import structlog
from msgspec import Struct
from msgspec.structs import replace

from actors.keeper.run_tables import RunQueries, RunTables
from bus.stores import FileStore
from protocol.faults import Code, FaultError, fault
from protocol.runs.events import KeptArtifact, slice_name
from protocol.runs.responses import ArtifactChunk

log = structlog.stdlib.get_logger()

ARTIFACT_SWEPT = "artifact_swept"
NOT_SWEPT = "artifacts_not_swept"

SWEEP_S: Final = 60.0
AT_ONCE: Final = 100


async def read_piece(store: FileStore, kept: KeptArtifact, offset: int, limit: int) -> ArtifactChunk:
    """Read up to `limit` bytes from `offset` on.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when there is nothing from there on; ARTIFACT_EXPIRED, when its bytes
            are gone.
    """
    if offset > kept.size:
        message = f"offset: {offset} is beyond the {kept.size} bytes of the artifact"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="offset"))
    end = min(offset + limit, kept.size)
    data = await _bytes(store, kept, offset, end)
    chunk = ArtifactChunk(
        artifact_id=kept.artifact_id,
        mime_type=kept.type.media_type,
        size=kept.size,
        data=data,
        complete=end == kept.size,
    )
    return chunk if len(data) == kept.size else replace(chunk, offset=offset, bytes_returned=len(data))


async def _bytes(store: FileStore, kept: KeptArtifact, offset: int, end: int) -> bytes:
    """Join the bytes of the slices that a piece lies in."""
    pieces = list[bytes]()
    at = offset
    while at < end:
        number, within = divmod(at, kept.slice_bytes)
        try:
            data = await store.get(slice_name(kept.artifact_id, number))
        except KeyError:
            raise FaultError(fault(Code.ARTIFACT_EXPIRED)) from None
        piece = data[within : within + end - at]
        if not piece:
            raise FaultError(fault(Code.ARTIFACT_EXPIRED))
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)


class Sweeper(Struct, frozen=True):
    """Deletes the files that have expired."""

    store: FileStore
    tables: RunTables
    queries: RunQueries
    clock: Callable[[], int]

    async def run(self) -> None:
        """Sweep now and every minute; other replicas do the same, which does no harm."""
        while True:
            try:
                await self._sweep()
            except (FaultError, sqlite3.Error) as error:
                log.warning(NOT_SWEPT, reason=str(error))
            await anyio.sleep(SWEEP_S)

    async def _sweep(self) -> None:
        while expired := await self.queries.to_sweep(self.clock(), AT_ONCE):
            for kept in expired:
                for number in range(max(1, -(-kept.size // kept.slice_bytes))):  # an empty file has a slice too
                    await self.store.delete(slice_name(kept.artifact_id, number))
                await self.tables.mark_swept(kept.artifact_id)
                log.info(ARTIFACT_SWEPT, artifact=kept.artifact_id, size=kept.size)
