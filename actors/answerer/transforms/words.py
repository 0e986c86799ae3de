"""Reads how languages write years and say what something is."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final

from msgspec import Struct

MAX_TERM_CHARS: Final = 60


class TransformWords(Struct, frozen=True):
    """The patterns: `leading` stands before a year; `defines` has the groups `term` and `is`, `asks` has `term`."""

    leading: str
    page_talk: re.Pattern[str]
    defines: re.Pattern[str]
    defines_unspaced: re.Pattern[str]
    article: re.Pattern[str]
    no_term: re.Pattern[str]
    asks: re.Pattern[str]
    dashes: str
    quotes: str


@cache
def transform_words() -> TransformWords:
    """Return what is shipped."""
    source = files("actors.answerer.transforms").joinpath("package_data", "words.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(source)
    years, of = table["years"], table["definitions"]
    aside = r"(?P<aside> \([^()]{1,60}\)|,[^,]{1,60},)?"
    term = rf"(?P<term>[^,;:.!?()\[\]\"]{{2,{MAX_TERM_CHARS}}}?)"
    return TransformWords(
        leading="|".join(years["leading"]),
        page_talk=_compiled(
            rf"^\W*(?:{'|'.join(years['page_talk'])})|\b(?:{years['page_talk_inside']})\b.{{0,16}}\d{{4}}"
        ),
        defines=_compiled(rf"^{term}{aside} (?P<is>{'|'.join(of['is'])})"),
        defines_unspaced=_compiled(of["unspaced"]),
        article=_compiled(rf"^(?:{of['articles']})(?:\s+|(?<=['\u2019]))"),
        no_term=_compiled(rf"^(?:(?:{'|'.join(of['no_terms'])})\b|{of['no_terms_unspaced']})"),
        asks=_compiled(rf"^{of['questions']}\s+(?P<term>.+?)\s*\?*$"),
        dashes=of["dashes"],
        quotes=of["quotes"],
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
