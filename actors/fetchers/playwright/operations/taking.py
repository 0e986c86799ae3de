"""Takes something of a page: a picture, or what a script comes to."""

from __future__ import annotations

import io
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from PIL import Image
from playwright.async_api import Error

from actors.fetchers.playwright import captures, faults, view
from actors.fetchers.playwright.operations.place import Place
from actors.fetchers.playwright.operations.refusing import hung, invalid, not_done
from protocol.browsers.operations import MAX_RESULT_CHARS, ExecuteJavascript, TakeScreenshot
from protocol.browsers.results import Evaluated, ScreenshotTaken
from protocol.faults import Code, FaultError, fault
from protocol.pages import Screenshot

_SCRIPT_S = 10.0
"""What a script may take."""

_STOP_S = 1.0
_NO_JSON = ("reference chain", "by value")
"""In the browser's words for a result that is no data."""

_MAX_MESSAGE_CHARS = 500
_AS_EXPRESSION = "(async () => {{ const value = (\n{}\n); return typeof value === 'function' ? value() : value; }})()"
_AS_STATEMENTS = "(async () => {{\n{}\n}})()"


async def screenshot(at: Place, do: TakeScreenshot) -> ScreenshotTaken:
    """Take a picture, and keep it."""
    if do.element_id is not None and do.full_page:
        raise invalid("fullPage", "a picture is of one element or of the whole page")
    await at.awake.probe()
    if at.awake.stuck:
        raise hung()
    wanted = Screenshot(form=do.format, full_page=do.full_page, quality=do.quality)
    element = None if do.element_id is None else await view.locate(at.tab, do.element_id)
    try:
        data = await captures.picture(at.tab.page, wanted, element)
    except Error as error:
        if faults.is_crash(error):
            raise at.tab.fault(error) from error
        if element is not None:
            raise not_done("The element is not shown, so there is no picture of it.", field="element_id") from error
        raise not_done("The page does not hold still for a picture.") from error
    width, height = await anyio.to_thread.run_sync(_size, data)
    kept = await (await at.means.keeping()).keep("screenshot", data, f"image/{do.format}")
    if not kept:
        raise FaultError(fault(Code.CONTENT_TOO_LARGE, "The picture is larger than may be kept."))
    return ScreenshotTaken(tab_id=at.number, image=kept[0], width=width, height=height, page=await at.page())


async def execute_javascript(at: Place, do: ExecuteJavascript) -> Evaluated:
    """Evaluate a script among those of the page: an expression, a function that is called, or statements that return.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST where it is not allowed; EXECUTION_ERROR where it throws or does not end.
    """
    if not at.local:
        raise invalid("script", "scripts are run for callers on the machine of Weft alone")
    if not at.means.settings.browser_javascript:
        raise invalid("script", "the operator allows no scripts (setting browser_javascript)")
    with anyio.move_on_after(min(_SCRIPT_S, at.left_ms / 1000)):
        told = await _evaluate(at, _AS_EXPRESSION.format(do.script))
        if _is_no_expression(told):
            told = await _evaluate(at, _AS_STATEMENTS.format(do.script))
        return _evaluated(at, told)
    with anyio.move_on_after(_STOP_S):
        await at.tab.send("Runtime.terminateExecution")
    raise not_done("The script did not end in time, and was stopped.", field="script")


async def _evaluate(at: Place, expression: str) -> dict[str, Any]:
    asked = {"expression": expression, "returnByValue": True, "awaitPromise": True, "userGesture": True}
    try:
        return await at.tab.world.cdp.send("Runtime.evaluate", asked)
    except Error as error:
        if any(sign in error.message for sign in _NO_JSON):
            raise not_done("What the script comes to cannot be told as JSON.", field="script") from error
        if faults.is_crash(error):
            raise at.tab.fault(error) from error
        raise not_done("The page went elsewhere while the script ran.", field="script") from error


def _is_no_expression(told: dict[str, Any]) -> bool:
    """Whether it was not even begun: what fails later does so in a promise."""
    details = told.get("exceptionDetails", {})
    return bool(details.get("exception", {}).get("className") == "SyntaxError" and "promise" not in details["text"])


def _evaluated(at: Place, told: dict[str, Any]) -> Evaluated:
    details = told.get("exceptionDetails")
    if details is not None:
        raise not_done(f"The script failed: {_reason(details)}", field="script")
    result = told["result"]
    value = result.get("value", result.get("unserializableValue"))
    written = msgspec.json.encode(value).decode()
    if len(written) > MAX_RESULT_CHARS:
        return Evaluated(tab_id=at.number, result=written[:MAX_RESULT_CHARS], truncated=True)
    return Evaluated(tab_id=at.number, result=value)


def _reason(details: dict[str, Any]) -> str:
    thrown = details.get("exception", {})
    words = str(thrown.get("description") or thrown.get("value") or details.get("text", ""))
    return words.splitlines()[0][:_MAX_MESSAGE_CHARS] if words else "it threw nothing that has words"


def _size(data: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(data)) as image:
        return image.size
