"""The clauses of the seeds, and the mark that ties a test to one of them."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
import pytest

TESTS = Path(__file__).parent


@dataclass(frozen=True)
class Clause:
    """One thing that a seed demands, in our own words; `reason` says why it is not met yet."""

    says: str
    status: Literal["met", "later"]
    reason: str = ""


def requirement(clause: str) -> pytest.MarkDecorator:
    """Mark a test as the proof of a clause of requirements.toml, such as `000.1.schema-version`."""
    return pytest.mark.requirement(clause)


def manifest() -> Mapping[str, Clause]:
    """Read every clause by its id: file, section and a short name."""
    rows = tomllib.loads((TESTS / "requirements.toml").read_text(encoding="utf-8"))
    return msgspec.convert(rows, dict[str, Clause])


def marks() -> Iterator[tuple[str, str]]:
    """Find every `requirement("…")` in the sources of the tests: the clause and the file."""
    for path in sorted(TESTS.rglob("*.py")):
        if "node_modules" in path.parts or "requirement(" not in (source := path.read_text(encoding="utf-8")):
            continue
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Call(func=ast.Name(id="requirement"), args=[ast.Constant(value=str(clause))]):
                    yield clause, path.relative_to(TESTS).as_posix()
                case _:
                    pass
