"""Runs extraction off the event loop, in a thread or for extraordinary pages in a worker process; caches results.

The process is our own and not one of anyio.to_process: it is bounded in memory and processor time, and has no secrets.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from hashlib import blake2b
from importlib import import_module
from inspect import get_annotations
from pathlib import Path
from time import thread_time
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

import anyio
import anyio.to_thread
import msgspec
import numpy as np
import numpy.typing as npt
from anyio import BrokenResourceError, CancelScope, CapacityLimiter, ClosedResourceError, EndOfStream, IncompleteRead
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from msgspec import UNSET, Struct, structs

from actors.extraction.extraction import Extraction
from actors.extraction.page import extract, extract_html
from actors.extraction.parse.formats.kinds import is_binary
from actors.fetchers.extraction_worker import (
    FAILURE,
    FAULT,
    LENGTH,
    MAX_ANSWER_BYTES,
    MAX_SECONDS,
    WorkFailure,
    load_module,
    main,
    run_within,
)
from actors.fetchers.script_engine import evaluate
from protocol.faults import Code, Fault, FaultError, fault

P = ParamSpec("P")
T = TypeVar("T")
Source = TypeVar("Source", bytes, str)

_PAGE_SECONDS, _PAGE_PATIENCE_SECONDS = MAX_SECONDS, 5.0
_DOCUMENT_SECONDS, _DOCUMENT_PATIENCE_SECONDS = 6.0, 20.0
"""What an extraordinary page, and a document of many pages, may use of a processor, and how long each may last.

Memory is bounded where they are read. Of a PDF, what is read within 4 s is an answer that names what is left out.
"""

ORDINARY_BYTES = 1_500_000
ORDINARY_TAGS = 20_000
ORDINARY_LEVELS = 1_500
"""Up to here a page is read in a thread: its bytes, its `<`, and how many tags are open at once.

Of 1,878 pages 1.4 %, .2 % and .2 % lie beyond. What is slowest below is a second parser, which takes .05 s for 1,500
levels and the square of that for more, and text in attributes, which takes .2 s a megabyte.
"""

_SHARE = 4
"""How often an extraction counts its page's bytes: it holds the text as Markdown, plain and in parts."""

_GONE = (BrokenResourceError, ClosedResourceError, EndOfStream, IncompleteRead)
_READY_SECONDS = 60.0
_DYING_SECONDS = 1.0
_CHUNK_BYTES = 262_144
"""What is written at once: 20 MB in one piece blocked the loop for .28 s."""

_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONDONTWRITEBYTECODE")

_THREADS = 2
_LOWER = 0x20


class PageSource(Struct, frozen=True, dict=True):
    """All that an extraction depends on."""

    body: bytes
    content_type: str
    url: str
    include_html: bool

    @cached_property
    def digest(self) -> bytes:
        """The key of the page in a cache."""
        digest = blake2b(self.body, digest_size=20)
        digest.update(f"\n{self.content_type}\n{self.url}\n{self.include_html}".encode("utf-8", "replace"))
        return digest.digest()


class Extractor:
    """Calls pure functions on pages, so that no page blocks, fills or ends the replica; open with `async with`."""

    def __init__(self) -> None:
        """Start nothing."""
        self._threads = CapacityLimiter(_THREADS)
        self._pages = _Lane(_PAGE_SECONDS, _PAGE_PATIENCE_SECONDS)
        self._documents = _Lane(_DOCUMENT_SECONDS, _DOCUMENT_PATIENCE_SECONDS)

    async def __aenter__(self) -> Self:
        """Accept pages."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes, if there are any."""
        await self._pages.worker.end()
        await self._documents.worker.end()

    async def extract(self, source: PageSource, captured_at: datetime) -> Extraction:
        """Extract from what a site has sent.

        Raises:
            FaultError: as `run`.
        """
        return await self.run(
            extract,
            source.body,
            source.content_type,
            source.url,
            include_html=source.include_html,
            captured_at=captured_at,
            evaluate=evaluate,
            clock=thread_time,
        )

    async def extract_html(self, html: str, url: str, *, include_html: bool) -> Extraction:
        """Extract from the document of a rendered page, as of now.

        Raises:
            FaultError: as `run`.
        """
        captured_at = datetime.now(UTC)
        return await self.run(
            extract_html, html, url, include_html=include_html, captured_at=captured_at, evaluate=evaluate
        )

    async def run(
        self, function: Callable[Concatenate[Source, P], T], source: Source, *args: P.args, **options: P.kwargs
    ) -> T:
        """Call a function of a module that extracts from `source`; its arguments must be picklable.

        Its result is of the type that it is annotated with, one that msgspec knows.

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


def ordinary(source: bytes | str) -> bool:
    """Return whether a page looks as if it can be read within some hundred milliseconds; costs .2 ms.

    What a library in C reads never is: it may crash, and PDFium is for one thread alone.
    """
    if len(source) > ORDINARY_BYTES or _is_document(source):
        return False
    body = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    data = np.frombuffer(body, np.uint8)
    after = data[np.flatnonzero(data[:-1] == ord("<")) + 1]
    return len(after) <= ORDINARY_TAGS and _levels(after) <= ORDINARY_LEVELS


class ExtractionCache:
    """The extractions of the last pages, bounded by the bytes of those pages."""

    def __init__(self, max_bytes: int) -> None:
        """Start empty; pages of more than an eighth of `max_bytes` are not kept."""
        self._max_bytes = max_bytes
        self._kept: OrderedDict[bytes, tuple[Extraction, int]] = OrderedDict()
        self._bytes = 0

    def get(self, page: PageSource, captured_at: datetime) -> Extraction | None:
        """Return the extraction of a page, dated by `captured_at`."""
        kept = self._kept.get(page.digest)
        if kept is None:
            return None
        self._kept.move_to_end(page.digest)
        return as_of(kept[0], captured_at)

    def keep(self, page: PageSource, extraction: Extraction) -> None:
        """Keep the extraction of a page, and evict the least recently used."""
        cost = len(page.body) * _SHARE
        if cost > self._max_bytes // 8 or page.digest in self._kept:
            return
        self._kept[page.digest] = (extraction, cost)
        self._bytes += cost
        while self._bytes > self._max_bytes:
            self._bytes -= self._kept.popitem(last=False)[1][1]


def as_of(extraction: Extraction, captured_at: datetime) -> Extraction:
    """Return an extraction with another time of capture."""
    if extraction.summary.captured_at is UNSET:
        return extraction
    return structs.replace(extraction, summary=structs.replace(extraction.summary, captured_at=captured_at))


class WorkerDiedError(Exception):
    """The worker process ended before it answered."""


class WorkError(Exception):
    """The work raised an error that is no fault: its kind and trace."""


class WorkerProcess:
    """One worker process at most, for one caller at a time: first `prepare`, then `call`."""

    def __init__(self) -> None:
        """Start nothing."""
        self._process: Process | None = None

    async def prepare(self, module: str) -> None:
        """Start a process that has imported a module, so that this takes none of the time of the work.

        Raises:
            DiedError: if none could be started.
        """
        if self._process is not None:
            try:
                await self._import(module)
            except WorkerDiedError:  # it has ended for want of work
                pass
            else:
                return
        self._process = await anyio.open_process(
            # -P: the folder that somebody happens to be in holds no modules of ours.
            [sys.executable, "-P", "-c", f"from {main.__module__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,  # an interrupt of the terminal is not for it
        )
        await self._import(module)

    async def call(self, work: partial[T], cpu_seconds: float = MAX_SECONDS) -> T | Fault:
        """Call `work` in the process, for at most so many seconds of a processor; being cancelled kills it.

        Raises:
            DiedError: if the process ended, mostly for its memory.
            FailedError: for an error of the work that is no fault.
        """
        question = partial(run_within, cpu_seconds, work)
        return cast("T | Fault", await self._exchange(question, _type_of_result(work.func)))

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
            await self._exchange(partial(load_module, module), type(None))

    async def _exchange(self, question: object, kind: Any) -> Any:
        try:
            answer = await _ask(self._process, pickle.dumps(question, pickle.HIGHEST_PROTOCOL))
        except _GONE as error:
            await self._wait()
            raise WorkerDiedError from error
        except BaseException:
            await self.end()
            raise
        return self._read(answer[:1], answer[1:], kind)

    @staticmethod
    def _read(head: bytes, answer: bytes, kind: Any) -> Any:
        """Return a result or fault as what it must be: what has read a page may be in the hands of the page."""
        try:
            if head == FAILURE:
                failure = msgspec.msgpack.decode(answer, type=WorkFailure)
                raise WorkError(failure.kind, failure.trace)
            return msgspec.msgpack.decode(answer, type=Fault if head == FAULT else kind)
        except msgspec.MsgspecError as error:
            raise WorkError(type(error).__name__, "") from None


class _Lane:
    """A worker for pages of a kind, one after the other; it lives from the first until a minute after the last.

    Documents have their own, so that no page waits for one.
    """

    def __init__(self, cpu_seconds: float, patience_seconds: float) -> None:
        self._cpu_seconds, self._patience_seconds = cpu_seconds, patience_seconds
        self._turn = CapacityLimiter(1)
        self.worker = WorkerProcess()

    async def run(self, work: partial[T]) -> T | Fault:
        async with self._turn:
            await self.worker.prepare(work.func.__module__)
            try:
                with anyio.fail_after(self._patience_seconds):
                    return await self.worker.call(work, self._cpu_seconds)
            except (TimeoutError, WorkerDiedError):
                return fault(Code.CONTENT_TOO_LARGE, "The page needs more time or memory to be read than any may have.")


def _is_document(source: bytes | str) -> bool:
    return isinstance(source, bytes) and is_binary(source)


def _levels(after: npt.NDArray[np.uint8]) -> int:
    """Estimate from above how many tags are open at once, from the byte behind each `<`."""
    lower = after | _LOWER
    opening = (lower >= ord("a")) & (lower <= ord("z"))
    open_tags = np.cumsum(np.where(after == ord("/"), -1, opening), dtype=np.int32)
    lowest = np.minimum(np.minimum.accumulate(open_tags), 0)
    return int((open_tags - lowest).max(initial=0))


async def _ask(process: Process | None, question: bytes) -> bytes:
    if process is None or process.stdin is None or process.stdout is None:
        raise ClosedResourceError
    await process.stdin.send(LENGTH.pack(len(question)))
    with memoryview(question) as whole:
        for start in range(0, len(question), _CHUNK_BYTES):
            await process.stdin.send(whole[start : start + _CHUNK_BYTES].tobytes())
    answers = BufferedByteReceiveStream(process.stdout)
    (length,) = LENGTH.unpack(await answers.receive_exactly(LENGTH.size))
    if length > MAX_ANSWER_BYTES:
        raise ClosedResourceError
    return await answers.receive_exactly(length)


@cache
def _type_of_result(function: Callable[..., object]) -> Any:
    """Return the type that a function's module has under the name of its result; for others plain data are read."""
    name = get_annotations(function).get("return")
    return getattr(import_module(function.__module__), name, Any) if isinstance(name, str) else Any


def _environment() -> dict[str, str]:
    """Return the variables that Python needs, and no secret; threads of its own would only cost memory."""
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    modules = os.pathsep.join(path for path in sys.path if Path(path).is_absolute())  # none that moves with the folder
    return {**kept, "PYTHONPATH": modules, "OPENBLAS_NUM_THREADS": "1"}
