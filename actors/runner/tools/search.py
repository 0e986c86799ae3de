"""search: an engine is asked, or where none can be, what the caller has captured, kept and read (003 "Tools")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import anyio
import msgspec
from msgspec import UnsetType

from actors.runner.searching.ranking import MAX_SNIPPET_CHARS, MAX_TITLE_CHARS, PRIORS, best_hits, cleaned, confidence
from actors.runner.tools.context import ToolDependencies, failed
from actors.tool_files import CUSTOM
from protocol.documents import Content, Document, WebObservationSummary, untrusted
from protocol.faults import Code, FaultError, fault
from protocol.policy import RunTool, ToolErrorCode, ToolResult, ToolStatus
from protocol.search import (
    LOCAL_INDEX,
    MAX_PER_HOST,
    MAX_QUERY_CHARS,
    MAX_RESULTS,
    FoundPassage,
    SearchEngine,
    SearchHit,
    SearchPassages,
    SearchResults,
)
from protocol.subjects import PASSAGES
from protocol.tools.app import SearchWeb

DEADLINE_S: Final = 40.0
"""How long engines are asked, one after the other."""


async def search(context: ToolDependencies, request: RunTool, arguments: SearchWeb) -> ToolResult:
    """Ask the engine that is named, then the others, then the own index; the note says who has not answered and why."""
    query = " ".join(arguments.query.split())
    usable = context.engines.usable(context.engine_file.value)
    try:
        order = _order(usable, "" if isinstance(arguments.engine, UnsetType) else arguments.engine)
        if not query or len(query) > MAX_QUERY_CHARS:
            raise _refused("query", f"A query has 1 to {MAX_QUERY_CHARS} characters.")
    except FaultError as error:
        return failed(request, ToolErrorCode.INVALID_ARGUMENTS, error.fault)
    notes = list[str]()
    with anyio.move_on_after(DEADLINE_S):
        for engine in order:
            try:
                results = await context.engines.ask(engine, query)
            except FaultError as error:
                notes.append(f"{engine.name} has not answered: {error.fault.message}")
                continue
            if hits := best_hits(results, query, engine.kind, engine.url):
                answer = SearchResults(query=query, engine=engine.name, hits=hits, note=" ".join(notes))
                return _result(request, answer)
            notes.append(f"{engine.name} has found nothing.")
    return await _local(context, request, query, notes, has_engines=bool(order))


async def _local(
    context: ToolDependencies, request: RunTool, query: str, notes: list[str], *, has_engines: bool
) -> ToolResult:
    """Look into what the caller has captured, kept and read."""
    asking = SearchPassages(caller=request.caller, query=query, limit=4 * MAX_RESULTS, per_source=1)
    matches = await context.bus.call(PASSAGES, asking, wait_ms=context.settings.restart_grace_ms)
    hits = _hits(matches.passages, query)
    if not hits and not matches.indexed:
        code = ToolErrorCode.SEARCH_FAILED if has_engines else ToolErrorCode.SEARCH_UNAVAILABLE
        why = " ".join(notes) or "No search engine is set up (setting search_file), and nothing was captured or read."
        return failed(
            request, code, fault(Code.CONFIG_INVALID if not has_engines else Code.NETWORK_CONNECTION_FAILED, why)
        )
    notes.append("What was captured, kept and read before was searched, not the web.")
    return _result(request, SearchResults(query=query, engine=LOCAL_INDEX, hits=hits, note=" ".join(notes)))


def _order(usable: Sequence[SearchEngine], wanted: str) -> list[SearchEngine]:
    """Return who is to be asked, first who is named.

    Raises:
        FaultError: nobody is called like that.
    """
    if wanted == LOCAL_INDEX:
        return []
    if wanted in ("", CUSTOM):
        return list(usable)
    named = [one for one in usable if one.name == wanted]
    if not named:
        names = ", ".join([*(one.name for one in usable), LOCAL_INDEX])
        raise _refused("engine", f"There is no search engine {wanted} that can be asked. There are: {names}.")
    return [*named, *(one for one in usable if one.name != wanted)]


def _hits(passages: Sequence[FoundPassage], query: str) -> tuple[SearchHit, ...]:
    """Return passages as results, few of one host; what has no address of the web has one of ours.

    Texts that were made of sources stand behind what they were made of, and few of them.
    """
    hits, hosts = list[SearchHit](), dict[str, int]()
    for one in sorted(passages, key=lambda passage: passage.kind == "text"):
        url = one.url or f"weft://{f'texts/{one.artifact_id}' if one.artifact_id else f'sources/{one.source_id}'}"
        host = url.split("/")[2] if one.url or one.kind == "text" else url
        hosts[host] = hosts.get(host, 0) + 1
        if hosts[host] > MAX_PER_HOST or url in {hit.url for hit in hits}:
            continue
        hits.append(
            SearchHit(
                url=url,
                title=cleaned(one.title, MAX_TITLE_CHARS) or url,
                snippet=cleaned(one.text, MAX_SNIPPET_CHARS),
                confidence=confidence(PRIORS[None], query, f"{one.title} {one.text}", len(hits)),
                source_id=one.source_id,
                collection_id=one.collection_id,
            )
        )
    return tuple(hits[:MAX_RESULTS])


def _result(request: RunTool, results: SearchResults) -> ToolResult:
    """Return results, each a document of its own, which a model can cite and nobody need believe."""
    return ToolResult(
        tool_call_id=request.id,
        status=ToolStatus.OK,
        payload=msgspec.to_builtins(results),
        documents=tuple(_document(request, number, hit) for number, hit in enumerate(results.hits, 1)),
    )


def _document(request: RunTool, number: int, hit: SearchHit) -> Document[Content]:
    content: Content = WebObservationSummary(url=hit.url, title=hit.title, markdown=hit.snippet or hit.title)
    return untrusted(f"{request.id}_{number}", content)


def _refused(field: str, message: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=field))
