"""Passes on what a model writes while it writes: the words for the reader alone, out of whatever form they come in."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from bus import Publisher, TransportError
from protocol.answers import AnswerText
from protocol.faults import FaultError
from protocol.models import ModelText
from protocol.replicas import Progress, Watch
from protocol.subjects import ANSWER_TEXT, PROGRESS

_MARKDOWN = re.compile(r'"markdown"\s*:\s*"')
_CITATIONS: Final = "---CITATIONS---"
_ESCAPE_CHARS = 12
"""The longest escape: a pair of surrogates."""


class Words(Protocol):
    """Reads the words for the reader out of an output that comes in pieces."""

    def feed(self, text: str) -> str:
        """Return the words that a further piece brings."""
        ...


@dataclass
class MarkdownOfJson:
    """Reads the value of the first key `markdown` of a JSON text."""

    _rest: str = ""
    _inside: bool = False
    _over: bool = False

    def feed(self, text: str) -> str:
        """Return what a further piece brings of the value; what may be half an escape waits."""
        if self._over:
            return ""
        self._rest += text
        if not self._inside:
            begin = _MARKDOWN.search(self._rest)
            if begin is None:
                return ""
            self._inside, self._rest = True, self._rest[begin.end() :]
        end = _end_of_string(self._rest)
        self._over = end is not None
        whole = self._rest[:end] if end is not None else _whole_escapes(self._rest)
        self._rest = self._rest[len(whole) :]
        with suppress(ValueError):
            return str(json.loads(f'"{whole}"', strict=False))
        return ""


@dataclass
class MarkdownBeforeCitations:
    """Reads a Markdown text up to its block of citations."""

    _rest: str = ""
    _over: bool = False

    def feed(self, text: str) -> str:
        """Return a further piece; what may be the beginning of the block waits."""
        if self._over:
            return ""
        self._rest += text
        begin = self._rest.find(_CITATIONS)
        self._over = begin >= 0
        kept = len(self._rest) - _overlap(self._rest)
        words = self._rest[: begin if self._over else kept]
        self._rest = self._rest[len(words) :]
        return words


@dataclass
class AnswerRelay:
    """Tells a replica of the gateway what is written of one answer, and how far it is; without a watcher nothing."""

    bus: Publisher
    watch: Watch | None
    _index: int = 0
    _steps: int = 0
    _written: bool = False

    async def write(self, text: str, *, restarted: bool = False) -> None:
        """Tell what was written further; `restarted` where what came before is void. It is advice, and may be lost."""
        if self.watch is None or not (text or restarted):
            return
        piece = AnswerText(token=self.watch.token, index=self._index, text=text, restarted=restarted)
        self._index, self._written = self._index + 1, bool(text) or (self._written and not restarted)
        with suppress(FaultError, TransportError):
            await self.bus.tell(ANSWER_TEXT.at(replica=self.watch.replica), piece)

    async def replace(self, text: str) -> None:
        """Tell a whole answer, in place of what was written before it."""
        await self.write(text, restarted=self._written)

    async def report(self, message: str) -> None:
        """Tell what comes next; `message` has no word of a page."""
        if self.watch is None:
            return
        progress = Progress(token=self.watch.token, done=self._steps, message=message)
        self._steps += 1
        with suppress(FaultError, TransportError):
            await self.bus.tell(PROGRESS.at(replica=self.watch.replica), progress)


@dataclass
class _Stream:
    relay: AnswerRelay
    words: type[MarkdownOfJson | MarkdownBeforeCitations]
    reading: Words


@dataclass
class ModelStreams:
    """The calls of models whose text this replica waits for, by their tokens."""

    replica: str
    _streams: dict[str, _Stream] = field(default_factory=dict[str, _Stream])

    @contextmanager
    def listening(
        self, relay: AnswerRelay, words: type[MarkdownOfJson | MarkdownBeforeCitations]
    ) -> Generator[Watch | None]:
        """Pass on what a model writes while the block lasts; yields who is to be told, None where nobody waits."""
        if relay.watch is None:
            yield None
            return
        watch = Watch(replica=self.replica, token=secrets.token_hex(8))
        self._streams[watch.token] = _Stream(relay, words, words())
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
            stream.reading = stream.words()
        await stream.relay.write(stream.reading.feed(piece.text), restarted=piece.restarted)


def _end_of_string(text: str) -> int | None:
    """Return where the quote stands that ends a JSON string."""
    found = re.match(r'(?:[^"\\]|\\.)*+"', text, re.DOTALL)
    return None if found is None else found.end() - 1


def _whole_escapes(text: str) -> str:
    """Return a text without an escape at its end that may go on."""
    tail = text[-_ESCAPE_CHARS:]
    begun = re.search(r"\\(?:u[0-9a-fA-F]{0,3}|u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?)?$", tail)
    if begun is None or _is_escaped(text, len(text) - len(tail) + begun.start()):
        return text
    return text[: len(text) - len(tail) + begun.start()]


def _is_escaped(text: str, place: int) -> bool:
    """Return whether the backslash at a place is itself escaped."""
    before = text[:place]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _overlap(text: str) -> int:
    """Return how many characters at the end may begin the block of citations."""
    return next((size for size in range(len(_CITATIONS) - 1, 0, -1) if text.endswith(_CITATIONS[:size])), 0)
