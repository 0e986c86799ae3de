"""Replaces formulas by their TeX source, once, where pages show them drawn, spoken and spelt; spells MathML as TeX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from turbohtml import Element, Node, Text

from actors.extraction.write.rendering import Verbatim

_FORMULAS = (
    "[class*=MathJax]:is(.MathJax_Display,.MathJax_SVG_Display,.MathJax,.MathJax_SVG,.MathJax_CHTML,.MathJax_Preview),"
    ".katex-display,.katex,.mwe-math-element,mjx-container,script[type^='math/tex'],math,"
    "[data-math],[data-tex],[data-latex],[data-entry],"
    "img:is(.tex,.latex,.mathtex,[class*='math'],[src*='latex'],[src*='/math/'])"
)
_TEX = "annotation[encoding*='tex' i],script[type^='math/tex']"
_DISPLAYED = ".katex-display,.MathJax_Display,.MathJax_SVG_Display,[display='block'],[display='true'],[mode*='display']"
_SOURCES = ("data-math", "data-tex", "data-latex", "data-expr", "data-entry", "alttext", "alt")
_STYLED = re.compile(r"\{\\(?:display|text)style\s*(.*)\}", re.DOTALL)
_DELIMITED = re.compile(r"(\$\$|\\\[|\$|\\\()(.*?)(?:\$\$|\\\]|\$|\\\))", re.DOTALL)
_INLINE = frozenset({"span", "em", "strong", "a", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "b", "i", "li"})
_MAX_FORMULAS = 5_000
_MAX_TEX_CHARS = 5_000
_TEX_COMMAND = re.compile(r"\\[A-Za-z]+\*?(?:\{[a-z*]+\})?")
_TEX_WORD = re.compile(r"[^\W\d_]{4,}")
_MAX_WORDS = 8
"""Words that stand in a formula: more of them are a sentence."""

_SPELT = str.maketrans({"<": r"\lt ", ">": r"\gt ", "`": "'", "$": r"\$"})

_MAX_DEPTH = 40
_ANNOTATIONS = frozenset({"annotation", "annotation-xml"})
_TEMPLATES = {
    ("mfrac", 2): r"\frac{{{0}}}{{{1}}}",
    ("msup", 2): "{0}^{{{1}}}",
    ("mover", 2): "{0}^{{{1}}}",
    ("msub", 2): "{0}_{{{1}}}",
    ("munder", 2): "{0}_{{{1}}}",
    ("msubsup", 3): "{0}_{{{1}}}^{{{2}}}",
    ("munderover", 3): "{0}_{{{1}}}^{{{2}}}",
    ("mroot", 2): r"\sqrt[{1}]{{{0}}}",
}
_ACCENTS = {
    "^": "hat",
    "\u02c6": "hat",
    "~": "tilde",
    "\u02dc": "tilde",
    "\u02d9": "dot",
    "\u00a8": "ddot",
    "\u2192": "vec",
    "\u20d7": "vec",
    "\u00af": "overline",
    "\u203e": "overline",
    "_": "underline",
    "\u23de": "overbrace",
    "\u23df": "underbrace",
}
_SEQUENCES = {
    "msqrt": (r"\sqrt{", "", "}"),
    "mtable": (r"\begin{matrix}", r" \\ ", r"\end{matrix}"),
    "mtr": ("", " & ", ""),
}
_FENCES = {"{": r"\{", "}": r"\}"}
_SYMBOLS = str.maketrans(
    {
        "\u2212": "-",
        "\u00d7": r"\times ",
        "\u22c5": r"\cdot ",
        "\u2264": r"\le ",
        "\u2265": r"\ge ",
        "\u2260": r"\ne ",
        "\u221e": r"\infty ",
        "\u2211": r"\sum ",
        "\u222b": r"\int ",
        "\u220f": r"\prod ",
        "\u2202": r"\partial ",
        "\u2061": "",
        "\u2062": "",
        "\u2063": "",
        "\u00b1": r"\pm ",
        "\u2192": r"\to ",
        "\u2208": r"\in ",
        "%": r"\%",
        "#": r"\#",
        "&": r"\&",
    }
)


def replace_formulas(body: Element, holders: AbstractSet[Element], own: Verbatim) -> None:
    """Put the TeX source in the place of each formula among kept text."""
    for element in body.select(_FORMULAS)[:_MAX_FORMULAS]:
        parent = element.parent
        if not isinstance(parent, Element) or not (element in holders or parent in holders):
            continue
        if element.closest("pre,code") is not None or not _is_within(element, body):
            continue
        tex = _source_of(element)
        if tex:
            before = element.previous_sibling
            if not _is_displayed(element):
                element.replace_with(own.element(f"${tex}$"))
            elif parent.tag in _INLINE:
                element.replace_with(own.element(f" $${tex}$$ "))
            else:
                element.replace_with(own.paragraph(f"$${tex}$$"))
            _remove_drawings(before)
        elif element.has_class("MathJax_Preview"):
            element.extract()


def _is_within(element: Element, body: Element) -> bool:
    return any(ancestor is body or ancestor == body for ancestor in element.ancestors)


def _source_of(element: Element) -> str:
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
        yield tex_of_mathml(drawn)


def _is_prose(tex: str) -> bool:
    # What is no formula does not say what is drawn.
    return len(_TEX_WORD.findall(_TEX_COMMAND.sub(" ", tex))) > _MAX_WORDS


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


def _remove_drawings(before: Node | None) -> None:
    # MathJax 2 leaves its drawing before the script that holds the source.
    while isinstance(before, Element) and (before.attr("class") or "").startswith("MathJax"):
        drawing, before = before, before.previous_sibling
        drawing.extract()


def tex_of_mathml(element: Element, depth: int = 0) -> str:
    """Spell an element of MathML and what stands in it."""
    parts = [child for child in element.children if isinstance(child, Element) and child.tag not in _ANNOTATIONS]
    if not parts or depth > _MAX_DEPTH:
        return _token(element)
    if element.tag in ("mover", "munder") and len(parts) == 2 and (accent := _ACCENTS.get(parts[1].text.strip())):  # noqa: PLR2004 - base, accent
        return rf"\{accent}{{{tex_of_mathml(parts[0], depth + 1)}}}"
    inner = [tex_of_mathml(child, depth + 1) for child in parts]
    template = _TEMPLATES.get((element.tag, len(inner)))
    if template is not None:
        return template.format(*inner)
    before, between, after = _SEQUENCES.get(element.tag, ("", "", ""))
    return f"{before}{between.join(inner)}{after}"


def _token(element: Element) -> str:
    text = "".join(child.data for child in element.children if isinstance(child, Text)).strip()
    if element.tag == "mtext":
        return rf"\text{{{text}}}" if text else " "
    if element.tag == "mi" and len(text) > 1 and text.isascii():
        return rf"\operatorname{{{text}}}"
    return _FENCES.get(text, text.translate(_SYMBOLS))
