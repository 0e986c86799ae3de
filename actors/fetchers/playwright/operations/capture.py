"""Takes screenshots, and evaluates scripts of the caller."""

from __future__ import annotations

import io
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from PIL import Image
from playwright.async_api import Error

from actors.fetchers.playwright import captures, faults, view
from actors.fetchers.playwright.operations.context import TabContext
from protocol.browsers.operations import MAX_RESULT_CHARS, ExecuteJavascript, TakeScreenshot
from protocol.browsers.results import Evaluated, ScreenshotTaken
from protocol.faults import Code, FaultError, fault
from protocol.pages import Screenshot

_SCRIPT_S = 10.0
"""How long a script may run."""

_STOP_S = 1.0
_NO_JSON = ("reference chain", "by value")
"""Parts of Chromium's message for a result that cannot be serialized."""

_MAX_MESSAGE_CHARS = 500
_AS_EXPRESSION = "(async () => {{ const value = (\n{}\n); return typeof value === 'function' ? value() : value; }})()"
_AS_STATEMENTS = "(async () => {{\n{}\n}})()"


async def screenshot(op: TabContext, do: TakeScreenshot) -> ScreenshotTaken:
    """Take a screenshot, and store it."""
    if do.element_id is not None and do.full_page:
        raise faults.invalid("fullPage", "a picture is of one element or of the whole page")
    await op.open_tab.probe()
    if op.open_tab.stuck:
        raise faults.hung()
    options = Screenshot(form=do.format, full_page=do.full_page, quality=do.quality)
    element = None if do.element_id is None else await view.locate(op.tab, do.element_id)
    try:
        data = await captures.screenshot_of(op.tab.page, options, element)
    except Error as error:
        if faults.is_crash(error):
            raise op.tab.fault(error) from error
        if element is not None:
            raise faults.not_done(
                "The element is not shown, so there is no picture of it.", field="element_id"
            ) from error
        raise faults.not_done("The page does not hold still for a picture.") from error
    width, height = await anyio.to_thread.run_sync(_size, data)
    stored = await (await op.dependencies.capture_store(op.session.record.caller)).save(
        "screenshot", data, f"image/{do.format}"
    )
    if not stored:
        raise FaultError(fault(Code.CONTENT_TOO_LARGE, "The picture is larger than may be kept."))
    return ScreenshotTaken(tab_id=op.number, image=stored[0], width=width, height=height, page=await op.page())


async def execute_javascript(op: TabContext, do: ExecuteJavascript) -> Evaluated:
    """Evaluate a script among those of the page: an expression, a function that is called, or statements that return.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST where it is not allowed; EXECUTION_ERROR where it throws or does not end.
    """
    if not op.local:
        raise faults.invalid("script", "scripts are run for callers on the machine of Weft alone")
    if not op.dependencies.settings.browser_javascript:
        raise faults.invalid("script", "the operator allows no scripts (setting browser_javascript)")
    with anyio.move_on_after(min(_SCRIPT_S, op.left_ms / 1000)):
        response = await _evaluate(op, _AS_EXPRESSION.format(do.script))
        if _is_no_expression(response):
            response = await _evaluate(op, _AS_STATEMENTS.format(do.script))
        return _evaluated(op, response)
    with anyio.move_on_after(_STOP_S):
        await op.tab.send("Runtime.terminateExecution")
    raise faults.not_done("The script did not end in time, and was stopped.", field="script")


async def _evaluate(op: TabContext, expression: str) -> dict[str, Any]:
    parameters = {"expression": expression, "returnByValue": True, "awaitPromise": True, "userGesture": True}
    try:
        return await op.tab.world.cdp.send("Runtime.evaluate", parameters)
    except Error as error:
        if any(part in error.message for part in _NO_JSON):
            raise faults.not_done("What the script comes to cannot be told as JSON.", field="script") from error
        if faults.is_crash(error):
            raise op.tab.fault(error) from error
        raise faults.not_done("The page went elsewhere while the script ran.", field="script") from error


def _is_no_expression(response: dict[str, Any]) -> bool:
    """Whether the script does not parse: what fails later does so in a promise."""
    details = response.get("exceptionDetails", {})
    return bool(details.get("exception", {}).get("className") == "SyntaxError" and "promise" not in details["text"])


def _evaluated(op: TabContext, response: dict[str, Any]) -> Evaluated:
    details = response.get("exceptionDetails")
    if details is not None:
        raise faults.not_done(f"The script failed: {_reason(details)}", field="script")
    result = response["result"]
    value = result.get("value", result.get("unserializableValue"))
    encoded = msgspec.json.encode(value).decode()
    if len(encoded) > MAX_RESULT_CHARS:
        return Evaluated(tab_id=op.number, result=encoded[:MAX_RESULT_CHARS], truncated=True)
    return Evaluated(tab_id=op.number, result=value)


def _reason(details: dict[str, Any]) -> str:
    thrown = details.get("exception", {})
    words = str(thrown.get("description") or thrown.get("value") or details.get("text", ""))
    return view.quoted(words.splitlines()[0], _MAX_MESSAGE_CHARS) if words else "it threw nothing that has words"


def _size(data: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(data)) as image:
        return image.size
