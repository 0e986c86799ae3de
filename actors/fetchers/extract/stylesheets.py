"""Finds the elements that the style sheets of a page keep out of sight."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from turbohtml import Element, SelectorSyntaxError

from actors.fetchers.extract.styles import Sight, sight

_TRIGGERS = tuple(
    re.compile(pattern)
    for pattern in (
        r"display\s*:\s*none",
        r"visibility\s*:\s*hidden",
        r"opacity\s*:\s*0(?![.\d])",
        r"font-size\s*:\s*[01](?![.\d])",
        r"text-indent\s*:\s*-",
        r"left\s*:\s*-\d{3}",
        r"top\s*:\s*-\d{3}",
        r"clip(?:-path)?\s*:\s*(?:rect|inset|circle|polygon)",
        r"color\s*:\s*(?:transparent|rgba)",
        r"height\s*:\s*[01](?![.\d])",
    )
)
"""Each begins with a literal, so that the search runs at the speed of `str.find`."""

_SHOWN = re.compile(r"display\s*:\s*(?!none)|visibility\s*:\s*visible|opacity\s*:\s*(?:1|0?\.[1-9])")
_WINDOW = 4_000
"""Characters looked at around a declaration for its rule."""

_MAX_RULES = 300
"""Rules of one page that are tried on its tree; each costs about 30 µs."""

_MAX_HITS = 20_000
"""Declarations of one page that are looked at; each costs about 2 µs."""

_SCREEN = 1280.0
"""The width of the screen, in pixels, that media queries are answered for."""

_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
_MEDIA = re.compile(r"@media([^{;]{0,500})\{")
_CLOSED_TWICE = re.compile(r"\}\s*\}")
_WIDTH = re.compile(r"(min|max)-(?:device-)?width\s*:\s*([\d.]+)\s*(px|r?em)?")
_NAME = re.compile(r"[.#]((?:[\w-]|[^\x00-\x7f])+)")
_ODD = re.compile(r"[:\\@%{};<&]|\.no-?js|^\s*(?:html|body)(?![\w-])[^\s>+~]*\s*$")
"""Selectors that depend on a state, or speak of the whole page (hidden against flicker, until a script has run)."""

_WEIGHTS = ((re.compile("#"), 100), (re.compile(r"[.\[]"), 10), (re.compile(r"(?:^|[\s>+~])[a-z]"), 1))
_IMPORTANT = 10_000


@dataclass(frozen=True, slots=True)
class _Rule:
    """One selector of one rule; of two that meet an element, the one of the larger rank counts."""

    selector: str
    rank: tuple[int, int]
    body: str


def unseen(root: Element) -> dict[Element, Sight]:
    """Give the elements that a plain rule of a style sheet hides, those within them, too."""
    sheet = _sheet(root)
    names: frozenset[str] | None = None
    found = dict[Element, _Rule]()
    tried = 0
    for rule in _rules(sheet, _places(sheet, _TRIGGERS)):
        if sight(rule.body) is None:
            continue
        names = _names(root) if names is None else names
        if not names.issuperset(_NAME.findall(rule.selector)):
            continue
        tried += 1
        if tried > _MAX_RULES:
            break
        found.update(dict.fromkeys(_select(root, rule.selector), rule))
    if not found or names is None:
        return {}
    showing = _showing(sheet, names)
    return {
        element: how
        for element, rule in found.items()
        if (how := sight(rule.body)) is not None and not (how is Sight.FOLDED and _shown(element, rule, showing))
    }


def _sheet(root: Element) -> str:
    sheet = "".join(style.text for style in root.iter_elements("style") if "print" not in (style.attr("media") or ""))
    return _COMMENT.sub(" ", sheet) if "/*" in sheet else sheet


def _places(sheet: str, triggers: Iterable[re.Pattern[str]]) -> list[int]:
    lower = sheet.lower()
    if len(lower) != len(sheet):  # a letter whose small form is two letters: places would not fit
        lower = sheet
    return sorted({match.start() for trigger in triggers for match in trigger.finditer(lower)})[:_MAX_HITS]


def _rules(sheet: str, places: list[int]) -> Iterator[_Rule]:
    media = _Media(sheet)
    end = 0
    for place in places:
        if place < end:
            continue
        start = sheet.rfind("{", max(0, place - _WINDOW), place)
        end = sheet.find("}", place, place + _WINDOW)
        if start < 0 or end < 0 or not media.answers(start):
            continue
        before = max(sheet.rfind(mark, max(0, start - _WINDOW), start) for mark in "{};")
        body = sheet[start + 1 : end]
        for selector in sheet[before + 1 : start].split(","):
            if not _ODD.search(selector):
                yield _Rule(selector.strip(), (_specificity(selector, body), place), body)


def _specificity(selector: str, body: str) -> int:
    weight = sum(len(pattern.findall(selector)) * value for pattern, value in _WEIGHTS)
    return weight + (_IMPORTANT if "!" in body else 0)


class _Media:
    """The media queries of a style sheet, answered for a screen."""

    def __init__(self, sheet: str) -> None:
        self._starts = list[int]()
        self._ends = list[int]()
        self._hold = list[bool]()
        for match in _MEDIA.finditer(sheet) if "@media" in sheet else ():
            closed = _CLOSED_TWICE.search(sheet, match.end())
            self._starts.append(match.start())
            self._ends.append(closed.end() if closed else len(sheet))
            self._hold.append(_holds(match[1].lower()))

    def answers(self, place: int) -> bool:
        """Tell whether the rule at a place counts."""
        index = bisect_right(self._starts, place) - 1
        return index < 0 or place >= self._ends[index] or self._hold[index]


def _holds(query: str) -> bool:
    if "print" in query or "speech" in query or "reduce" in query or "dark" in query:
        return False
    return all(
        (width <= _SCREEN) if bound == "min" else (width >= _SCREEN)
        for bound, number, unit in _WIDTH.findall(query)
        if (width := float(number) * (16 if unit.endswith("em") else 1)) >= 0
    )


def _names(root: Element) -> frozenset[str]:
    names = set[str]()
    for element in root.select("[class],[id]"):
        names.update((element.attr("class") or "").split())
        names.add(element.attr("id") or "")
    return frozenset(names)


def _select(root: Element, selector: str) -> list[Element]:
    try:
        return root.select(selector) if selector else []
    except SelectorSyntaxError:
        return []


def _showing(sheet: str, names: frozenset[str]) -> list[_Rule]:
    rules = _rules(sheet, _places(sheet, (_SHOWN,)))
    return [rule for rule in rules if names.issuperset(_NAME.findall(rule.selector))][:_MAX_RULES]


def _shown(element: Element, rule: _Rule, showing: list[_Rule]) -> bool:
    style = element.attr("style")
    if style and rule.rank[0] < _IMPORTANT and _SHOWN.search(style):
        return True
    return any(other.rank > rule.rank and _matches(element, other.selector) for other in showing)


def _matches(element: Element, selector: str) -> bool:
    try:
        return bool(selector) and element.matches(selector)
    except SelectorSyntaxError:
        return False
