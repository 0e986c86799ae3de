"""Saved logins in the hands of several replicas, in memory and over NATS alike."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from msgspec.structs import replace

from actors.fetchers.logins import USED_MS
from actors.logins import login_pass
from actors.sites import owned_key
from bus.seal import Seal, new_key
from bus.stores import KeyChange, KeyTable
from protocol.access import OWNER_NAME, KeyEnd
from protocol.faults import Code, FaultError, fault
from protocol.sessions import PASS, Cookie, LoginGrant, OriginStorage, SavedSession, SessionState
from protocol.subjects import KEY_ENDS, SESSIONS
from tests.contract.world import MakeWorld, World, taking_part
from tests.support.logins import Holding, holding, passed

KEY = new_key()
URL = "https://www.example.com/account"
RESTORE_S = 0.2
"""What a login may take to be restored."""


@asynccontextmanager
async def replica(
    world: World, key: str = KEY, caller: str = OWNER_NAME
) -> AsyncGenerator[tuple[Holding, KeyTable[SavedSession]]]:
    """Return the logins as one replica of a tier has them."""
    async with taking_part(world, "trusted") as bus, holding(bus, Seal.of(key), caller) as logins:
        yield logins, await bus.table(SESSIONS)


def cookie(name: str, value: str = "v", domain: str = "example.com") -> Cookie:
    return Cookie(name=name, value=value, domain=domain)


async def values(sessions: Holding, profile: str = "me", url: str = URL) -> dict[str, str]:
    async with sessions.use(profile, url) as session:
        return {one.name: one.value for one in session.cookies.export()}


async def kept(table: KeyTable[SavedSession]) -> KeyChange[SavedSession]:
    """Return the login of `me` at the site as it lies in the bucket."""
    found = await table.get(owned_key(OWNER_NAME, "me", "example.com"))
    assert found is not None
    return found


def names(found: KeyChange[SavedSession]) -> list[str]:
    assert found.value is not None
    return sorted(one.name for one in found.value.state.cookies)


async def test_what_one_replica_leaves_another_begins_with(make_world: MakeWorld) -> None:
    storage = OriginStorage(
        origin="https://www.example.com", local_storage={"token": "t"}, indexed_db='[{"name":"db"}]'
    )
    async with make_world() as world, replica(world) as (one, _), replica(world) as (other, _):
        async with one.use("me", URL) as session:
            session.cookies.load([cookie("sid", "1")])
            session.origins[storage.origin] = storage

        async with other.use("me", "https://shop.example.com/") as again:
            assert again.profile == "me"
            assert again.state == SessionState(cookies=(cookie("sid", "1"),), origins=(storage,))


async def test_profiles_and_sites_share_nothing(make_world: MakeWorld) -> None:
    async with make_world() as world, replica(world) as (sessions, _):
        async with sessions.use("me", URL) as session:
            session.cookies.load([cookie("sid")])

        assert await values(sessions) == {"sid": "v"}
        assert await values(sessions, "you") == {}
        assert await values(sessions, url="https://example.org/") == {}


async def test_without_a_profile_nothing_is_kept(make_world: MakeWorld) -> None:
    async with make_world() as world, replica(world) as (sessions, table):
        for profile, url in ((None, URL), ("me", "no address")):
            async with sessions.use(profile, url) as session:
                session.cookies.load([cookie("sid")])
        await values(sessions)

        assert await table.names() == []


async def test_fetches_at_the_same_time_lose_nothing(make_world: MakeWorld) -> None:
    async with make_world() as world, replica(world) as (one, table), replica(world) as (other, _):
        together = anyio.Event()

        async def fetch(sessions: Holding, number: int) -> None:
            async with sessions.use("me", URL) as session:
                await together.wait()
                session.cookies.load([cookie(f"c{number}", str(number))])

        async with anyio.create_task_group() as tasks:
            for number in range(12):
                tasks.start_soon(fetch, (one, other)[number % 2], number)
            await anyio.wait_all_tasks_blocked()
            await anyio.sleep(0.1)
            together.set()

        assert names(await kept(table)) == sorted(f"c{number}" for number in range(12))


async def test_a_fetch_that_fails_or_is_cut_off_leaves_its_cookies_all_the_same(make_world: MakeWorld) -> None:
    async with make_world() as world, replica(world) as (sessions, _):

        async def fail() -> None:
            async with sessions.use("me", URL) as session:
                session.cookies.load([cookie("failed")])
                raise FaultError(fault(Code.NETWORK_TIMEOUT))

        with pytest.raises(FaultError):
            await fail()
        with anyio.move_on_after(0.05):
            async with sessions.use("me", URL) as session:
                session.cookies.load([cookie("cut")])
                await anyio.sleep_forever()

        assert sorted(await values(sessions)) == ["cut", "failed"]


async def test_a_cookie_that_was_removed_is_gone_and_one_that_ended_is_remembered(make_world: MakeWorld) -> None:
    over = Cookie(name="over", value="v", domain="example.com", expires=time.time() - 5)
    login = SavedSession(
        profile="me", domain="example.com", state=SessionState(cookies=(cookie("a"), over)), created=1, used=1
    )
    async with make_world() as world, replica(world) as (sessions, table):
        await table.put(owned_key(OWNER_NAME, "me", "example.com"), login)

        async with sessions.use("me", URL) as session:
            assert [one.name for one in session.cookies.export()] == ["a"]
            session.cookies.clear()

        assert names(await kept(table)) == ["over"]


async def test_nothing_is_kept_of_a_login_that_was_replaced_meanwhile(make_world: MakeWorld) -> None:
    key = owned_key(OWNER_NAME, "me", "example.com")
    login = SavedSession(profile="me", domain="example.com", state=SessionState(cookies=(cookie("a"),)), created=1)
    forgotten = SavedSession(profile="me", domain="example.com")
    async with make_world() as world, replica(world) as (sessions, table):
        for instead in (replace(login, created=2), forgotten):
            await table.put(key, login)
            async with sessions.use("me", URL) as session:
                session.cookies.load([cookie("a", "new")])
                await table.put(key, instead)

            assert (await kept(table)).value == instead


async def test_a_login_that_is_only_used_is_written_once_an_hour(make_world: MakeWorld) -> None:
    key, now = owned_key(OWNER_NAME, "me", "example.com"), time.time_ns() // 1_000_000
    login = SavedSession(
        profile="me",
        domain="example.com",
        state=SessionState(cookies=(cookie("a"),)),
        created=1,
        used=now - USED_MS - 1,
    )
    async with make_world() as world, replica(world) as (sessions, table):
        await table.put(key, login)
        seen = list[KeyChange[SavedSession]]()
        for _ in range(3):
            await values(sessions)
            seen.append(await kept(table))

        assert seen == [seen[0]] * 3
        assert seen[0].value is not None
        assert (seen[0].value.used >= now, seen[0].value.updated) == (True, 0)


async def test_logins_of_a_key_that_was_lost_make_room_for_new_ones(make_world: MakeWorld) -> None:
    async with make_world() as world, replica(world, new_key()) as (old, _), replica(world) as (sessions, _):
        async with old.use("me", URL) as session:
            session.cookies.load([cookie("old")])

        async with sessions.use("me", URL) as session:
            assert session.state == SessionState()
            session.cookies.load([cookie("new")])

        assert await values(sessions) == {"new": "v"}


@pytest.mark.slow
async def test_a_page_is_not_given_up_because_its_login_cannot_be_kept(make_world: MakeWorld) -> None:
    async with make_world() as world, replica(world) as (sessions, _), sessions.use("me", URL) as session:
        session.cookies.load([cookie("sid")])
        await world.breaks()


async def test_a_large_login_is_restored_whole(make_world: MakeWorld) -> None:
    cookies = [cookie(f"c{number}", "v" * 1_000) for number in range(300)]
    storage = OriginStorage(origin="https://www.example.com", local_storage={str(n): "x" * 1_000 for n in range(300)})
    async with make_world() as world, replica(world) as (one, _), replica(world) as (other, _):
        async with one.use("me", URL) as session:
            session.cookies.load(cookies)
            session.origins[storage.origin] = storage

        async with other.use("me", URL) as session:
            assert (len(session.cookies.export()), session.origins) == (300, {storage.origin: storage})


async def test_the_login_of_another_is_opened_by_grant_alone(make_world: MakeWorld) -> None:
    async with make_world() as world, replica(world) as (own, table), replica(world, caller="key-b") as (other, _):
        async with own.use("me", URL) as session:
            session.cookies.load([cookie("sid", "own")])
        async with other.use("me", URL) as session:
            assert session.state == SessionState()
        change = await kept(table)
        assert change.value is not None
        for grant, left in ((LoginGrant(key="key-b", read_only=True), "own"), (LoginGrant(key="key-b"), "new")):
            await table.put(change.key, replace(change.value, grants=(grant,)))
            async with other.use("me", URL) as session:
                assert [one.value for one in session.cookies.export()] == ["own"]
                session.cookies.load([cookie("sid", "new")])

            assert await values(own) == {"sid": left}


async def test_what_a_login_has_read_is_cached_elsewhere_when_it_was_replaced(make_world: MakeWorld) -> None:
    login = SavedSession(profile="me", domain="example.com", created=1)
    partitions = list[str]()
    async with make_world() as world, replica(world) as (sessions, table):
        for saved in (login, replace(login, epoch="renewed"), replace(login, created=2)):
            await table.put(owned_key(OWNER_NAME, "me", "example.com"), saved)
            async with sessions.use("me", URL) as session:
                partitions.append(session.partition)
            async with sessions.use("me", URL) as session:
                assert session.partition == partitions[-1]

    assert len(set(partitions)) == 3


async def test_a_pass_opens_the_login_that_it_names_and_no_other(make_world: MakeWorld) -> None:
    seal = Seal.of(KEY)
    forged = (b"", b"x" * 64, Seal.of(new_key()).seal(b"{}", PASS), login_pass(seal, OWNER_NAME, "me", URL, 1))
    async with make_world() as world, replica(world) as (sessions, _):
        async with sessions.use("me", URL) as session:
            session.cookies.load([cookie("sid")])
        for login in forged:
            with pytest.raises(FaultError) as caught:
                await sessions.logins.lease("me", URL, login)
            assert caught.value.fault.code is Code.AUTH_MISSING_SESSION

        assert await sessions.logins.lease("me", URL, passed(seal, "me", "https://example.org/")) is None


async def test_a_login_goes_with_the_key_whose_it_is_whichever_replica_hears_of_it(make_world: MakeWorld) -> None:
    async with make_world() as world, replica(world, caller="key-a") as (mine, table), replica(world) as (other, _):
        for sessions in (mine, other):
            async with sessions.use("me", URL) as session:
                session.cookies.load([cookie("sid")])
        async with taking_part(world, "trusted") as gateway:
            gateway.seal = Seal.of(KEY)
            await (await gateway.table(KEY_ENDS)).put("key-a", KeyEnd(at=1))
        with anyio.fail_after(90):
            while (found := await table.get(owned_key("key-a", "me", "example.com"))) and names(found):
                await anyio.sleep(0.005)

        assert names(await kept(table)) == ["sid"]
        with pytest.raises(FaultError, match="AUTH_MISSING_SESSION"):
            await values(mine)
