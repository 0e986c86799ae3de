"""Types into fields as a person would, key by key."""

from __future__ import annotations

from playwright.async_api import ElementHandle, Page

from actors.fetchers.playwright.operations import pointer

_KEY_BY_KEY = 200
"""Characters that are typed one by one; of a longer text the first are inserted at once."""

_SELECT_ALL = """element => {
  element.focus({ preventScroll: true });
  if (element.select) element.select();
  else element.ownerDocument.getSelection().selectAllChildren(element);
  return Boolean(element.value ?? element.textContent);
}"""


async def type_into(page: Page, element: ElementHandle, text: str, *, lines: bool) -> str:
    """Type as a person would: a line break is a blank in a field of one line, and submits nothing in one of several."""
    await pointer.clickable(element)
    if await element.evaluate(_SELECT_ALL):
        await page.keyboard.press("Delete")
    plain = text.replace("\r\n", "\n")
    words = plain if lines else plain.replace("\n", " ")
    at_once, by_key = words[:-_KEY_BY_KEY], words[-_KEY_BY_KEY:]
    if at_once:
        await page.keyboard.insert_text(at_once)
    for index, line in enumerate(by_key.split("\n")):
        if index:
            await page.keyboard.press("Shift+Enter")
        if line:
            await page.keyboard.type(line)
    return ""
