"""Finds texts whose colour is that of their ground."""

from __future__ import annotations

from turbohtml import Element

from actors.fetchers.extract.styles import Color, color, declarations, ground_of, same
from actors.fetchers.extract.stylesheets import Sheet

_INKED = "[style*='color'],font[color]"
_MAX_INKED = 3_000
"""Coloured elements of one page that are looked at."""

_WHITE: Color = (255, 255, 255)


def unseen(root: Element, sheet: Sheet) -> set[Element]:
    """Give the elements whose text cannot be told from the ground, as far as the page itself says both colours."""
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
    return _alike(inked, grounds, styled=styled) if inked else set()


def _alike(inked: dict[Element, str], grounds: dict[Element, str], *, styled: bool) -> set[Element]:
    found = set[Element]()
    seen = list[Element]()
    for element, ink in list(inked.items())[:_MAX_INKED]:
        own = color(ink)
        unseen_here = own is not None and same(own, _ground(element, grounds, styled=styled))
        (found.add if unseen_here else seen.append)(element)
    for element in seen if found else ():
        found.difference_update(element.ancestors)  # what stands within, in a colour of its own, is seen
    return found


def _ground(element: Element, grounds: dict[Element, str], *, styled: bool) -> Color | None:
    for holder in (element, *element.ancestors):
        if not isinstance(holder, Element):
            break
        declared = declarations((holder.attr("style") or "").lower())
        ground = ground_of(declared) or grounds.get(holder) or holder.attr("bgcolor")
        if "background-image" in declared or holder.attr("background"):
            return None
        if ground and ground not in ("transparent", "none", "inherit", "initial"):
            return color(ground.lower())
        if not styled and (holder.attr("class") or holder.attr("id")):
            return None  # a style sheet that was not fetched may give it a ground
    return _WHITE if styled else None
