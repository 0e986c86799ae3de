"""Reads pages with crawl4ai, in its own environment: a list of URLs in, `[ok, text]` of each out, as JSON."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from importlib import import_module
from typing import Any


def chromium(program: str, folder: str) -> tuple[subprocess.Popen[str], str]:
    """Start a browser that is driven over CDP, since crawl4ai has no option for a program of one's own."""
    options = ("--headless=new", "--no-sandbox", "--remote-debugging-port=0", f"--user-data-dir={folder}")
    browser = subprocess.Popen([program, *options], stderr=subprocess.PIPE, text=True)
    assert browser.stderr is not None
    for line in browser.stderr:
        if "DevTools listening on " in line:
            return browser, line.strip().rpartition(" ")[2]
    message = "the browser did not start"
    raise RuntimeError(message)


async def main(program: str) -> None:
    """Answer what stdin asks for."""
    library: Any = import_module("crawl4ai")
    with tempfile.TemporaryDirectory() as folder:
        browser, address = chromium(program, folder)
        config = library.BrowserConfig(browser_mode="cdp", cdp_url=address, verbose=False, headless=True)
        run = library.CrawlerRunConfig(cache_mode=library.CacheMode.BYPASS, verbose=False)
        async with library.AsyncWebCrawler(config=config) as crawler:
            read = [await _read(crawler, run, url) for url in json.load(sys.stdin)]
        browser.kill()
        browser.wait()
    print(json.dumps(read))


async def _read(crawler: Any, run: Any, url: str) -> tuple[bool, str]:
    result: Any = await crawler.arun(url, config=run)
    text = result.markdown.raw_markdown if result.success and result.markdown else ""
    return bool(result.success), text or result.error_message or ""


asyncio.run(main(sys.argv[1]))
