"""What is asked of a browser session: a context of the browser with tabs, which outlives the call (002, sessions)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from protocol.pages import Fetched, Url
from protocol.sessions import Profile, SessionState

SESSION_PREFIX = "sess_"
SESSION_BYTES = 16
"""Random bytes of an id: nobody guesses one (128 bits)."""

SessionId = Annotated[str, Meta(pattern=r"^sess_[A-Za-z0-9_-]{22,86}$(?!\n)")]
TabId = Annotated[int, Meta(ge=1)]


class BrowserTab(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tab, by its number in the session; `title` is the web's."""

    tab: int
    url: str
    title: str = ""


class BrowserRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One session of BROWSER_SESSIONS: the replica that it lives in, and what it is restored from in another.

    `login` is the site whose saved login of `profile` is kept up to date. Times in ms since the epoch.
    """

    session: str
    owner: str
    profile: str | None = None
    login: str = ""
    state: SessionState = SessionState()
    tabs: tuple[BrowserTab, ...] = ()
    last_tab: int = 0
    created: int = 0
    used: int = 0


class OpenBrowser(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="open"):
    """Open a session; with `url` it begins there, with `profile` it has that saved login of the site, and keeps it.

    Who names the `session` may ask again without opening a second one.
    """

    session: SessionId | None = None
    url: Url | None = None
    profile: Profile | None = None


class Navigate(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="navigate"):
    """Go to an address, in a tab of the session or in a new one, and answer the page."""

    session: SessionId
    url: Url
    tab: TabId | None = None


class ReadTab(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="page"):
    """Read a tab as it stands: the one of the highest number unless it is named."""

    session: SessionId
    tab: TabId | None = None
    include_html: bool = False


class ListTabs(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="tabs"):
    """Tell the tabs of a session."""

    session: SessionId


class CloseTab(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="close_tab"):
    """Close a tab; the session stays, even without any."""

    session: SessionId
    tab: TabId


class CloseBrowser(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="close"):
    """End a session."""

    session: SessionId


class ListBrowsers(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="list"):
    """Tell every session that there is."""


InSession = Navigate | ReadTab | ListTabs | CloseTab | CloseBrowser
"""What is done to a session that there is."""

Operation = OpenBrowser | InSession | ListBrowsers


class AskBrowser(Struct, frozen=True, kw_only=True):
    """BROWSER: do this."""

    do: Operation


class BrowserInfo(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session, without anything that it holds; times in ms since the epoch."""

    session: str
    replica: str
    profile: str | None = None
    tabs: int = 0
    created: int = 0
    used: int = 0


class BrowserAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of it: the tabs of the session as they are now, the page where one was asked for, or all sessions."""

    session: str = ""
    tabs: tuple[BrowserTab, ...] = ()
    tab: int | None = None
    page: Fetched | None = None
    sessions: tuple[BrowserInfo, ...] = ()
