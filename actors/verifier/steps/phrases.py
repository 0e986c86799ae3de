"""Finds what a page says of an action: errors, successes, that it still works on it, and what stands in the way.

The words are those of `package_data/steps`, a file for each language; a text is held against those of all languages.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from ahocorasick_rs import AhoCorasick

FOLDER: Final = "steps"

_SAID: Final = "said"
"""The part of a kind that holds its phrases."""

_NO_WORD = re.compile(r"[\W_]+")
_QUOTED = re.compile(
    r"\"([^\"]+)\"|\u201c([^\u201d]+)\u201d|\u201e([^\u201c\u201d]+)[\u201c\u201d]|\u00ab([^\u00bb]+)\u00bb"
)
_IN_SINGLE_QUOTES = re.compile(r"(?<!\w)['\u2018]([^'\u2019]+)['\u2019](?!\w)")

_UNSPACED = re.compile(r"[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Characters of scripts that set no space between words, or set it elsewhere: Chinese, Japanese, Korean."""

_IDEOGRAPHS = re.compile(r"[\u3400-\u9fff]{2,}")
_CHARS_A_WORD: Final = 2
"""Of a script without spaces."""


def spoken(text: str) -> str:
    """Return the words of a text in one form: lower case, without accents and marks, a space around each."""
    return f" {_NO_WORD.sub(' ', _unmarked(text.casefold())).strip()} "


def _unmarked(text: str) -> str:
    return "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))


def quoted(text: str) -> tuple[str, ...]:
    """Return what stands in quotation marks in a text."""
    finding = [*_QUOTED.finditer(text), *_IN_SINGLE_QUOTES.finditer(text)]
    return tuple(next(filter(None, one.groups())).strip() for one in sorted(finding, key=lambda one: one.start()))


def says(text: str, kind: str, part: str = _SAID) -> bool:
    """Return whether a text has a phrase of a kind; `part` is one of its lists."""
    words = spoken(text)
    if kind == "errors":
        words = _pattern("no_errors").sub(" ", words)
    if kind == "successes" and says(text, "negations"):
        return False
    return bool(_finder(kind, part).find_matches_as_indexes(words))


def first_saying(texts: Iterable[str], kind: str) -> str:
    """Return the first text that has a phrase of a kind; "" where none has."""
    return next((one for one in texts if says(one, kind)), "")


def word_count(text: str) -> int:
    """Count the words of a text; two characters of a script without spaces count as one."""
    return max(len(text.split()), len(_UNSPACED.findall(text)) // _CHARS_A_WORD)


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text by which it can be told from others: of Chinese and Japanese, pairs of ideographs."""
    words = spoken(text)
    pairs = {run[at : at + 2] for run in _IDEOGRAPHS.findall(words) for at in range(len(run) - 1)}
    return frozenset(one for one in words.split() if len(one) > 2 or one.isdigit()) - _COMMON | pairs - _COMMON_PAIRS  # noqa: PLR2004 - "in"


def matches(text: str, kind: str) -> bool:
    """Return whether a text matches a pattern of a kind that is told by patterns."""
    return _pattern(kind).search(_unmarked(text.casefold())) is not None


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    """Return what matches any pattern of a kind in a text of lower case without accents."""
    return re.compile("|".join(f"(?:{_unmarked(one)})" for one in _lists()[kind, _SAID]))


@cache
def _finder(kind: str, part: str) -> AhoCorasick:
    """Return what finds the phrases of a kind: whole words, or any place where a script sets no spaces."""
    phrases = map(spoken, _lists()[kind, part])
    return AhoCorasick([one.strip() if _UNSPACED.search(one) else one for one in phrases])


@cache
def _lists() -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return the phrases and patterns of all languages by their kind and part."""
    lists = dict[tuple[str, str], list[str]]()
    for book in _books():
        for kind, content in book.items():
            parts: Mapping[str, list[str] | str] = content if isinstance(content, Mapping) else {_SAID: content}
            for part, phrases in parts.items():
                lists.setdefault((kind, part), []).extend([phrases] if isinstance(phrases, str) else phrases)
    return {name: tuple(phrases) for name, phrases in lists.items()}


def _books() -> Iterator[Mapping[str, list[str] | str | Mapping[str, list[str]]]]:
    """Yield what is known of each language: phrases by their kind, or by a part of it, and patterns."""
    folder = files("actors.verifier").joinpath("package_data", FOLDER)
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        yield tomllib.loads(file.read_text("utf-8"))


_COMMON: Final = frozenset(
    {"the", "and", "for", "with", "from", "into", "that", "this", "then", "click", "press", "select", "choose", "check"}
    | {
        "uncheck",
        "enter",
        "type",
        "open",
        "field",
        "button",
        "link",
        "box",
        "page",
        "text",
        "tab",
        "menu",
        "item",
        "list",
    }
    | {"option", "input", "set", "fill", "put", "are", "you", "your", "not", "next", "new", "all", "one"}
    | {"der", "die", "das", "und", "klicke", "feld", "les", "des", "une", "sur", "dans", "bouton", "champ"}
)
"""Words of steps that do not tell one thing on a page from another."""

_COMMON_PAIRS: Final = frozenset(
    {
        "点击",
        "點擊",
        "点选",
        "選択",
        "选择",
        "選擇",
        "输入",
        "輸入",
        "入力",
        "按钮",
        "按鈕",
        "打开",
        "打開",
        "页面",
        "頁面",
    }
    | {"菜单", "字段", "链接", "画面", "項目", "一个", "我的"}
)
