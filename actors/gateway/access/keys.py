"""The keys that are given out: their form, how every gateway knows them, and how they are given out and taken back.

A key is recognisable, has 256 random bits, and a sum that tells a slip of the hand from a wrong key. Every gateway
watches the bucket of the keys and reads from a local dict, so that a look at one costs no question.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
import zlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Annotated

import anyio
import structlog
from msgspec import Meta, Struct, structs

from actors.gateway.access.caller import Caller, Scope
from actors.gateway.http import HttpStatusError, invalid
from bus import Tables, follow
from bus.clock import now_ms
from protocol.access import (
    UNASKED,
    KeyEnd,
    KeyInfo,
    KeyLimits,
    KeyRecord,
    KeysAnswer,
    NewKey,
    RevokedKey,
    caller_key,
    is_callers_name,
    key_caller,
)
from protocol.faults import FaultError
from protocol.subjects import KEY_ENDS, KEYS

log = structlog.stdlib.get_logger()

KEYS_NOT_WATCHED = "keys_not_watched"

FIRST_READ_S = 2.0
"""What reading the keys may take before the gateway serves; those that come later are heard of."""

PREFIX = "weft_"
"""What every key begins with, so that people and secret scanners know it for one."""

ID_CHARS = 12

MAX_KEYS = 1_000
"""Keys that are good at once; of more, nobody knows whose they are."""

_PAIRING = re.compile(r"pairing-[0-9a-f]*-?")
"""What the name of a key begins with that is exchanged for that of an extension."""

EXTENSION_SCOPES = (Scope.BROWSER, Scope.MODELS)
EXTENSION_MAKER = Caller("pairing", frozenset(EXTENSION_SCOPES))
"""Who makes the keys of extensions, and may give out no more than that."""

FORGOTTEN_AFTER_MS = 30 * 86_400_000
"""When a key that was revoked or has expired is forgotten: no gateway was cut off from the bus for so long."""

MAX_LIFE_S = 10 * 366 * 86_400
"""Ten years: who wants more wants a key for good."""

KeyName = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*$(?!\n)")]

_ID_LETTERS = string.ascii_lowercase + string.digits
_LETTERS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SECRET_BITS = 256
_SECRET_CHARS = 43
_SUM_CHARS = 6
_KEY = re.compile(rf"(weft_([a-z0-9]{{{ID_CHARS}}})_[0-9A-Za-z]{{{_SECRET_CHARS}}})([0-9A-Za-z]{{{_SUM_CHARS}}})")


@dataclass(frozen=True)
class MadeKey:
    """A key as it is shown once, and what is kept of it: its id and its digest."""

    id: str
    text: str = field(repr=False)
    digest: bytes = field(repr=False)


def make_key() -> MadeKey:
    """Make a key."""
    name = "".join(secrets.choice(_ID_LETTERS) for _ in range(ID_CHARS))
    body = f"{PREFIX}{name}_{_base62(secrets.randbits(_SECRET_BITS), _SECRET_CHARS)}"
    text = body + _sum(body)
    return MadeKey(name, text, digest(text))


def id_of(text: str) -> str | None:
    """Return the id that a key names, if it has the form of one and its sum is right."""
    match = _KEY.fullmatch(text)
    return match[2] if match and match[3] == _sum(match[1]) else None


def digest(text: str) -> bytes:
    """Return what is kept of a key.

    A plain hash is right for 256 random bits, which nobody guesses; a slow one is for what people think of, and would
    cost as much at every request.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def _sum(body: str) -> str:
    return _base62(zlib.crc32(body.encode("ascii")), _SUM_CHARS)


def _base62(number: int, chars: int) -> str:
    written: list[str] = []
    for _ in range(chars):
        number, digit = divmod(number, len(_LETTERS))
        written.append(_LETTERS[digit])
    return "".join(reversed(written))


@dataclass
class KeyStore:
    """The keys by their ids. While the bus is broken, what was known last holds."""

    clock: Callable[[], int] = now_ms
    _known: dict[str, tuple[KeyRecord, int, Caller]] = field(
        default_factory=dict[str, tuple[KeyRecord, int, Caller]], init=False, repr=False
    )

    def holder(self, text: str) -> Caller | None:
        """Return whose key this is, if it is one that is good now."""
        name = id_of(text)
        known = self._known.get(name) if name else None
        if known is None:
            return None
        record, _, who = known
        same = hmac.compare_digest(digest(text), record.digest)
        return who if same and is_good(record, self.clock()) else None

    def has_ended(self, caller: str) -> bool:
        """Return whether a caller has a key that was good, and is so no more."""
        known = self._known.get(caller_key(caller))
        return known is not None and not is_good(known[0], self.clock())

    def update(self, key: str, record: KeyRecord | None, revision: int) -> None:
        """Take in what has become of a key, unless something newer is known.

        A key that is good ends by a sealed record alone, and one that was revoked stays so: what disappears, does not
        open or was written once more is no word of a gateway.
        """
        known = self._known.get(key)
        if known is not None and known[1] >= revision:
            return
        if record is None:
            if known is not None and not is_good(known[0], self.clock()):
                self._known.pop(key)
        elif known is None or record.revoked or not known[0].revoked:
            self._known[key] = (record, revision, holder_of(record))

    def records(self) -> list[KeyRecord]:
        """Return every key that is known."""
        return [record for record, _, _ in self._known.values()]

    @asynccontextmanager
    async def watching(self, bus: Tables) -> AsyncGenerator[None]:
        """Know the keys when the block begins, unless the bus is broken, and follow the bucket as long as it lasts."""
        with anyio.move_on_after(FIRST_READ_S):
            await self._read(bus)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._follow, bus)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def _follow(self, bus: Tables) -> None:
        try:
            await follow(bus, KEYS, self.update, KEYS_NOT_WATCHED)
        except ValueError:  # this gateway was given no key of the sealed buckets, and never will be
            log.warning(KEYS_NOT_WATCHED, code="sealed")

    async def _read(self, bus: Tables) -> None:
        try:
            table = await bus.table(KEYS)
            for name in await table.names():
                if (entry := await table.get(name)) is not None:
                    self.update(entry.key, entry.value, entry.revision)
        except (FaultError, ValueError) as error:
            log.warning(KEYS_NOT_WATCHED, error=type(error).__name__)


def is_good(record: KeyRecord, now_ms: int) -> bool:
    """Return whether a key lets anybody in."""
    return not record.revoked and (not record.expires or now_ms < record.expires)


def holder_of(record: KeyRecord) -> Caller:
    """Return the caller that a key stands for, with what it may do."""
    known = {scope.value: scope for scope in Scope}
    scopes = frozenset(known[name] for name in record.scopes if name in known)
    return Caller(key_caller(record.id), scopes, limits=record.limits)


class AddKey(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A key to be made: good for `scopes`, or for all that whoever asks may do but `operate`, which gives out keys.

    It is good for so many seconds, or for ever; no longer, and within no other limits, than the key of whoever asks.
    """

    name: KeyName
    scopes: Annotated[tuple[Scope, ...], Meta(max_length=len(Scope))] | None = None
    expires_in: Annotated[int, Meta(ge=1, le=MAX_LIFE_S)] | None = None
    limits: KeyLimits = KeyLimits()


class NamedKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which key is meant: its id, or its name."""

    id: Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.-]+$(?!\n)")]


async def add_key(bus: Tables, key_store: KeyStore, caller: Caller, arguments: AddKey) -> NewKey:
    """Make a key; nobody gives out more than they have, nor for longer.

    Raises:
        FaultError: the caller lacks a scope, or the name is taken.
    """
    scopes = tuple(sorted(caller.scopes - UNASKED if arguments.scopes is None else set(arguments.scopes)))
    for scope in scopes:
        caller.require(scope)
    now = key_store.clock()
    good = [record for record in key_store.records() if is_good(record, now)]
    own = next((record for record in good if key_caller(record.id) == caller.name), None)
    if any(record.name == arguments.name for record in good):
        raise invalid(f"There is a key {arguments.name} already; revoke it first, or take another name", 409)
    if is_callers_name(arguments.name) or any(record.id == arguments.name for record in good):
        raise invalid(f"name: {arguments.name} already stands for somebody else; take another name", 409)
    if len(good) >= MAX_KEYS:
        raise invalid(f"There are {MAX_KEYS} keys already; revoke some first", 409)
    made = make_key()
    expires = now + arguments.expires_in * 1_000 if arguments.expires_in else 0
    limits = arguments.limits
    if own is not None:
        expires, limits = _least(expires, own.expires) or 0, _within(limits, own.limits)
    record = KeyRecord(
        id=made.id,
        name=arguments.name,
        digest=made.digest,
        scopes=scopes,
        created=now,
        expires=expires,
        limits=limits,
    )
    if expires:
        await _put_end(bus, record, expires)
    await _put_key(bus, key_store, record)
    await _forget_keys(bus, key_store)
    return NewKey(key=made.text, **structs.asdict(_info(record, now)))


def _within(limits: KeyLimits, own: KeyLimits) -> KeyLimits:
    return KeyLimits(
        at_once=_least(limits.at_once, own.at_once),
        per_minute=_least(limits.per_minute, own.per_minute),
        weight=min(limits.weight, own.weight),
    )


def _least(one: int | None, other: int | None) -> int | None:
    """Return the lesser of two limits; what is none or 0 is no limit."""
    return min(filter(None, (one, other)), default=None)


async def exchange_key(bus: Tables, key_store: KeyStore, caller: Caller) -> NewKey:
    """Make the key of an extension in exchange for the key of a caller, which is good for that and for nothing after.

    It is named as that one without what says that it pairs, with a number where there is one of the name. It may have
    models asked where the owner has said so of that one.

    Raises:
        HttpStatusError: the key has been exchanged already, or is none that may be.
    """
    now, table = key_store.clock(), await bus.table(KEYS)
    spent = next((one for one in key_store.records() if key_caller(one.id) == caller.name), None)
    kept = None if spent is None else await table.get(spent.id)
    if kept is None or kept.value is None or not is_good(kept.value, now):
        raise _spent()
    try:  # whichever gateway writes first has exchanged it
        revoked = structs.replace(kept.value, revoked=now)
        key_store.update(kept.key, revoked, await table.put(kept.key, revoked, revision=kept.revision))
    except ValueError:
        raise _spent() from None
    names = {record.name for record in key_store.records() if is_good(record, now)}
    wanted = _PAIRING.sub("", kept.value.name, count=1) or "extension"
    numbered = (f"{wanted}-{number}" for number in count(2))
    name = next(one for one in chain((wanted,), numbered) if one not in names)
    scopes = tuple(scope for scope in EXTENSION_SCOPES if scope is Scope.BROWSER or scope in caller.scopes)
    return await add_key(bus, key_store, EXTENSION_MAKER, AddKey(name=name, scopes=scopes))


def _spent() -> HttpStatusError:
    return invalid("This code has been used, or its time is over; `weft extension --pair` prints another", 409)


def list_keys(key_store: KeyStore) -> KeysAnswer:
    """List the keys."""
    now = key_store.clock()
    records = sorted((one for one in key_store.records() if not one.revoked), key=lambda one: (one.created, one.id))
    return KeysAnswer(keys=tuple(_info(one, now) for one in records))


async def revoke_key(bus: Tables, key_store: KeyStore, arguments: NamedKey) -> RevokedKey:
    """Take a key back, by its id or its name, and have its logins deleted and its work ended.

    Raises:
        FaultError: there is none.
    """
    now = key_store.clock()
    record = named_key(key_store, arguments.id)
    if record is None:
        message = f"id: there is no key {arguments.id!r}; `weft keys list` and GET /api/keys have their names"
        raise invalid(message, 404)
    await _put_end(bus, record, now)
    await _put_key(bus, key_store, structs.replace(record, revoked=now))
    return RevokedKey(**structs.asdict(_info(record, now)))


def named_key(key_store: KeyStore, name: str) -> KeyRecord | None:
    """Return the key of an id or a name that was not revoked; of several that had one name, the one that is good."""
    now = key_store.clock()
    named = (one for one in key_store.records() if not one.revoked and name in (one.id, one.name))
    return max(named, key=lambda one: (one.id == name, is_good(one, now), one.created), default=None)


async def _put_end(bus: Tables, record: KeyRecord, at: int) -> None:
    await (await bus.table(KEY_ENDS)).put(key_caller(record.id), KeyEnd(at=at))


async def _put_key(bus: Tables, key_store: KeyStore, record: KeyRecord) -> None:
    table = await bus.table(KEYS)
    key_store.update(record.id, record, await table.put(record.id, record))


async def _forget_keys(bus: Tables, key_store: KeyStore) -> None:
    """Clear away what nobody needs to know any more."""
    now, table, ends = key_store.clock(), await bus.table(KEYS), await bus.table(KEY_ENDS)
    for record in key_store.records():
        ended = record.revoked or record.expires
        if ended and now - ended > FORGOTTEN_AFTER_MS:
            await ends.delete(key_caller(record.id))
            await table.delete(record.id)


def _info(record: KeyRecord, now_ms: int) -> KeyInfo:
    return KeyInfo(
        id=record.id,
        name=record.name,
        scopes=tuple(scope for scope in Scope if scope.value in record.scopes),
        created=record.created,
        expires=record.expires or None,
        expired=not is_good(record, now_ms),
        limits=record.limits,
    )
