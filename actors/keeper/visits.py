"""The tables of the pages that callers have read, and the queries to them; each caller finds their own alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, TypeVar

from msgspec import Struct

from actors.normalized_urls import normalized
from actors.projection.database import Database
from actors.projection.projection import TableUpdate
from bus.seal import Seal, UnsealError
from bus.stores import JournalLine
from protocol.codec import MalformedError, decoder, encode
from protocol.faults import Code, FaultError, fault
from protocol.subjects import PAGE_VISITS
from protocol.urls import host_of
from protocol.visits import MAX_VISITS, AskVisit, KeptVisit, ListVisits, VisitInfo, VisitList

S = TypeVar("S", bound=Struct)

_DAY_MS: Final = 86_400_000
_DIGEST_BYTES: Final = 16

_ADD = "INSERT OR IGNORE INTO visits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_BOUND = (
    "DELETE FROM visits WHERE caller = ?1 AND line <= "
    "(SELECT line FROM visits WHERE caller = ?1 ORDER BY line DESC LIMIT 1 OFFSET ?2)"
)
_OLD = "DELETE FROM visits WHERE at < ?"
_LISTED = (
    "SELECT line, id, head FROM visits WHERE caller = ?1 AND at >= ?2 AND line < ?3 AND (?4 = '' OR tier = ?4) "
    "AND (?5 < 0 OR failed = ?5) AND (?6 = x'' OR site = ?6) "
    "AND (?7 = '' OR page = (SELECT page FROM visits WHERE id = ?7 AND caller = ?1)) ORDER BY line DESC LIMIT ?8"
)
_ONE = "SELECT content FROM visits WHERE id = ? AND caller = ? AND at >= ?"
_OUTCOMES: Final = {"": -1, "read": 0, "failed": 1}
_NEWEST: Final = 2**62


class VisitTables(Struct, frozen=True):
    """What PAGE_VISITS has, of each caller the newest `MAX_VISITS`, and nothing that is older than `kept_days`."""

    seal: Seal
    clock: Callable[[], int]
    kept_days: int
    clear: ClassVar[tuple[str, ...]] = ("DELETE FROM visits",)
    prune: ClassVar[tuple[str, ...]] = ("DELETE FROM visits WHERE line < ?",)

    async def update(self, lines: Sequence[JournalLine[KeptVisit]]) -> TableUpdate:
        """Return the rows of some lines, and what makes room for them."""
        since = self.clock() - self.kept_days * _DAY_MS
        rows = [self._row(line.sequence, line.value) for line in lines if self.kept_days and line.value.at >= since]
        callers = {line.value.caller for line in lines}
        bounds = [(caller, MAX_VISITS) for caller in callers]
        return TableUpdate([(_ADD, rows), (_BOUND, bounds), (_OLD, [(since,)])])

    def _row(self, line: int, visit: KeptVisit) -> tuple[Any, ...]:
        where = (visit.caller, host_of(visit.url) or "")
        return (
            visit.id,
            line,
            visit.caller,
            visit.at,
            visit.tier or "",
            visit.code is not None,
            hidden(self.seal, "site", *where),
            hidden(self.seal, "page", visit.caller, _page(visit.url)),
            self.seal.seal(encode(_info(visit)), _place("head", visit.id)),
            self.seal.seal(encode(visit), _place("visit", visit.id)),
        )


class VisitQueries(Struct, frozen=True):
    """The queries to the tables."""

    database: Database
    seal: Seal
    clock: Callable[[], int]
    kept_days: int

    @property
    def tables(self) -> VisitTables:
        """What fills the tables that are asked here."""
        return VisitTables(self.seal, self.clock, self.kept_days)

    async def page(self, request: ListVisits) -> VisitList:
        """Return the visits of a caller, the newest first.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, where the file was sealed with another key; it is being replaced.
        """
        site = hidden(self.seal, "site", request.caller, host_of(f"//{request.host}") or "") if request.host else b""
        values = (
            request.caller,
            max(request.since, self._since),
            _NEWEST if request.cursor is None else request.cursor,
            request.tier or "",
            _OUTCOMES[request.outcome],
            site,
            request.page,
            request.limit + 1,
        )
        rows = await self.database.read(_LISTED, values)
        shown = rows[: request.limit]
        visits = tuple(self._opened(VisitInfo, head, _place("head", name)) for _, name, head in shown)
        more = int(shown[-1][0]) if len(rows) > len(shown) else None
        return VisitList(visits=visits, kept_days=self.kept_days, next_cursor=more)

    async def visit(self, request: AskVisit) -> KeptVisit:
        """Return a visit whole.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST where there is none of the caller's; as `page` does.
        """
        rows = await self.database.read(_ONE, (request.id, request.caller, self._since))
        if not rows:
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, "id: there is no such visit", field="id"))
        return self._opened(KeptVisit, rows[0][0], _place("visit", request.id))

    @property
    def _since(self) -> int:
        return self.clock() - self.kept_days * _DAY_MS

    def _opened(self, kind: type[S], content: bytes, place: str) -> S:
        try:
            opened: S = decoder(kind).decode(self.seal.unseal(content, place))
        except (UnsealError, MalformedError):
            self.database.broken = True
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE)) from None
        return opened


def hidden(seal: Seal, what: str, caller: str, value: str) -> bytes:
    """Return what stands for a value in the file: the same for the same caller's same value, and told to nobody."""
    return seal.digest(f"{caller}\0{value}".encode(), f"{PAGE_VISITS.name} {what}")[:_DIGEST_BYTES]


def _page(url: str) -> str:
    try:
        return normalized(url)
    except (ValueError, FaultError):
        return url


def _place(what: str, name: str) -> str:
    return f"{PAGE_VISITS.name} {what} {name}"


def _info(visit: KeptVisit) -> VisitInfo:
    sure = visit.field_confidence
    return VisitInfo(
        id=visit.id,
        at=visit.at,
        url=visit.url,
        title=visit.title,
        tier=visit.tier,
        code=visit.code,
        took_ms=visit.took_ms,
        chars=visit.chars,
        confidence=None if sure is None else sure.overall.score,
        from_cache=visit.from_cache,
    )
