"""Reads what is known of languages: words that say nothing, and how answers are asked for and written."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

import msgspec
from msgspec import Struct


class SortPatterns(msgspec.Struct, frozen=True):
    """How a sort of answers is asked for and written; `$months`, `$digits` and `$name` stand for the other patterns."""

    questions: list[str]
    answers: list[str]
    months: list[str] = []
    digits: list[str] = []
    name: list[str] = []

    def question_pattern(self) -> re.Pattern[str]:
        """Compile how it is asked for."""
        return re.compile("|".join(self.questions), re.IGNORECASE)

    def answer_pattern(self) -> re.Pattern[str]:
        """Compile how it is written."""
        parts = {"months": "|".join(self.months), "digits": "|".join(self.digits), "name": "|".join(self.name)}
        return re.compile(Template("|".join(self.answers)).safe_substitute(parts), re.IGNORECASE)


class Languages(Struct, frozen=True):
    """What is known of all languages together; `in_pairs` are characters that count in pairs alone."""

    stop_words: frozenset[str]
    stop_runs: re.Pattern[str]
    in_pairs: frozenset[str]
    negation: re.Pattern[str]
    sorts: dict[str, SortPatterns]


@cache
def languages() -> Languages:
    """Return what is shipped."""
    source = files("actors.answerer.local").joinpath("package_data", "languages.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(source)
    stop_words = frozenset(word for words in table.pop("stop_words").values() for word in words.split())
    unspaced = table.pop("unspaced")
    stop_runs = re.compile("|".join(unspaced["stop_runs"]))
    negation = re.compile("|".join(table.pop("negation")["written"]), re.IGNORECASE)
    sorts = msgspec.convert(table, dict[str, SortPatterns])
    return Languages(stop_words, stop_runs, frozenset(unspaced["in_pairs"]), negation, sorts)
