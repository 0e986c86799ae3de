"""The bucket of saved logins: whose each is, who else may use it, and how the changes of a fetch come into it."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable, Collection
from hashlib import blake2b
from typing import Final

import structlog
from msgspec import Struct
from msgspec.structs import replace

from actors.login_merge import fitting, merged
from actors.sessions import rules
from actors.sites import key_of, owned_key, owner_prefix
from bus.stores import KeyChange, KeyTable
from protocol.faults import Code, FaultError, fault
from protocol.sessions import MAX_LOGINS, LoginChange, LoginGrant, LoginLeased, SavedSession, SessionState

log = structlog.stdlib.get_logger()

NOT_SAVED = "session_not_saved"
CUT = "session_state_cut"

FULL: Final = f"You have {MAX_LOGINS} saved logins, which is all that may be kept: forget one first."

TRIES: Final = 20
"""How often a change is tried: so many fetches of the same login may end at the same moment."""

_EPOCH_BYTES = 12


class UsableLogin(Struct, frozen=True):
    """A login as one caller may use it."""

    saved: SavedSession
    caller: str

    @property
    def is_owner(self) -> bool:
        """Whether it is the caller's own."""
        return self.saved.owner == self.caller

    @property
    def read_only(self) -> bool:
        """Whether the caller may change nothing of it."""
        grant = granted(self.saved, self.caller)
        return not self.is_owner and (grant is None or grant.read_only)

    @property
    def partition(self) -> str:
        """Where answers that were got with it are cached: elsewhere once it was forgotten, imported or renewed."""
        saved = self.saved
        words = "\n".join((saved.owner, saved.profile, saved.domain, str(saved.created), saved.epoch))
        return blake2b(words.encode(), digest_size=16).hexdigest()

    def leased(self, key: bytes) -> LoginLeased:
        """Return what says which login is leased to a fetch, with the key that seals what it changes."""
        saved = self.saved
        return LoginLeased(
            caller=self.caller,
            owner=saved.owner,
            profile=saved.profile,
            site=saved.domain,
            created=saved.created,
            key=key,
        )


class LoginVault(Struct, frozen=True):
    """The saved logins; whoever may not use one does not learn that it is there."""

    table: KeyTable[SavedSession]

    async def find(self, caller: str, profile: str, site: str) -> UsableLogin | None:
        """Return the login that a caller owns, or else the first that is shared with them."""
        own = await self.table.get(owned_key(caller, profile, site))
        if own is not None and rules.known(own.value):
            return UsableLogin(own.value, caller)
        async for saved in self._all(lambda name: name.endswith(f"/{key_of(profile, site)}")):
            if granted(saved, caller) is not None:
                return UsableLogin(saved, caller)
        return None

    async def is_other(self, caller: str, owner: str, profile: str, site: str) -> bool:
        """Return whether the login that a caller uses by a name is not that of this owner."""
        login = await self.find(caller, profile, site)
        return login is not None and login.saved.owner != owner

    async def need(self, caller: str, profile: str, site: str) -> UsableLogin:
        """Return a login that a caller may use.

        Raises:
            FaultError: AUTH_MISSING_SESSION.
        """
        login = await self.find(caller, profile, site)
        if login is None:
            message = f"No session is saved for {site} in the profile {profile}."
            raise FaultError(fault(Code.AUTH_MISSING_SESSION, message))
        return login

    async def usable(self, caller: str) -> list[UsableLogin]:
        """Return the logins that a caller owns or may use, by profile and site."""
        logins = [UsableLogin(saved, caller) async for saved in self._all(lambda _: True)]
        usable = [one for one in logins if one.is_owner or granted(one.saved, caller) is not None]
        return sorted(usable, key=lambda one: (one.saved.profile, one.saved.domain, not one.is_owner, one.saved.owner))

    async def put(self, saved: SavedSession) -> SavedSession:
        """Save a login in place of what its owner had under that name, and go on sharing it with the same callers.

        Raises:
            FaultError: CONFIG_STORAGE_FULL, where its owner has as many others as may be kept.
        """
        key = owned_key(saved.owner, saved.profile, saved.domain)
        former = await self.table.get(key)
        if (former is None or not rules.known(former.value)) and await self._is_full(saved.owner):
            raise FaultError(fault(Code.CONFIG_STORAGE_FULL, FULL))
        grants = former.value.grants if former is not None and rules.known(former.value) else ()
        saved = replace(saved, grants=grants, epoch=new_epoch())
        await self.table.put(key, saved)
        return saved

    async def forget(self, saved: SavedSession) -> SavedSession:
        """Delete a login; its names stay, so that a fetch which is using it sees that it is gone."""
        nothing = SavedSession(profile=saved.profile, domain=saved.domain, owner=saved.owner)
        await self.table.put(owned_key(saved.owner, saved.profile, saved.domain), nothing)
        return nothing

    async def end(self, callers: Collection[str]) -> int:
        """Delete the logins of callers that are no more and share none with them; returns how many were deleted."""
        count = 0
        async for saved in self._all(lambda _: True):
            if saved.owner in callers:
                await self.forget(saved)
                count += 1
            elif any(grant.key in callers for grant in saved.grants):
                await self.change(saved, lambda latest: _unshared(latest, callers))
        return count

    async def change(self, of: SavedSession, change: Callable[[SavedSession], SavedSession]) -> SavedSession | None:
        """Change a login, whoever else does so at the same time; None where it was replaced or forgotten meanwhile."""
        key = owned_key(of.owner, of.profile, of.domain)
        for _ in range(TRIES):
            entry = await self.table.get(key)
            if entry is None or entry.value is None or entry.value.created != of.created:
                return None
            changed = change(entry.value)
            if changed == entry.value:
                return changed
            try:
                await self.table.put(key, changed, revision=entry.revision)
            except ValueError:
                continue
            return changed
        log.warning(NOT_SAVED, site=of.domain, reason="too many at once")
        return None

    async def keep(self, lease: LoginLeased, change: LoginChange, now: int) -> SavedSession | None:
        """Save what a fetch has changed, merged with what others have changed meanwhile.

        None where nothing was saved: the login was replaced, forgotten or is no longer shared.
        """
        key, unreadable = owned_key(lease.owner, lease.profile, lease.site), False
        for _ in range(TRIES):
            entry = await self.table.get(key)
            latest = _latest(lease, entry)
            if latest is None:
                return None
            if not latest.created and await self._is_full(lease.owner):
                log.warning(NOT_SAVED, site=lease.site, reason="too many logins")
                return None
            kept = _changed(latest, change, now)
            try:
                await self.table.put(key, kept, revision=entry.revision if entry else None if unreadable else 0)
            except ValueError:
                unreadable = entry is None  # unless it can be read next time: sealed with a key that is lost
                continue
            return kept
        log.warning(NOT_SAVED, site=lease.site, reason="too many at once")
        return None

    async def _is_full(self, owner: str) -> bool:
        """Return whether a caller has as many logins as may be kept."""
        names = [name for name in await self.table.names() if name.startswith(owner_prefix(owner))]
        if len(names) < MAX_LOGINS:  # those that were forgotten among them
            return False
        return len([one async for one in self._all(lambda name: name.startswith(owner_prefix(owner)))]) >= MAX_LOGINS

    async def _all(self, wanted: Callable[[str], bool]) -> AsyncGenerator[SavedSession]:
        for name in sorted(filter(wanted, await self.table.names())):
            entry = await self.table.get(name)
            if entry is not None and rules.known(entry.value):
                yield entry.value


def granted(saved: SavedSession, caller: str) -> LoginGrant | None:
    """Return what a caller was granted by the owner of a login."""
    return next((grant for grant in saved.grants if grant.key == caller), None)


def _unshared(saved: SavedSession, callers: Collection[str]) -> SavedSession:
    return replace(saved, grants=tuple(grant for grant in saved.grants if grant.key not in callers))


def new_epoch() -> str:
    """Make what tells a login from what it was before it was handed in or renewed."""
    return secrets.token_hex(_EPOCH_BYTES)


def _latest(lease: LoginLeased, entry: KeyChange[SavedSession] | None) -> SavedSession | None:
    """Return the login that a lease may change, as it stands; a new one where there was none."""
    saved = entry.value if entry is not None else None
    if saved is None or not (saved.created or lease.created):
        mine = lease.owner == lease.caller and not lease.created
        fresh = SavedSession(profile=lease.profile, domain=lease.site, owner=lease.owner, epoch=new_epoch())
        return fresh if mine else None
    if lease.created and saved.created != lease.created:
        return None
    return None if UsableLogin(saved, lease.caller).read_only else saved


def _changed(latest: SavedSession, change: LoginChange, now: int) -> SavedSession:
    return replace(
        latest,
        state=_cut(merged(change.before, change.after, latest.state), latest.domain),
        created=latest.created or now,
        updated=latest.updated if change.before == change.after else now,
        used=now,
        origin=latest.origin or change.origin,
    )


def _cut(state: SessionState, site: str) -> SessionState:
    fits = fitting(state)
    if fits is not state:
        log.warning(CUT, site=site, origins=len(state.origins), kept=len(fits.origins))
    return fits
