"""Compares the packets of a replay with those of its recording; what is another each time is left aside."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET, Struct

from actors.masking import mask_packet
from actors.replay.recorded_packets import actor_of
from protocol.codec import encode
from protocol.recordings import EntryKind, RecordedEntry

_NAMES_OF_ONE: Final = frozenset({"id", "created_at", "conversation", "in_reply_to", "sender", "protocol"})
"""What of a packet is its own, and of no other that says the same."""

_FRESH: Final = re.compile(
    r"(?:^|_)(?:at|ms|us|time|timestamp|duration|fetched|now|elapsed|sealed)$|(?:At|Ms|Us|Time)$"
)
"""The names of what is another each time: times, and what is sealed."""

_MAX_QUOTED: Final = 300


class PacketDifference(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a replay is not what was recorded: `place` is the path in the packet, `.` for all of it.

    Each side is JSON, cut to 300 characters; empty where a packet, or the value in it, is on the other side alone.
    """

    kind: EntryKind
    name: str
    actor: str
    place: str
    recorded: str = ""
    replayed: str = ""


def canonical(written: bytes) -> str:
    """Return JSON as one text, without secrets and what is another each time: equal for what says the same."""
    return msgspec.json.encode(_plain(msgspec.json.decode(written)), order="sorted").decode()


def args_key(args: object) -> str:
    """Return the arguments of a call as `canonical` does: equal for calls that ask the same."""
    return canonical(encode(args))


def differences(recorded: Iterable[RecordedEntry], replayed: Iterable[RecordedEntry]) -> Iterator[PacketDifference]:
    """Yield what is not the same; equal packets are matched whatever their order, what is left in its order."""
    groups: dict[tuple[EntryKind, str, str], tuple[list[RecordedEntry], list[RecordedEntry]]] = defaultdict(
        lambda: ([], [])
    )
    for side, entries in enumerate((recorded, replayed)):
        for entry in entries:
            groups[entry.kind, entry.name, actor_of(entry.sender)][side].append(entry)
    for (kind, name, actor), (former, latter) in groups.items():
        for old, new in _unequal(former, latter):
            yield from _between(kind, name, actor, old, new)


def _unequal(
    former: list[RecordedEntry], latter: list[RecordedEntry]
) -> Iterator[tuple[RecordedEntry | None, RecordedEntry | None]]:
    left: dict[str, list[RecordedEntry]] = defaultdict(list)
    for entry in latter:
        left[_text(entry)].append(entry)
    missing: list[RecordedEntry] = []
    for entry in former:
        same = left[_text(entry)]
        if same:
            same.pop()
        else:
            missing.append(entry)
    extra = sorted((entry for entries in left.values() for entry in entries), key=lambda entry: entry.at_us)
    for number in range(max(len(missing), len(extra))):
        yield (
            missing[number] if number < len(missing) else None,
            extra[number] if number < len(extra) else None,
        )


def _between(
    kind: EntryKind, name: str, actor: str, old: RecordedEntry | None, new: RecordedEntry | None
) -> Iterator[PacketDifference]:
    if old is None or new is None:
        yield PacketDifference(
            kind=kind,
            name=name,
            actor=actor,
            place=".",
            recorded=_quoted(_value(old)) if old is not None else "",
            replayed=_quoted(_value(new)) if new is not None else "",
        )
        return
    for place, was, now in _unequal_values(_value(old), _value(new), ""):
        yield PacketDifference(kind=kind, name=name, actor=actor, place=place or ".", recorded=was, replayed=now)


def _unequal_values(old: object, new: object, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield the places where two values of JSON differ, and what stands there."""
    ours, theirs = _inner(old), _inner(new)
    if ours is None or theirs is None or type(old) is not type(new) or _is_other_array(old, ours, theirs):
        yield path, _quoted(old), _quoted(new)
        return
    for key in (*ours, *(key for key in theirs if key not in ours)):
        was, now = ours.get(key, UNSET), theirs.get(key, UNSET)
        if was != now:
            yield from _unequal_values(was, now, f"{path}.{key}")


def _inner(value: object) -> dict[str, Any] | None:
    """Return the values in an object or an array by their names or numbers; None for what has none."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    if isinstance(value, list):
        return {str(number): one for number, one in enumerate(cast("Sequence[Any]", value))}
    return None


def _is_other_array(value: object, ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Return whether two values are arrays of other lengths: which item is which is anybody's guess."""
    return isinstance(value, list) and len(ours) != len(theirs)


def _text(entry: RecordedEntry) -> str:
    return msgspec.json.encode(_value(entry), order="sorted").decode()


def _value(entry: RecordedEntry) -> dict[str, Any]:
    value: dict[str, Any] = {"request": _plain(msgspec.json.decode(entry.request))}
    if entry.response is not UNSET and entry.kind != "outside":  # what the outside says is what it said
        value["response"] = _plain(msgspec.json.decode(entry.response))
    if entry.fault is not UNSET:
        value["fault"] = entry.fault.code
    return value


def _plain(value: Any) -> Any:
    """Return a value of JSON without what differs from one time to the next."""
    masked: Any = mask_packet(value)
    packet = cast("dict[str, Any]", masked) if isinstance(masked, dict) else {}
    if "protocol" in packet and "sender" in packet:
        return {key: _lasting(inner) for key, inner in packet.items() if key not in _NAMES_OF_ONE}
    return _lasting(masked)


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {
            key: None if _FRESH.search(key) and not isinstance(inner, dict | list) else _lasting(inner)
            for key, inner in fields.items()
        }
    if isinstance(value, list):
        return [_lasting(inner) for inner in cast("Sequence[Any]", value)]
    return value


def _quoted(value: object) -> str:
    return "" if value is UNSET else msgspec.json.encode(value).decode()[:_MAX_QUOTED]
