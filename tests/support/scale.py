"""How much the tests try: enough to guard what Weft does, or everything (`scripts/test --full`)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar, cast

import pytest
from _pytest.mark import ParameterSet

_VARIABLE = "TESTS_OF_WEFT_FULL"

T = TypeVar("T")


def choose(*, full: bool) -> None:
    """Have everything tried, or not, in this process and those that it starts."""
    os.environ[_VARIABLE] = "1" if full else ""


def is_chosen() -> bool:
    """Return whether this is a test, and no benchmark."""
    return _VARIABLE in os.environ


def is_full() -> bool:
    """Return whether everything is tried."""
    return bool(os.environ.get(_VARIABLE))


def sized(quick: T, full: T) -> T:
    """Return the size of what a test tries: of hostile pages, of crowds, of batches."""
    return full if is_full() else quick


def one_in(every: int, cases: Iterable[object]) -> list[ParameterSet]:
    """Return the cases of a matrix, of which one in `every` is always tried; a tuple is several arguments."""
    return [_case(case, () if place % every == 0 else (pytest.mark.full,)) for place, case in enumerate(cases)]


def first(count: int, cases: Iterable[object]) -> list[ParameterSet]:
    """Return the cases of a matrix, of which all but the first few are tried with `--full` alone."""
    return [_case(case, () if place < count else (pytest.mark.full,)) for place, case in enumerate(cases)]


def _case(case: object, marks: tuple[pytest.MarkDecorator, ...]) -> ParameterSet:
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, marks=[*case.marks, *marks], id=case.id)
    return (
        pytest.param(*cast("tuple[object, ...]", case), marks=marks)
        if isinstance(case, tuple)
        else pytest.param(case, marks=marks)
    )
