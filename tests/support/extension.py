"""A real Chromium that has the browser extension, as `weft extension` writes it: its worker, its panel, its button."""

from __future__ import annotations

import re
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import BrowserContext, Page, Playwright, Worker, expect

from actors.cli.extension import write_extension
from actors.gateway.access.rules import EXTENSION_ORIGIN

CHROMIUM: Final = shutil.which("chromium") or shutil.which("google-chrome")
WAIT_MS: Final = 90_000
ID: Final = EXTENSION_ORIGIN.rpartition("/")[2]
PANEL: Final = f"{EXTENSION_ORIGIN}/panel/panel.html"

_OPEN: Final = "([url, width]) => chrome.windows.create({ url, type: 'popup', width, height: 900 }).then(() => null)"
_TAB: Final = "(url) => chrome.tabs.query({}).then((tabs) => tabs.find((one) => one.url === url)?.id ?? 0)"
_STATE: Final = "(tab) => chrome.storage.session.get(`tab:${tab}`).then((kept) => kept[`tab:${tab}`] ?? null)"
_APPROVE: Final = "([id, origin]) => chrome.developerPrivate.addHostPermission(id, origin)"
_OVER: Final = re.compile("^(Done|Failed|Waits for you|Stopped)$")


@dataclass(frozen=True)
class Panel:
    """The panel of one tab, used by its keys."""

    page: Page
    tab: int

    def pair(self, link: str) -> None:
        """Pair by a link of `weft extension --pair`."""
        self.page.locator("#link").focus()
        self.page.keyboard.type(link)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#task")).to_be_focused(timeout=WAIT_MS)

    def begin(self, goal: str) -> None:
        """Say what is to be done."""
        self.page.locator("#task").focus()
        self.page.keyboard.insert_text(goal)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#log > li").last).to_contain_text("You: ", timeout=WAIT_MS)

    def reach(self, goal: str) -> str:
        """Say what is to be done, and wait until it is over or waits; returns how it stands."""
        self.begin(goal)
        return self.ended()

    def answer(self, words: str) -> None:
        """Answer what Weft asks."""
        expect(self.page.locator("#answer")).to_be_focused(timeout=WAIT_MS)
        self.page.keyboard.insert_text(words)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#question")).to_be_hidden(timeout=WAIT_MS)

    def ended(self) -> str:
        """Wait until a task is over or waits; returns how it stands."""
        status = self.page.locator("#status")
        expect(status).to_have_text(_OVER, timeout=WAIT_MS)
        return status.inner_text()

    @property
    def actions(self) -> list[str]:
        """The actions that stand in the panel."""
        return self.page.locator("#log code").all_inner_texts()


@dataclass(frozen=True)
class ExtensionBrowser:
    """A browser with the extension."""

    context: BrowserContext

    @property
    def worker(self) -> Worker:
        """The service worker of the extension, which is started where it sleeps."""
        running = self.context.service_workers
        return running[0] if running else self.context.wait_for_event("serviceworker", timeout=WAIT_MS)

    def press_button(self, page: Page) -> None:
        """Press the button of the extension in the toolbar while a page is shown, which lets it look at the page."""
        page.bring_to_front()
        browser = self.context.browser
        assert browser is not None
        session: Any = browser.new_browser_cdp_session()
        targets = session.send("Target.getTargets", {"filter": [{"type": "tab"}]})["targetInfos"]
        (tab,) = (one["targetId"] for one in targets if one["url"] == page.url)
        session.send("Extensions.triggerAction", {"id": ID, "targetId": tab})
        session.detach()

    @property
    def origins(self) -> list[str]:
        """The sites that it may look at for good."""
        found: list[str] = self.worker.evaluate("chrome.permissions.getAll().then(({ origins }) => origins)")
        return found

    @contextmanager
    def approved(self, origin: str) -> Generator[None]:
        """Have the browser say yes when leave for a site is asked for in this block, and take that back."""
        settings = self.context.new_page()
        settings.goto("chrome://extensions")
        settings.evaluate(_APPROVE, [ID, origin])
        settings.close()
        yield
        self.worker.evaluate("(origin) => chrome.permissions.remove({ origins: [origin] })", origin)

    def panel(self, page: Page, width: int = 360) -> Panel:
        """Open the panel of the tab of a page: that of the side panel, in a window that a test can look at."""
        self.press_button(page)
        tab = self.worker.evaluate(_TAB, page.url)
        assert tab, "the button gave no leave"
        with self.context.expect_page(timeout=WAIT_MS) as opened:
            self.worker.evaluate(_OPEN, [f"{PANEL}?tab={tab}", width])
        opened.value.set_default_timeout(WAIT_MS)
        opened.value.set_viewport_size({"width": width, "height": 900})
        expect(opened.value.locator("#paired")).to_contain_text("aired", timeout=WAIT_MS)
        return Panel(opened.value, tab)

    def state(self, tab: int) -> Mapping[str, Any]:
        """Return what the worker keeps of the session of a tab."""
        return self.worker.evaluate(_STATE, tab) or {}


@contextmanager
def extension_browser(playwright: Playwright, folder: Path) -> Generator[ExtensionBrowser]:
    """Open a browser that has the extension; below `folder` stand both it and the profile."""
    unpacked = folder / "extension"
    write_extension(unpacked)
    args = [
        "--headless=new",
        "--no-sandbox",
        f"--load-extension={unpacked}",
        f"--disable-extensions-except={unpacked}",
        "--disable-features=DisableLoadExtensionCommandLineSwitch",
        "--enable-unsafe-extension-debugging",  # by which the button is pressed
    ]
    context = playwright.chromium.launch_persistent_context(
        folder / "profile",
        executable_path=CHROMIUM,
        headless=False,
        args=args,
        ignore_default_args=["--disable-extensions"],
    )
    try:
        yield ExtensionBrowser(context)
    finally:
        context.close()
