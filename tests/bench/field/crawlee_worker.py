"""Reads pages with crawlee, in the environment of that library: a list of URLs in, `[ok, text]` of each out, as JSON.

Its adaptive crawler chooses between HTTP and a browser, and hands over the parsed page: the text is what is in it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from datetime import timedelta
from importlib import import_module
from typing import Any


async def main(program: str) -> None:
    """Answer what stdin asks for."""
    library: Any = import_module("crawlee")
    crawlers: Any = import_module("crawlee.crawlers")
    crawler: Any = crawlers.AdaptivePlaywrightCrawler.with_beautifulsoup_static_parser(
        max_request_retries=1,
        configure_logging=False,
        request_handler_timeout=timedelta(seconds=30),
        concurrency_settings=library.ConcurrencySettings(desired_concurrency=1, max_concurrency=1),
        playwright_crawler_specific_kwargs={
            "headless": True,
            "browser_launch_options": {"executable_path": program, "chromium_sandbox": False},
        },
    )

    async def handle(context: Any) -> None:
        page = context.parsed_content
        for element in page(["script", "style"]):
            element.decompose()
        await context.push_data({"url": context.request.url, "text": page.get_text("\n", strip=True)})

    crawler.router.default_handler(handle)
    logging.disable(logging.CRITICAL)
    urls: list[str] = json.load(sys.stdin)
    await crawler.run(urls)
    read = {item["url"]: item["text"] for item in (await crawler.get_data()).items}
    print(json.dumps([(url in read, read.get(url, "")) for url in urls]))


asyncio.run(main(sys.argv[1]))
