"""Reads from a real Chromium what a page shows: the text that a lighter tier is compared with."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from playwright.async_api import Browser, Error, Frame, Page, Request, async_playwright

EXECUTABLE = shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
"""The shell is the same engine, and takes half the time."""

_FLAGS = ("--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--disable-component-update")
_DEADLINE_S = 12.0
_QUIET_S = 0.6
"""A page has settled when its text stays the same for so long and no request is under way."""
_STEP_S = 0.15
_FRAME_S = 2.0
"""A frame that shows an error page of the browser's own never answers."""

_INLINE = (
    "A ABBR B BDI BDO CITE CODE DATA DEL EM FONT I INS KBD LABEL MARK Q S SAMP SLOT SMALL SPAN "
    "STRONG SUB SUP TIME U VAR WBR "
)
"""Elements that part no words. The others do, whatever the layout: a lighter tier has none."""

# Text nodes in the order of the flat tree: shadow roots in place of their hosts' children, slots by what is assigned.
_READ = """(inlineTags) => {
  const out = [];
  const skipped = new Set('SCRIPT STYLE NOSCRIPT TEMPLATE HEAD'.split(' '));
  const inline = new Set(inlineTags.trim().split(' '));
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const within = node.parentElement ?? node.parentNode?.host;
      if (!within || getComputedStyle(within).visibility === 'visible') out.push(node.data);
      return;
    }
    if (node.nodeType === Node.DOCUMENT_FRAGMENT_NODE) { node.childNodes.forEach(walk); return; }
    if (node.nodeType !== Node.ELEMENT_NODE || skipped.has(node.tagName.toUpperCase())) return;
    const style = getComputedStyle(node);
    if ((style.display === 'none' && node.tagName !== 'OPTION') || style.contentVisibility === 'hidden') return;
    const apart = !inline.has(node.tagName.toUpperCase());
    if (apart) out.push(' ');
    if (node.tagName === 'TEXTAREA') out.push(node.value);
    else if (node.tagName === 'DETAILS' && !node.open) node.querySelectorAll(':scope > summary').forEach(walk);
    else if (node.tagName === 'IFRAME') { if (node.contentDocument?.body) walk(node.contentDocument.body); }
    else {
      const assigned = node.tagName === 'SLOT' ? node.assignedNodes() : [];
      const children = node.shadowRoot ? node.shadowRoot.childNodes : assigned.length ? assigned : node.childNodes;
      [...children].forEach(walk);
    }
    if (apart) out.push(' ');
  };
  const shownAbove = window !== top && !!frameElement;  // null where the window above is of another origin
  if (document.body && !shownAbove) walk(document.body);
  return out.join('');
}"""


@dataclass
class _Requests:
    under_way: set[Request] = field(default_factory=set[Request])

    def begin(self, request: Request) -> None:
        self.under_way.add(request)

    def end(self, request: Request) -> None:
        self.under_way.discard(request)


@dataclass(frozen=True)
class Chromium:
    """A warm browser; a page is read in a context of its own."""

    browser: Browser

    async def text(self, url: str, quiet_seconds: float = _QUIET_S) -> str:
        """Return the text that a page shows once it has settled, with that of its frames; blanks are single."""
        context = await self.browser.new_context()
        try:
            page = await context.new_page()
            page.on("dialog", lambda dialog: dialog.dismiss())
            requests = _Requests()
            page.on("request", requests.begin)
            page.on("requestfinished", requests.end)
            page.on("requestfailed", requests.end)
            await page.goto(url, wait_until="load", timeout=_DEADLINE_S * 1_000)
            return await _settled(page, requests, quiet_seconds)
        finally:
            await context.close()


@asynccontextmanager
async def open_chromium() -> AsyncGenerator[Chromium]:
    """Start a Chromium without a window for as long as the block lasts."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=EXECUTABLE, args=_FLAGS)
        try:
            yield Chromium(browser)
        finally:
            await browser.close()


async def _settled(page: Page, requests: _Requests, quiet_seconds: float) -> str:
    text, quiet = "", 0.0
    with anyio.move_on_after(_DEADLINE_S):
        while quiet < quiet_seconds:
            await anyio.sleep(_STEP_S)
            now = await _read(page.frames)
            quiet = quiet + _STEP_S if now == text and not requests.under_way else 0.0
            text = now
    return text


async def _read(frames: list[Frame]) -> str:
    """Return the text of all frames, the main one's first."""
    texts: list[str] = []
    for frame in frames:
        try:
            with anyio.move_on_after(_FRAME_S):
                texts.append(str(await frame.evaluate(_READ, _INLINE)))
        except Error:
            continue  # the frame has just gone or navigates
    return " ".join(" ".join(texts).split())
