"""Finds what a reader of the page does not see, and whether a click would show it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from turbohtml import Element

from actors.fetchers.extract import stylesheets
from actors.fetchers.extract.styles import Sight, sight


class Hiding(StrEnum):
    """Why an element is not seen."""

    COLLAPSED = "collapsed"
    """A click shows it (accordion, tab, `<details>`, "read more"): content, marked as such."""

    INVISIBLE = "invisible"
    """Nobody is meant to see it: it never reaches a model."""


_UNSEEN = (
    "template,.sr-only,.visually-hidden,.visuallyhidden,.screen-reader-text,.screen-reader-only,.screenreader-only,"
    ".a11y-hidden,.u-visually-hidden,.element-invisible,.show-for-sr"
)
"""What has no place on the screen: among them the classes by which texts are kept for screen readers alone."""

_FOLDED = "[hidden],dialog:not([open]),[popover],details:not([open])>:not(summary)"
_NEVER = frozenset({"html", "body", "main", "br", "img", "input", "picture", "svg", "script", "style", "link"})
"""Hidden against flicker until a script has run, or without text of their own."""

_CONTROLS = "[aria-controls],[data-target],[data-bs-target],a[href^='#'],label[for]"
_OPENS = ("aria-controls", "data-target", "data-bs-target", "href", "for")
_SAYS = ("role", "class", "id")
_BY_CLICK = re.compile(
    r"accord|collaps|tab-?_?(?:pane|content|panel)|tabs?(?:[-_ ]|$)|faq|expand|toggl|panel|dropdown|drop-down|spoiler"
    r"|(?:read|show|see|view|load|learn)[-_]?more|more[-_]?(?:text|content)|unfold|reveal|slide|answer|details?(?:[-_ ]|$)"
)
"""Classes, ids and roles of what a click shows."""


def hidden(root: Element) -> Mapping[Element, Hiding]:
    """Give the outermost elements that are not seen."""
    found = _found(root)
    for element in [element for element in found if element.tag in _NEVER]:
        del found[element]
    if not found:
        return {}
    targets = _targets(root)
    return {
        element: Hiding.COLLAPSED if sight is Sight.FOLDED and _opens(element, targets) else Hiding.INVISIBLE
        for element, sight in found.items()
        if not any(ancestor in found for ancestor in element.ancestors)
    }


def _found(root: Element) -> dict[Element, Sight]:
    found = stylesheets.unseen(root)
    found.update(dict.fromkeys(root.select(_FOLDED), Sight.FOLDED))
    found.update((element, how) for element in root.select("[style]") if (how := sight(element.attr("style") or "")))
    found.update(dict.fromkeys(root.select(_UNSEEN), Sight.UNSEEN))
    return found


def _targets(root: Element) -> frozenset[str]:
    # The ids of what a control of the page opens.
    values = (control.attr(name) for control in root.select(_CONTROLS) for name in _OPENS)
    return frozenset(value.removeprefix("#") for value in values if value)


def _opens(element: Element, targets: frozenset[str]) -> bool:
    parent = element.parent
    if isinstance(parent, Element) and parent.tag == "details":
        return True
    if element.attr("hidden") == "until-found" or (element.attr("id") or "") in targets:
        return True
    return any(_BY_CLICK.search(value.lower()) for name in _SAYS if (value := element.attr(name)))
