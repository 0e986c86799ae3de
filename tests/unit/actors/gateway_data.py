"""A bus, settings and a browsed page for the tests of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import msgspec
from msgspec import Struct

from actors.settings import Settings
from bus import tracing
from bus.memory import Broker
from bus.memory.stores import HeldBlobs, HeldKeys, MemoryBlobs, MemoryKeys
from bus.observing import Observer
from bus.permissions import OBSERVER, observer
from bus.seal import Seal
from bus.stats import BUCKET_BOUNDS_S, EndpointStats, Meter, Replica
from bus.stores import FileStore, KeyTable
from bus.tracing import Attributes, Span, SpanKind, Value
from protocol.browse import ConsoleMessage, DecisionTrace, NetworkRequest, TierAttempt, TraceSummary
from protocol.confidence import FieldConfidence, Source, confidence, overall
from protocol.documents import ExtractedTable, WebObservationSummary, untrusted
from protocol.pages import Browsed
from protocol.subject_kinds import Objects
from protocol.tiers import RenderTier
from tests.unit.actors.page_data import SELECTORS, TITLES, URL, fetched

KEY = "key-for-tests"
VAULT_KEY = "A" * 43
HOST = "127.0.0.1"
PORT = 8720
BASE = f"http://{HOST}:{PORT}"
BEARER = {"Authorization": f"Bearer {KEY}"}

TRIED = (RenderTier.INTELLIGENCE,)
TITLE, CONTENT = confidence(Source.META_TAGS), confidence(Source.SELECTOR_MATCH)
CONFIDENCE = FieldConfidence(title=TITLE, content=CONTENT, overall=overall(TITLE, CONTENT))
TABLE = ExtractedTable(headers=("Loom", "Shafts"), rows=(("Jack", "8"),))
NETWORK = (
    NetworkRequest(
        url=URL, method="GET", status=200, status_text="OK", headers={"a": "b"}, request_headers={}, timestamp=1
    ),
)
CONSOLE = (ConsoleMessage(level="log", text="hello", timestamp=2),)
TRACE = DecisionTrace(
    tiers=(TierAttempt(tier=RenderTier.INTELLIGENCE, success=True, duration_ms=120),),
    selectors=SELECTORS,
    title=TITLES,
    summary=TraceSummary(
        total_tiers_attempted=1,
        successful_tier=RenderTier.INTELLIGENCE,
        total_selectors_attempted=2,
        selected_selector="article",
        total_duration_ms=130,
    ),
)


def browsed(markdown: str = "Words about looms.", title: str = "Looms", **content: Any) -> Browsed:
    fields: dict[str, Any] = {"text": "plain words", "html": "<p>words</p>", "language": "en", **content}
    summary = WebObservationSummary(url=URL, title=title, markdown=markdown, **fields)
    page = fetched(
        document=untrusted("page-1", summary), fetched_at=1_700_000_000_000, network=NETWORK, console=CONSOLE
    )
    return Browsed(url=URL, page=page, confidence=CONFIDENCE, duration_ms=130, trace=TRACE, tiers_tried=TRIED)


def settings(**fields: Any) -> Settings:
    made = Settings(data_dir=Path("/nonexistent"), host=HOST, port=PORT, api_key=KEY, restart_grace_ms=1_500)
    return msgspec.structs.replace(made, **fields)


def replica(actor: str, *endpoints: EndpointStats, name: str = "a1b2") -> Replica:
    return Replica(
        actor=actor,
        replica=name,
        host="loom",
        pid=7,
        version="0",
        started=1_700_000_000_000,
        in_flight=0,
        queued=0,
        served=0,
        errors=0,
        slow=0,
        p50_ms=0.0,
        p99_ms=0.0,
        endpoints=endpoints,
    )


def endpoint(*counts: int) -> EndpointStats:
    """Return the figures of an endpoint whose first buckets hold `counts`."""
    buckets = counts + (0,) * (len(BUCKET_BOUNDS_S) + 1 - len(counts))
    return EndpointStats(
        subject="verify.page", calls=sum(counts), errors=1, in_flight=2, queued=3, duration_sum_s=0.5, buckets=buckets
    )


LIVE = (replica("fetchers.intelligence"), replica("gateway"), replica("navigator"), replica("verifier"))

Outcome = Struct | Exception | None


TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@dataclass
class RecordedSpan:
    """A span: what was said of it, and the traceparent that it continues."""

    name: str
    kind: str
    parent: str | None
    attributes: dict[str, Value]
    failure: str = ""

    def set_attribute(self, key: str, value: Value, /) -> None:
        self.attributes[key] = value

    def fail(self, reason: str) -> None:
        self.failure = reason


class Recording:
    """A tracing that keeps its spans."""

    def __init__(self) -> None:
        self.spans: list[RecordedSpan] = []

    def span(
        self, name: str, kind: SpanKind, attributes: Attributes | None, headers: Mapping[str, str] | None
    ) -> AbstractContextManager[Span]:
        made = RecordedSpan(name, kind, (headers or {}).get(tracing.TRACEPARENT), dict(attributes or {}))
        self.spans.append(made)
        return nullcontext[Span](made)

    def inject(self, headers: dict[str, str]) -> None:
        pass

    def trace_id(self) -> str | None:
        return None

    def close(self) -> None:
        pass


@contextmanager
def traced() -> Generator[Recording, None, None]:
    """Record the spans of what is done inside."""
    recording = Recording()
    tracing.use(recording)
    try:
        yield recording
    finally:
        tracing.use(tracing.OFF)


class FakeBus:
    """A bus that answers every call with `outcome`: an answer, an error, or, when it is None, never."""

    replica = "here"
    version = "0.0.0"

    def __init__(self, outcome: Outcome = None, live: tuple[Replica, ...] | Exception = LIVE) -> None:
        self.outcome = outcome
        self.live = live
        self.seal: Seal | None = Seal.of(VAULT_KEY)
        self.calls: list[tuple[Any, ...]] = []
        self.told: list[tuple[str, Any]] = []
        self.meters: dict[str, Meter] = {}
        self.broker = Broker()
        self.held: dict[str, HeldKeys] = {}
        self.blobs = MemoryBlobs(HeldBlobs(), lambda: None)
        self.asked = anyio.Event()
        self.cancelled = anyio.Event()
        self.release = anyio.Event()

    async def call(self, call: Any, args: Any, *, timeout_ms: int | None = None, wait_ms: int = 0) -> Any:
        self.calls.append((call, args, timeout_ms, wait_ms))
        self.asked.set()
        if isinstance(self.outcome, Exception):
            raise self.outcome
        if self.outcome is None:
            await self._wait()
        return self.outcome

    async def objects(self, entry: Objects) -> FileStore:
        return FileStore(entry, self.blobs)

    async def tell(self, event: Any, args: Any) -> None:
        self.told.append((event.pattern, args))

    async def flush(self) -> None:
        pass

    async def table(self, bucket: Any) -> KeyTable[Any]:
        held = self.held.setdefault(bucket.name, HeldKeys(bucket.ttl_ms))
        return KeyTable(bucket, MemoryKeys(held, lambda: None), self.seal if bucket.sealed else None)

    @asynccontextmanager
    async def observer(self) -> AsyncGenerator[Observer]:
        yield Observer(self.broker.connect(OBSERVER, observer()))

    def meter(self, subject: str) -> Meter:
        return self.meters.setdefault(subject, Meter(subject))

    async def replicas(
        self, wait_ms: int = 200, *, enough: Callable[[list[Replica]], bool] | None = None
    ) -> tuple[Replica, ...]:
        if isinstance(self.live, Exception):
            raise self.live
        return self.live

    async def _wait(self) -> None:
        try:
            await self.release.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled.set()
            raise
