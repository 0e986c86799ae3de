"""Finds what a page says of an action: errors, successes, that it still works on it, and what stands in the way."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

PHRASES: Final = "steps.toml"

_NO_ERRORS = re.compile(
    r"\b(?:no|0|zero|without|keine?|ohne|sin|sans|aucune?|senza|nessun|sem|nenhum|geen|zonder) (?:\w+ )?"
    r"(?:errors?|fehler|erreurs?|errores|errori?|erros?|fouten|problems?)\b"
)
_NEGATED = re.compile(r"\b(?:not|never|cannot|unable|nicht|konnte|kein|keine|pas|no|non|nao|niet|geen)\b")
_NO_WORD = re.compile(r"[\W_]+")
_QUOTED = re.compile(
    r"\"([^\"]+)\"|\u201c([^\u201d]+)\u201d|\u201e([^\u201c\u201d]+)[\u201c\u201d]|\u00ab([^\u00bb]+)\u00bb"
)
_IN_SINGLE_QUOTES = re.compile(r"(?<!\w)['\u2018]([^'\u2019]+)['\u2019](?!\w)")


def spoken(text: str) -> str:
    """Return the words of a text in one form: lower case, without accents and marks, a space around each."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(one))
    return f" {_NO_WORD.sub(' ', plain).strip()} "


def quoted(text: str) -> tuple[str, ...]:
    """Return what stands in quotation marks in a text."""
    finding = [*_QUOTED.finditer(text), *_IN_SINGLE_QUOTES.finditer(text)]
    return tuple(next(filter(None, one.groups())).strip() for one in sorted(finding, key=lambda one: one.start()))


def says(text: str, kind: str, part: str = "") -> str:
    """Return the phrase of a kind that a text has, "" where it has none; `part` is one of its lists."""
    words = _NO_ERRORS.sub(" ", spoken(text)) if kind == "errors" else spoken(text)
    if kind == "successes" and _NEGATED.search(words):
        return ""
    return next((one.strip() for one in _phrases()[kind][part] if one in words), "")


def first_saying(texts: Iterable[str], kind: str) -> str:
    """Return the first text that has a phrase of a kind."""
    return next((one for one in texts if says(one, kind)), "")


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text by which it can be told from others."""
    return frozenset(one for one in spoken(text).split() if len(one) > 2 or one.isdigit()) - _COMMON  # noqa: PLR2004 - "in"


@cache
def _phrases() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the phrases by their kind; "" holds those of all languages."""
    text = files("actors.verifier").joinpath("package_data", PHRASES).read_text("utf-8")
    book = tomllib.loads(text)
    return MappingProxyType({kind: _lists(kind, lists) for kind, lists in book.items()})


def _lists(kind: str, lists: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    """Return the lists of a kind, each phrase as it stands among words."""
    named = {name: tuple(map(spoken, phrases)) for name, phrases in lists.items()}
    if kind in {"errors", "successes"}:
        return MappingProxyType({"": tuple(one for phrases in named.values() for one in phrases)})
    return MappingProxyType({"" if name == "any" else name: phrases for name, phrases in named.items()})


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
