"""Words that carry nothing, and what a page says that speaks to a model rather than to a reader: data, read once."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from protocol.tools.registry import TOOLS
from protocol.tools.tool import Surface


@cache
def account_words() -> tuple[str, ...]:
    """Return the words that make a number beside them one of an account or a paper."""
    return tuple(_source()["accounts"])


@cache
def generic_words() -> frozenset[str]:
    """Return the words that addresses and queries have of themselves."""
    return frozenset(_source()["generic"])


@cache
def search_words() -> str:
    """Return a pattern of the words for searching, in folded text."""
    return "|".join(_source()["searching"])


def speaks_to_models(words: str, text: str) -> bool:
    """Whether a page gives orders, tells what a user has allowed, or names tools: by its folded words and its text."""
    small = text.casefold()
    return any(one is not None for one in (_orders().search(words), _marks().search(small), _names().search(small)))


def tools_named(text: str) -> frozenset[str]:
    """Return the names of tools that stand in a text."""
    return frozenset(_names().findall(text.casefold()))


@cache
def computing() -> re.Pattern[str]:
    """Return what finds a word for computing, in folded text."""
    return re.compile(rf"\b(?:{'|'.join(_source()['computing'])})\b")


@cache
def _orders() -> re.Pattern[str]:
    """Return what is looked for in words without accents and signs."""
    return re.compile("|".join(order for order in _source()["orders"] if _is_plain(order)))


@cache
def _marks() -> re.Pattern[str]:
    """Return what is looked for in the text as it is: markers, and orders in scripts without blanks."""
    return re.compile("|".join(order for order in _source()["orders"] if not _is_plain(order)))


@cache
def _names() -> re.Pattern[str]:
    """Return what finds the names of tools that are no everyday words."""
    named = {tool.name_on(surface) for tool in TOOLS.values() for surface in Surface}
    names = sorted((re.escape(name) for name in named if "." in name or "_" in name), key=len, reverse=True)
    return re.compile(rf"(?<![\w.])(?:{'|'.join(names)})(?![\w])")


def _is_plain(order: str) -> bool:
    return order.isascii() and not order.startswith("<")


@cache
def _source() -> dict[str, list[str]]:
    return tomllib.loads(files("actors.policy").joinpath("package_data", "words.toml").read_text("utf-8"))
