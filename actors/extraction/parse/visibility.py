"""Finds what a reader of the page does not see, and whether a click would show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import islice

from turbohtml import Element, Node

from actors.extraction.parse import colors, stylesheets
from actors.extraction.parse.styles import Sight, sight
from actors.extraction.parse.stylesheets import Sheet


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

_FOLDED = "[hidden]:not([id^='S:']),dialog:not([open]),[popover],details:not([open])>:not(summary)"
"""What HTML itself does not show. A hidden part "S:1" is one that React sends late and puts in its place at once."""

_NEVER = frozenset({"html", "body", "main", "br", "img", "input", "picture", "svg", "script", "style", "link"})
"""Hidden against flicker until a script has run, or without text of their own."""

_HEADS = "h1,main,article"
_MAX_HEADS = 50
_MAX_FADED = 500
_LONG = 2_000
"""Characters from which a text that is hidden may be the page's own: what is smuggled in is shorter."""

_CONTROLS = "[aria-controls],[data-target],[data-bs-target],a[href^='#'],label[for]"
_OPENS = ("aria-controls", "data-target", "data-bs-target", "href", "for")
_SAYS = ("role", "class", "id")
_BY_CLICK = re.compile(
    r"accord|collaps|tabbed|tab-?_?(?:pane|content|panel)|tabs?(?:[-_ ]|$)|faq|expand|toggl|panel|drop-?down|spoiler"
    r"|(?:read|show|see|view|load|learn)[-_]?more|more[-_]?(?:text|content)|reveal|slide|answer|unfold"
    r"|details?(?:[-_ ]|$)"
)
"""Classes, ids and roles of what a click shows."""


def hidden(root: Element) -> Mapping[Element, Hiding]:
    """Return the outermost elements that are not seen."""
    found = _found(root)
    if not found:
        return {}
    for element in [*_flickering(root, found), *(element for element in found if element.tag in _NEVER)]:
        found.pop(element, None)
    targets = _targets(root)
    return {
        element: Hiding.COLLAPSED if found[element] is Sight.FOLDED and _opens(element, targets) else Hiding.INVISIBLE
        for element in _outermost(found)
    }


def _outermost(found: Mapping[Element, Sight]) -> Iterator[Element]:
    clear = set[Node]()  # looked at before: nothing above them is hidden
    for element in found:
        passed = list[Node]()
        within = False
        for ancestor in element.ancestors:
            within = ancestor in found
            if within or ancestor in clear:
                break
            passed.append(ancestor)
        if not within:
            clear.update(passed)
            yield element


def _found(root: Element) -> dict[Element, Sight]:
    sheet = Sheet(root)
    found = stylesheets.unseen(root, sheet)
    found.update(dict.fromkeys(root.select(_FOLDED), Sight.FOLDED))
    legible = list[Element]()
    for element in root.select("[style]"):
        style = element.attr("style") or ""
        if how := sight(style):
            found[element] = how
        elif "font" in style:
            legible.append(element)
    for element in legible if found else ():
        for ancestor in element.ancestors:
            if isinstance(ancestor, Element) and "font" in (ancestor.attr("style") or ""):
                found.pop(ancestor, None)  # no type of its own, against the gaps between boxes
    found.update(dict.fromkeys(root.select(_UNSEEN), Sight.UNSEEN))
    found.update(dict.fromkeys(colors.unseen(root, sheet), Sight.UNSEEN))
    return found


def _flickering(root: Element, found: Mapping[Element, Sight]) -> Iterator[Element]:
    # What holds the page's heading, or fades in, and is half of a long text, is hidden until a script has run.
    suspects = {
        ancestor
        for heading in root.select(_HEADS)[:_MAX_HEADS]
        for ancestor in heading.ancestors
        if isinstance(ancestor, Element) and found.get(ancestor) is Sight.FOLDED
    }
    suspects.update(each for each in islice(found, _MAX_FADED) if "opacity" in (each.attr("style") or ""))
    long = [element for element in suspects if len(element.text) > _LONG]
    if long:
        whole = len(root.text) - sum(len(each.text) for each in root.iter_elements(("script", "style")))
        yield from (element for element in long if len(element.text) * 2 > whole)


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
