"""Learns patterns from the pages that are accepted and from how patterns fare, beside the actor's other work."""

from __future__ import annotations

import zlib
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

import anyio
import anyio.to_thread
import structlog
from anyio.abc import TaskGroup

from actors.learner.patterns.course import learned
from actors.learner.patterns.discovery import HintFinder
from actors.learner.patterns.samples import SampleMemory
from actors.learner.patterns.sources.source import domain_of
from actors.learner.patterns.store import PatternStore
from actors.learner.patterns.sweeping import forget_outlived
from actors.learner.turn import ReplicaTurn
from actors.patterns.trust import VERIFY_AGAIN_MS, after_use, is_overdue
from actors.redact import REDACTED, without_query
from bus import Requester, TransportError
from bus.seal import Seal, UnsealError
from protocol.browse import BrowseOptions, Freshness
from protocol.codec import MalformedError, decoder
from protocol.faults import FaultError
from protocol.pages import BrowsePage
from protocol.patterns.pattern import PagePattern
from protocol.patterns.sample import SAMPLES, PageSample, SealedSample
from protocol.patterns.use import PatternUsed
from protocol.subjects import BROWSE

log = structlog.stdlib.get_logger()

PATTERN_LEARNED: Final = "pattern_learned"
NOT_LEARNED: Final = "page_not_learned_from"
NO_HINTS: Final = "page_without_hints"
NOT_VERIFIED: Final = "pattern_not_verified"
NOT_SWEPT: Final = "patterns_not_swept"

MAX_UNPACKED_BYTES: Final = 8 * 1024 * 1024
WAITING: Final = 64
"""News that wait to be learned from; the oldest go when there are more."""

MAX_JOINED: Final = 256
"""Samples that wait to be accepted, and pages accepted whose sample has not come."""

LEASE_MS: Final = 10_000
"""How long a replica that is gone keeps the others from learning."""

TICK_S: Final = 1.0
SWEEP_S: Final = 3_600.0
"""How often what is kept no longer is deleted; in a domain that learns, at once."""

VERIFY_MS: Final = 60_000
USED_MS: Final = 600_000
"""How exact the time of the last use is."""

T = TypeVar("T")
News = PageSample | PatternUsed


@dataclass
class PatternLearning:
    """One replica that learns while it has the turn, and remembers samples meanwhile."""

    store: PatternStore
    bus: Requester
    seal: Seal | None
    turn: ReplicaTurn
    clock: Callable[[], int]
    verify_hours: int
    hints: HintFinder | None = None
    memory: SampleMemory = field(default_factory=SampleMemory)
    _samples: OrderedDict[str, PageSample] = field(default_factory=OrderedDict[str, PageSample], init=False)
    _accepted: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str], init=False)
    """The addresses of pages that were accepted, by the samples of them that have not come."""

    _waiting: deque[tuple[int, News]] = field(
        default_factory=lambda: deque[tuple[int, News]](maxlen=WAITING), init=False
    )
    _arrived: anyio.Event = field(default_factory=anyio.Event, init=False)
    _verified: OrderedDict[str, int] = field(default_factory=OrderedDict[str, int], init=False)
    _verifying: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1), init=False)
    _threads: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1), init=False)
    _turn_until: int = field(default=0, init=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[PatternLearning]:
        """Learn while the block lasts."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._learn, tasks)
            tasks.start_soon(self._sweep)
            yield self
            tasks.cancel_scope.cancel()

    # -- what comes in ------------------------------------------------------------------------------------------------

    async def sampled(self, sealed: SealedSample) -> None:
        """Take a sample, to be learned from once its page is known to be accepted."""
        if self.seal is None:
            return
        try:
            sample = await self._in_thread(unpacked, self.seal, sealed.sealed)
        except (UnsealError, MalformedError, zlib.error):
            return
        url = self._accepted.pop(sample.sample_id, None)
        if url is None:
            _remember(self._samples, sample.sample_id, sample)
        else:
            self._take_of(sample, url)

    def accepted(self, sample_id: str, url: str) -> None:
        """Learn from a sample, which has come or will: its page was accepted, by `url` without its query."""
        sample = self._samples.pop(sample_id, None)
        if sample is None:
            _remember(self._accepted, sample_id, url)
        else:
            self._take_of(sample, url)

    def _take_of(self, sample: PageSample, url: str) -> None:
        if without_query(sample.url) == url:  # a tier says nothing of pages that it was not asked for
            self._take(sample)

    def used(self, used: PatternUsed) -> None:
        """Take in how a pattern fared."""
        self._take(used)

    def _take(self, news: News) -> None:
        self._waiting.append((self.clock(), news))
        self._arrived.set()

    # -- what follows -------------------------------------------------------------------------------------------------

    async def _learn(self, tasks: TaskGroup) -> None:
        while True:
            if not self._waiting:
                self._arrived = anyio.Event()
                await self._arrived.wait()
            try:
                mine = await self._has_turn()
            except (FaultError, TransportError):
                mine = False
            if not mine:
                self._give_up_old()
                await anyio.sleep(TICK_S)
                continue
            _, news = self._waiting.popleft()
            try:
                await self._learn_from(news, tasks)
            except (FaultError, TransportError) as error:
                log.warning(NOT_LEARNED, reason=type(error).__name__)
            except Exception:  # whatever rules stumble over in what strangers wrote, it is one page
                log.exception(NOT_LEARNED)

    async def _has_turn(self) -> bool:
        now_ms = self.clock()
        if now_ms > self._turn_until - LEASE_MS // 2 and await self.turn.take():
            self._turn_until = now_ms + LEASE_MS
        return now_ms < self._turn_until

    def _give_up_old(self) -> None:
        """Leave to the replica that has the turn what it has seen to by now; the samples stay in memory."""
        while self._waiting and self.clock() - self._waiting[0][0] > 2 * LEASE_MS:
            _, news = self._waiting.popleft()
            if isinstance(news, PageSample):
                self.memory.add(news)

    async def _learn_from(self, news: News, tasks: TaskGroup) -> None:
        if isinstance(news, PageSample):
            await self._learn_page(news)
            if self.hints is not None:
                tasks.start_soon(self._look_for_hints, self.hints, news)
        else:
            await self._learn_use(news, tasks)

    async def _learn_page(self, sample: PageSample) -> None:
        others = self.memory.others(sample)
        self.memory.add(sample)

        async def decide() -> tuple[Iterable[PagePattern], Iterable[str]]:
            known = self.store.of_domain(domain_of(sample.final_url))
            changes = await self._in_thread(learned, known, sample, others, self.clock())
            return changes.put, changes.drop

        for pattern in await self.store.change(decide):
            log.info(
                PATTERN_LEARNED,
                pattern=pattern.pattern_id,
                version=pattern.version,
                pages=len(pattern.reproduced),
                score=pattern.score,
            )
        await forget_outlived(self.store, partial(self.store.of_domain, domain_of(sample.final_url)), self.clock)

    async def _look_for_hints(self, finder: HintFinder, sample: PageSample) -> None:
        try:
            await finder.look(sample, self.store)
        except (FaultError, TransportError) as error:
            log.info(NO_HINTS, reason=type(error).__name__)
        except Exception:  # as above
            log.exception(NO_HINTS)

    async def _learn_use(self, used: PatternUsed, tasks: TaskGroup) -> None:
        async def decide() -> tuple[Iterable[PagePattern], Iterable[str]]:
            pattern = self.store.get(used.pattern_id)
            if pattern is None or _says_nothing_new(pattern, used):
                return (), ()
            after = after_use(pattern, used, self.clock())
            return (after,) if after != pattern else (), ()

        await self.store.change(decide)
        pattern = self.store.get(used.pattern_id)
        if pattern is not None and self._is_due(pattern, used):
            _remember(self._verified, pattern.pattern_id, self.clock())
            tasks.start_soon(self._verify, used.url)

    # -- forgetting ---------------------------------------------------------------------------------------------------

    async def _sweep(self) -> None:
        while True:
            try:
                if await self._has_turn():
                    await forget_outlived(self.store, self.store.all, self.clock)
            except (FaultError, TransportError) as error:
                log.warning(NOT_SWEPT, reason=type(error).__name__)
            await anyio.sleep(SWEEP_S)

    # -- verifying again ----------------------------------------------------------------------------------------------

    def _is_due(self, pattern: PagePattern, used: PatternUsed) -> bool:
        """Return whether a page is to be rendered to see whether its pattern still makes it so."""
        now_ms = self.clock()
        return (
            is_overdue(pattern, self.verify_hours, now_ms)
            and used.drift is None
            and not used.transient
            and not pattern.profile  # a login is not the learner's to use: its owner's visits verify it
            and used.url != ""
            and REDACTED not in used.url
            and now_ms - self._verified.get(pattern.pattern_id, -VERIFY_AGAIN_MS) >= VERIFY_AGAIN_MS
        )

    async def _verify(self, url: str) -> None:
        """Have a page rendered once, politely; what it shows comes as a sample like any other."""
        options = BrowseOptions(max_latency_ms=VERIFY_MS, freshness_requirement=Freshness.REALTIME)
        page = BrowsePage(url=url, options=options, obey_robots=True, single_shot=True, rendered=True)
        async with self._verifying:
            try:
                await self.bus.call(BROWSE, page, timeout_ms=VERIFY_MS)
            except (FaultError, TransportError) as error:
                log.info(NOT_VERIFIED, reason=type(error).__name__)

    async def _in_thread(self, function: Callable[..., T], *args: object) -> T:
        return await anyio.to_thread.run_sync(lambda: function(*args), limiter=self._threads, abandon_on_cancel=True)


def _says_nothing_new(pattern: PagePattern, used: PatternUsed) -> bool:
    """Return whether a pattern that fares well was used again so soon that nobody need write it down."""
    fares_well = used.drift is None and not used.code and not pattern.failures
    return fares_well and used.at_ms - pattern.used_at < USED_MS


def unpacked(seal: Seal, sealed: bytes) -> PageSample:
    """Open a sample.

    Raises:
        UnsealError, MalformedError, zlib.error: it is none, or not sealed by this Weft.
    """
    written = zlib.decompressobj().decompress(seal.unseal(sealed, SAMPLES), MAX_UNPACKED_BYTES)
    sample: PageSample = decoder(PageSample).decode(written)
    return sample


def _remember(kept: OrderedDict[str, T], key: str, value: T) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > MAX_JOINED:
        kept.popitem(last=False)
