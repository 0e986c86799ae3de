"""The browser sessions that live in this replica: what is done in them, and what is written of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import anyio
import structlog
from msgspec.structs import replace
from playwright.async_api import Error

from actors.fetchers.playwright import once
from actors.fetchers.playwright.browser import Browser
from actors.fetchers.playwright.held import Held, hold
from actors.fetchers.playwright.operations import Means, perform
from actors.fetchers.playwright.records import Records
from actors.fetchers.sessions import Sessions
from bus import TransportError
from protocol.browsers.operations import SESSION_PREFIX, CloseSession
from protocol.browsers.results import Done, SessionClosed
from protocol.browsers.sessions import AskBrowser
from protocol.faults import Code, FaultError, fault

log = structlog.stdlib.get_logger()

ENDED = "browser_session_ended"
NOT_KEPT = "browser_session_not_kept"

KEEP_S = 5.0
"""How long it may take to note how a session stands, also after an operation that was cut off."""


class MovedError(Exception):
    """The session lives in another replica by now, or begins anew here."""


@dataclass(eq=False)
class Here:
    """The sessions that live here; what is done in one tab is done one after another, tabs go side by side."""

    replica: str
    records: Records
    browser: Browser
    logins: Sessions
    means: Means
    _held: dict[str, Held] = field(default_factory=dict[str, Held])
    _locks: WeakValueDictionary[str, anyio.Lock] = field(default_factory=WeakValueDictionary[str, anyio.Lock])

    def __len__(self) -> int:
        """Count them."""
        return len(self._held)

    def uses(self, session: str) -> bool:
        """Whether something is being done in a session."""
        held = self._held.get(session)
        return held is not None and held.users > 0

    async def do(self, session: str, asked: AskBrowser) -> Done:
        """Do something in a session.

        Raises:
            FaultError: SESSION_NOT_FOUND, or what the operation failed with.
            MovedError: it is to be looked for again.
        """
        if isinstance(asked.do, CloseSession):
            return await self._close(session, asked.caller)
        async with self._lock(session):
            held = await self._restored(session, asked.caller)
            await self._note(held, asked)
            held.users += 1
        try:
            return replace(await self._done(held, asked), session_id=session)
        finally:
            held.users -= 1
            await self._keep(held)

    async def end(self, session: str) -> None:
        """End a session."""
        await self.records.forget(session)
        await self.drop(session)
        log.info(ENDED, session=short(session))

    async def drop(self, session: str) -> None:
        """Let go of a session, which lives on as it was written last."""
        held = self._held.pop(session, None)
        if held is not None:
            await held.drop()

    async def drop_all(self) -> None:
        """Let go of all of them."""
        for session in list(self._held):
            await self.drop(session)

    async def look_after(self) -> None:
        """End what nobody uses, and let go of what lives elsewhere by now."""
        for session, held in list(self._held.items()):
            if held.users:
                continue
            lock = self._lock(session)
            if not lock.locked():
                async with lock:
                    await self._checked(session, held)

    async def _close(self, session: str, caller: str) -> Done:
        async with self._lock(session):
            await self.records.known(session, caller)
            await self.end(session)
        return SessionClosed(session_id=session, success=True)

    async def _done(self, held: Held, asked: AskBrowser) -> Done:
        """Do something; a session whose browser is gone goes on in a fresh one, from what was written last."""
        session = held.record.session
        try:
            return await perform(self.means, held, asked)
        except (Error, FaultError) as error:
            if self._held.get(session) is not held:
                raise MovedError from None  # its context was closed under it
            failed = error if isinstance(error, FaultError) else FaultError(fault(Code.PAGE_CRASHED))
            if failed.fault.code is Code.PAGE_CRASHED and not await held.answers():
                await self.drop(session)
            raise failed from error

    async def _restored(self, session: str, caller: str) -> Held:
        """Return a session as it was written last, in a context of the browser here."""
        held = self._held.get(session)
        found = await self.records.known(session, caller, in_use=self.uses(session))
        record = found.value
        assert record is not None  # noqa: S101 - as `known` promises
        ours = record.owner == self.replica
        if held is not None and not (ours and held.revision == found.revision and held.lives):
            await self.drop(session)
            held = None
        if not ours:
            raise MovedError
        if held is None:
            address = f"https://{f'[{record.login}]' if ':' in record.login else record.login}/"
            loan = await self.logins.lend(record.profile, address)
            held = await hold(self.browser, record, found.revision, loan, self.means.keep_file)
            self._held[session] = held
        return held

    async def _note(self, held: Held, asked: AskBrowser) -> None:
        """Write what is about to be done once at most, for whoever is asked for it again.

        Raises:
            FaultError: EXECUTION_ERROR where it was begun before.
            MovedError: somebody else has the session by now.
        """
        doing = once.noted(held.record.doing, asked)
        if doing is None:
            return
        with anyio.CancelScope(shield=True):
            try:
                with anyio.fail_after(KEEP_S):
                    held.revision = await self.records.write(replace(held.record, doing=doing), held.revision)
            except ValueError:
                await self.drop(held.record.session)
                raise MovedError from None
            except TimeoutError:
                raise FaultError(fault(Code.INTERNAL_DISCONNECTED)) from None
        held.record = replace(held.record, doing=doing)  # which a page may have changed meanwhile

    async def _keep(self, held: Held) -> None:
        """Write how a session stands; one that cannot be written is restored from what was written before."""
        session = held.record.session
        held.done += 1
        mine = held.done
        with anyio.CancelScope(shield=True):
            async with self._lock(session):
                if self._held.get(session) is not held or held.kept >= mine:
                    return  # gone, or written by whoever came after us
                try:
                    with anyio.fail_after(KEEP_S):
                        held.kept = held.done
                        held.revision = await self.records.write(await held.look(), held.revision)
                        if held.loan is not None:
                            await self.logins.keep(held.loan)
                except ValueError:
                    await self.drop(session)
                    raise MovedError from None
                except (TransportError, TimeoutError) as error:
                    log.warning(NOT_KEPT, session=short(session), reason=type(error).__name__)
                    await self.drop(session)

    async def _checked(self, session: str, held: Held) -> None:
        try:
            found = await self.records.known(session, held.record.caller)
        except TransportError:
            return
        except FaultError:
            await self.end(session)
            return
        if found.value is not None and found.value.owner != self.replica:
            await self.drop(session)

    def _lock(self, session: str) -> anyio.Lock:
        lock = self._locks.get(session)
        if lock is None:
            lock = self._locks[session] = anyio.Lock()
        return lock


def short(session: str) -> str:
    """Name a session in the log without giving it away."""
    return session[: len(SESSION_PREFIX) + 6]
