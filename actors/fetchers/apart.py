"""Keeps a process for work that may have to be killed."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import TypeVar, cast

import anyio
from anyio import BrokenResourceError, CancelScope, ClosedResourceError, EndOfStream, IncompleteRead
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from actors.fetchers.apart_process import LENGTH, MAX_SECONDS, Failure, main, prepare, within
from protocol.faults import Fault

T = TypeVar("T")

_GONE = (BrokenResourceError, ClosedResourceError, EndOfStream, IncompleteRead)
_READY_SECONDS = 20.0
_DYING_SECONDS = 1.0
_CHUNK_BYTES = 262_144
"""What is written at once: 20 MB in one piece held the loop up for .28 s."""

_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONDONTWRITEBYTECODE")


class DiedError(Exception):
    """The process ended before it answered."""


class FailedError(Exception):
    """The work raised an error that is not meant for the caller: its kind and trace."""


class Apart:
    """One process at most, for one caller at a time: first `prepare`, then `call`."""

    def __init__(self) -> None:
        """Start nothing."""
        self._process: Process | None = None

    async def prepare(self, module: str) -> None:
        """Have a process that has imported a module, so that this takes none of the time of the work.

        Raises:
            DiedError: if none could be started.
        """
        if self._process is not None:
            try:
                await self._import(module)
            except DiedError:  # it has ended for want of work
                pass
            else:
                return
        self._process = await anyio.open_process(
            [sys.executable, "-c", f"from {main.__module__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,  # an interrupt of the terminal is not for it
        )
        await self._import(module)

    async def call(self, work: Callable[[], T], cpu_seconds: float = MAX_SECONDS) -> T | Fault:
        """Do some work in the process, for at most so many seconds of a processor; being cancelled kills it.

        Raises:
            DiedError: if the process ended, mostly for its memory.
            FailedError: for an error of the work that is no fault.
        """
        return cast("T | Fault", await self._exchange(partial(within, cpu_seconds, work)))

    async def end(self) -> None:
        """Kill the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            with CancelScope(shield=True):
                await process.aclose()

    async def _wait(self) -> None:
        # To signal a process that is ending may take its status from asyncio, which then complains.
        if self._process is not None:
            with anyio.move_on_after(_DYING_SECONDS, shield=True):
                await self._process.wait()
        await self.end()

    async def _import(self, module: str) -> None:
        with anyio.fail_after(_READY_SECONDS):
            await self._exchange(partial(prepare, module))

    async def _exchange(self, question: object) -> object:
        try:
            answer = await _ask(self._process, pickle.dumps(question, pickle.HIGHEST_PROTOCOL))
        except _GONE as error:
            await self._wait()
            raise DiedError from error
        except BaseException:
            await self.end()
            raise
        found: object = pickle.loads(answer)  # noqa: S301 - both ends of the pipe are this program
        if isinstance(found, Failure):
            raise FailedError(found.kind, found.trace)
        return found


async def _ask(process: Process | None, question: bytes) -> bytes:
    if process is None or process.stdin is None or process.stdout is None:
        raise ClosedResourceError
    await process.stdin.send(LENGTH.pack(len(question)))
    with memoryview(question) as whole:
        for start in range(0, len(question), _CHUNK_BYTES):
            await process.stdin.send(whole[start : start + _CHUNK_BYTES].tobytes())
    answers = BufferedByteReceiveStream(process.stdout)
    (length,) = LENGTH.unpack(await answers.receive_exactly(LENGTH.size))
    return await answers.receive_exactly(length)


def _environment() -> dict[str, str]:
    """Return what Python needs, and nothing that a page could be after; threads of its own would only cost memory."""
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
