"""Finds texts whose colour is that of their ground."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from turbohtml import Element

from actors.extraction.parse.styles import Color, color, declarations, ground_of, same
from actors.extraction.parse.stylesheets import Sheet

_INKED = "[style*='color'],font[color]"
_MAX_INKED = 3_000
"""Coloured elements of one page that are looked at."""

_CLEAR = frozenset({"transparent", "none", "inherit", "initial"})
_WHITE: Color = (255, 255, 255)


def unseen(root: Element, sheet: Sheet) -> set[Element]:
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
    return _alike(inked, _Grounds(grounds, styled=styled)) if inked else set()


class _Grounds:
    """The colours behind elements, as far as the page says them; `told` are those of its style sheets."""

    def __init__(self, told: Mapping[Element, str], *, styled: bool) -> None:
        self._told = told
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


def _alike(inked: Mapping[Element, str], grounds: _Grounds) -> set[Element]:
    found = set[Element]()
    seen = list[Element]()
    for element, ink in islice(inked.items(), _MAX_INKED):
        own = color(ink)
        hidden = own is not None and same(own, grounds.behind(element))
        (found.add if hidden else seen.append)(element)
    for element in seen if found else ():
        found.difference_update(element.ancestors)  # what stands within, in a colour of its own, is seen
    return found
