"""The files by which hosts that share a NATS are known there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec
import pytest

from actors.registry import ACTORS
from actors.runtime import launch
from actors.runtime.natskeys import HOST, ONLOOKER, SUPERVISOR, key_of, participants, write_accounts
from actors.runtime.rundir import Ready, ready_path, write_ready
from actors.settings import Settings
from bus import TransportError
from bus.nats.keys import NKey
from bus.permissions import CLAIMS
from protocol.faults import Code, FaultError

URL = "nats://127.0.0.1:4222"


def joining(keys: Path) -> Settings:
    """Return the settings of a host that joins by these keys."""
    return Settings(nats_url=URL, nats_keys=str(keys))


@pytest.mark.slow
def test_everybody_gets_a_key_of_which_no_server_learns_the_secret_half(tmp_path: Path) -> None:
    accounts, secrets = write_accounts(tmp_path / "new" / "keys", ["dice"])

    text = accounts.read_text()
    assert text.startswith('ping_interval: "5s"')  # a host that is cut off gets no work for long
    seeds = msgspec.json.decode(secrets.read_bytes(), type=dict[str, str])
    assert seeds.keys() >= {SUPERVISOR, HOST, "dice", "dice store", *ACTORS}
    for name in ACTORS:
        key = key_of(joining(secrets), name)
        assert key is not None
        assert key.public in text
        assert key.store.public in text
    assert not any(seed in text for seed in seeds.values())
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600


def test_keys_are_never_overwritten(tmp_path: Path) -> None:
    _, secrets = write_accounts(tmp_path)
    before = secrets.read_bytes()

    with pytest.raises(FaultError, match="another folder"):
        write_accounts(tmp_path)

    assert secrets.read_bytes() == before


@pytest.mark.parametrize("name", ["gateway", "supervisor", "two words", "a.b", "", "x" * 49])
def test_who_brings_tools_takes_no_name_of_ours(tmp_path: Path, name: str) -> None:
    with pytest.raises(FaultError) as caught:
        write_accounts(tmp_path, [name])

    assert (caught.value.fault.code, list(tmp_path.iterdir())) == (Code.CONFIG_INVALID, [])


def test_who_brings_tools_writes_offers_of_its_own_name(tmp_path: Path) -> None:
    dice = participants(["dice"])["dice"]

    assert dice.may_use("$KV.offers.dice.r1")
    assert not dice.may_use("$KV.offers.other.r1")
    assert dice.may_subscribe("offers.dice")
    assert not dice.may_subscribe("offers.other")
    assert not dice.may_use(f"$JS.API.DIRECT.GET.{CLAIMS}")
    assert participants()[HOST].uses == ()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", [None, b"", b"[]", b'{"gateway": "no seed"}', b'{"verifier": ""}'])
def test_what_is_no_file_of_keys_is_told_with_the_cure(tmp_path: Path, text: bytes | None) -> None:
    path = tmp_path / "keys.json"
    if text is not None:
        path.write_bytes(text)

    with pytest.raises(FaultError, match="weft nats") as caught:
        key_of(joining(path), "gateway")

    assert caught.value.fault.code is Code.CONFIG_INVALID


def test_a_host_without_the_key_of_an_actor_says_so(tmp_path: Path) -> None:
    _, secrets = write_accounts(tmp_path)
    seeds = msgspec.json.decode(secrets.read_bytes(), type=dict[str, str])
    own = tmp_path / "own.json"
    own.write_bytes(msgspec.json.encode({HOST: seeds[HOST]}))

    with pytest.raises(FaultError, match="holds no key of gateway"):
        key_of(joining(own), "gateway")

    with pytest.raises(FaultError, match=r"holds no key of onlooker \(weft status .*keys.json"):
        key_of(joining(own), ONLOOKER)
    assert key_of(Settings(nats_url=URL), "gateway") is None


async def test_who_looks_on_is_known_by_the_keys_of_a_nats_that_was_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, secrets = write_accounts(tmp_path)
    settings = Settings(nats_keys=str(secrets), data_dir=tmp_path)  # a Weft that was started with --nats URL
    write_ready(ready_path(tmp_path), Ready(rest="", mcp="", nats=URL, key_file="", pid=os.getpid()))
    shown: list[tuple[str, NKey | None]] = []

    def connect_nats(url: str, _: str, key: NKey | None, *, ca_file: str) -> None:
        assert not ca_file
        shown.append((url, key))
        raise TransportError(url)

    monkeypatch.setattr(launch, "connect_nats", connect_nats)
    with pytest.raises(FaultError):
        async with launch.connect(settings):
            pass

    assert shown == [(URL, key_of(joining(secrets), ONLOOKER))]
