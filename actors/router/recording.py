"""Writes each try of a call into the journal, with no more of it than its beginning, and what checks have found."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import anyio
import msgspec
import structlog
from anyio import to_thread

from actors import redact
from bus.clock import now_ms
from bus.stores import JournalLog
from protocol.faults import FaultError
from protocol.models import CallLine, CallModel, CallOutcome, ModelCalled, ModelJudged, ModelMessage, TextPart

log = structlog.stdlib.get_logger()

NOT_WRITTEN: Final = "model_call_not_written"

WRITE_S: Final = 2.0
"""What writing a line may take; an answer is not kept back longer for its sake."""

PREVIEW_CHARS: Final = 200
_READ_CHARS: Final = 1_000
_LARGE_BYTES: Final = 200_000
MOST_CALLS: Final = 10_000
"""Calls that may still be judged; those that were answered longest ago are forgotten."""


@dataclass
class CallRecorder:
    """Writes the lines of this replica's calls; it alone takes down what is found of their answers, once each."""

    journal: JournalLog[CallLine]
    clock: Callable[[], int] = now_ms
    _answered: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str], init=False)

    async def called(self, line: ModelCalled) -> None:
        """Write a try."""
        if line.success:
            self._answered[line.call_id] = line.tool
            if len(self._answered) > MOST_CALLS:
                self._answered.popitem(last=False)
        await self._write(line.tool, line)

    async def judged(self, outcome: CallOutcome) -> None:
        """Write what was found of an answer that this replica has given."""
        tool = self._answered.pop(outcome.call_id, None)
        if tool is not None:
            line = ModelJudged(call_id=outcome.call_id, at=self.clock(), tool=tool, verified=outcome.verified)
            await self._write(tool, line)

    async def _write(self, tool: str, line: CallLine) -> None:
        try:
            with anyio.fail_after(WRITE_S, shield=True):
                await self.journal.append(topic_of(tool), line)
        except (FaultError, TimeoutError) as error:
            log.warning(NOT_WRITTEN, reason=type(error).__name__)


def topic_of(tool: str) -> str:
    """Return the topic of a tool's calls: one token of a subject."""
    return tool.replace(".", "-")


def preview(text: str) -> str:
    """Return the beginning of a text without credentials."""
    beginning = text[:_READ_CHARS]
    if len(beginning) < len(text):
        beginning = beginning.rpartition(" ")[0]  # a credential that was cut in two would not be known as one
    return redact.text(beginning)[:PREVIEW_CHARS]


def asked_text(call: CallModel) -> str:
    """Return what was asked last."""
    for message in reversed(call.messages):
        if message.role == "user":
            return next((part.text for part in message.parts if isinstance(part, TextPart)), "")
    return ""


async def digest_of(messages: Sequence[ModelMessage]) -> str:
    """Return the SHA-256 of what is asked, in hex."""
    encoded = msgspec.json.encode(messages)
    if len(encoded) > _LARGE_BYTES:
        return await to_thread.run_sync(_sha256, encoded)
    return _sha256(encoded)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
