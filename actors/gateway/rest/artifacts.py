"""A file that a run left, as a download."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from actors.gateway import runs
from actors.gateway.app_context import AppContext
from actors.gateway.http.bodies import drain
from actors.gateway.request import RequestContext
from actors.gateway.runs import ArtifactRequest
from protocol.runs.responses import ArtifactChunk
from protocol.runs.states import ArtifactType

_SUFFIXES = {ArtifactType.JSON: "json", ArtifactType.CSV: "csv", ArtifactType.MARKDOWN: "md"}
_SUFFIX_OF = {kind.media_type: suffix for kind, suffix in _SUFFIXES.items()}


class Download(Response):
    """The bytes of a file, of which the first piece was read already; the others are read as the client takes them."""

    def __init__(self, app: AppContext, request: RequestContext, first: ArtifactChunk) -> None:
        # what was made of pages is never shown as one of ours
        headers = {
            "Content-Disposition": f'attachment; filename="{file_name(first.artifact_id, first.mime_type)}"',
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "Cache-Control": "private, no-store",
        }
        super().__init__(media_type=first.mime_type, headers=headers)
        self.headers["Content-Length"] = str(first.size)
        self._app = app
        self._request = request
        self._first = first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file; where a piece cannot be had any more, the answer breaks off short of its length."""
        await drain(receive)
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        piece, sent = self._first, 0
        while scope["method"] != "HEAD":
            await send({"type": "http.response.body", "body": piece.data, "more_body": True})
            sent += len(piece.data)
            if piece.complete or not piece.data:
                break
            arguments = ArtifactRequest(artifact_id=piece.artifact_id, offset=sent)
            piece = await runs.artifact(self._app, self._request, arguments)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def file_name(artifact_id: str, mime_type: str) -> str:
    """Name a file by its id and its type."""
    return f"{artifact_id}.{_SUFFIX_OF.get(mime_type, 'bin')}"
