"""The words by which labels, names of properties, answers and values are known (`vocabulary.toml`)."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct


class LabelVocabulary(Struct, frozen=True, forbid_unknown_fields=True):
    """Words in lower case and without accents; what each list is for, the file says."""

    noise: frozenset[str]
    units: frozenset[str]
    years: tuple[str, ...]
    carriers: frozenset[str]
    carried: frozenset[str]
    entities: frozenset[str]
    yes: frozenset[str]
    no: frozenset[str]
    same: tuple[frozenset[str], ...]
    meanings: dict[str, tuple[str, ...]]
    narrower: dict[str, frozenset[str]]


@cache
def vocabulary() -> LabelVocabulary:
    """Read the words, once."""
    source = files("actors.answerer.extracting").joinpath("vocabulary.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(source), LabelVocabulary)
