"""The packets of a recording, read by the table of subjects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeGuard

from msgspec import UNSET, Struct

from protocol.codec import MalformedError, decoder
from protocol.faults import Fault
from protocol.packets import Request, Response
from protocol.recordings import ConversationRecording, RecordedEntry
from protocol.subject_kinds import Call, matches
from protocol.subjects import table


def call_of(name: str) -> Call[Any, Any] | None:
    """Return the call of the table for a subject of the bus, with its slots filled; None for what is none."""
    for _, entry in table():
        if _is_call(entry) and matches(name, entry.wildcard):
            return replace(entry, pattern=name, form=entry.form or entry.pattern)
    return None


def _is_call(entry: object) -> TypeGuard[Call[Any, Any]]:
    return isinstance(entry, Call)


def actor_of(sender: str) -> str:
    """Return the name of the actor of `actor/replica`."""
    return sender.partition("/")[0]


class CallRecord(Struct, frozen=True, dict=True):
    """A recorded call: `subject` is that of the table, with its slots filled."""

    entry: RecordedEntry
    subject: Call[Any, Any]

    @property
    def caller(self) -> str:
        """The name of the actor that asked."""
        return actor_of(self.entry.sender)

    @cached_property
    def request(self) -> Request[Any]:
        """The packet that asks."""
        args: Any = self.subject.args
        packet: Request[Any] = decoder(Request[args]).decode(bytes(self.entry.request))
        return packet

    @cached_property
    def outcome(self) -> Any:
        """What was answered, or the Fault; None where nobody waited for it."""
        if self.entry.response is UNSET:
            return None if self.entry.fault is UNSET else self.entry.fault
        answer: Any = self.subject.answer
        packet: Response[Any] = decoder(Response[answer]).decode(bytes(self.entry.response))
        return packet.error if isinstance(packet.error, Fault) else packet.result

    @property
    def is_understood(self) -> bool:
        """Whether this version reads its packets."""
        try:
            return self.request.id != "" and self.outcome is not UNSET
        except MalformedError:
            return False

    @cached_property
    def callee(self) -> str:
        """The name of the actor that answered; empty where none did."""
        if self.entry.response is UNSET:
            return ""
        return actor_of(decoder(Response[Any]).decode(bytes(self.entry.response)).sender.actor)


def calls_of(recording: ConversationRecording) -> Iterator[CallRecord]:
    """Yield the calls of a recording that this version understands, in the order of time."""
    for entry in recording.entries:
        subject = call_of(entry.name) if entry.kind == "call" else None
        if subject is not None and (record := CallRecord(entry, subject)).is_understood:
            yield record
