"""The console in a real Chromium: opened as a person opens it, looked at, and what the browser complains of heard."""

from __future__ import annotations

import gzip
import json
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from playwright.sync_api import (
    Browser,
    Locator,
    Page,
    Response,
    TimeoutError,  # noqa: A004 - its name
    ViewportSize,
    expect,
)

from tests.extension import axe_source

WAIT_MS: Final = 90_000
WIDE: Final[ViewportSize] = {"width": 1280, "height": 900}
PHONE: Final[ViewportSize] = {"width": 390, "height": 844}
NARROW: Final[ViewportSize] = {"width": 320, "height": 640}
_SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")

_AXE: Final = """axe.run(document, WANTED).then(({ violations }) => JSON.stringify(
  violations.map(({ id, nodes }) => `${id}: ${nodes.map((one) => one.target).join(' ')}`)))"""
_OVERFLOW: Final = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_WATCH: Final = """addEventListener('securitypolicyviolation', (event) => console.error(
  `policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));"""


@dataclass
class ConsoleTab:
    """A tab with the console: `complaints` are the errors and warnings that the browser has written of it."""

    page: Page
    base: str
    pictures: Path
    complaints: list[str] = field(default_factory=list[str])
    loaded: dict[str, int] = field(default_factory=dict[str, int])

    def log_in(self, key: str) -> None:
        """Open the console, and type a key."""
        self.page.goto(self.base)
        self.page.get_by_label("Key").fill(key)
        self.page.keyboard.press("Enter")
        expect(self.heading).to_be_visible()

    def open(self, address: str, heading: str, *, anew: bool = True, settled: bool = True) -> None:
        """Go to a page by its link, and wait until it has the focus, which it keeps where it is not shown `anew`.

        It is `settled` when nothing is waited for any more.
        """
        self.page.evaluate("(hash) => { location.hash = hash; }", address)
        expect(self.heading).to_have_text(heading)
        if anew:
            expect(self.heading).to_be_focused()
        if settled:
            expect(self.page.locator("main .loading")).to_have_count(0)

    @property
    def heading(self) -> Locator:
        """The heading of the page that is shown."""
        return self.page.locator("main h1")

    def _overflow(self) -> int:
        """Return by how much the page is too wide, in pixels, once what is drawn has taken its new size."""
        with suppress(TimeoutError):
            self.page.wait_for_function(f"{_OVERFLOW} <= 0")
        return int(self.page.evaluate(_OVERFLOW))

    def look(self, name: str) -> None:
        """Take a picture in light, in dark and as on a phone; nothing is too wide, and axe-core finds nothing wrong."""
        found = dict[str, list[str]]()
        for scheme in _SCHEMES:
            self.page.emulate_media(color_scheme=scheme)
            found[scheme] = self._violations(scheme)
            self.page.screenshot(path=self.pictures / f"{name}-{scheme}.png", full_page=True)
        self.page.emulate_media(color_scheme="light")
        for size, kind in ((NARROW, "narrow"), (PHONE, "phone")):
            self.page.set_viewport_size(size)
            found[kind] = [f"{width} px too wide"] if (width := self._overflow()) > 0 else []
        self.page.screenshot(path=self.pictures / f"{name}-phone.png", full_page=True)
        self.page.set_viewport_size(WIDE)

        wrong = {kind: what for kind, what in found.items() if what}
        assert wrong == {}, (name, wrong)

    def _violations(self, scheme: str) -> list[str]:
        """Ask axe-core, by the tools of the developer: the page itself may run nothing that is not its own.

        In dark it is asked about contrast alone: nothing else is other than in light.
        """
        session: Any = self.page.context.new_cdp_session(self.page)
        if not self.page.evaluate("'axe' in globalThis"):
            session.send("Runtime.evaluate", {"expression": axe_source()})
        wanted = "{ runOnly: ['color-contrast'] }" if scheme == "dark" else "{}"
        asked = {"expression": _AXE.replace("WANTED", wanted), "awaitPromise": True, "returnByValue": True}
        answer = session.send("Runtime.evaluate", asked)
        session.detach()
        found: list[str] = json.loads(answer["result"]["value"])
        return found

    def weigh(self, response: Response) -> None:
        """Note what a file of the console weighs, packed."""
        if "/console/" in response.url or response.url.rstrip("/") == self.base:
            assert response.headers.get("content-encoding") == "gzip", response.url
            self.loaded[response.url] = len(gzip.compress(response.body(), mtime=0))


@contextmanager
def console_tab(browser: Browser, base: str, pictures: Path) -> Generator[ConsoleTab]:
    """Open a tab of its own, in which nobody is logged in."""
    context = browser.new_context(viewport=WIDE, color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(WAIT_MS)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=base)
    context.add_init_script(_WATCH)
    page = context.new_page()
    tab = ConsoleTab(page, base, pictures)
    page.on("console", lambda said: tab.complaints.append(said.text) if said.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: tab.complaints.append(str(error)))
    yield tab
    context.close()
