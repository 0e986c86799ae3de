"""A real Chromium that has the browser extension, as `weft extension` writes it: its worker, its panel, its button."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playwright.sync_api import BrowserContext, Page, Worker, sync_playwright

from actors.cli.extension import write_extension
from actors.gateway.access.rules import EXTENSION_ORIGIN

CHROMIUM: Final = shutil.which("chromium") or shutil.which("google-chrome")
WAIT_MS: Final = 30_000
ID: Final = EXTENSION_ORIGIN.rpartition("/")[2]
PANEL: Final = f"{EXTENSION_ORIGIN}/panel/panel.html"

_OPEN: Final = "([url, width]) => chrome.windows.create({ url, type: 'popup', width, height: 900 })"
_TAB: Final = "(url) => chrome.tabs.query({}).then((tabs) => tabs.find((one) => one.url === url)?.id ?? 0)"


@dataclass
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
        session = browser.new_browser_cdp_session()
        targets = session.send("Target.getTargets", {"filter": [{"type": "tab"}]})["targetInfos"]
        (tab,) = (one["targetId"] for one in targets if one["url"] == page.url)
        session.send("Extensions.triggerAction", {"id": ID, "targetId": tab})
        session.detach()

    def panel(self, page: Page, width: int = 360) -> Page:
        """Open the panel of the tab of a page: the page of the side panel, in a window that a test can look at."""
        self.press_button(page)
        tab = self.worker.evaluate(_TAB, page.url)
        assert tab, "the button gave no leave"
        with self.context.expect_page(timeout=WAIT_MS) as opened:
            self.worker.evaluate(_OPEN, [f"{PANEL}?tab={tab}", width])
        opened.value.set_default_timeout(WAIT_MS)
        return opened.value


@contextmanager
def extension_browser(folder: Path) -> Generator[ExtensionBrowser]:
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
    with sync_playwright() as playwright:
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
