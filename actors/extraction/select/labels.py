"""Finds what the controls of a form are called: by their labels, or by what stands in and on them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from turbohtml import Element

from actors.extraction.parse.text import one_line
from actors.extraction.parse.tree import Page
from actors.extraction.select.words import words

MAX_CHARS = 200
_MAX_LABELS = 2_000
_MAX_GROUPS = 100
_SPOKEN = ("aria-label", "placeholder", "title")
CONTROLS = ("input", "select", "textarea")


def labels(page: Page, controls: Sequence[Element]) -> dict[Element, str]:
    """Return the text that each control is labelled with; controls without one are left out."""
    by_id, around = _labels(page)
    described = _described(page, controls)
    found: dict[Element, str] = {}
    for control in controls:
        label = by_id.get(control.attr("id") or "") or around.get(control) or described.get(control)
        text = words(label, page.hidden, MAX_CHARS) if label is not None else ""
        spoken = (one_line(control.attr(name) or "", MAX_CHARS) for name in _SPOKEN)
        if text := text or next(filter(None, spoken), ""):
            found[control] = text
    return found


def legends(page: Page) -> dict[Element, str]:
    """Return the legend of the innermost group of fields that each control stands in."""
    found: dict[Element, str] = {}
    for group in islice(page.root.iter_elements("fieldset"), _MAX_GROUPS):
        legend = next((child for child in group.children if isinstance(child, Element) and child.tag == "legend"), None)
        if legend is not None:
            text = words(legend, page.hidden, MAX_CHARS)
            found.update(dict.fromkeys(islice(group.iter_elements(CONTROLS), _MAX_LABELS), text))
    return found


def _labels(page: Page) -> tuple[dict[str, Element], dict[Element, Element]]:
    """Return the labels by the id that they are for, and by the control that they stand around."""
    by_id: dict[str, Element] = {}
    around: dict[Element, Element] = {}
    for label in islice(page.root.iter_elements("label"), _MAX_LABELS):
        if name := label.attr("for"):
            by_id.setdefault(name, label)
        elif (control := next(label.iter_elements(CONTROLS), None)) is not None:
            around.setdefault(control, label)
    return by_id, around


def _described(page: Page, controls: Sequence[Element]) -> dict[Element, Element]:
    wanted = {control: (control.attr("aria-labelledby") or "").split() for control in controls}
    if not any(wanted.values()):
        return {}
    by_id = {element.attr("id") or "": element for element in reversed(page.root.select("[id]"))}
    return {control: by_id[names[0]] for control, names in wanted.items() if names and names[0] in by_id}
