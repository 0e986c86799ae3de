"""The actor of saved logins: saves, lists, checks, renews and deletes them."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import anyio
import msgspec
from msgspec.structs import replace

from actors.actor import Actor, handles, subscribes
from actors.logins import PAGE_MS, login_pass, read_pass
from actors.sessions import rules
from actors.sessions.endings import EndedKeys
from actors.sessions.vault import LoginVault, UsableLogin, new_epoch
from actors.sites import site_of
from bus.clock import now_ms
from bus.seal import KEY_BYTES, Seal, UnsealError, seal_for
from protocol import subjects
from protocol.actions import LOG_IN, REPORT, RETRY, SLOWER, WAIT, Action, ranked
from protocol.browse import DEFAULT_LATENCY_MS, BrowseOptions, Freshness
from protocol.codec import Decoder, encode
from protocol.faults import Code, FaultError, fault
from protocol.pages import BrowsePage, PageBrowsed
from protocol.sessions import (
    CHANGE,
    LEASE,
    MAX_LOGINS,
    MAX_STATE_BYTES,
    OPENED,
    PASS,
    SAVING,
    KeepLogin,
    KeptLogin,
    ListSessions,
    LoginChange,
    LoginContent,
    LoginGrant,
    LoginLeased,
    NamedSession,
    OpenedLogin,
    OpenLogin,
    SavedSession,
    SaveSession,
    SessionList,
    SessionState,
    SessionStatus,
    ShareSession,
    sealed_for,
)
from protocol.subject_kinds import Bucket, Subject
from protocol.tiers import BROWSER

MAX_GRANTS = 50

PAUSE_S = 2.0
"""How long a site that failed for the moment is left alone before it is visited once more."""

_AWAY = frozenset({Code.NETWORK_CONNECTION_FAILED, Code.NETWORK_TLS_FAILED, Code.NETWORK_TIMEOUT})
"""What a site answers with that has no TLS."""

_PASSING = frozenset(
    {
        Code.NETWORK_CONNECTION_FAILED,
        Code.HTTP_SERVICE_UNAVAILABLE,
        Code.HTTP_BAD_GATEWAY,
        Code.HTTP_SERVER_ERROR,
        Code.INTERNAL_BUSY,
    }
)
"""What may be over in a moment."""

_AGAIN = frozenset(one.action for one in (RETRY, WAIT, SLOWER))
"""What can be done about a page that only a renewal has asked for: the rest is of the options of a browse."""

_read_lease = msgspec.json.Decoder(LoginLeased).decode
_read_change = msgspec.json.Decoder(LoginChange).decode
_read_state: Decoder[SessionState] = Decoder(SessionState, Code.VALIDATION_INVALID_REQUEST, MAX_STATE_BYTES)


@dataclass
class LoginsActor(Actor):
    """Keeps the saved logins; one leaves it only for the fetch that was passed the right to it, and sealed for that."""

    name: ClassVar[str] = "sessions"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (subjects.BROWSE,)
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.SESSIONS, subjects.KEY_ENDS)
    purposes: ClassVar[tuple[str, ...]] = (SAVING, PASS, LEASE)

    clock: Callable[[], int] = now_ms
    """The time in ms since the epoch."""

    _vault: LoginVault = field(init=False, repr=False)
    _ended_keys: EndedKeys = field(init=False, repr=False)

    @classmethod
    def warm(cls) -> None:
        """Load the list of public suffixes."""
        site_of("https://weft.example/")

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Open the bucket of logins, and have them deleted when the keys end whose they are."""
        self._vault = LoginVault(await self.bus.table(subjects.SESSIONS))
        self._ended_keys = EndedKeys(self.bus, await self.bus.table(subjects.KEY_ENDS), self._vault, self.clock)
        async with self._ended_keys.open():
            yield

    @handles(subjects.SESSION_SAVE, at_once=8)
    async def save(self, request: SaveSession) -> SessionStatus:
        """Save a login of the caller in place of the one that they had.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, when nothing of it is of use at the site, or one that is shared with
                the caller has its name; AUTH_MISSING_SESSION, when the key of the caller has ended;
                CONFIG_STORAGE_FULL.
        """
        await self._ended_keys.check(request.caller)
        domain, address = site_of(request.domain), request.address
        if address and site_of(address, "address") != domain:
            raise _invalid("address", f"address: not a page of {domain}")
        state = self._unsealed(request)
        if not rules.belongs(state, domain):
            raise _invalid("state", f"state: no cookie and no storage of {domain}")
        if await self._vault.is_other(request.caller, request.caller, request.profile, domain):
            taken = (
                f"profile: {request.profile} names a login for {domain} that is shared with you; choose another name"
            )
            raise _invalid("profile", taken)
        now = self.clock()
        saved = SavedSession(
            profile=request.profile,
            domain=domain,
            state=state,
            address=address,
            created=now,
            updated=now,
            used=now,
            origin=rules.origin_named(request.domain, state),
            owner=request.caller,
        )
        return _status(UsableLogin(await self._vault.put(saved), request.caller))

    @handles(subjects.SESSION_LIST, at_once=8)
    async def list(self, request: ListSessions) -> SessionList:
        """Return how every login stands that the caller may use, or those of one profile."""
        wanted = [
            one
            for one in await self._vault.usable(request.caller)
            if request.profile is None or one.saved.profile == request.profile
        ]
        return SessionList(sessions=tuple(map(_status, wanted[:MAX_LOGINS])), more=len(wanted[MAX_LOGINS:]))

    @handles(subjects.SESSION_HEALTH, at_once=16)
    async def health(self, request: NamedSession) -> SessionStatus:
        """Return how a login stands; one that there is not for the caller stands as not found."""
        domain = site_of(request.domain)
        login = await self._vault.find(request.caller, request.profile, domain)
        return _status(login or UsableLogin(SavedSession(profile=request.profile, domain=domain), ""))

    @handles(subjects.SESSION_DELETE, at_once=8)
    async def delete(self, request: NamedSession) -> SessionStatus:
        """Delete a login of the caller.

        Raises:
            FaultError: AUTH_MISSING_SESSION.
        """
        return _status(UsableLogin(await self._vault.forget((await self._own(request)).saved), ""))

    @handles(subjects.SESSION_SHARE, at_once=8)
    async def share(self, request: ShareSession) -> SessionStatus:
        """Share a login of the caller with somebody else, or no longer.

        Raises:
            FaultError: AUTH_MISSING_SESSION, or VALIDATION_INVALID_REQUEST where it has as many grants as it may have,
                or whom it is shared with uses another login by that name.
        """
        login = await self._own(request)
        grant = None if request.remove else LoginGrant(key=request.key, read_only=request.read_only)
        if request.key == request.caller:
            raise _invalid("with", "with: it is that key's own")
        if grant is not None:
            await self._check_grant(login.saved, grant)

        def shared(saved: SavedSession) -> SavedSession:
            others = tuple(one for one in saved.grants if one.key != request.key)
            return replace(saved, grants=others if grant is None else (*others, grant))

        saved = await self._vault.change(login.saved, shared)
        return _status(UsableLogin(saved or login.saved, request.caller))

    @handles(subjects.SESSION_OPEN, at_once=32)
    async def open_login(self, request: OpenLogin) -> OpenedLogin:
        """Open the login of a pass, for one fetch; one that there is not yet is empty, and made when it is kept.

        Raises:
            FaultError: AUTH_MISSING_SESSION, also when the key of the caller has ended, or VALIDATION_INVALID_PACKET
                for what is no key.
        """
        passed = read_pass(self.bus.seal, request.login, self.clock())
        await self._ended_keys.check(passed.caller)
        login = await self._vault.find(passed.caller, passed.profile, passed.site)
        if login is None:
            nothing = SavedSession(profile=passed.profile, domain=passed.site, owner=passed.caller, epoch=new_epoch())
            login = UsableLogin(nothing, passed.caller)
        saved, key = login.saved, secrets.token_bytes(KEY_BYTES)
        content = LoginContent(
            profile=passed.profile,
            site=passed.site,
            state=saved.state,
            partition=login.partition,
            created=saved.created,
            used=saved.used,
            key=key,
            lease=self._leased(login.leased(key)),
        )
        try:
            return OpenedLogin(sealed=seal_for(request.public, encode(content), OPENED))
        except ValueError:
            raise FaultError(fault(Code.VALIDATION_INVALID_PACKET)) from None

    @handles(subjects.SESSION_KEEP, at_once=32)
    async def keep_login(self, request: KeepLogin) -> KeptLogin:
        """Save what a fetch has changed of a login; nothing where its caller may not, or it is another by now.

        Raises:
            FaultError: VALIDATION_INVALID_PACKET for a lease that is none of ours; AUTH_MISSING_SESSION, when the key
                of the caller has ended.
        """
        try:
            lease = _read_lease(self._seal().unseal(request.lease, LEASE))
            change = _read_change(Seal({CHANGE: lease.key}).unseal(request.sealed, CHANGE))
        except (UnsealError, msgspec.MsgspecError):
            raise FaultError(fault(Code.VALIDATION_INVALID_PACKET)) from None
        await self._ended_keys.check(lease.caller)
        if not lease.created and await self._vault.is_other(lease.caller, lease.owner, lease.profile, lease.site):
            return KeptLogin(saved=False)  # it was shared meanwhile, and one name stands for one login
        kept = await self._vault.keep(lease, change, self.clock())
        if kept is None:
            return KeptLogin(saved=False)
        return KeptLogin(saved=True, lease=self._leased(replace(lease, created=kept.created)))

    @handles(subjects.SESSION_REFRESH, at_once=8)
    async def refresh(self, request: NamedSession) -> SessionStatus:
        """Visit the site with a login, so that it renews its cookies, and return how the login stands then.

        Raises:
            FaultError: AUTH_MISSING_SESSION, also for one that the caller may not change; AUTH_SESSION_EXPIRED, when
                the site wants a login all the same; or why the page could not be got.
        """
        login = await self._vault.need(request.caller, request.profile, site_of(request.domain))
        if login.read_only:
            raise FaultError(fault(Code.AUTH_MISSING_SESSION, "This session is shared to be used, not to be renewed."))
        *first, last = rules.to_visit(login.saved)
        for url in first:
            try:
                return await self._refreshed(login, url)
            except FaultError as error:
                if error.fault.code not in _AWAY:
                    raise
        return await self._refreshed(login, last)

    async def _refreshed(self, login: UsableLogin, url: str) -> SessionStatus:
        """Visit one page with a login; a failure names what is left to try: the same again later, or to log in anew."""
        saved = login.saved
        try:
            await self._visit(login, url)
        except FaultError as error:
            again = [one for one in error.fault.actions if one.action in _AGAIN] if error.fault.retryable else []
            failure = replace(error.fault, retryable=bool(again), actions=ranked((*again, REPORT)))
            if failure.code is Code.AUTH_SESSION_EXPIRED:
                await self._note(saved, PageBrowsed(url=url, duration_ms=0, code=Code.AUTH_SESSION_EXPIRED))
                actions = ranked((_log_in_again(url, saved.profile), REPORT))
                message = "The site wants a login again."
                failure = replace(failure, message=message, retryable=False, actions=actions).at(url=url)
            raise FaultError(failure) from None
        await self._note(saved, PageBrowsed(url=url, duration_ms=0))
        await self._vault.change(saved, lambda latest: replace(latest, epoch=new_epoch()))
        return await self.health(NamedSession(domain=saved.domain, profile=saved.profile, caller=login.caller))

    @subscribes(subjects.PAGE_BROWSED, at_once=8)
    async def browsed(self, event: PageBrowsed) -> None:
        """Note whether a page that was browsed with a login showed a login wall."""
        if event.profile is None:
            return
        try:
            site = site_of(event.url)
        except FaultError:
            return
        login = await self._vault.find(event.caller, event.profile, site)
        if login is not None:
            await self._note(login.saved, event)

    async def _visit(self, login: UsableLogin, url: str) -> None:
        """Browse the page by the cheapest tier that can; when it shows a login wall, by the browser."""
        profile = login.saved.profile
        options = BrowseOptions(
            session_profile=profile, freshness_requirement=Freshness.REALTIME, max_latency_ms=DEFAULT_LATENCY_MS
        )
        passed = login_pass(self.bus.seal, login.caller, profile, url, self.clock() + PAGE_MS)
        page = BrowsePage(url=url, options=options, caller=login.caller, login=passed)
        try:
            await self._browse(page)
        except FaultError as error:
            if error.fault.code is not Code.AUTH_SESSION_EXPIRED:
                raise
            await self._visit_by_browser(page, error)

    async def _browse(self, page: BrowsePage) -> None:
        """Browse a page, and once more where what it failed with may be over in a moment."""
        grace_ms = self.settings.restart_grace_ms
        try:
            await self.bus.call(subjects.BROWSE, page, wait_ms=grace_ms)
        except FaultError as error:
            if error.fault.code not in _PASSING:
                raise
            await anyio.sleep(PAUSE_S)
            await self.bus.call(subjects.BROWSE, page, wait_ms=grace_ms)

    async def _visit_by_browser(self, page: BrowsePage, wall: FaultError) -> None:
        try:
            await self.bus.call(subjects.BROWSE, replace(page, options=replace(page.options, force_tier=BROWSER)))
        except FaultError as error:
            absent = error.fault.code in (Code.BROWSER_UNAVAILABLE, Code.CONFIG_TIER_NOT_DEPLOYED)
            raise (wall if absent else error) from None

    async def _own(self, request: NamedSession) -> UsableLogin:
        """Return a login of the caller; for one that is shared with them, there is none to be had."""
        login = await self._vault.need(request.caller, request.profile, site_of(request.domain))
        if not login.is_owner:
            message = "This session is shared with you; its owner alone may delete it or share it."
            raise FaultError(fault(Code.AUTH_MISSING_SESSION, message))
        return login

    async def _check_grant(self, saved: SavedSession, grant: LoginGrant) -> None:
        """Refuse what would be one grant too many, or a second login by one name."""
        if len(saved.grants) >= MAX_GRANTS:
            raise _invalid("with", f"with: a login is shared with {MAX_GRANTS} keys at most")
        if await self._vault.is_other(grant.key, saved.owner, saved.profile, saved.domain):
            raise _invalid(
                "with",
                f"with: that key uses another login for {saved.domain} by the name {saved.profile}; save yours under "
                "another name, and share that",
            )

    async def _note(self, of: SavedSession, event: PageBrowsed) -> None:
        """Note what a page shows of a login, whoever else changes it at the same time, unless it was replaced."""
        await self._vault.change(of, lambda saved: rules.after_browse(saved, event, self.clock()))

    def _leased(self, lease: LoginLeased) -> bytes:
        return self._seal().seal(encode(lease), LEASE)

    def _seal(self) -> Seal:
        if self.bus.seal is None:
            raise FaultError(fault(Code.INTERNAL_ERROR))
        return self.bus.seal

    def _unsealed(self, request: SaveSession) -> SessionState:
        try:
            plain = self._seal().unseal(request.sealed, sealed_for(request.profile, request.domain))
        except UnsealError:
            raise _invalid("state", "state: sealed with another key than that of this Weft") from None
        return _read_state.decode(plain)


def _status(login: UsableLogin) -> SessionStatus:
    """Return how a login stands for a caller: whom it is shared with is for its owner to know."""
    saved, status = login.saved, rules.status(login.saved, now_ms())
    if not rules.known(saved):
        return status
    grants = saved.grants if login.is_owner else ()
    return replace(status, owner=saved.owner, grants=grants, read_only=login.read_only)


def _log_in_again(url: str, profile: str) -> Action:
    return replace(
        LOG_IN,
        description="Log in anew with the credentials of the user, and save that session: this one cannot be renewed.",
        parameters={**(LOG_IN.parameters or {}), "inputs": {"startUrl": url, "profile": profile}},
        request="POST /api/runs",
    )


def _invalid(field_at_fault: str, message: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=field_at_fault))
