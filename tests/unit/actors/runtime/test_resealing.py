"""What an earlier version has left in the data folder, and who holds which key by now."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from actors.actor import purposes_of
from actors.registry import kinds
from actors.runtime.resealing import MARKER, reseal
from actors.sites import key_of, owned_key
from bus import Bus
from bus.memory import Broker
from bus.permissions import EVERYTHING
from bus.seal import Seal, UnsealError, new_key
from protocol.access import OWNER_NAME, KeyRecord
from protocol.codec import encode
from protocol.sessions import Cookie, SavedSession, SessionState
from protocol.subjects import KEYS, SESSIONS

ROOT = new_key()
LOGIN = SavedSession(
    profile="work",
    domain="example.com",
    state=SessionState(cookies=(Cookie(name="sid", value="1", domain="example.com"),)),
    created=1,
)
KEY = KeyRecord(id="abcdefghijkl", name="loom", digest=b"d" * 32)


def sealed_by_root(value: object, place: str) -> bytes:
    """Seal as Weft did when one key opened everything."""
    nonce, root = os.urandom(12), base64.urlsafe_b64decode(f"{ROOT}=")
    return nonce + AESGCM(root).encrypt(nonce, encode(value), place.encode())


async def test_what_the_root_has_sealed_is_sealed_anew_once_and_logins_are_the_owners(tmp_path: Path) -> None:
    name = key_of("work", "example.com")
    async with Broker() as broker, Bus(broker.connect("supervisor", EVERYTHING), "supervisor", "r1").running() as bus:
        logins, keys = await bus.transport.keys(SESSIONS), await bus.transport.keys(KEYS)
        await logins.put(name, sealed_by_root(LOGIN, f"sessions {name}"))
        await logins.put("lost/example.com", b"by a key that was lost")
        await keys.put(KEY.id, sealed_by_root(KEY, f"keys {KEY.id}"))
        for _ in range(2):
            await reseal(bus, Seal.of(ROOT), tmp_path)
            (tmp_path / MARKER).unlink()
        bus.seal = Seal(Seal.of(ROOT).derived(["sessions", "keys"]))
        login = await (await bus.table(SESSIONS)).get(owned_key(OWNER_NAME, "work", "example.com"))
        key = await (await bus.table(KEYS)).get(KEY.id)

        assert sorted(await logins.names()) == ["lost/example.com", f"{OWNER_NAME}/{name}"]
    assert (login and login.value, key and key.value) == (LOGIN, KEY)


def test_no_actor_is_given_more_than_it_needs() -> None:
    holders: dict[str, set[str]] = {}
    for name, kind in kinds().items():
        for purpose in purposes_of(kind):
            holders.setdefault(purpose, set()).add(name)

    assert holders["keys"] == {"gateway"}
    assert holders["mcp"] == {"gateway"}
    assert holders["ledger"] == holders["artifacts"] == {"runner", "keeper"}
    assert holders["session.save"] == {"gateway", "sessions"}
    assert holders["run.inputs"] == {"gateway", "runner"}
    assert holders["browser.type"] == {"gateway", "runner", "planner", "fetchers.playwright"}


def test_the_key_of_a_purpose_opens_nothing_else() -> None:
    root = Seal.of(ROOT)
    fetcher = Seal(root.derived(["http-cache"]))

    assert root.unseal(fetcher.seal(b"page", "http-cache 1"), "http-cache 1") == b"page"
    assert not fetcher.holds("sessions")
    with pytest.raises(UnsealError):
        fetcher.unseal(root.seal(b"login", "sessions a/b"), "sessions a/b")
    with pytest.raises(ValueError, match="keys"):
        fetcher.seal(b"forged", "keys abcdefghijkl")
