"""What was captured of pages for a client: screenshots, PDFs and downloads, and texts as files."""

from __future__ import annotations

import mimetypes

from actors.gateway.app_context import AppContext
from actors.gateway.request import RequestContext
from protocol.faults import Code, FaultError, fault
from protocol.pages import is_capture_of
from protocol.subject_kinds import Objects
from protocol.subjects import CAPTURES


async def own_capture(app: AppContext, request: RequestContext, name: str) -> bytes:
    """Return what was captured for the caller, by its name.

    Raises:
        FaultError: ARTIFACT_NOT_FOUND, it was captured for nobody or somebody else; ARTIFACT_EXPIRED.
    """
    if not is_capture_of(name, request.caller.name):
        raise FaultError(fault(Code.ARTIFACT_NOT_FOUND))
    return await captured_file(app, name)


async def captured_file(app: AppContext, name: str) -> bytes:
    """Return a file of CAPTURES by a name that an actor has told.

    Raises:
        FaultError: ARTIFACT_EXPIRED, it is kept no longer.
    """
    return await kept_file(app, CAPTURES, name)


async def kept_file(app: AppContext, store: Objects, name: str) -> bytes:
    """Return a file of a store by a name that an actor has told; raises as `captured_file`."""
    try:
        return await (await app.bus.objects(store)).get(name)
    except (KeyError, ValueError):
        raise FaultError(fault(Code.ARTIFACT_EXPIRED)) from None


def media_type(name: str) -> str:
    """Return the media type of a capture by the ending of its name, which was chosen by the type."""
    return mimetypes.guess_type(name)[0] or "application/octet-stream"
