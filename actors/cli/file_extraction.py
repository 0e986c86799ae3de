"""Extracts pages from files: one here, many in processes of their own."""

from __future__ import annotations

import gzip
import os
import re
import resource
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

import anyio
import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from actors.cli import terminal
from actors.extraction.extraction import Extraction
from actors.extraction.page import extract, unjudged_content
from actors.fetchers.extractor import Extractor, PageSource, ordinary
from actors.fetchers.script_engine import evaluate
from protocol.actions import REPORT
from protocol.browse import ApiPattern, PageLinks, stated_version
from protocol.codec import malformed
from protocol.confidence import Use, overall, usable_for
from protocol.documents import ExtractedTable, Signal
from protocol.faults import Code, Fault, FaultError, fault
from protocol.page import Form, PageFields, RecordList, StructuredItem

if TYPE_CHECKING:
    from rich.console import Console

GZIP = b"\x1f\x8b"
BATCH = 8
"""Pages that a process is given at once: enough to hide the way there, few enough to share out evenly."""

_TYPES = MappingProxyType(
    {
        ".csv": "text/csv",
        ".jsonl": "application/x-ndjson",
        ".markdown": "text/markdown",
        ".md": "text/markdown",
        ".mdx": "text/markdown",
        ".ndjson": "application/x-ndjson",
        ".tab": "text/tab-separated-values",
        ".tsv": "text/tab-separated-values",
        ".txt": "text/plain",
    }
)
"""What texts are whose first bytes are those of any text; a page or a feed says what it is."""

_SAFE_ID = re.compile(r"[\w.@+=,-]{1,200}")


class FileTask(Struct, frozen=True):
    """A line of the input: the page's own name, its address, and the file that holds it.

    A path is looked for here, then beside the list.
    """

    id: str
    path: str
    url: str = ""


class LineFailure(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Why a line of the input, counted from 1, has no page; `id` is its page's own name where it has one."""

    line: int
    id: str = ""
    field: str = ""
    code: Code
    error: str


class ListResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """What came of a list of pages: how many were extracted, and the lines that failed, in their order."""

    extracted: int
    failed: tuple[LineFailure, ...]


class ExtractedPage(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Everything that a page says. `confidence` is by field; `ms` is the CPU time that it took; `error` why it failed.

    `author` is all authors in one text, `date` the day of publication, or of the last change where only that is told.
    """

    url: str
    title: str = ""
    author: str = ""
    date: str = ""
    lang: str = ""
    confidence: dict[str, float] = {}
    usable_for: tuple[Use, ...] = ()
    markdown: str = ""
    fields: PageFields = PageFields()
    tables: tuple[ExtractedTable, ...] = ()
    lists: tuple[RecordList, ...] = ()
    forms: tuple[Form, ...] = ()
    links: PageLinks | UnsetType = UNSET
    structured_data: tuple[StructuredItem, ...] = ()
    discovered_apis: tuple[ApiPattern, ...] = ()
    signals: tuple[Signal, ...] = ()
    left_out: dict[str, int] = {}
    ms: float = 0.0
    error: str = ""
    schema_version: str = stated_version()


def extract_page(body: bytes, url: str, *, name: str) -> ExtractedPage:
    """Extract one page; `body` may be compressed with gzip. The `name` of its file tells what kind of text it is.

    Raises:
        FaultError: the page has no text that could be read, or needs more time or memory than any may have.
    """
    body = gzip.decompress(body) if body.startswith(GZIP) else body
    if not body.strip():
        raise FaultError(
            fault(Code.CONTENT_EMPTY, "The file is empty: there is nothing to extract.", actions=(REPORT,))
        )
    started = _cpu_seconds()
    content_type = _type_of(name)
    if ordinary(body):
        extraction = extract(body, content_type, url, evaluate=evaluate, clock=time.thread_time)
    else:
        extraction = anyio.run(_in_worker_process, PageSource(body, content_type, url, include_html=False))
    return _whole(extraction, url, round((_cpu_seconds() - started) * 1000, 3))


def _type_of(name: str) -> str:
    """Return the type of a text as the name of its file tells it; "" for any other, which its first bytes tell."""
    return _TYPES.get(PurePosixPath(name.lower().removesuffix(".gz")).suffix, "")


async def _in_worker_process(source: PageSource) -> Extraction:
    """Extract in a process with the bounds that every extraordinary page has, whoever asks for it."""
    async with Extractor() as extractor:
        return await extractor.extract(source, datetime.now(UTC))


def _cpu_seconds() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def extract_many(jsonl: Path, out: Path, workers: int) -> ListResult:
    """Extract every page that a file lists into a folder, and tell of each line that fails while the others go on.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, for a file that is no list of pages.
    """
    from rich.progress import track  # noqa: PLC0415 - costs 50 ms

    tasks, failed = _page_list(jsonl)
    console = terminal.err()
    for one in failed:
        _tell(console, jsonl, one)
    extracted = 0
    out.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(workers or os.cpu_count()) as pool:
        done = pool.map(_extract_to, tasks.values(), [out] * len(tasks), chunksize=BATCH)
        try:
            for (number, task), failure in track(
                zip(tasks.items(), done, strict=True),
                "Extracting",
                total=len(tasks),
                console=console,
                disable=not console.is_terminal,
            ):
                if failure is None:
                    extracted += 1
                else:
                    failed.append(_line_failure(number, failure, task.id))
                    _tell(console, jsonl, failed[-1])
        except BrokenProcessPool:
            message = "A process that extracts was killed; is there enough memory?"
            raise FaultError(fault(Code.INTERNAL_ERROR, message)) from None
    return ListResult(extracted=extracted, failed=tuple(sorted(failed, key=lambda one: one.line)))


def _tell(console: Console, jsonl: Path, failure: LineFailure) -> None:
    name = f" ({failure.id})" if failure.id else ""
    console.print(terminal.one_line(f"{jsonl}, line {failure.line}{name}: {failure.error}"), soft_wrap=True)


def _page_list(jsonl: Path) -> tuple[dict[int, FileTask], list[LineFailure]]:
    """Read a list of pages: those to extract by the number of their line, and the lines that name none."""
    try:
        lines = jsonl.read_bytes().splitlines()
    except OSError as error:
        raise _no_list(f"{jsonl}: {error.strerror}") from None
    tasks, failed, lines_by_id = dict[int, FileTask](), list[LineFailure](), dict[str, int]()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            task = _task(line, lines_by_id)
        except FaultError as error:
            failed.append(_line_failure(number, error.fault))
            continue
        lines_by_id[task.id] = number
        tasks[number] = task if Path(task.path).exists() else replace(task, path=str(jsonl.parent / task.path))
    if not tasks:
        raise _no_list(f"{jsonl}, line {failed[0].line}: {failed[0].error}" if failed else f"{jsonl}: it has no lines")
    return tasks, failed


def _task(line: bytes, lines_by_id: Mapping[str, int]) -> FileTask:
    try:
        task = msgspec.json.decode(line, type=FileTask)
    except msgspec.DecodeError as error:
        raise malformed(Code.VALIDATION_INVALID_REQUEST, str(error), FileTask) from None
    if not _SAFE_ID.fullmatch(task.id):
        raise _wrong("id", f"{task.id!r} cannot be the name of a file")
    if task.id in lines_by_id:
        raise _wrong("id", f"{task.id!r} is that of line {lines_by_id[task.id]}, too")
    if not task.path:
        raise _wrong("path", "it is empty")
    return task


def _wrong(field: str, message: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{field}: {message}", field=field))


def _no_list(message: str) -> FaultError:
    hint = 'each line is {"id": "…", "url": "…", "path": "…"}'
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{message}; {hint}", field="--jsonl"))


def _line_failure(line: int, failure: Fault, name: str = "") -> LineFailure:
    return LineFailure(line=line, id=name, field=failure.field or "", code=failure.code, error=failure.message)


def _extract_to(task: FileTask, out: Path) -> Fault | None:
    """Write what a page says into its two files, without Markdown where it failed; returns what went wrong, if any."""
    page, failure = ExtractedPage(url=task.url), None
    try:
        page = extract_page(Path(task.path).read_bytes(), task.url, name=task.path)
    except (OSError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        failure = _wrong("path", f"{task.path}: {reason or error}").fault
    except FaultError as error:
        failure = error.fault
    except Exception as error:  # noqa: BLE001 - one page of many must not end the work on the others
        failure = fault(Code.INTERNAL_ERROR, repr(error))
    markdown = out / f"{task.id}.md"
    if failure:
        page = replace(page, error=failure.message)
        markdown.unlink(missing_ok=True)  # of an earlier call
    else:
        markdown.write_text(page.markdown, encoding="utf-8", errors="replace")
    written = msgspec.json.encode(replace(page, markdown=""))
    (out / f"{task.id}.json").write_bytes(written)
    return failure


def _whole(extraction: Extraction, url: str, ms: float) -> ExtractedPage:
    summary = extraction.summary
    parts, fields = summary.parts, summary.parts.fields
    content = unjudged_content(extraction)
    every = overall(extraction.title, content)
    scores = {"content": content, "title": extraction.title, "overall": every, **extraction.fields}
    scores |= {short: extraction.fields[long] for long, short in SHORT.items() if long in extraction.fields}
    return ExtractedPage(
        url=url,
        title=summary.title,
        author=", ".join(fields.authors),
        date=fields.published or fields.modified,
        lang=fields.language,
        confidence={name: sure.score for name, sure in scores.items()},
        usable_for=usable_for(every.score),
        markdown=summary.markdown,
        fields=fields,
        tables=summary.tables,
        lists=parts.lists,
        forms=parts.forms,
        links=PageLinks(content=summary.extracted_links, navigation=parts.navigation),
        structured_data=parts.structured,
        discovered_apis=extraction.apis,
        signals=summary.signals,
        left_out=parts.left_out,
        ms=ms,
    )


SHORT = {"authors": "author", "language": "lang", "modified": "date", "published": "date"}
"""The names by which measuring programs know some of the fields; a day of publication goes before one of change."""
