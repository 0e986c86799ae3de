"""Writes formulas by their TeX source, once, where pages show them drawn, spoken and spelt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from turbohtml import Element, Node

from actors.extraction.write import mathml
from actors.extraction.write.verbatim import Verbatim

_FORMULAS = (
    ".katex-display,.katex,.mwe-math-element,mjx-container,.MathJax_Display,.MathJax_SVG_Display,.MathJax,.MathJax_SVG,"
    ".MathJax_CHTML,.MathJax_Preview,script[type^='math/tex'],math,[data-math],[data-tex],[data-latex],[data-entry],"
    "img.tex,img.latex,img.mathtex,img[class*='math'],img[src*='latex'],img[src*='/math/']"
)
_TEX = "annotation[encoding*='tex' i],script[type^='math/tex']"
_DISPLAYED = ".katex-display,.MathJax_Display,.MathJax_SVG_Display,[display='block'],[display='true'],[mode*='display']"
_SOURCES = ("data-math", "data-tex", "data-latex", "data-expr", "data-entry", "alttext", "alt")
_STYLED = re.compile(r"\{\\(?:display|text)style\s*(.*)\}", re.DOTALL)
_DELIMITED = re.compile(r"(\$\$|\\\[|\$|\\\()(.*?)(?:\$\$|\\\]|\$|\\\))", re.DOTALL)
_INLINE = frozenset({"span", "em", "strong", "a", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "b", "i", "li"})
_MAX_FORMULAS = 5_000
_MAX_TEX_CHARS = 5_000
_COMMAND = re.compile(r"\\[A-Za-z]+\*?(?:\{[a-z*]+\})?")
_WORD = re.compile(r"[^\W\d_]{4,}")
_MAX_WORDS = 8
"""Words that stand in a formula: more of them are a sentence."""

_SPELT = str.maketrans({"<": r"\lt ", ">": r"\gt ", "`": "'", "$": r"\$"})


def write(body: Element, holders: AbstractSet[Element], own: Verbatim) -> None:
    """Put the TeX source in the place of each formula among kept text."""
    for element in body.select(_FORMULAS)[:_MAX_FORMULAS]:
        parent = element.parent
        if not isinstance(parent, Element) or not (element in holders or parent in holders):
            continue
        if element.closest("pre,code") is not None or not _is_within(element, body):
            continue
        tex = _tex(element)
        if tex:
            before = element.previous_sibling
            if not _is_displayed(element):
                element.replace_with(own.element(f"${tex}$"))
            elif parent.tag in _INLINE:
                element.replace_with(own.element(f" $${tex}$$ "))
            else:
                element.replace_with(own.paragraph(f"$${tex}$$"))
            _forget_drawings(before)
        elif element.has_class("MathJax_Preview"):
            element.extract()


def _is_within(element: Element, body: Element) -> bool:
    return any(ancestor is body or ancestor == body for ancestor in element.ancestors)


def _tex(element: Element) -> str:
    return next((tex for source in _sources(element) if (tex := _plain(source)) and not _is_prose(tex)), "")


def _sources(element: Element) -> Iterator[str]:
    source = element if element.tag == "script" else element.select_one(_TEX)
    if source is not None:
        yield source.text
    for holder in (element, element.select_one("[alttext]"), element.select_one("img[alt]")):
        if holder is not None:
            yield from (value for name in _SOURCES if (value := holder.attr(name)))
    drawn = element if element.tag == "math" else element.select_one("math")
    if drawn is not None:
        yield mathml.tex(drawn)


def _is_prose(tex: str) -> bool:
    # What is no formula does not say what is drawn.
    return len(_WORD.findall(_COMMAND.sub(" ", tex))) > _MAX_WORDS


def _plain(tex: str) -> str:
    tex = " ".join(tex[:_MAX_TEX_CHARS].split())
    if (match := _DELIMITED.fullmatch(tex)) is not None:
        tex = match[2].strip()
    while (match := _STYLED.fullmatch(tex)) is not None:
        tex = match[1].strip()
    # What a reader without formulas would take for markup means the same in TeX when spelt otherwise.
    return tex.replace(r"\$", "$").translate(_SPELT).replace("](", "] (")


def _is_displayed(element: Element) -> bool:
    if "mode=display" in (element.attr("type") or ""):
        return True
    if element.matches(_DISPLAYED) or element.select_one(_DISPLAYED) is not None:
        return True
    return "display" in (element.attr("class") or "") or element.closest(".katex-display,.MathJax_Display") is not None


def _forget_drawings(before: Node | None) -> None:
    # MathJax 2 leaves its drawing before the script that holds the source.
    while isinstance(before, Element) and (before.attr("class") or "").startswith("MathJax"):
        drawing, before = before, before.previous_sibling
        drawing.extract()
