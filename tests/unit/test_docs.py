"""The reference says everything that there is, and every snippet can be read."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterator

import pytest

from actors.settings import describe
from protocol.faults import KINDS, Code
from protocol.subjects import table
from scripts.generate_docs import REFERENCE, ROOT, SETTINGS_FILE, pages, settings_file

FENCE = re.compile(r"^( *)```(python|json|toml)[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
PARSERS: dict[str, Callable[[str], object]] = {"python": ast.parse, "json": json.loads, "toml": tomllib.loads}


def snippets() -> Iterator[tuple[str, str, str]]:
    """Find every snippet in the documents: where it stands, its language and its text."""
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]):
        text = path.read_text(encoding="utf-8")
        for found in FENCE.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            body = "\n".join(each.removeprefix(found[1]) for each in found[3].split("\n"))
            yield f"{path.relative_to(ROOT).as_posix()}:{line}", found[2], body


def reference(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def test_every_setting_is_explained() -> None:
    text = reference("settings.md")

    silent = [
        row.name
        for row in describe()
        if not row.description
        or f"`{row.name}`" not in text
        or f"`{row.env}`" not in text
        or row.description not in text
    ]

    assert silent == []


def test_every_error_code_is_explained() -> None:
    text = reference("errors.md")

    assert [code for code in Code if f"| `{code}` |" not in text or KINDS[code].meaning not in text] == []


def test_every_subject_and_bucket_is_explained() -> None:
    text = reference("subjects.md")

    assert [name for name, _ in table() if f"| {name} |" not in text] == []


@pytest.mark.full
@pytest.mark.slow
def test_the_reference_is_what_the_code_says() -> None:
    wanted = pages()

    present = {path.relative_to(REFERENCE).as_posix() for path in REFERENCE.rglob("*") if path.is_file()}

    assert present == set(wanted), "run scripts/generate_docs.py"
    assert [name for name in sorted(present) if reference(name) != wanted[name]] == [], "run scripts/generate_docs.py"


def test_the_file_of_settings_is_what_the_code_says() -> None:
    assert SETTINGS_FILE.read_text(encoding="utf-8") == settings_file(), "run scripts/generate_docs.py"


def test_every_snippet_can_be_read() -> None:
    unread: list[str] = []
    for place, language, body in snippets():
        try:
            PARSERS[language](body)
        except (SyntaxError, ValueError) as error:
            unread.append(f"{place}: {error}")

    assert unread == []
