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

from actors.extraction.parse.formats.kinds import is_binary
from actors.fetchers.apart import Apart, DiedError
from actors.fetchers.apart_process import MAX_SECONDS
from protocol.faults import Code, Fault, FaultError, fault

P = ParamSpec("P")
T = TypeVar("T")
Source = TypeVar("Source", bytes, str)

_PAGE_SECONDS, _PAGE_PATIENCE_SECONDS = MAX_SECONDS, 5.0
_DOCUMENT_SECONDS, _DOCUMENT_PATIENCE_SECONDS = 6.0, 20.0
"""What an extraordinary page, and a document of many pages, may use of a processor, and how long each may last.

Memory is bounded where they are read. Of a PDF, what is read within 4 s is an answer: the rest is told to be left out.
"""

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
        """Start nothing."""
        self._threads = CapacityLimiter(_THREADS)
        self._pages = _Lane(_PAGE_SECONDS, _PAGE_PATIENCE_SECONDS)
        self._documents = _Lane(_DOCUMENT_SECONDS, _DOCUMENT_PATIENCE_SECONDS)

    async def __aenter__(self) -> Self:
        """Take pages."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes, if there are any."""
        await self._pages.apart.end()
        await self._documents.apart.end()

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
        lane = self._documents if _is_document(source) else self._pages
        answer = await lane.run(work)
        if isinstance(answer, Fault):
            raise FaultError(answer)
        return answer


class _Lane:
    """A process for pages of a kind, one after the other; it is there from the first until none has come for a minute.

    Documents have their own, so that no page waits for one.
    """

    def __init__(self, cpu_seconds: float, patience_seconds: float) -> None:
        self._cpu_seconds, self._patience_seconds = cpu_seconds, patience_seconds
        self._turn = CapacityLimiter(1)
        self.apart = Apart()

    async def run(self, work: partial[T]) -> T | Fault:
        async with self._turn:
            await self.apart.prepare(work.func.__module__)
            try:
                with anyio.fail_after(self._patience_seconds):
                    return await self.apart.call(work, self._cpu_seconds)
            except (TimeoutError, DiedError):
                return fault(Code.CONTENT_TOO_LARGE, "The page needs more time or memory to be read than any may have.")


def ordinary(source: bytes | str) -> bool:
    """Tell by the look of a page whether it can be read within some hundred milliseconds; costs .2 ms.

    What a library in C reads never is: it may crash, and PDFium is for one thread alone.
    """
    if len(source) > ORDINARY_BYTES or _is_document(source):
        return False
    body = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    data = np.frombuffer(body, np.uint8)
    after = data[np.flatnonzero(data[:-1] == ord("<")) + 1]
    return len(after) <= ORDINARY_TAGS and _levels(after) <= ORDINARY_LEVELS


def _is_document(source: bytes | str) -> bool:
    return isinstance(source, bytes) and is_binary(source)


def _levels(after: npt.NDArray[np.uint8]) -> int:
    """Estimate from above how many tags are open at once, from the byte behind each `<`."""
    lower = after | _LOWER
    opening = (lower >= ord("a")) & (lower <= ord("z"))
    open_tags = np.cumsum(np.where(after == ord("/"), -1, opening), dtype=np.int32)
    lowest = np.minimum(np.minimum.accumulate(open_tags), 0)
    return int((open_tags - lowest).max(initial=0))
