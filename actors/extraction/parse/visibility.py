"""Finds what a reader of the page does not see: what is hidden, whether a click shows it, and text without contrast."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import islice

from turbohtml import Element, Node, Text

from actors.extraction.parse import stylesheets
from actors.extraction.parse.styles import Color, StyleHiding, color, declarations, ground_of, same, style_hiding
from actors.extraction.parse.stylesheets import StyleSheet

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
_FADES = re.compile(r"opacity|visibility", re.IGNORECASE)
"""What keeps the place of a text until a script shows it."""

_LONG = 1_700
"""Letters from which a text that is hidden may be the page's own: what is smuggled in is shorter."""

_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
_LETTERS_AS_MANY = 3
"""Letters that say as much as one ideograph, kana or syllable of Korean."""

_CONTROLS = "[aria-controls],[data-target],[data-bs-target],a[href^='#'],label[for]"
_OPENS = ("aria-controls", "data-target", "data-bs-target", "href", "for")
_SAYS = ("role", "class", "id")
_BY_CLICK = re.compile(
    r"accord|collaps|tabbed|tab-?_?(?:pane|content|panel)|tabs?(?:[-_ ]|$)|faq|expand|toggl|panel|drop-?down|spoiler"
    r"|(?:read|show|see|view|load|learn)[-_]?more|more[-_]?(?:text|content)|reveal|slide|answer|unfold"
    r"|details?(?:[-_ ]|$)"
)
"""Classes, ids and roles of what a click shows."""

_ASKS = ("?", "\uff1f", "\u061f")
_MAX_QUESTION = 300

_UNSPOKEN = "[aria-hidden='true' i]"
_MAX_UNSPOKEN_CHARS = 500
"""Characters up to which a text kept from screen readers is taken for ornament: a longer one is behind a modal."""

_WITHOUT_WORDS = frozenset({"svg", "img", "path", "use", "input", "button", "iframe", "video", "canvas", "br", "hr"})
_SPOKEN_INSTEAD = (
    ":scope>.sr-only,:scope>.visually-hidden,:scope>.screen-reader-text,:scope>.a-offscreen,:scope>.u-visually-hidden"
)
_FIGURES = re.compile(r"[\W\d_]+")
"""Numbers of parts, prices and marks, which are said in other words to who listens."""

_DRAWN = re.compile(r"katex|mjx|math", re.IGNORECASE)
"""Formulas as they are drawn, beside their source."""

_INKED = "[style*='color'],font[color]"
_MAX_INKED = 3_000
"""Coloured elements of one page that are looked at."""

_CLEAR = frozenset({"transparent", "none", "inherit", "initial"})
_WHITE: Color = (255, 255, 255)


class Hiding(StrEnum):
    """Why an element is not seen."""

    COLLAPSED = "collapsed"
    """A click shows it (accordion, tab, `<details>`, "read more"): content, marked as such."""

    INVISIBLE = "invisible"
    """Nobody is meant to see it: it never reaches a model."""


def hidden(root: Element) -> Mapping[Element, Hiding]:
    """Return the outermost elements that are not seen."""
    hiding = _hiding(root)
    hiding.update(dict.fromkeys(_unspoken(root), StyleHiding.UNSEEN))
    if not hiding:
        return {}
    for element in [*_flickering(root, hiding), *(element for element in hiding if element.tag in _NEVER)]:
        hiding.pop(element, None)
    targets = _targets(root)
    return {
        element: Hiding.COLLAPSED
        if hiding[element] is StyleHiding.FOLDED and _opens(element, targets)
        else Hiding.INVISIBLE
        for element in _outermost(hiding)
    }


def uncoloured_text(root: Element, sheet: StyleSheet) -> set[Element]:
    """Return the elements whose text cannot be told from the ground, as far as the page itself says both colours."""
    inked = dict[Element, str]()
    styled = sheet.is_small and root.select_one("link[rel~='stylesheet' i]") is None
    grounds = dict[Element, str]()
    if styled:
        for element, body in sheet.colored(root):
            declared = declarations(body.lower())
            if ink := declared.get("color"):
                inked[element] = ink
            if ground := ground_of(declared):
                grounds[element] = ground
    for element in root.select(_INKED):
        declared = declarations((element.attr("style") or "").lower())
        if ink := declared.get("color", element.attr("color") or ""):
            inked[element] = ink.lower()
    return _indistinct(inked, _Backgrounds(grounds, styled=styled)) if inked else set()


def _outermost(hiding: Mapping[Element, StyleHiding]) -> Iterator[Element]:
    clear = set[Node]()  # looked at before: nothing above them is hidden
    for element in hiding:
        passed = list[Node]()
        within = False
        for ancestor in element.ancestors:
            within = ancestor in hiding
            if within or ancestor in clear:
                break
            passed.append(ancestor)
        if not within:
            clear.update(passed)
            yield element


def _hiding(root: Element) -> dict[Element, StyleHiding]:
    sheet = StyleSheet(root)
    hiding = stylesheets.unseen(root, sheet)
    hiding.update(dict.fromkeys(root.select(_FOLDED), StyleHiding.FOLDED))
    legible = list[Element]()
    for element in root.select("[style]"):
        style = element.attr("style") or ""
        if how := style_hiding(style):
            hiding[element] = how
        elif "font" in style:
            legible.append(element)
    for element in legible if hiding else ():
        for ancestor in element.ancestors:
            if isinstance(ancestor, Element) and "font" in (ancestor.attr("style") or ""):
                hiding.pop(ancestor, None)  # no type of its own, against the gaps between boxes
    hiding.update(dict.fromkeys(root.select(_UNSEEN), StyleHiding.UNSEEN))
    hiding.update(dict.fromkeys(uncoloured_text(root, sheet), StyleHiding.UNSEEN))
    return hiding


def _unspoken(root: Element) -> Iterator[Element]:
    """Find short texts that a page keeps from screen readers: ornaments, names of icons, copies of other texts.

    What a control opens, holds the heading of the page, or stands for a text that only screen readers get, is none.
    """
    targets: frozenset[str] | None = None
    for element in root.select(_UNSPOKEN):
        if element.tag in _WITHOUT_WORDS or not 0 < len(text := element.text.strip()) <= _MAX_UNSPOKEN_CHARS:
            continue
        parent = element.parent
        if _FIGURES.fullmatch(text) or element.select_one(_HEADS) is not None or not isinstance(parent, Element):
            continue
        if (
            _DRAWN.search(element.attr("class") or "")
            or parent.attr("aria-label")
            or parent.select_one(_SPOKEN_INSTEAD) is not None
        ):
            continue
        targets = _targets(root) if targets is None else targets
        if not _opens(element, targets):
            yield element


def _flickering(root: Element, hiding: Mapping[Element, StyleHiding]) -> Iterator[Element]:
    # What holds the page's heading, or keeps its place, and is half of a long text, is hidden until a script has run.
    suspects = {
        ancestor
        for heading in root.select(_HEADS)[:_MAX_HEADS]
        for ancestor in heading.ancestors
        if isinstance(ancestor, Element) and hiding.get(ancestor) is StyleHiding.FOLDED
    }
    suspects.update(each for each in islice(hiding, _MAX_FADED) if _FADES.search(each.attr("style") or ""))
    lengths = {element: _length(element.text) for element in suspects}
    if any(length > _LONG for length in lengths.values()):
        whole = _length(root.text) - sum(_length(each.text) for each in root.iter_elements(("script", "style")))
        shown = [element for element, length in lengths.items() if length > _LONG and length * 2 > whole]
        names = {name for element in shown if (name := element.attr("class"))}
        yield from shown
        yield from (element for element in hiding if element.attr("class") in names)  # other parts, by the same rule


def _length(text: str) -> int:
    """Count the characters that are no blanks, an ideograph for as many letters as say what it does."""
    length = len("".join(text.split()))
    if text.isascii():
        return length
    return length + (_LETTERS_AS_MANY - 1) * sum(1 for _ in _IDEOGRAPHS.finditer(text))


def _targets(root: Element) -> frozenset[str]:
    # The ids of what a control of the page opens.
    values = (control.attr(name) for control in root.select(_CONTROLS) for name in _OPENS)
    return frozenset(value.removeprefix("#") for value in values if value)


def _opens(element: Element, targets: frozenset[str]) -> bool:
    parent = element.parent
    if isinstance(parent, Element) and parent.tag == "details":
        return True
    if element.attr("hidden") == "until-found" or (element.attr("id") or "") in targets or _answers(element):
        return True
    return any(_BY_CLICK.search(value.lower()) for name in _SAYS if (value := element.attr(name)))


def _answers(element: Element) -> bool:
    """Return whether a question that is seen stands directly above."""
    before = element.previous_sibling
    while isinstance(before, Text) and before.data.isspace():
        before = before.previous_sibling
    if not isinstance(before, Element):
        return False
    question = before.text.strip()
    return len(question) <= _MAX_QUESTION and question.endswith(_ASKS)


class _Backgrounds:
    """The colours behind elements, as far as the page says them; `declared` are those of its style sheets."""

    def __init__(self, declared: Mapping[Element, str], *, styled: bool) -> None:
        self._told = declared
        self._styled = styled
        self._known = dict[Element, Color | None]()

    def behind(self, element: Element) -> Color | None:
        """Return the colour of the nearest ground; None where something unknown may lie between."""
        passed = list[Element]()
        ground = _WHITE if self._styled else None
        for holder in (element, *element.ancestors):
            if not isinstance(holder, Element):
                break
            if holder in self._known:
                ground = self._known[holder]
                break
            passed.append(holder)
            ends, own = self._own(holder)
            if ends:
                ground = own
                break
        self._known.update(dict.fromkeys(passed, ground))
        return ground

    def _own(self, holder: Element) -> tuple[bool, Color | None]:
        # Whether nothing behind an element is seen, or it cannot be known, and its own colour.
        declared = declarations((holder.attr("style") or "").lower())
        ground = ground_of(declared) or self._told.get(holder) or holder.attr("bgcolor")
        if "background-image" in declared or holder.attr("background"):
            return True, None
        if ground and ground not in _CLEAR:
            return True, color(ground.lower())
        # A style sheet that was not fetched may give it a ground.
        return not self._styled and bool(holder.attr("class") or holder.attr("id")), None


def _indistinct(inked: Mapping[Element, str], grounds: _Backgrounds) -> set[Element]:
    indistinct = set[Element]()
    distinct = list[Element]()
    for element, ink in islice(inked.items(), _MAX_INKED):
        own = color(ink)
        hidden = own is not None and same(own, grounds.behind(element))
        (indistinct.add if hidden else distinct.append)(element)
    for element in distinct if indistinct else ():
        indistinct.difference_update(element.ancestors)  # what stands within, in a colour of its own, is seen
    return indistinct
