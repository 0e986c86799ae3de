"""Charts as SVG within a page: elements of a tree, which escapes whatever stands in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from xml.etree.ElementTree import Element

from actors.report.figures import Measured

_SIDE: Final = 300
_EDGE: Final = 44
_WIDE: Final = 640
_BAR: Final = 22
_LABEL: Final = 190
_RADIUS: Final = (3.0, 9.0)

Child = Element | str


def node(tag: str, *children: Child, **attributes: object) -> Element:
    """Return an element; of an attribute's name `_` is `-`, and one at its end is left out."""
    made = Element(tag, {name.rstrip("_").replace("_", "-"): str(value) for name, value in attributes.items()})
    for child in children:
        if isinstance(child, Element):
            made.append(child)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + child
        else:
            made.text = (made.text or "") + child
    return made


def stacked(rows: Mapping[str, Mapping[str, int]], kinds: Sequence[str], title: str) -> Element:
    """Draw a bar for each row, parted by kind, all on one scale."""
    most = max((sum(counts.values()) for counts in rows.values()), default=1)
    scale, parts = (_WIDE - _LABEL - 50) / most, list[Child]()
    for place, (name, counts) in enumerate(rows.items()):
        y, x = place * (_BAR + 8), float(_LABEL)
        parts.append(node("text", name, x=_LABEL - 8, y=y + 15, text_anchor="end"))
        for kind in kinds:
            wide = counts.get(kind, 0) * scale
            if wide:
                label = node("title", f"{name}, {kind}: {counts[kind]}")
                parts.append(
                    node("rect", label, x=f"{x:.1f}", y=y, width=f"{wide:.1f}", height=_BAR, class_=f"k-{kind}")
                )
            x += wide
        parts.append(node("text", str(sum(counts.values())), x=f"{x + 6:.1f}", y=y + 15))
    return _drawn(_WIDE, max(len(rows) * (_BAR + 8), 1), title, parts)


def columns(counts: Sequence[int], title: str) -> Element:
    """Draw how often each tenth occurs."""
    most, wide, high = max([*counts, 1]), (_WIDE - 2 * _EDGE) / len(counts), 160
    parts = list[Child]()
    for place, count in enumerate(counts):
        x, tall = _EDGE + place * wide, high * count / most
        label = node("title", f"{place / len(counts):.1f} to {(place + 1) / len(counts):.1f}: {count}")
        bar = {"x": f"{x + 2:.1f}", "y": f"{20 + high - tall:.1f}", "width": f"{wide - 4:.1f}", "height": f"{tall:.1f}"}
        parts.append(node("rect", label, class_="k-read", **bar))
        parts.append(node("text", f"{place / len(counts):.1f}", x=f"{x:.1f}", y=high + 38, text_anchor="middle"))
        if count:
            parts.append(
                node("text", str(count), x=f"{x + wide / 2:.1f}", y=f"{15 + high - tall:.1f}", text_anchor="middle")
            )
    return _drawn(_WIDE, high + 50, title, parts)


def reliability(bins: Sequence[Measured], title: str) -> Element:
    """Draw one dot for each bin, larger where it has more pages; on the diagonal confidence holds."""
    most, low, high = max((one.pages for one in bins), default=1), _EDGE, _EDGE + _SIDE
    parts: list[Child] = [node("path", d=f"M{low} {high}L{high} {low}", class_="even")]
    for tenth in range(0, 11, 2):
        x, y = _at(tenth / 10), _EDGE + _SIDE - _SIDE * tenth / 10
        parts.append(node("path", d=f"M{x:.1f} {low}V{high}M{low} {y:.1f}H{high}", class_="grid"))
        parts.append(node("text", f"{tenth / 10:.1f}", x=f"{x:.1f}", y=high + 16, text_anchor="middle"))
        parts.append(node("text", f"{tenth / 10:.1f}", x=low - 6, y=f"{y + 4:.1f}", text_anchor="end"))
    for one in bins:
        small, large = _RADIUS
        label = node("title", f"{one.pages} pages: said {one.predicted:.3f}, came {one.result:.3f}")
        where = {"cx": f"{_at(one.predicted):.1f}", "cy": f"{_EDGE + _SIDE * (1 - one.result):.1f}"}
        parts.append(node("circle", label, r=f"{small + large * (one.pages / most) ** 0.5:.1f}", class_="dot", **where))
    middle = _EDGE + _SIDE / 2
    parts.append(node("text", "what was said", x=middle, y=high + 34, text_anchor="middle"))
    turn = f"rotate(-90 12 {middle})"
    parts.append(node("text", "what came", x=12, y=middle, text_anchor="middle", transform=turn))
    return _drawn(_SIDE + 2 * _EDGE, _SIDE + 2 * _EDGE, title, parts)


def _at(value: float) -> float:
    return _EDGE + value * _SIDE


def _drawn(wide: float, high: float, title: str, parts: Sequence[Child]) -> Element:
    box = {"viewBox": f"0 0 {wide:.0f} {high:.0f}", "width": f"{wide:.0f}"}
    return node("svg", node("title", title), *parts, role="img", xmlns="http://www.w3.org/2000/svg", **box)
