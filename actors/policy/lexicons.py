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


def speaks_to_models(*forms: str) -> bool:
    """Whether a page gives orders, tells what a user has allowed, or names tools, in any of its forms."""
    return any(_orders().search(form) is not None for form in forms)


@cache
def _orders() -> re.Pattern[str]:
    named = {tool.name_on(surface) for tool in TOOLS.values() for surface in Surface}
    names = sorted((re.escape(name) for name in named if "." in name or "_" in name), key=len, reverse=True)
    return re.compile("|".join([*_source()["orders"], rf"(?<![\w.])(?:{'|'.join(names)})(?![\w.])"]))


@cache
def _source() -> dict[str, list[str]]:
    return tomllib.loads(files("actors.policy").joinpath("package_data", "words.toml").read_text("utf-8"))
