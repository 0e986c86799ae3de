"""Reads what can be chosen of the thing that a page sells: its sizes, its colours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from msgspec import Struct
from turbohtml import Element

from actors.extraction.evidence.product_labels import buy_buttons
from actors.extraction.parse.text import one_line
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.select.forms import labels, legends
from actors.extraction.select.words import words

MAX_CHOICES = 10
MAX_OPTIONS = 40
"""Options from which on a list is of countries or hours rather than of the thing itself."""

MAX_CHARS = 60
_MAX_CONTROLS = 200
_MAX_DEPTH = 300


class ProductChoice(Struct, frozen=True):
    """One thing to choose, with its options; `place` is the form that it stands in."""

    place: Element
    label: str
    options: tuple[str, ...]


def choices(page: Page) -> tuple[ProductChoice, ...]:
    """Return what can be chosen in the form of the first button that buys; how many are bought is no choice."""
    form = next((form for button in buy_buttons(page) if (form := _form_around(button, page)) is not None), None)
    if form is None:
        return ()
    controls = list(islice(form.iter_elements(("select", "input")), _MAX_CONTROLS))
    named, groups = labels(page, controls), legends(page)
    fields = [*_lists(page, controls, named), *_radios(controls, named, groups)]
    offered = (
        ProductChoice(form, label, options) for label, options in fields if label and 1 < len(options) <= MAX_OPTIONS
    )
    return tuple(islice((choice for choice in offered if not _counts(choice.options)), MAX_CHOICES))


def _form_around(button: Element, page: Page) -> Element | None:
    around = [one for one in islice(button.ancestors, _MAX_DEPTH) if isinstance(one, Element)]
    if any(page.hidden.get(one) is Hiding.INVISIBLE for one in (button, *around)):
        return None
    return next((one for one in around if one.tag == "form"), None)


def _lists(page: Page, controls: Sequence[Element], named: dict[Element, str]) -> Iterable[tuple[str, tuple[str, ...]]]:
    for control in controls:
        if control.tag == "select":
            options = [one for one in islice(control.iter_elements("option"), MAX_OPTIONS + 1) if _is_offered(one)]
            texts = (words(option, page.hidden, MAX_CHARS) for option in options if option.attr("value") != "")
            yield named.get(control, "").strip(" :*"), tuple(text for text in texts if text)


def _radios(
    controls: Sequence[Element], named: dict[Element, str], groups: dict[Element, str]
) -> Iterable[tuple[str, tuple[str, ...]]]:
    radios = [one for one in controls if one.tag == "input" and (one.attr("type") or "").lower() == "radio"]
    for name in dict.fromkeys(one.attr("name") or "" for one in radios):
        group = [one for one in radios if one.attr("name") == name]
        texts = (one_line(named.get(one) or one.attr("value") or "", MAX_CHARS) for one in group if _is_offered(one))
        yield groups.get(group[0], "").strip(" :*"), tuple(text for text in texts if text)


def _is_offered(option: Element) -> bool:
    return option.attr("disabled") is None


def _counts(options: Sequence[str]) -> bool:
    """Whether options are numbers from 0 or 1 on."""
    return all(option.isascii() and option.isdigit() for option in options) and [*map(int, options)] in (
        list(range(len(options))),
        list(range(1, len(options) + 1)),
    )
