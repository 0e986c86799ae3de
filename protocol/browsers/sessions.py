"""What is asked of the browser sessions: contexts of a browser with tabs, which outlive the call (002, sessions)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from protocol.browsers.operations import Operation, SessionId
from protocol.browsers.results import BrowserTab, Done
from protocol.flows import FlowDraft
from protocol.pages import Captured
from protocol.sessions import SessionState

FULL_SESSION = "sessionId"
"""The field that INTERNAL_BUSY names where a session has as many tabs as it may have: only its owner makes room."""

MAX_DOWNLOADS = 50
"""Files that a session remembers, the newest."""

MAX_ORDERS = 32
"""Orders that a session remembers, the newest: an order is repeated within seconds, or not at all."""


class BrowserRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One session of BROWSER_SESSIONS: the replica that it lives in, and what it is restored from in another.

    `caller` is whose it is: nobody else finds it. `login` is the site whose saved login of `profile` is kept up
    to date, which `access` opens (see LoginPass); `origin` is the scheme, host and port at which it began there.
    `doing` are the orders that were begun, the newest last. `recording` is what was recorded of it so far, where it is
    recorded. Until `held_until` a person has it in hand. Times in ms since the epoch.
    """

    session: str
    owner: str
    caller: str = ""
    profile: str | None = None
    login: str = ""
    origin: str = ""
    state: SessionState = SessionState()
    tabs: tuple[BrowserTab, ...] = ()
    active_tab: int | None = None
    last_tab: int = 0
    downloads: tuple[Captured, ...] = ()
    doing: tuple[str, ...] = ()
    access: bytes = b""
    recording: FlowDraft | None = None
    held_until: int = 0
    created: int = 0
    used: int = 0


class AskBrowser(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """BROWSER: do this in a session of `caller`, who finds no session of anybody else.

    `at_need` opens the session where there is none yet. `local` is the trust level of 002 §9: whoever asks sits at the
    machine that Weft runs on. `order` is the same however often the packet comes, and no other call has it: what acts
    on a page is begun once at most. Without one it may be done again. `typed` are the words that go into a field,
    sealed for `typed_in(session)`: `do` has none of them. `login` opens the login of a session that is created with a
    profile (see LoginPass). `expects` is the digest of the FieldFacts that somebody decided about: where the element is
    another by now, nothing is done. `brisk`: after an action the page need only have nothing under way, and nobody is
    told what has changed. `by_hand`: a person does it, who has the session in hand.
    """

    do: Operation
    caller: str = ""
    at_need: bool = False
    local: bool = False
    order: Annotated[str, Meta(max_length=64)] = ""
    typed: bytes = b""
    login: bytes = b""
    expects: Annotated[str, Meta(max_length=64)] = ""
    brisk: bool = False
    by_hand: bool = False


class BrowserAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """BROWSER: what came of it."""

    done: Done


class ListBrowsers(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """BROWSERS: tell the sessions of a caller, or everybody's."""

    caller: str | None = None


class BrowserInfo(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session, without anything that it holds; times in ms since the epoch, `held_until` as BrowserRecord has it."""

    session: SessionId
    replica: str
    profile: str | None = None
    tabs: int = 0
    created: int = 0
    used: int = 0
    held_until: int = 0


class BrowserList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """BROWSERS: the sessions that there are."""

    sessions: tuple[BrowserInfo, ...] = ()
