"""Writes a collection as a folder of Markdown with front matter: the same files whoever packs or writes them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from bus.bus import Requester
from protocol.collection_views import AskCollection, AskSource, CollectionView, SourceContent, SourceInfo
from protocol.collections import SourceKind
from protocol.faults import Code, FaultError
from protocol.subjects import COLLECTION_GET, SOURCE_GET
from protocol.texts import safe_file_name

ENDING: Final = ".md"
INDEX: Final = "index.md"
_PAGE: Final = 500
_DATE: Final = (1980, 1, 1, 0, 0, 0)


class ExportedFile(NamedTuple):
    """A file of the folder; its name is one on every system."""

    name: str
    data: bytes


async def exported(bus: Requester, caller: str, collection: str) -> AsyncGenerator[ExportedFile]:
    """Yield the files of a collection: one for each source that was captured, and the index of all at the end.

    Raises:
        FaultError: VALIDATION_UNKNOWN_COLLECTION; the keeper is away.
    """
    names, listed, offset = {INDEX.casefold()}, list[tuple[SourceInfo, str]](), 0
    while True:
        query = AskCollection(caller=caller, id=collection, limit=_PAGE, offset=offset)
        view = await bus.call(COLLECTION_GET, query)
        for info in view.sources:
            name = ""
            if info.captured_at is not None and (source := await _source(bus, caller, info)) is not None:
                name = _free(info, names)
                yield ExportedFile(name, source_file(source))
            listed.append((info, name))
        offset += _PAGE
        if offset >= view.total:
            break
    yield ExportedFile(INDEX, index_file(view, listed))


async def _source(bus: Requester, caller: str, info: SourceInfo) -> SourceContent | None:
    """Return a source whole, unless it has been deleted meanwhile."""
    try:
        return await bus.call(SOURCE_GET, AskSource(caller=caller, id=info.id))
    except FaultError as error:
        if error.fault.code is Code.VALIDATION_UNKNOWN_SOURCE:
            return None
        raise


def source_file(source: SourceContent) -> bytes:
    """Write a source: what is known of it as front matter, then its words as they were captured."""
    info = source.info
    facts: dict[str, Any] = {
        "title": _line(info.title),
        "id": info.id,
        "kind": info.kind.value,
        "url": _line(info.url),
        "captured_at": _moment(info.captured_at),
        "added_at": _moment(info.added_at),
        "version": info.version,
        "language": _line(info.language),
        "summary": _line(info.summary),
        "truncated": info.truncated,
        "content_hash": source.content_hash,
    }
    kept = {name: value for name, value in facts.items() if value not in ("", None, False, 0)}
    return _with_facts(source.markdown, kept)


def index_file(view: CollectionView, sources: list[tuple[SourceInfo, str]]) -> bytes:
    """Write the index: the collection, and each source with its file or with why there is none."""
    collection = view.collection
    lines = [f"# {_plain(collection.title)}", ""]
    for info, name in sources:
        title = _plain(info.title or info.url or info.id)
        if name:
            lines.append(f"- [{title}](<{name}>)")
        else:
            why = info.error.code.value if info.error is not None else info.status.value
            lines.append(f"- {title} ({why})")
    facts = {
        "title": _line(collection.title),
        "id": collection.id,
        "tags": [_line(tag) for tag in collection.tags],
        "created_at": _moment(collection.created_at),
        "sources": len(sources),
    }
    return _with_facts("\n".join(lines) + "\n", facts)


def _with_facts(markdown: str, facts: dict[str, Any]) -> bytes:
    import frontmatter  # noqa: PLC0415 - costs every start 25 ms

    # Every value is one line, so that none can end the front matter.
    text = frontmatter.dumps(frontmatter.Post(markdown, **facts), sort_keys=False, allow_unicode=True, width=10_000)
    return f"{text}\n".encode(errors="replace")


def _line(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _plain(text: str) -> str:
    """Return words that are no Markdown."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>#!|" else char for char in _line(text))


def _moment(at_ms: int | None) -> str | None:
    return None if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="seconds")


def _free(info: SourceInfo, names: set[str]) -> str:
    """Return a name that no file has yet, also where capitals count for nothing."""
    wanted = info.title or ("Note" if info.kind is SourceKind.NOTE else info.url.partition("://")[2])
    first = safe_file_name(wanted, ENDING, info.id).removesuffix(ENDING)
    name, number = f"{first}{ENDING}", 1
    while name.casefold() in names:
        number += 1
        name = f"{first} ({number}){ENDING}"
    names.add(name.casefold())
    return name


class ZipPieces:
    """Packs files piece by piece, so that an archive of any size needs no more room than its largest file."""

    def __init__(self) -> None:
        """Begin an archive."""
        self._written = _Piece()
        self._archive = zipfile.ZipFile(self._written, "w", zipfile.ZIP_DEFLATED)

    def add(self, file: ExportedFile) -> bytes:
        """Return the bytes of the archive that one more file makes."""
        entry = zipfile.ZipInfo(file.name, _DATE)
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._archive.writestr(entry, file.data)
        return self._written.taken()

    def end(self) -> bytes:
        """Return the last bytes."""
        self._archive.close()
        return self._written.taken()


class _Piece(io.RawIOBase):
    """What was written since it was last taken; it cannot be gone back in."""

    def __init__(self) -> None:
        self._data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._data += data
        return len(data)

    def taken(self) -> bytes:
        data = bytes(self._data)
        self._data.clear()
        return data
