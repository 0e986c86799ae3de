"""Passes on what a model writes while it writes: the words for the reader alone, out of whatever form they come in."""

from __future__ import annotations

import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from actors.answerer.prompts import NOT_SUPPORTED
from bus import Publisher, TransportError
from bus.recording import chance
from protocol.answers import AnswerText
from protocol.faults import FaultError
from protocol.models import ModelText
from protocol.replicas import Progress, Watch
from protocol.subjects import ANSWER_TEXT, PROGRESS

_BLOCKS: Final = ("---CITATIONS---", NOT_SUPPORTED)
"""What ends the words for the reader."""

_THINK, _THOUGHT = "<think>", "</think>"


@dataclass
class ReaderWords:
    """Reads the words for the reader out of an output in Markdown that comes in pieces: neither thoughts nor blocks."""

    _rest: str = ""
    _thinks: bool = False
    _over: bool = False

    def feed(self, text: str) -> str:
        """Return what a further piece brings; what may be the beginning of a mark waits."""
        self._rest += text
        words = list[str]()
        while not self._over:
            marks = (_THOUGHT,) if self._thinks else (*_BLOCKS, _THINK)
            before, mark, behind = _split(self._rest, marks)
            words += [] if self._thinks else [before]
            self._rest = behind
            if not mark:
                break
            self._over, self._thinks = mark in _BLOCKS, mark == _THINK
        return "".join(words)


@dataclass
class AnswerRelay:
    """Publishes to a replica of the gateway what is written of one answer, and how far it is, if somebody watches."""

    bus: Publisher
    watch: Watch | None
    _index: int = 0
    _steps: int = 0
    _has_text: bool = False

    async def write(self, text: str, *, restarted: bool = False) -> None:
        """Publish what was written further, which may be lost; `restarted` where what came before is void."""
        if self.watch is None or not (text or restarted):
            return
        piece = AnswerText(token=self.watch.token, index=self._index, text=text, restarted=restarted)
        self._index, self._has_text = self._index + 1, bool(text) or (self._has_text and not restarted)
        with suppress(FaultError, TransportError):
            await self.bus.tell(ANSWER_TEXT.at(replica=self.watch.replica), piece)

    async def replace(self, text: str) -> None:
        """Publish a whole answer, in place of what was written before it."""
        await self.write(text, restarted=self._has_text)

    async def report(self, message: str) -> None:
        """Publish what comes next; `message` has no word of a page."""
        if self.watch is None:
            return
        progress = Progress(token=self.watch.token, done=self._steps, message=message)
        self._steps += 1
        with suppress(FaultError, TransportError):
            await self.bus.tell(PROGRESS.at(replica=self.watch.replica), progress)


@dataclass
class _Stream:
    relay: AnswerRelay
    words: ReaderWords


@dataclass
class ModelStreams:
    """The calls of models whose text this replica waits for, by their tokens."""

    replica: str
    _streams: dict[str, _Stream] = field(default_factory=dict[str, _Stream])

    @contextmanager
    def listening(self, relay: AnswerRelay) -> Generator[Watch | None]:
        """Pass on what a model writes while the block lasts; yields who is to be told, None where nobody waits."""
        if relay.watch is None:
            yield None
            return
        watch = Watch(replica=self.replica, token=chance(partial(secrets.token_hex, 8)))
        self._streams[watch.token] = _Stream(relay, ReaderWords())
        try:
            yield watch
        finally:
            del self._streams[watch.token]

    async def on_text(self, piece: ModelText) -> None:
        """Pass on a piece; nobody may be waiting any more."""
        stream = self._streams.get(piece.token)
        if stream is None:
            return
        if piece.restarted:
            stream.words = ReaderWords()
        await stream.relay.write(stream.words.feed(piece.text), restarted=piece.restarted)


def _split(text: str, marks: Sequence[str]) -> tuple[str, str, str]:
    """Return what stands before the first mark, the mark, and what is behind it.

    Without a mark the last part is what may be the beginning of one.
    """
    places = [(place, mark) for mark in marks if (place := text.find(mark)) >= 0]
    if places:
        place, mark = min(places)
        return text[:place], mark, text[place + len(mark) :]
    kept = next((size for size in range(max(map(len, marks)) - 1, 0, -1) if _begins(text, size, marks)), 0)
    return text[: len(text) - kept], "", text[len(text) - kept :]


def _begins(text: str, size: int, marks: Sequence[str]) -> bool:
    return size <= len(text) and any(mark.startswith(text[-size:]) for mark in marks)
