"""Runs extraction off the event loop: in a thread, and for extraordinary pages in a process that may be killed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

import anyio
import anyio.to_thread
import numpy as np
import numpy.typing as npt
from anyio import CapacityLimiter

from actors.fetchers.apart import Apart, DiedError
from protocol.faults import Code, Fault, FaultError, fault

P = ParamSpec("P")
T = TypeVar("T")
Source = TypeVar("Source", bytes, str)

_PATIENCE_SECONDS = 5.0
"""How long an extraordinary page may last; what it may use of a processor and of memory is bounded where it is read."""

ORDINARY_BYTES = 1_500_000
ORDINARY_TAGS = 20_000
ORDINARY_LEVELS = 1_500
"""Up to here a page is read in a thread: its bytes, its `<`, and how many tags are open at once.

Of 1,878 pages 1.4 %, .2 % and .2 % lie beyond. What is slowest below is a second parser, which takes .05 s for 1,500
levels and the square of that for more, and text in attributes, which takes .2 s a megabyte.
"""

_THREADS = 2
_LOWER = 0x20


class Extractor:
    """Calls pure functions for pages, so that no page holds up, fills or ends the replica; open with `async with`."""

    def __init__(self) -> None:
        """Start nothing: a process is there from the first extraordinary page until none has come for a minute."""
        self._threads = CapacityLimiter(_THREADS)
        self._turn = CapacityLimiter(1)
        self._apart = Apart()

    async def __aenter__(self) -> Self:
        """Take pages."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process, if there is one."""
        await self._apart.end()

    async def run(
        self, function: Callable[Concatenate[Source, P], T], source: Source, *args: P.args, **options: P.kwargs
    ) -> T:
        """Call a function of a module that extracts from `source`; what it takes and gives must be picklable.

        Being cancelled kills the process of an extraordinary page, and leaves a thread to its few milliseconds.

        Raises:
            FaultError: what the function raises; CONTENT_TOO_LARGE where a page needs more time or memory than any may.
        """
        work = partial(function, source, *args, **options)
        if ordinary(source):
            return await anyio.to_thread.run_sync(work, limiter=self._threads, abandon_on_cancel=True)
        async with self._turn:
            answer = await self._killable(work)
        if isinstance(answer, Fault):
            raise FaultError(answer)
        return answer

    async def _killable(self, work: partial[T]) -> T | Fault:
        await self._apart.prepare(work.func.__module__)
        try:
            with anyio.fail_after(_PATIENCE_SECONDS):
                return await self._apart.call(work)
        except (TimeoutError, DiedError):
            return fault(Code.CONTENT_TOO_LARGE, "The page needs more time or memory to be read than any may have.")


def ordinary(source: bytes | str) -> bool:
    """Tell by the look of a page whether it can be read within some hundred milliseconds; costs .2 ms."""
    if len(source) > ORDINARY_BYTES:
        return False
    body = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    data = np.frombuffer(body, np.uint8)
    after = data[np.flatnonzero(data[:-1] == ord("<")) + 1]
    return len(after) <= ORDINARY_TAGS and _levels(after) <= ORDINARY_LEVELS


def _levels(after: npt.NDArray[np.uint8]) -> int:
    """Estimate from above how many tags are open at once, from the byte behind each `<`."""
    lower = after | _LOWER
    opening = (lower >= ord("a")) & (lower <= ord("z"))
    open_tags = np.cumsum(np.where(after == ord("/"), -1, opening), dtype=np.int32)
    lowest = np.minimum(np.minimum.accumulate(open_tags), 0)
    return int((open_tags - lowest).max(initial=0))
