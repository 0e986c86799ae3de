"""The resources of MCP: pages by their addresses, what was captured of them, and the files that runs have left."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from urllib.parse import unquote

import msgspec
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    BlobResourceContents,
    ReadResourceResult,
    ResourceTemplate,
    TextResourceContents,
)

from actors.gateway import collections, runs
from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.captures import media_type, own_capture
from actors.gateway.errors import error_text, to_error
from actors.gateway.mcp.run_renderers import TEXTS
from actors.gateway.mcp.tool import ToolLink
from actors.gateway.pages import browse
from actors.gateway.request import RequestContext
from actors.gateway.rest.browse import DomainRequest, know
from actors.gateway.translate import framed, result_text
from protocol.browse import BrowseOptions, Freshness
from protocol.faults import Category, Fault, FaultError
from protocol.pages import BrowsePage, Captured
from protocol.runs.responses import ArtifactRef
from protocol.tools.runs import ArtifactRequest
from protocol.urls import without_userinfo

PAGE = "weft://page/"
CAPTURE = "weft://captures/"
DOMAIN = "weft://domains/"
ARTIFACT = "weft://artifact/"
SOURCE = "weft://sources/"
TEXT = "weft://texts/"
OWN = (PAGE, CAPTURE, DOMAIN, ARTIFACT, SOURCE, TEXT)
"""What the addresses of our own resources begin with."""

MARKDOWN = "text/markdown"
JSON = "application/json"

MAX_PAGE_CHARS = 400_000
MAX_CAPTURE_BYTES = 10_000_000
MAX_ARTIFACT_BYTES = 1_000_000
BOUNDARY_BYTES = 8
MAX_QUOTED_CHARS = 200

TEMPLATES: Sequence[ResourceTemplate] = (
    ResourceTemplate(
        uri_template=PAGE + "{+url}",
        name="page",
        title="Web page",
        description="A web page as Markdown, by its full address: what is stored of it, else as the site has it now.",
        mime_type=MARKDOWN,
    ),
    ResourceTemplate(
        uri_template=CAPTURE + "{name}",
        name="capture",
        title="Screenshot or download",
        description="A screenshot, PDF or download that a tool has named, for a day.",
    ),
    ResourceTemplate(
        uri_template=DOMAIN + "{domain}",
        name="domain",
        title="What is known of a domain",
        description="Which tiers worked for a domain, its pace, its robots.txt and the APIs behind its pages, as JSON.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        uri_template=ARTIFACT + "{artifactId}",
        name="artifact",
        title="File of a run",
        description="A file that a run has left, of 1 MB at most; get_artifact reads any.",
    ),
    ResourceTemplate(
        uri_template=SOURCE + "{sourceId}",
        name="source",
        title="Source of a collection",
        description="What was captured of a source, as Markdown.",
        mime_type=MARKDOWN,
    ),
    ResourceTemplate(
        uri_template=TEXT + "{artifactId}",
        name="text",
        title="Kept text",
        description="A text that is kept, as Markdown, with what it cites.",
        mime_type=MARKDOWN,
    ),
)

_OPTIONS = BrowseOptions(freshness_requirement=Freshness.CACHED, max_chars=MAX_PAGE_CHARS)


def page_link(url: str) -> ToolLink:
    """Point at a whole page, by the address that the client knows; what the page calls itself has no place here."""
    return ToolLink(PAGE + url, "The whole page", MARKDOWN)


def capture_link(captured: Captured) -> ToolLink:
    """Point at what was captured of a page, by the name that we gave it."""
    return ToolLink(CAPTURE + captured.name, captured.name, captured.media_type, captured.size)


def artifact_link(artifact: ArtifactRef) -> ToolLink:
    """Point at a file that a run has left."""
    name = f"{artifact.artifact_id}.{artifact.type.value}"
    return ToolLink(ARTIFACT + artifact.artifact_id, name, artifact.mime_type, artifact.size)


async def read_resource(app: AppContext, request: RequestContext, uri: str) -> ReadResourceResult:
    """Read a resource.

    Raises:
        MCPError: INVALID_PARAMS where there is none, INTERNAL_ERROR where it cannot be had now; `data` says why.
    """
    for prefix, read in _READERS.items():
        if uri.startswith(prefix):
            try:
                request.caller.require(_SCOPES.get(prefix, Scope.BROWSE))
                return await read(app, request, uri)
            except FaultError as error:
                raise _failed(uri, error.fault) from None
    raise _not_found(uri)


async def _page(app: AppContext, request: RequestContext, uri: str) -> ReadResourceResult:
    address = uri.removeprefix(PAGE)
    page = BrowsePage(url=address if "://" in address else unquote(address), options=_OPTIONS)
    result = await browse(app, request, page, for_model=True)
    text = result_text(result, secrets.token_hex(BOUNDARY_BYTES))
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)])


async def _capture(app: AppContext, request: RequestContext, uri: str) -> ReadResourceResult:
    """Return bytes that were captured for the caller."""
    name = uri.removeprefix(CAPTURE)
    try:
        data = await own_capture(app, request, name)
    except FaultError:
        raise _not_found(uri) from None
    if len(data) > MAX_CAPTURE_BYTES:
        message = f"It is larger than {MAX_CAPTURE_BYTES:,} bytes."
        raise MCPError(INTERNAL_ERROR, message, {"uri": uri, "size": len(data)})
    kind = media_type(name)
    blob = base64.b64encode(data).decode()
    return ReadResourceResult(contents=[BlobResourceContents(uri=uri, mime_type=kind, blob=blob)])


async def _domain(app: AppContext, request: RequestContext, uri: str) -> ReadResourceResult:
    try:
        domain = msgspec.convert({"domain": uri.removeprefix(DOMAIN)}, DomainRequest)
    except msgspec.ValidationError:
        raise _not_found(uri) from None
    text = msgspec.json.encode(await know(app, request, domain)).decode()
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=JSON, text=text)])


async def _artifact(app: AppContext, request: RequestContext, uri: str) -> ReadResourceResult:
    """Return a whole file of the caller: text in the frame of what the web says, anything else as it is."""
    name = uri.removeprefix(ARTIFACT)
    chunk = await runs.artifact(app, request, ArtifactRequest(artifact_id=name))
    if chunk.size > MAX_ARTIFACT_BYTES:
        message = f"It is larger than {MAX_ARTIFACT_BYTES:,} bytes: get_artifact reads it in pieces."
        raise MCPError(INTERNAL_ERROR, message, {"uri": uri, "size": chunk.size})
    data = bytearray(chunk.data)
    while not chunk.complete and chunk.data:
        chunk = await runs.artifact(app, request, ArtifactRequest(artifact_id=name, offset=len(data)))
        data += chunk.data
    if chunk.mime_type not in TEXTS:
        blob = base64.b64encode(data).decode()
        return ReadResourceResult(contents=[BlobResourceContents(uri=uri, mime_type=chunk.mime_type, blob=blob)])
    text = framed(data.decode(errors="replace"), secrets.token_hex(BOUNDARY_BYTES))
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)])


async def _source(app: AppContext, request: RequestContext, uri: str) -> ReadResourceResult:
    source = await collections.get_source(app, request, uri.removeprefix(SOURCE))
    return _in_frame(uri, source.markdown[:MAX_PAGE_CHARS])


async def _text(app: AppContext, request: RequestContext, uri: str) -> ReadResourceResult:
    """Return a text with its citations: what it quotes are the words of the web."""
    text = await collections.get_text(app, request, uri.removeprefix(TEXT))
    cited = [f'[{number}] "{one.quote or ""}" {one.url or ""}' for number, one in enumerate(text.citations, 1)]
    return _in_frame(uri, "\n".join([text.content_markdown[:MAX_PAGE_CHARS], *cited]))


def _in_frame(uri: str, markdown: str) -> ReadResourceResult:
    text = framed(markdown, secrets.token_hex(BOUNDARY_BYTES))
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)])


_READERS: Mapping[str, Callable[[AppContext, RequestContext, str], Awaitable[ReadResourceResult]]] = {
    PAGE: _page,
    CAPTURE: _capture,
    DOMAIN: _domain,
    ARTIFACT: _artifact,
    SOURCE: _source,
    TEXT: _text,
}
_SCOPES: Mapping[str, Scope] = {ARTIFACT: Scope.RUNS, SOURCE: Scope.COLLECTIONS, TEXT: Scope.COLLECTIONS}


def _failed(uri: str, error: Fault) -> MCPError:
    address = unquote(uri.removeprefix(PAGE))
    if uri.startswith(PAGE) and "@" in address:
        uri = PAGE + without_userinfo(address)
    code = INVALID_PARAMS if error.category in _CLIENT_ERRORS else INTERNAL_ERROR
    return MCPError(code, error_text(to_error(error)), {"uri": uri, "code": error.code.value})


_CLIENT_ERRORS = frozenset({Category.VALIDATION, Category.SECURITY, Category.AUTH})
"""The errors that the client has to mend."""


def _not_found(uri: str) -> MCPError:
    return MCPError(INVALID_PARAMS, f"There is no such resource: {uri[:MAX_QUOTED_CHARS]}", {"uri": uri})
