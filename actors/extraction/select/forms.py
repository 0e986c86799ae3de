"""Reads the forms of a page: where they lead, and what they ask for; never what a hidden or password field holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from msgspec import Struct
from turbohtml import Element

from actors.extraction.parse.addresses import on_the_web
from actors.extraction.parse.text import one_line
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.select.words import words
from protocol.page import Form, FormField

MAX_FORMS = 50
MAX_FIELDS = 100
MAX_OPTIONS = 200
MAX_CHARS = 200

_MAX_CONTROLS = 1_000
"""Controls of one form that are looked at: of choices, many make one field."""

_MAX_DEPTH = 300
_BUTTONS = frozenset({"submit", "button", "image", "reset"})
_UNREAD_KINDS = frozenset({"hidden", "password", "file"})
_CHOICES = frozenset({"radio", "checkbox"})
_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
_METHODS = frozenset({"GET", "POST", "DIALOG"})

_MAX_LABELS = 2_000
_MAX_GROUPS = 100
_LABEL_ATTRIBUTES = ("aria-label", "placeholder", "title")
CONTROLS = ("input", "select", "textarea")


def forms(page: Page) -> tuple[Form, ...]:
    """Return the forms that can be seen, with the fields in them and those that name them by their `form` attribute."""
    elements = list(islice((form for form in page.root.iter_elements("form") if _is_visible(form, page)), MAX_FORMS))
    if not elements:
        return ()
    joined: dict[str, list[Element]] = {}
    for control in page.root.select("input[form],select[form],textarea[form]")[:_MAX_CONTROLS]:
        joined.setdefault(control.attr("form") or "", []).append(control)
    controls = [_controls(form, joined.get(form.attr("id") or "", [])) for form in elements]
    reader = _FormReader(
        page, labels(page, [control for own in controls for control in own]), legends(page), _hidden_controls(page)
    )
    return tuple(reader.form(form, own) for form, own in zip(elements, controls, strict=True))


def _is_visible(element: Element, page: Page) -> bool:
    around = (element, *islice(element.ancestors, _MAX_DEPTH))
    return not any(page.hidden.get(one) is Hiding.INVISIBLE for one in around if isinstance(one, Element))


def _hidden_controls(page: Page) -> set[Element]:
    outer = [element for element, why in page.hidden.items() if why is Hiding.INVISIBLE]
    return {control for element in outer for control in element.iter_elements(CONTROLS)}


def _is_trap(control: Element) -> bool:
    # Robots fill what people do not see; choices hide behind labels that are drawn in their place.
    return _HIDING_STYLE.search((control.attr("style") or "").lower()) is not None


def _controls(form: Element, joined: Sequence[Element]) -> list[Element]:
    own = (control for control in form.iter_elements(CONTROLS) if control.attr("form") is None)
    return [*islice(own, _MAX_CONTROLS), *joined][:_MAX_CONTROLS]


class _FormReader(Struct, frozen=True):
    page: Page
    labels: dict[Element, str]
    legends: dict[Element, str]
    unseen: set[Element]

    def form(self, form: Element, controls: Sequence[Element]) -> Form:
        method = (form.attr("method") or "").strip().upper()
        return Form(
            action=self._action(form),
            method=method if method in _METHODS else "GET",
            name=one_line(form.attr("name") or form.attr("aria-label") or form.attr("id") or "", MAX_CHARS),
            fields=tuple(islice(self._fields(controls), MAX_FIELDS)),
        )

    def _action(self, form: Element) -> str:
        action = (form.attr("action") or "").strip()
        return on_the_web(self.page.base, action or self.page.url.partition("#")[0])

    def _fields(self, controls: Sequence[Element]) -> Iterable[FormField]:
        fields: dict[str, FormField] = {}
        for number, control in enumerate(controls):
            kind = _kind(control)
            if kind in _BUTTONS or control in self.unseen or (kind not in _CHOICES and _is_trap(control)):
                continue
            field = self._field(control, kind)
            place = f"{kind} {field.name}" if kind in _CHOICES and field.name else str(number)
            before = fields.get(place)
            fields[place] = field if before is None else self._joined(before, field, control)
        return fields.values()

    def _field(self, control: Element, kind: str) -> FormField:
        options, value = self._options(control) if kind == "select" else ((), _value(control, kind))
        label = self.labels.get(control, "")
        if kind in _CHOICES:
            label = label or one_line(control.attr("value") or "", MAX_CHARS)
            value = label if control.attr("checked") is not None else ""
        return FormField(
            name=one_line(control.attr("name") or control.attr("id") or "", MAX_CHARS),
            type=one_line(kind, MAX_CHARS),
            label="" if kind == "hidden" else label,
            required=control.attr("required") is not None or control.attr("aria-required") == "true",
            value=value,
            options=options,
        )

    def _options(self, select: Element) -> tuple[tuple[str, ...], str]:
        options = list(islice(select.iter_elements("option"), MAX_OPTIONS))
        texts = tuple(words(option, self.page.hidden, MAX_CHARS) for option in options)
        chosen = (text for option, text in zip(options, texts, strict=True) if option.attr("selected") is not None)
        return texts, next(chosen, "")

    def _joined(self, before: FormField, field: FormField, control: Element) -> FormField:
        """Make one field of choices of one name: what they are labelled with are its options."""
        return FormField(
            name=before.name,
            type=before.type,
            label=before.label if before.options else self.legends.get(control, ""),
            required=before.required or field.required,
            value=before.value or field.value,
            options=(*(before.options or (before.label,)), field.label)[:MAX_OPTIONS],
        )


def _kind(control: Element) -> str:
    return (control.attr("type") or "text").strip().lower() if control.tag == "input" else control.tag


def _value(control: Element, kind: str) -> str:
    if kind in _UNREAD_KINDS:
        return ""
    return one_line(control.text[: 4 * MAX_CHARS] if kind == "textarea" else control.attr("value") or "", MAX_CHARS)


def labels(page: Page, controls: Sequence[Element]) -> dict[Element, str]:
    """Return the text that each control is labelled with; controls without one are left out."""
    by_id, around = _label_elements(page)
    described = _describing_elements(page, controls)
    texts: dict[Element, str] = {}
    for control in controls:
        label = by_id.get(control.attr("id") or "") or around.get(control) or described.get(control)
        text = words(label, page.hidden, MAX_CHARS) if label is not None else ""
        spoken = (one_line(control.attr(name) or "", MAX_CHARS) for name in _LABEL_ATTRIBUTES)
        if text := text or next(filter(None, spoken), ""):
            texts[control] = text
    return texts


def legends(page: Page) -> dict[Element, str]:
    """Return the legend of the innermost group of fields that each control stands in."""
    texts: dict[Element, str] = {}
    for group in islice(page.root.iter_elements("fieldset"), _MAX_GROUPS):
        legend = next((child for child in group.children if isinstance(child, Element) and child.tag == "legend"), None)
        if legend is not None:
            text = words(legend, page.hidden, MAX_CHARS)
            texts.update(dict.fromkeys(islice(group.iter_elements(CONTROLS), _MAX_LABELS), text))
    return texts


def _label_elements(page: Page) -> tuple[dict[str, Element], dict[Element, Element]]:
    """Return the labels by the id that they are for, and by the control that they stand around."""
    by_id: dict[str, Element] = {}
    around: dict[Element, Element] = {}
    for label in islice(page.root.iter_elements("label"), _MAX_LABELS):
        if name := label.attr("for"):
            by_id.setdefault(name, label)
        elif (control := next(label.iter_elements(CONTROLS), None)) is not None:
            around.setdefault(control, label)
    return by_id, around


def _describing_elements(page: Page, controls: Sequence[Element]) -> dict[Element, Element]:
    wanted = {control: (control.attr("aria-labelledby") or "").split() for control in controls}
    if not any(wanted.values()):
        return {}
    by_id = {element.attr("id") or "": element for element in reversed(page.root.select("[id]"))}
    return {control: by_id[names[0]] for control, names in wanted.items() if names and names[0] in by_id}
