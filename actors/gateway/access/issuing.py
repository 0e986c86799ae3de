"""Giving out keys and taking them back; every gateway hears of it by its watch, this one at once."""

from __future__ import annotations

from typing import Annotated, TypeVar

from msgspec import Meta, Struct, structs

from actors.gateway.access import keys
from actors.gateway.access.caller import Caller, Scope
from actors.gateway.access.key_store import KeyStore, is_good
from actors.gateway.http.answers import invalid
from bus import Tables
from protocol.access import KeyInfo, KeyRecord, KeysAnswer, NewKey
from protocol.subjects import KEYS

MAX_KEYS = 1_000
"""Keys that are good at once; of more, nobody knows whose they are."""

FORGOTTEN_AFTER_MS = 30 * 86_400_000
"""When a key that was revoked or has expired is forgotten: no gateway was cut off from the bus for so long."""

MAX_LIFE_S = 10 * 366 * 86_400
"""Ten years: who wants more wants a key for good."""

KeyName = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*$(?!\n)")]

A = TypeVar("A")


class AddKey(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A key to be made: good for `scopes`, or for all that whoever asks may do but `operate`, which gives out keys.

    It is good for so many seconds, or for ever.
    """

    name: KeyName
    scopes: Annotated[tuple[Scope, ...], Meta(max_length=len(Scope))] | None = None
    expires_in: Annotated[int, Meta(ge=1, le=MAX_LIFE_S)] | None = None


class NamedKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which key is meant: its id, or its name."""

    id: Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.-]+$(?!\n)")]


async def add(bus: Tables, key_store: KeyStore, caller: Caller, arguments: AddKey) -> NewKey:
    """Make a key; nobody gives out more than they have.

    Raises:
        FaultError: the caller lacks a scope, or the name is taken.
    """
    scopes = tuple(sorted(caller.scopes - {Scope.OPERATE} if arguments.scopes is None else set(arguments.scopes)))
    for scope in scopes:
        caller.require(scope)
    now = key_store.clock()
    good = [record for record in key_store.records() if is_good(record, now)]
    if any(record.name == arguments.name for record in good):
        raise invalid(f"There is a key {arguments.name} already; revoke it first, or take another name", 409)
    if len(good) >= MAX_KEYS:
        raise invalid(f"There are {MAX_KEYS} keys already; revoke some first", 409)
    made = keys.make()
    expires = now + arguments.expires_in * 1_000 if arguments.expires_in else 0
    record = KeyRecord(id=made.id, name=arguments.name, digest=made.digest, scopes=scopes, created=now, expires=expires)
    await _put(bus, key_store, record)
    await _forget(bus, key_store)
    return NewKey(key=made.text, **structs.asdict(_told(record, now)))


def listed(key_store: KeyStore) -> KeysAnswer:
    """List the keys."""
    now = key_store.clock()
    found = sorted((one for one in key_store.records() if not one.revoked), key=lambda one: (one.created, one.id))
    return KeysAnswer(keys=tuple(_told(one, now) for one in found))


async def revoke(bus: Tables, key_store: KeyStore, arguments: NamedKey) -> KeyInfo:
    """Take a key back, by its id or its name.

    Raises:
        FaultError: there is none.
    """
    now = key_store.clock()
    named = (one for one in key_store.records() if not one.revoked and arguments.id in (one.id, one.name))
    # Of several that had one name, the one that is good.
    found = sorted(named, key=lambda one: (one.id == arguments.id, is_good(one, now), one.created))
    if not found:
        raise invalid("There is no such key", 404)
    await _put(bus, key_store, structs.replace(found[-1], revoked=now))
    return _told(found[-1], now)


async def _put(bus: Tables, key_store: KeyStore, record: KeyRecord) -> None:
    table = await bus.table(KEYS)
    key_store.hear(record.id, record, await table.put(record.id, record))


async def _forget(bus: Tables, key_store: KeyStore) -> None:
    """Clear away what nobody needs to know any more."""
    now, table = key_store.clock(), await bus.table(KEYS)
    for record in key_store.records():
        ended = record.revoked or record.expires
        if ended and now - ended > FORGOTTEN_AFTER_MS:
            await table.delete(record.id)


def _told(record: KeyRecord, now_ms: int) -> KeyInfo:
    return KeyInfo(
        id=record.id,
        name=record.name,
        scopes=tuple(scope for scope in Scope if scope.value in record.scopes),
        created=record.created,
        expires=record.expires or None,
        expired=not is_good(record, now_ms),
    )
