"""What the outside world said in a recording, said again; and what the actors of a replay do with it."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from actors.replay.comparison import args_key, canonical
from actors.replay.recorded_packets import CallRecord, actor_of
from bus.context import conversation_id
from bus.recording import AnswerForm, Outcome
from protocol.codec import encode
from protocol.faults import Code, Fault, FaultError, fault
from protocol.packets import Request
from protocol.recordings import EntryKind, RecordedEntry

T = TypeVar("T")


@dataclass
class OutsideAnswers:
    """The answers of the outside in a recording, each given once, in its order."""

    waiting: dict[tuple[str, str, str], deque[RecordedEntry]] = field(
        default_factory=lambda: defaultdict[tuple[str, str, str], deque[RecordedEntry]](deque)
    )

    @classmethod
    def of(cls, entries: Iterable[RecordedEntry]) -> OutsideAnswers:
        """Take those of a recording."""
        answers = cls()
        for entry in entries:
            if entry.kind == "outside":
                answers.waiting[_key(entry.sender, entry.name, bytes(entry.request))].append(entry)
        return answers

    def take(self, sender: str, name: str, request: bytes) -> RecordedEntry | None:
        """Return the next answer to a request, if there is one."""
        waiting = self.waiting[_key(sender, name, request)]
        return waiting.popleft() if waiting else None


def _key(sender: str, name: str, request: bytes) -> tuple[str, str, str]:
    return actor_of(sender), name, "" if request == b"null" else canonical(request)


@dataclass
class CallOutcomes:
    """Why nobody answered the calls of a recording, None where somebody did; of equal calls, in their order."""

    waiting: dict[tuple[str, str], deque[Fault | None]] = field(
        default_factory=lambda: defaultdict[tuple[str, str], deque[Fault | None]](deque)
    )

    @classmethod
    def of(cls, calls: Iterable[CallRecord]) -> CallOutcomes:
        """Take those of a recording."""
        outcomes = cls()
        for record in calls:
            failure = record.entry.fault
            key = record.entry.name, args_key(record.request.input.task.args)
            outcomes.waiting[key].append(failure if isinstance(failure, Fault) else None)
        return outcomes

    def take(self, subject: str, packet: Request[object]) -> Fault | None:
        """Return why nobody answered the next call like that; None where somebody did, or nobody asked."""
        waiting = self.waiting[subject, args_key(packet.input.task.args)]
        return waiting.popleft() if waiting else None


@dataclass
class Playback:
    """The recorder of one replica of a replay: it notes as any other, and answers for the outside."""

    sender: str
    answers: OutsideAnswers
    outcomes: CallOutcomes
    noted: list[RecordedEntry]

    def sent(  # noqa: PLR0913, PLR0917 - as the protocol says
        self, kind: EntryKind, subject: str, packet: Request[object], written: bytes, outcome: Outcome, began_s: float
    ) -> None:
        """Note a packet."""
        del packet
        if conversation_id() is None:
            return
        response = msgspec.Raw(outcome) if isinstance(outcome, bytes) else UNSET
        failed = outcome if isinstance(outcome, Fault) else UNSET
        self._note(kind, subject, msgspec.Raw(written), response, failed, began_s)

    def asks(self, subject: str, packet: Request[object]) -> None:
        """Fail a call that nobody answered then: an actor that was not there yet is there now."""
        failure = None if conversation_id() is None else self.outcomes.take(subject, packet)
        if failure is not None:
            raise FaultError(failure)

    def observed(self, name: str, request: object, look: Callable[[], T], form: AnswerForm[Any]) -> T:
        """Return what it saw then; where nobody looked then, what there is now."""
        written = encode(request)
        entry = self.answers.take(self.sender, name, written)
        if entry is None or entry.response is UNSET:
            self._note("outside", name, msgspec.Raw(written), UNSET, UNSET, time.time())
            return look()
        self._note("outside", name, entry.request, entry.response, UNSET, time.time())
        observation: T = form.read(bytes(entry.response))
        return observation

    async def outside(
        self,
        name: str,
        request: object,
        ask: Callable[[], Awaitable[T]],
        form: AnswerForm[Any],
        *,
        withhold: bool,
    ) -> T:
        """Return what was answered then; nothing is asked now.

        Raises:
            FaultError: the recorded one; INTERNAL_UNAVAILABLE for what was not asked then, or is withheld.
        """
        del ask
        written = b"null" if withhold else encode(request)
        entry = self.answers.take(self.sender, name, written)
        if entry is not None and isinstance(entry.fault, Fault):
            self._note("outside", name, entry.request, UNSET, entry.fault, time.time())
            raise FaultError(entry.fault)
        if entry is not None and entry.response is not UNSET:
            self._note("outside", name, entry.request, entry.response, UNSET, time.time())
            answer: T = form.read(bytes(entry.response))
            return answer
        self._note("outside", name, msgspec.Raw(written), UNSET, UNSET, time.time())
        why = "was read with a login, and left out" if withhold else "is not in the recording"
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE, f"What {name} answered {why}."))

    def _note(  # noqa: PLR0913, PLR0917 - the fields of an entry
        self,
        kind: EntryKind,
        name: str,
        request: msgspec.Raw,
        response: msgspec.Raw | msgspec.UnsetType,
        failure: Fault | msgspec.UnsetType,
        began_s: float,
    ) -> None:
        at_us = round(began_s * 1_000_000)
        self.noted.append(
            RecordedEntry(
                kind=kind,
                name=name,
                sender=self.sender,
                at_us=at_us,
                request=request,
                response=response,
                fault=failure,
            )
        )
