"""Fills fields: types, sets values, selects options, uploads files."""

from __future__ import annotations

import mimetypes
import re

import msgspec
from msgspec import Struct
from playwright.async_api import ElementHandle, Error, FilePayload

from actors.fetchers.playwright import faults, view
from actors.fetchers.playwright.devtools import script
from actors.fetchers.playwright.operations import drawn_controls, keyboard, pointer
from actors.fetchers.playwright.operations.acting import on_element
from actors.fetchers.playwright.operations.context import TabContext
from actors.fetchers.playwright.stability import FOR_BRISK_STEP
from bus.seal import UnsealError
from protocol.browsers.operations import SelectOption, SetValue, TypeText, UploadFile, typed_in
from protocol.browsers.results import Acted

_FIELD = "element_id"
_CHOOSER_MS = 3_000.0
_HEARD_S = 2.0
"""How long a page may take to offer what the words that were typed stand for, before they are sent."""


_KIND = """element => {
  const tag = element.localName, type = tag === 'input' ? element.type : tag;
  if (element.matches(':disabled, [aria-disabled="true"]')) return 'disabled';
  if (element.readOnly) return 'readonly';
  if (element.isContentEditable) return 'editor';
  return type;
}"""
_TYPED = frozenset({"text", "search", "email", "url", "tel", "password", "number"})
_LINES = frozenset({"textarea", "editor"})
_HELD = """element => {
  if (element.isContentEditable) return element.innerText;
  return ['password', 'checkbox', 'radio', 'range', 'file'].includes(element.type) ? null : element.value ?? null;
}"""
"""What a field holds that is no secret."""

_HELD_CHARS = 80
_PROBLEMS = {
    "disabled": "The element is disabled.",
    "readonly": "The field can only be read: click it, and choose from what that opens.",
    "file": "The field takes a file: use upload_file.",
    "none": "The element holds no value that could be set.",
    "mark": "The element is on or off: the value is true or false.",
    "radio": "An option that is chosen goes off when another is chosen: set that one.",
    "kept": "The page did not let it change.",
    "select": "The element is a list: use select_option.",
}
_FORMATS = {
    "date": "YYYY-MM-DD",
    "time": "HH:MM",
    "datetime-local": "YYYY-MM-DDTHH:MM",
    "month": "YYYY-MM",
    "week": "YYYY-Www",
    "number": "a number with a point for decimals",
    "color": "#rrggbb",
}


class _FillResult(Struct, frozen=True):
    """The result of `scripts/fill.js`: the `problem`, what the field `holds` now, and its `kind`."""

    problem: str
    holds: str
    kind: str


class _ChooseResult(Struct, frozen=True):
    """The result of `scripts/choose.js`."""

    problem: str
    chosen: str
    options: tuple[str, ...]


async def type_text(op: TabContext, do: TypeText) -> Acted:
    """Replace the text of a field; one that was filled from a sealed text is concealed from views."""
    text = do.text if do.sealed is None else _unsealed(op, do.sealed)

    async def typed(element: ElementHandle) -> str:
        kind = str(await element.evaluate(_KIND))
        if kind in _PROBLEMS or kind in ("file", "select"):
            raise faults.not_done(_PROBLEMS[kind], field=_FIELD)
        if do.sealed is not None:
            if kind not in _TYPED | _LINES:
                raise faults.not_done("The field takes no words.", field=_FIELD)
            await view.conceal(op.tab, do.element_id)
        if kind not in _TYPED | _LINES:
            outcome = await _fill(element, text, html=False)
        elif op.expects:
            outcome = await _entered(op, element, do, text, lines=kind in _LINES)
        else:
            outcome = await keyboard.type_into(op.tab.page, element, text, lines=kind in _LINES)
        if do.sealed is None:
            outcome = outcome or await _instead(element, text)
        if do.submit:
            outcome = await _submitted(op, element, text, outcome)
        return outcome

    return await on_element(op, do.element_id, typed)


async def _submitted(op: TabContext, element: ElementHandle, text: str, outcome: str) -> str:
    """Press Enter once the page has heard of the words, and say what the field holds where it made others of them."""
    await op.tab.settle(FOR_BRISK_STEP, op.until(_HEARD_S))
    await element.press("Enter", timeout=pointer.CLICK_MS, no_wait_after=True)
    return await _instead(element, text) or outcome if text and await _value_of(element) else outcome


async def set_value(op: TabContext, do: SetValue) -> Acted:
    """Set the value of a field; of a list the option is selected."""

    async def filled(element: ElementHandle) -> str:
        if not do.is_html and await element.evaluate("element => element.localName === 'select'"):
            return await _choose(element, do.value)
        if op.expects and not do.is_html and str(await element.evaluate(_KIND)) in _TYPED | _LINES:
            return await _entered(op, element, do, do.value, lines=True) or await _instead(element, do.value)
        outcome = await _fill(element, do.value, html=do.is_html)
        return outcome if outcome or do.is_html else await _instead(element, do.value)

    return await on_element(op, do.element_id, filled)


async def select_option(op: TabContext, do: SelectOption) -> Acted:
    """Select an option, also of a list that the page draws itself."""

    async def chosen(element: ElementHandle) -> str:
        if await element.evaluate("element => element.localName === 'select'"):
            return await _choose(element, do.value)
        return await drawn_controls.pick(op.tab.page, element, do.value)

    return await on_element(op, do.element_id, chosen)


async def upload_file(op: TabContext, do: UploadFile) -> Acted:
    """Upload a file by a file input, or by the file chooser that a button opens."""
    if not op.local:
        raise faults.invalid("filePath", "files are taken from callers on the machine of Weft alone")
    if do.stored is None:
        raise faults.invalid("filePath", "the file was not handed over")
    try:
        data = await (await op.dependencies.store()).get(do.stored)
    except (KeyError, ValueError) as error:
        raise faults.invalid("filePath", "the file was not handed over") from error
    name = re.split(r"[/\\]", do.file_path.rstrip("/\\"))[-1]
    payload = FilePayload(name=name, mimeType=mimetypes.guess_type(name)[0] or "application/octet-stream", buffer=data)

    async def uploaded(element: ElementHandle) -> str:
        if await element.evaluate("element => element.localName === 'input' && element.type === 'file'"):
            await element.set_input_files(payload, timeout=pointer.CLICK_MS)
            return ""
        try:
            async with op.tab.page.expect_file_chooser(timeout=_CHOOSER_MS) as chooser:
                await pointer.click(element)
            await (await chooser.value).set_files(payload, timeout=pointer.CLICK_MS)
        except Error as error:
            if faults.is_detached(error):
                raise
            raise faults.not_done("The element takes no file, nor does it ask for one.", field=_FIELD) from error
        return ""

    return await on_element(op, do.element_id, uploaded)


def _unsealed(op: TabContext, sealed: bytes) -> str:
    try:
        return op.dependencies.unseal(sealed, typed_in(op.session.record.session))
    except UnsealError:
        raise faults.invalid("sealed", "it was not sealed for this session") from None


async def _entered(op: TabContext, element: ElementHandle, do: TypeText | SetValue, text: str, *, lines: bool) -> str:
    """Put a text into a field, or type it key by key where the page takes nothing else."""
    sealed = isinstance(do, TypeText) and do.sealed is not None
    before = None if sealed else await _value_of(element)
    outcome = await _put(op, element, do.element_id, text if lines else text.replace("\n", " "))
    await op.tab.page.keyboard.press("Shift")  # many a page looks at a field when a key is let go, whichever it is
    held = None if sealed else await _value_of(element)
    if held is not None and _differ(held, text) and (held == before if held else await _is_unheard(op)):
        return await keyboard.type_into(op.tab.page, element, text, lines=lines)
    return outcome


async def _is_unheard(op: TabContext) -> bool:
    """Whether the page is as it was: one that empties a field may have made something of the words, such as a tag."""
    before = op.open_tab.before
    return before is not None and view.difference(before, await view.outline(op.tab)) == view.NOTHING


async def _put(op: TabContext, element: ElementHandle, element_id: str, text: str) -> str:
    """Put a text into a field that was decided about: it is compared and filled in one step."""
    await pointer.clickable(element)
    problem = await view.put_words(op.tab, element_id, op.expects, text.replace("\r\n", "\n"))
    if problem:
        raise faults.not_done(_PROBLEMS[problem], field=_FIELD)
    return ""


async def _fill(element: ElementHandle, value: str, *, html: bool) -> str:
    filled = msgspec.convert(await element.evaluate(script("fill"), {"value": value, "html": html}), _FillResult)
    if filled.problem == "html":
        raise faults.invalid("isHtml", "the element is no editor, and holds plain text")
    if filled.problem == "gone":
        raise pointer.obstruction(pointer.Reachability("gone", ""))
    if filled.problem == "format":
        takes = _FORMATS.get(filled.kind, "another form")
        raise faults.not_done(f"The field ({filled.kind}) does not take that value; it takes {takes}.", field="value")
    if filled.problem == "none" and await element.get_attribute("role") == "slider":
        return await drawn_controls.slide(element, value)
    if filled.problem:
        raise faults.not_done(_PROBLEMS[filled.problem], field=_FIELD)
    if filled.kind == "range" and filled.holds != value:
        return f"The field holds {filled.holds} now, the nearest that it takes."
    return ""


async def _instead(element: ElementHandle, text: str) -> str:
    """Say what a field holds where the page has made something else of what was put into it."""
    held = await _value_of(element)
    if held is None or not _differ(held, text):
        return ""
    return f"The field holds “{held[:_HELD_CHARS]}” now, not what was put into it." if held else "The field is empty."


def _differ(held: str, text: str) -> bool:
    return " ".join(held.split()).casefold() != " ".join(text.split()).casefold()


async def _value_of(element: ElementHandle) -> str | None:
    """Return what a field holds; None where that is a secret, or the field is gone."""
    try:
        held = await element.evaluate(_HELD)
    except Error as error:
        if faults.is_crash(error):
            raise
        return None
    return held if isinstance(held, str) else None


async def _choose(element: ElementHandle, wanted: str) -> str:
    chosen = msgspec.convert(await element.evaluate(script("choose"), wanted), _ChooseResult)
    match chosen.problem:
        case "":
            return ""
        case "gone":
            raise pointer.obstruction(pointer.Reachability("gone", ""))
        case "disabled":
            raise faults.not_done(_PROBLEMS["disabled"], field=_FIELD)
        case "option":
            raise faults.not_done("The option is disabled.", field="value")
        case _:
            raise drawn_controls.no_option(chosen.options)
