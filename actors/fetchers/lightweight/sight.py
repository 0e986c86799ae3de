"""What is wanted of a page, and what is read of it in the end."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct

from actors.fetchers.lightweight.following import Web
from actors.fetchers.lightweight.observed import Settling
from actors.fetchers.lightweight.settle import Reading
from actors.fetchers.lightweight.tally import Tally, Terms
from actors.fetchers.sessions import Session
from actors.fetchers.web.client import Response
from protocol.browse import ConsoleMessage
from protocol.pages import Dialog


class Shown(Struct, frozen=True):
    """What read.js gives of a document."""

    html: str
    text: str
    words: int
    chars: int
    href: str = ""
    empty_roots: int = 0
    truncated: bool = False
    media: int = 0
    canvases: int = 0
    foreign: int = 0
    scripts: int = 0
    missing: int = 0
    tall: int = 0


class Stored(Struct, frozen=True):
    """What keep.js gives."""

    origin: str
    local: dict[str, str]
    session: dict[str, str]


@dataclass(frozen=True)
class Wish:
    """What is wanted of a page: `seconds` is how long it may move at most."""

    terms: Terms
    agent: str
    seconds: float
    selector: str | None = None
    scroll: bool = False
    console: bool = False


@dataclass(frozen=True)
class Visit:
    """A page that is to be shown: its first document, and whose login sees it; `web` gets whatever it asks for."""

    first: Response
    session: Session
    web: Web
    wish: Wish


@dataclass(frozen=True)
class Sight:
    """A page as it was in the end. `url` is the document's, or one of its origin that scripts have put in its place."""

    url: str
    status: int
    shown: Shown
    reading: Reading
    settling: Settling
    tally: Tally
    cut_short: str
    stored: Stored | None
    found: bool
    console: tuple[ConsoleMessage, ...] = ()
    dialogs: tuple[Dialog, ...] = ()
