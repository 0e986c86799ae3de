"""The page code as a browser extension runs it: the very same files, as content scripts of Manifest V3."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.async_api import Page, async_playwright

from actors.fetchers.playwright.view.documents import PARTS, page_code
from tests.integration.playwright.markup import page
from tests.requirements import requirement
from tests.site import serve_site

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LIMIT_S = 240.0
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")

# Reads the page once the page asks for it, by an event: the two share nothing but the document.
READER = """
addEventListener('read', () => {
  const seeds = { next: 1, entries: [] };
  const { result } = weft.answer('semantic', { seeds, max_tokens: 1500, text: true });
  document.documentElement.setAttribute('data-read', JSON.stringify(result.packed.nodes));
});
"""
BODY = """
<main><h1>Shop</h1><label>Name <input value=Ann></label><button>Save</button><p id=first></p><p id=second></p></main>
<script>
first.attachShadow({ mode: 'open' }).innerHTML = '<button>In the open</button>';
second.attachShadow({ mode: 'closed' }).innerHTML = '<button>Behind a door</button>';
</script>
"""


def unpacked(folder: Path) -> Path:
    """Write an extension that runs the page code in every page."""
    names = [f"{name}.js" for name in PARTS]
    for part, name in zip(PARTS, names, strict=True):
        folder.joinpath(name).write_text(page_code(part))
    folder.joinpath("reader.js").write_text(READER)
    manifest = {
        "manifest_version": 3,
        "name": "Reader",
        "version": "1",
        "content_scripts": [{"matches": ["<all_urls>"], "js": [*names, "reader.js"], "run_at": "document_end"}],
    }
    folder.joinpath("manifest.json").write_text(json.dumps(manifest))
    return folder


@asynccontextmanager
async def extended(extension: Path, profile: Path) -> AsyncGenerator[Page]:
    """Open a page in a Chromium that has the extension."""
    args = [
        "--headless=new",
        "--no-sandbox",
        f"--load-extension={extension}",
        f"--disable-extensions-except={extension}",
        "--disable-features=DisableLoadExtensionCommandLineSwitch",
    ]
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(
            profile,
            executable_path=CHROMIUM,
            headless=False,
            args=args,
            ignore_default_args=["--disable-extensions"],
        )
        try:
            yield context.pages[0]
        finally:
            await context.close()


@pytest.mark.skipif(
    CHROMIUM is None, reason="the shell of Chromium has no extensions, and a whole one is not installed"
)
@requirement("001.6.semantic")
async def test_an_extension_reads_the_page_by_the_same_files(tmp_path: Path) -> None:
    extension, profile = tmp_path / "extension", tmp_path / "profile"
    extension.mkdir()
    with anyio.fail_after(LIMIT_S):
        async with serve_site() as site, extended(unpacked(extension), profile) as tab:
            await tab.goto(site.url(page(BODY)))
            read = "() => { dispatchEvent(new Event('read')); return document.documentElement.dataset.read; }"
            nodes: list[Mapping[str, Any]] = json.loads(await tab.evaluate(read))
            stamp = await tab.evaluate("() => document.querySelector('button').dataset.llmId")

    assert [(node["r"], node["n"]) for node in nodes] == [
        ("h", "Shop"),
        ("inp", "Name"),
        ("btn", "Save"),
        ("btn", "In the open"),
        ("btn", "Behind a door"),
    ]
    assert stamp == nodes[2]["i"]
