"""Writes down what Chromium has and the engine lacks: `python -m scripts.signal_measuring.platform`."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import anyio
import msgspec
from playwright.async_api import async_playwright

from actors.fetchers.lightweight.rendering import RenderFailure
from scripts.signal_measuring.corpus import CORPUS
from tests.site import serve_site
from tests.site.apps.chromium import EXECUTABLE
from tests.support.light import open_light

LACKING = Path("actors/fetchers/lightweight/lacking.txt")
_PAGE = anyio.Path(CORPUS.dist, ".platform", "index.html")
_WIDTH = 118
_AT_ONCE = 1_000

# Words of any program: that an error names them says nothing.
_COMMON = frozenset(
    {"info", "timeLog", "unsubscribe", "getFile", "summarize", "added", "actions", "address", "allow", "length", "name"}
)

# Gathers what is global, and what can be called: of every global, its prototype, and the objects that it holds.
_GATHER = """(every) => {
  const names = new Set();
  const add = (object) => {
    for (let at = object, depth = 0; at && depth < 6; at = Object.getPrototypeOf(at), depth += 1) {
      let own = {};
      try { own = Object.getOwnPropertyDescriptors(at); } catch { continue; }
      for (const name of Object.keys(own)) {
        if (every || at === window || typeof own[name].value === 'function') names.add(name);
      }
    }
  };
  const read = (object, name) => { try { return object[name]; } catch { return null; } };
  add(window);
  for (const name of Object.getOwnPropertyNames(window)) {
    const value = read(window, name);
    if (!value || value === window || !['function', 'object'].includes(typeof value)) continue;
    add(value);
    if (read(value, 'prototype')) add(value.prototype);
    for (const inner of Object.getOwnPropertyNames(Object.getPrototypeOf(value) || {})) {
      const held = typeof value === 'object' ? read(value, inner) : null;
      if (held && typeof held === 'object' && held !== window) add(held);
    }
  }
  return [...names];
}"""


def main() -> None:
    """Ask both, and write the difference."""
    names = " ".join(anyio.run(_lacking))
    lines = textwrap.wrap(names, _WIDTH, break_long_words=False, break_on_hyphens=False)
    LACKING.write_text("\n".join([*lines, ""]), "utf-8")


async def _lacking() -> list[str]:
    await _PAGE.parent.mkdir(parents=True, exist_ok=True)
    async with serve_site() as site:
        names = await _chromium(site.url("/article"))
        lacking: list[str] = []
        async with open_light() as light:
            for start in range(0, len(names), _AT_ONCE):
                some = names[start : start + _AT_ONCE]
                await _PAGE.write_text(_page(some), "utf-8")
                seen = await light.see(site.url("/corpus/.platform/"))
                if isinstance(seen, RenderFailure):
                    raise SystemExit(f"the engine gave up: {seen.value}")
                lacking += msgspec.json.decode(seen.text, type=list[str])
    return sorted(lacking)


async def _chromium(url: str) -> list[str]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=EXECUTABLE, args=["--no-sandbox"])
        try:
            page = await browser.new_page()
            await page.goto(url)
            names = msgspec.convert(await page.evaluate(_GATHER, arg=False), list[str])
        finally:
            await browser.close()
    return sorted(name for name in names if _tells(name))


def _tells(name: str) -> bool:
    """Whether an error that names it can only mean the platform: no constant, no handler, no word of any program."""
    return (
        name.isidentifier()
        and len(name) > 3  # noqa: PLR2004 - shorter ones are what minifiers make
        and not name.isupper()
        and not name.startswith(("on", "_"))
        and name not in _COMMON
    )


def _page(names: list[str]) -> str:
    """Return a page that shows those of the names that it does not have."""
    script = f"const has = new Set(({_GATHER})(true)); const names = {json.dumps(names)};"
    show = "document.body.textContent = JSON.stringify(names.filter((name) => !has.has(name)));"
    return f"<!doctype html><body><script>{script}{show}</script>"


if __name__ == "__main__":
    main()
