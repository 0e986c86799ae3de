"""transform.* and artifact.*: texts that are made of collections, and texts that are kept (003 "Transforms")."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Final

import anyio
import msgspec
from msgspec import UNSET

from actors import redact
from actors.runner.collections.collection_log import known_id
from actors.runner.collections.text_log import TextLog, Transforming, shown, sources_of
from actors.runner.text_files import ENDINGS, MEDIA_TYPES, as_file, as_page
from actors.runner.tools.collections import PATIENCE, succeeded
from actors.runner.tools.context import ToolDependencies
from bus.clock import now_ms
from protocol.actions import Action
from protocol.agent import TransformType
from protocol.collections import (
    COLLECTION_PREFIX,
    TextAsked,
    TextDeleted,
    TextStatus,
    text_topic,
    transform_key,
    unknown_text,
)
from protocol.documents import WebObservationSummary, untrusted
from protocol.faults import Code, FaultError, fault
from protocol.pages import capture_name
from protocol.policy import RunTool, ToolResult
from protocol.schemas import schema
from protocol.subjects import CAPTURES, PRINT
from protocol.texts import (
    MAX_TAGS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    SAVED,
    TRANSFORMS,
    KeptText,
    PrintPage,
    SharedFile,
    artifact_id,
    config_hash,
    config_of,
    safe_file_name,
)
from protocol.tools.collections import OfArtifact, OpenArtifact, RunTransform, SaveArtifact, ShareArtifact
from protocol.tools.tool import SCHEMA_VERSION, WithoutArguments

CAPTURE_URI: Final = "weft://captures/"
TEXT_URI: Final = "weft://texts/"
"""Where a caller reads a file that was shared, and a text."""

MAX_CLIPBOARD_CHARS: Final = 100_000
MAX_LINE_BYTES: Final = 900_000
MAX_TAG_CHARS: Final = 100

_INVALID: Final = Code.VALIDATION_INVALID_REQUEST
_TO_A_FILE: Final = Action(action="share_as_file", description="Call artifact.share with the target file.")


async def list_types(context: ToolDependencies, request: RunTool, arguments: WithoutArguments) -> ToolResult:
    """List what can be made of a collection, each with the schema of its config."""
    del context, arguments
    types = [
        {"type": kind.value, "title": one.title, "description": one.description, "config": schema(one.config)}
        for kind, one in TRANSFORMS.items()
    ]
    return succeeded(request, {"types": types, "schemaVersion": SCHEMA_VERSION})


async def run_transform(context: ToolDependencies, request: RunTool, arguments: RunTransform) -> ToolResult:
    """Make a text of a collection and wait for it; the same of the same sources is made once, unless `again`."""
    try:
        kind = TransformType(arguments.type)
    except ValueError:
        known = ", ".join(TransformType)
        raise FaultError(fault(_INVALID, f"type: there is no {arguments.type!r}, but {known}", field="type")) from None
    given: dict[str, Any] = {} if arguments.config is UNSET else arguments.config
    try:
        config = config_of(kind, given)
    except ValueError as error:
        raise FaultError(fault(_INVALID, str(error), field="config")) from None
    transforming = _transforming(context)
    collection = known_id(arguments.collection_id, COLLECTION_PREFIX)
    packed = await transforming.packed(request.caller, collection, config)
    digest = config_hash(config, request.id if config.again else "")
    key = transform_key(collection, kind.value, packed.hash, digest)
    line = TextAsked(
        caller=request.caller,
        at=now_ms(),
        collection=collection,
        artifact=artifact_id(key, request.caller),
        type=kind.value,
        title=config.title or TRANSFORMS[kind].title,
        dedupe_key=key,
        call_id=request.id,
        config=given,
        sources=sources_of(packed),
        local_only=config.local_only,
    )
    text: KeptText | None = await transforming.queue(line)
    patience_s = (anyio.current_effective_deadline() - anyio.current_time()) * PATIENCE
    text = await transforming.ended(line.artifact, patience_s)
    if text is None:
        raise unknown_text("artifactId")
    if text.info.error is not None:
        raise FaultError(text.info.error)
    return _whole(request, text)


async def save(context: ToolDependencies, request: RunTool, arguments: SaveArtifact) -> ToolResult:
    """Keep a text, without what looks like a credential unless `redaction` is none; the same call keeps one."""
    tags = () if arguments.tags is UNSET else arguments.tags
    _check_size(arguments.markdown, tags)
    plain = arguments.redaction == "none"
    markdown = arguments.markdown if plain else redact.text(arguments.markdown)
    title = " ".join((arguments.title if plain else redact.text(arguments.title)).split())[:MAX_TITLE_CHARS]
    new = artifact_id(request.id, request.caller)
    line = TextAsked(
        caller=request.caller,
        at=now_ms(),
        artifact=new,
        type=SAVED,
        title=title or SAVED,
        call_id=request.id,
        tags=tags,
        markdown=markdown,
    )
    texts = _texts(context)
    await texts.log.append(text_topic(new), line, last=0)
    text, _ = await texts.of_caller(new, request.caller)
    return succeeded(request, {**shown(text), "redacted": text.info.content_markdown != arguments.markdown})


async def open_text(context: ToolDependencies, request: RunTool, arguments: OpenArtifact) -> ToolResult:
    """Return a text for the workspace, or where a browser shows it."""
    text, _ = await _texts(context).of_caller(arguments.artifact_id, request.caller)
    if arguments.target != "browser":
        return _whole(request, text)
    new_tab = True if arguments.new_tab is UNSET else arguments.new_tab
    where = {"path": f"/api/texts/{text.info.id}/page", "uri": TEXT_URI + text.info.id, "newTab": new_tab}
    return succeeded(request, {**shown(text), **where})


async def share(context: ToolDependencies, request: RunTool, arguments: ShareArtifact) -> ToolResult:
    """Hand a text out as a file, or its words for a clipboard."""
    target = "file" if arguments.target is UNSET else arguments.target
    if target == "share_sheet" or (target == "clipboard" and arguments.format == "pdf"):
        message = f"target: there is no {target} for {arguments.format} here; a file is fetched by whoever asked for it"
        raise FaultError(fault(_INVALID, message, field="target", actions=(_TO_A_FILE,)))
    text, _ = await _texts(context).of_caller(arguments.artifact_id, request.caller)
    info = text.info
    if info.status is not TextStatus.COMPLETED:
        raise FaultError(fault(_INVALID, f"artifactId: it is {info.status.value}, so there is nothing to share yet"))
    if arguments.format == "pdf":
        printed = await context.bus.call(
            PRINT, PrintPage(html=as_page(info)), wait_ms=context.settings.restart_grace_ms
        )
        data = printed.pdf
    else:
        data = as_file(info, arguments.format)
    ending = ENDINGS[arguments.format]
    wanted = info.title if arguments.filename is UNSET else arguments.filename
    file = SharedFile(
        name="",
        uri="",
        file_name=safe_file_name(wanted, ending, info.id),
        media_type=MEDIA_TYPES[arguments.format],
        size=len(data),
        target=target,
    )
    payload = {"artifactId": info.id, "format": arguments.format}
    if target == "clipboard":
        words = data.decode()
        if len(words) > MAX_CLIPBOARD_CHARS:
            message = f"target: {len(words)} characters are too many for a clipboard"
            raise FaultError(fault(_INVALID, message, field="target", actions=(_TO_A_FILE,)))
        return succeeded(request, payload | msgspec.to_builtins(msgspec.structs.replace(file, text=words)))
    name = await _stored(context, request, data, ending)
    kept = msgspec.structs.replace(file, name=name, uri=CAPTURE_URI + name)
    return succeeded(request, payload | msgspec.to_builtins(kept))


async def delete(context: ToolDependencies, request: RunTool, arguments: OfArtifact) -> ToolResult:
    """Delete a text, and its words from the journal."""
    texts = _texts(context)
    name = known_id(arguments.artifact_id, "art_")
    history = await texts.read(name)
    if history.text is None or history.text.caller != request.caller:
        raise unknown_text("artifactId")
    line = TextDeleted(caller=request.caller, at=now_ms(), collection=history.text.info.collection_id, artifact=name)
    await texts.log.append(text_topic(name), line, last=history.last, forget=True)
    return succeeded(request, {"artifactId": name, "deleted": True})


async def _stored(context: ToolDependencies, request: RunTool, data: bytes, ending: str) -> str:
    """Put a file where its caller finds it for a day, and return its name: the same for the same call."""
    chance = blake2b(f"{request.id} {request.caller}".encode(), digest_size=16).hexdigest()
    name = capture_name("share", chance, request.caller, ending)
    try:
        await (await context.bus.objects(CAPTURES)).put(name, data)
    except ValueError:
        raise FaultError(fault(Code.CONTENT_TOO_LARGE, "The file is too large to be handed out.")) from None
    return name


def _whole(request: RunTool, text: KeptText) -> ToolResult:
    """Return a text with its words; what it quotes is the web's, so that they are no instruction to anybody."""
    info = text.info
    if info.status is not TextStatus.COMPLETED:
        return succeeded(request, shown(text))
    words = {"markdown": info.content_markdown, "citations": msgspec.to_builtins(info.citations)}
    served: dict[str, Any] = {"servedBy": info.served_by} if info.served_by else {}
    served |= {"whyLocal": info.why_local} if info.why_local else {}
    served |= {"unsupported": list(info.unsupported)} if info.unsupported else {}
    content = WebObservationSummary(url=TEXT_URI + info.id, title=info.title, markdown=info.content_markdown)
    return succeeded(request, {**shown(text), **words, **served}, documents=(untrusted(info.id, content),))


def _check_size(markdown: str, tags: tuple[str, ...]) -> None:
    if len(markdown) > MAX_TEXT_CHARS or len(markdown.encode(errors="replace")) > MAX_LINE_BYTES:
        message = f"markdown: a text has {MAX_TEXT_CHARS} characters at most"
        raise FaultError(fault(_INVALID, message, field="markdown"))
    if len(tags) > MAX_TAGS or any(len(tag) > MAX_TAG_CHARS for tag in tags):
        message = f"tags: {MAX_TAGS} at most, of {MAX_TAG_CHARS} characters at most"
        raise FaultError(fault(_INVALID, message, field="tags"))


def _texts(context: ToolDependencies) -> TextLog:
    return TextLog(context.collections)


def _transforming(context: ToolDependencies) -> Transforming:
    return Transforming(_texts(context), context.bus, context.settings)
