"""Spells MathML as TeX, where a formula brings no source of its own."""

from __future__ import annotations

from turbohtml import Element, Text

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
_JOINED = {
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


def tex(element: Element, depth: int = 0) -> str:
    """Spell an element of MathML and what stands in it."""
    parts = [child for child in element.children if isinstance(child, Element) and child.tag not in _ANNOTATIONS]
    if not parts or depth > _MAX_DEPTH:
        return _token(element)
    if element.tag in ("mover", "munder") and len(parts) == 2 and (accent := _ACCENTS.get(parts[1].text.strip())):  # noqa: PLR2004 - base, accent
        return rf"\{accent}{{{tex(parts[0], depth + 1)}}}"
    inner = [tex(child, depth + 1) for child in parts]
    template = _TEMPLATES.get((element.tag, len(inner)))
    if template is not None:
        return template.format(*inner)
    before, between, after = _JOINED.get(element.tag, ("", "", ""))
    return f"{before}{between.join(inner)}{after}"


def _token(element: Element) -> str:
    text = "".join(child.data for child in element.children if isinstance(child, Text)).strip()
    if element.tag == "mtext":
        return rf"\text{{{text}}}" if text else " "
    if element.tag == "mi" and len(text) > 1 and text.isascii():
        return rf"\operatorname{{{text}}}"
    return _FENCES.get(text, text.translate(_SYMBOLS))
