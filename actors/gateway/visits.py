"""The pages that a caller has read, asked of the keeper."""

from __future__ import annotations

from actors.gateway.app_context import AppContext
from protocol.subjects import VISIT_GET, VISIT_LIST
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
