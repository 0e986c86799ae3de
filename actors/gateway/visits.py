"""The pages that a caller has read, asked of the keeper."""

from __future__ import annotations

from actors.gateway.app_context import AppContext
from actors.gateway.captures import kept_file
from protocol.faults import Code, FaultError, fault
from protocol.subjects import VISIT_GET, VISIT_LIST, VISIT_SCREENSHOTS
from protocol.visits import AskVisit, KeptVisit, ListVisits, VisitList


async def list_visits(app: AppContext, query: ListVisits) -> VisitList:
    """Return the visits of the caller that the query names, the newest first."""
    return await app.bus.call(VISIT_LIST, query, wait_ms=app.grace_ms)


async def get_visit(app: AppContext, query: AskVisit) -> KeptVisit:
    """Return a visit whole.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, also for a visit of somebody else.
    """
    return await app.bus.call(VISIT_GET, query, wait_ms=app.grace_ms)


async def get_screenshot(app: AppContext, query: AskVisit) -> bytes:
    """Return the picture of a visit, a JPEG.

    Raises:
        FaultError: ARTIFACT_NOT_FOUND where no browser has shown the page, ARTIFACT_EXPIRED; as `get_visit` does.
    """
    name = (await get_visit(app, query)).screenshot
    if not name:
        raise FaultError(fault(Code.ARTIFACT_NOT_FOUND, "No browser has shown this page: there is no picture of it."))
    return await kept_file(app, VISIT_SCREENSHOTS, name)
