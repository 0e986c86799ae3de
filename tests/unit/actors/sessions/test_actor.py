"""The actor of saved logins, on a bus in memory, with a navigator that says what it is told to."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import msgspec
import pytest

from actors.actor import grant_of, handlers
from actors.fetchers.logins import Logins
from actors.sessions import vault
from actors.sessions.actor import LoginsActor
from actors.settings import Settings
from actors.sites import owned_key
from bus import Bus
from bus.clock import now_ms
from bus.memory import Broker
from bus.seal import Seal, new_key
from protocol import subjects
from protocol.access import OWNER_NAME, KeyEnd
from protocol.browse import Freshness
from protocol.faults import Code, FaultError, fault
from protocol.pages import Browsed, BrowsePage, PageBrowsed
from protocol.sessions import (
    Cookie,
    ListSessions,
    NamedSession,
    SaveSession,
    SessionHealth,
    SessionState,
    SessionStatus,
    ShareSession,
    sealed_for,
)
from protocol.subject_kinds import Call
from protocol.tiers import RenderTier
from tests.requirements import requirement
from tests.support.logins import passed
from tests.unit.actors.gateway_data import browsed

KEY = new_key()
ADDRESS = "https://www.example.com/account"
STATE = SessionState(cookies=(Cookie(name="sid", value="very-secret", domain="example.com"),))
ME = NamedSession(domain="www.example.com", profile="me", caller=OWNER_NAME)

Browse = Callable[[BrowsePage], Browsed]


@dataclass
class World:
    """Who asks, and what the navigator was asked; `answer` is what it says."""

    bus: Bus
    broker: Broker
    asked: list[BrowsePage] = field(default_factory=list[BrowsePage])
    answer: Browse = lambda _: browsed()

    async def browse(self, page: BrowsePage) -> Browsed:
        self.asked.append(page)
        return self.answer(page)

    async def save(self, state: SessionState = STATE, domain: str = "example.com", **more: str) -> SessionStatus:
        profile = more.setdefault("profile", "me")
        more.setdefault("caller", OWNER_NAME)
        sealed = Seal.of(KEY).seal(msgspec.json.encode(state), sealed_for(profile, domain))
        return await self.bus.call(subjects.SESSION_SAVE, SaveSession(domain=domain, sealed=sealed, **more))

    async def end(self, caller: str, at: int = 1) -> None:
        """Write down as the gateway does that a key ends."""
        await (await self.bus.table(subjects.KEY_ENDS)).put(caller, KeyEnd(at=at))

    async def share(self, owner: str, key: str, profile: str = "me") -> SessionStatus:
        share = ShareSession(domain="example.com", profile=profile, caller=owner, key=key)
        return await self.bus.call(subjects.SESSION_SHARE, share)

    async def listed(self, caller: str) -> list[tuple[str, int]]:
        """Name the owner of each login that a caller may use, and with how many it is shared."""
        answer = await self.bus.call(subjects.SESSION_LIST, ListSessions(caller=caller))
        return [(one.owner, len(one.grants)) for one in answer.sessions]

    async def health(self) -> SessionStatus:
        return await self.bus.call(subjects.SESSION_HEALTH, ME)

    async def seen(self, url: str = ADDRESS, code: Code | None = None, profile: str | None = "me") -> None:
        event = PageBrowsed(url=url, duration_ms=1, code=code, profile=profile, caller=OWNER_NAME)
        await self.bus.tell(subjects.PAGE_BROWSED, event)
        await anyio.wait_all_tasks_blocked()


@asynccontextmanager
async def running() -> AsyncGenerator[World]:
    """Run the actor with the grant that it has in a system."""
    with anyio.fail_after(90):
        async with (
            Broker() as broker,
            Bus(broker.connect("sessions", grant_of(LoginsActor)), "sessions", "r1").running() as own,
            Bus(broker.connect("navigator"), "navigator", "r1").running() as navigator,
            Bus(broker.connect("asker"), "asker", "r1").running() as asker,
        ):
            own.seal = asker.seal = Seal.of(KEY)
            world = World(asker, broker)
            await navigator.serve(subjects.BROWSE, world.browse, at_once=4)
            actor = LoginsActor(bus=own, settings=Settings())
            async with actor.open():
                for handler in handlers(LoginsActor):
                    await own.serve(handler.subject, getattr(actor, handler.method), at_once=handler.at_once)
                yield world


async def refused(world: World, call: Call[NamedSession, SessionStatus]) -> Code:
    with pytest.raises(FaultError) as caught:
        await world.bus.call(call, ME)
    return caught.value.fault.code


def wall(_: BrowsePage) -> Browsed:
    raise FaultError(fault(Code.AUTH_SESSION_EXPIRED))


async def test_a_login_that_was_saved_is_listed_and_stands_well() -> None:
    async with running() as world:
        saved = await world.save(address=ADDRESS)
        await world.save(profile="you")
        everything = await world.bus.call(subjects.SESSION_LIST, ListSessions(caller=OWNER_NAME))
        mine = await world.bus.call(subjects.SESSION_LIST, ListSessions(profile="me", caller=OWNER_NAME))

        assert (saved.domain, saved.profile, saved.health) == ("example.com", "me", SessionHealth.HEALTHY)
        assert (saved.cookies, saved.auth_cookies, saved.address) == (1, ("sid",), ADDRESS)
        assert mine.sessions == (saved,)
        assert [one.profile for one in everything.sessions] == ["me", "you"]
        assert await world.health() == saved


async def test_a_key_has_so_many_logins_and_forgetting_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault, "MAX_LOGINS", 2)
    async with running() as world:
        for profile in ("me", "you"):
            await world.save(profile=profile)
        with pytest.raises(FaultError) as full:
            await world.save(profile="third")
        again, others = await world.save(profile="you"), await world.save(profile="third", caller="key-b")
        await world.bus.call(subjects.SESSION_DELETE, ME)
        third = await world.save(profile="third")

        assert full.value.fault.code is Code.CONFIG_STORAGE_FULL
        assert [one.profile for one in (again, others, third)] == ["you", "third", "third"]


async def test_no_value_is_ever_told_or_lies_in_the_open() -> None:
    async with running() as world:
        tap = world.bus.tap()
        heard = list[bytes]()

        async def listen() -> None:
            async for message in tap:
                heard.append(message.payload)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await anyio.wait_all_tasks_blocked()
            await world.save()
            await world.health()
            await world.bus.call(subjects.SESSION_REFRESH, ME)
            await world.bus.call(subjects.SESSION_LIST, ListSessions(caller=OWNER_NAME))
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

        kept = [entry.value or b"" for entry in world.broker.tables["sessions"].entries.values()]
        assert len(heard) >= 8
        assert not any(b"very-secret" in payload for payload in [*heard, *kept])


@pytest.mark.parametrize(
    ("state", "more", "field"),
    [
        (SessionState(), {}, "state"),
        (SessionState(cookies=(Cookie(name="a", value="b", domain="other.test"),)), {}, "state"),
        (STATE, {"domain": "no host"}, "domain"),
        (STATE, {"address": "https://other.test/"}, "address"),
        (STATE, {"address": "mailto:me"}, "address"),
    ],
)
async def test_what_is_of_no_use_is_refused(state: SessionState, more: dict[str, str], field: str) -> None:
    async with running() as world:
        with pytest.raises(FaultError) as caught:
            await world.save(state, **more)

        assert (caught.value.fault.code, caught.value.fault.field) == (Code.VALIDATION_INVALID_REQUEST, field)


async def test_what_was_sealed_for_another_profile_is_refused() -> None:
    sealed = Seal.of(KEY).seal(msgspec.json.encode(STATE), sealed_for("alice", "example.com"))
    async with running() as world:
        with pytest.raises(FaultError) as caught:
            await world.bus.call(
                subjects.SESSION_SAVE,
                SaveSession(domain="example.com", profile="mallory", sealed=sealed, caller=OWNER_NAME),
            )

        assert caught.value.fault.field == "state"


async def test_a_login_that_was_deleted_is_gone() -> None:
    async with running() as world:
        await world.save()
        told = await world.bus.call(subjects.SESSION_DELETE, ME)

        assert told.health is SessionHealth.NOT_FOUND
        assert await world.health() == told
        assert (await world.bus.call(subjects.SESSION_LIST, ListSessions(caller=OWNER_NAME))).sessions == ()
        assert await refused(world, subjects.SESSION_DELETE) is Code.AUTH_MISSING_SESSION
        raw = world.broker.tables["sessions"].entries[owned_key(OWNER_NAME, "me", "example.com")].value
        assert raw is not None
        assert len(raw) < 100


async def test_there_is_nothing_to_renew_where_nothing_was_saved() -> None:
    async with running() as world:
        assert await refused(world, subjects.SESSION_REFRESH) is Code.AUTH_MISSING_SESSION
        assert (world.asked, (await world.health()).health) == ([], SessionHealth.NOT_FOUND)


async def test_to_renew_is_to_visit_the_page_that_shows_it() -> None:
    async with running() as world:
        await world.save(address=ADDRESS)
        told = await world.bus.call(subjects.SESSION_REFRESH, ME)

        (page,) = world.asked
        assert (page.url, page.options.session_profile, page.options.force_tier) == (ADDRESS, "me", None)
        assert page.options.freshness_requirement is Freshness.REALTIME
        assert (told.health, told.verified > 0) == (SessionHealth.HEALTHY, True)


async def test_a_wall_is_tried_with_the_browser_and_then_the_login_has_expired() -> None:
    async with running() as world:
        world.answer = wall
        await world.save(address=ADDRESS)
        with pytest.raises(FaultError) as caught:
            await world.bus.call(subjects.SESSION_REFRESH, ME)

        told = caught.value.fault
        assert [page.options.force_tier for page in world.asked] == [None, RenderTier.PLAYWRIGHT]
        assert (told.code, [action.action for action in told.actions]) == (
            Code.AUTH_SESSION_EXPIRED,
            ["log_in", "report_to_user"],
        )
        assert told.retryable is False
        assert told.actions[0].parameters == {
            "templateId": "login_keep_session",
            "inputs": {"startUrl": ADDRESS, "profile": "me"},
        }
        assert (await world.health()).health is SessionHealth.EXPIRED


async def test_what_the_browser_gets_past_has_not_expired() -> None:
    async with running() as world:
        world.answer = lambda page: browsed() if page.options.force_tier else wall(page)
        await world.save(address=ADDRESS)
        await world.seen(code=Code.AUTH_SESSION_EXPIRED)

        assert (await world.bus.call(subjects.SESSION_REFRESH, ME)).health is SessionHealth.HEALTHY


@pytest.mark.parametrize("code", [Code.BROWSER_UNAVAILABLE, Code.CONFIG_TIER_NOT_DEPLOYED])
async def test_without_a_browser_the_wall_is_the_answer(code: Code) -> None:
    def answer(page: BrowsePage) -> Browsed:
        raise FaultError(fault(code if page.options.force_tier else Code.AUTH_SESSION_EXPIRED))

    async with running() as world:
        world.answer = answer
        await world.save()

        assert await refused(world, subjects.SESSION_REFRESH) is Code.AUTH_SESSION_EXPIRED


@requirement("000.3.retryable")
async def test_a_site_that_is_away_says_nothing_of_the_login_and_can_be_visited_again() -> None:
    def answer(_: BrowsePage) -> Browsed:
        raise FaultError(fault(Code.NETWORK_TIMEOUT))

    async with running() as world:
        world.answer = answer
        await world.save()

        with pytest.raises(FaultError) as caught:
            await world.bus.call(subjects.SESSION_REFRESH, ME)

        told = caught.value.fault
        assert (told.code, told.retryable) == (Code.NETWORK_TIMEOUT, True)
        assert [action.action for action in told.actions] == ["retry", "report_to_user"]
        assert (await world.health()).health is SessionHealth.HEALTHY


async def test_a_wall_that_anybody_meets_marks_the_login_until_the_page_is_seen() -> None:
    async with running() as world:
        await world.save()
        states = list[SessionHealth]()
        for url, code, profile in (
            (ADDRESS, Code.AUTH_SESSION_EXPIRED, None),
            (ADDRESS, Code.AUTH_SESSION_EXPIRED, "you"),
            (ADDRESS, Code.AUTH_SESSION_EXPIRED, "me"),
            ("https://example.com/", None, "me"),
            ("nonsense", None, "me"),
            (ADDRESS, None, "me"),
        ):
            await world.seen(url, code, profile)
            states.append((await world.health()).health)

        healthy, expired = SessionHealth.HEALTHY, SessionHealth.EXPIRED
        assert states == [healthy, healthy, expired, expired, expired, healthy]


async def test_with_a_key_end_its_logins_and_what_was_shared_with_it() -> None:
    async with running() as world:
        await world.end("key-later", at=now_ms() + 600_000)
        for caller, profile in (("key-later", "a"), ("key-gone", "b"), (OWNER_NAME, "c")):
            await world.save(caller=caller, profile=profile)
        for owner, key in (("key-gone", "key-later"), (OWNER_NAME, "key-gone"), (OWNER_NAME, "key-later")):
            await world.share(owner, key, "b" if owner == "key-gone" else "c")
        before = await world.listed("key-later")
        await world.end("key-gone")
        while await world.listed("key-gone"):
            await anyio.sleep(0.005)

        assert before == [("key-later", 0), ("key-gone", 0), (OWNER_NAME, 0)]
        assert await world.listed("key-later") == [("key-later", 0), (OWNER_NAME, 0)]
        assert await world.listed(OWNER_NAME) == [(OWNER_NAME, 1)]
        with pytest.raises(FaultError, match="AUTH_MISSING_SESSION"):
            await world.save(caller="key-gone")


async def test_a_name_stands_for_one_login_of_a_site_to_each_caller() -> None:
    async with running() as world:
        await world.save(caller="key-ana")
        await world.share("key-ana", "key-bob")
        with pytest.raises(FaultError) as saved:
            await world.save(caller="key-bob")
        await world.save(caller="key-bob", profile="work")
        await world.save(caller="key-ana", profile="work")
        with pytest.raises(FaultError) as shared:
            await world.share("key-ana", "key-bob", "work")
        again = await world.share("key-ana", "key-bob")

        faults = [one.value.fault for one in (saved, shared)]
        assert [(one.code, one.field) for one in faults] == [
            (Code.VALIDATION_INVALID_REQUEST, "profile"),
            (Code.VALIDATION_INVALID_REQUEST, "with"),
        ]
        assert await world.listed("key-bob") == [("key-ana", 0), ("key-bob", 0)]
        assert len(again.grants) == 1


async def test_what_a_fetch_made_is_not_kept_beside_what_was_shared_meanwhile() -> None:
    async with running() as world:
        logins = Logins(world.bus)
        lease = await logins.lease("me", ADDRESS, passed(Seal.of(KEY), "me", ADDRESS, caller="key-bob"))
        assert lease is not None
        await world.save(caller="key-ana")
        await world.share("key-ana", "key-bob")
        lease.login.cookies.load([Cookie(name="late", value="v", domain="example.com")])
        await logins.keep(lease)

        assert await world.listed("key-bob") == [("key-ana", 0)]


async def test_a_pass_ends_with_its_key_and_a_fetch_that_has_it_saves_nothing() -> None:
    async with running() as world:
        seal, logins = Seal.of(KEY), Logins(world.bus)
        mine, other = (passed(seal, "me", ADDRESS, caller) for caller in ("key-gone", "key-other"))
        await world.save(caller="key-other")
        lease = await logins.lease("me", ADDRESS, mine)
        assert lease is not None
        lease.login.cookies.load([Cookie(name="late", value="v", domain="example.com")])
        await world.end("key-gone")
        await logins.keep(lease)

        with pytest.raises(FaultError, match="AUTH_MISSING_SESSION"):
            await logins.lease("me", ADDRESS, mine)
        assert await world.listed("key-gone") == []
        assert await logins.lease("me", ADDRESS, other) is not None
