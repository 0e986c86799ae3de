"""What an actor declares is what its code uses of the table of subjects: no grant too many, none too few.

The code of an actor is its module and whatever that imports below `actors/`, lazily or not. A use is any mention of an
entry there, but for the declarations themselves: the class attributes of an actor, and what marks its handlers.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import actors
from actors.actor import handlers
from actors.registry import ACTORS, kinds
from protocol.subject_kinds import Bucket, Event, Journal, Objects, Subject
from protocol.subjects import table

ROOT = Path(actors.__file__).parents[1]
ENTRIES = dict(table())
DECLARATIONS = frozenset({"publishes", "buckets", "stores", "journals", "reads"})
MARKS = frozenset({"handles", "subscribes", "consumes"})
BASE = frozenset({"actors.actor", "actors.registry"})
"""What is not the code of any one actor: the class that all have in common, and the list of them."""


IMPORT = re.compile(r"^ *from (?P<package>actors[\w.]*) import (?P<names>\([^)]*\)|.*)$", re.MULTILINE)


MAY_USE = re.compile(r"subjects|await .*\.append\(")
"""What stands in every module that uses an entry or writes a journal; no other is parsed."""


@cache
def file_of(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


@cache
def text_of(module: str) -> str:
    file = file_of(module)
    assert file is not None, module
    return file.read_text()


@cache
def imported(module: str) -> tuple[str, ...]:
    """Return the names of all modules that a module may import; by the text, because hundreds are read."""
    names: list[str] = []
    for statement in IMPORT.finditer(text_of(module)):
        package = statement["package"]
        names += [package, *(f"{package}.{name}" for name in re.findall(r"\w+", statement["names"]))]
    return tuple(names)


def code_of(module: str) -> set[str]:
    """Return the modules below `actors/` that belong to the code which begins in `module`."""
    reached, left = set[str](), [module]
    while left:
        current = left.pop()
        if current in reached or current in BASE or not current.startswith("actors.") or file_of(current) is None:
            continue
        reached.add(current)
        left += imported(current)
    return reached


class Uses(ast.NodeVisitor):
    """Collects the entries of the table that a module mentions outside of declarations and marks."""

    def __init__(self, tree: ast.Module) -> None:
        self.entries: set[str] = set()
        self.appends = False
        self._names: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "protocol.subjects":
                self._names |= {alias.asname or alias.name: alias.name for alias in node.names if alias.name in ENTRIES}
        self.visit(tree)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if not (isinstance(node.target, ast.Name) and node.target.id in DECLARATIONS):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if not (isinstance(node.func, ast.Name) and node.func.id in MARKS):
            self.generic_visit(node)

    def visit_Await(self, node: ast.Await) -> None:
        match node.value:
            case ast.Call(func=ast.Attribute(attr="append")):
                self.appends = True
            case _:
                pass
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if entry := self._entry(node):
            self.entries.add(entry)
        elif node.attr == "at" or not self._entry(node.value):  # a deadline or a pattern may be read by anybody
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if entry := self._entry(node):
            self.entries.add(entry)

    def _entry(self, node: ast.expr) -> str | None:
        """Return the entry that an expression names, if it names one."""
        match node:
            case ast.Name(id=name):
                return self._names.get(name)
            case ast.Attribute(value=ast.Name(id="subjects"), attr=name) if name in ENTRIES:
                return name
            case _:
                return None


@cache
def uses_of(module: str) -> Uses:
    text = text_of(module)
    return Uses(ast.parse(text if MAY_USE.search(text) else ""))


def used(name: str, *types: type) -> set[str]:
    """Return the entries of these types that the code of an actor uses, by the names that the table gives them."""
    modules = code_of(ACTORS[name].partition(":")[0])
    mentioned = {entry for module in modules for entry in uses_of(module).entries}
    return {entry for entry in mentioned if isinstance(ENTRIES[entry], types)}


def named(*declared: Any) -> set[str]:
    """Return the names that the table gives to what is declared."""
    names = {getattr(entry, "pattern", getattr(entry, "name", "")): name for name, entry in ENTRIES.items()}
    return {names[getattr(one, "form", "") or getattr(one, "pattern", "") or one.name] for one in declared}


KINDS = kinds()


def test_a_use_is_any_mention_but_a_declaration_a_mark_or_a_figure() -> None:
    code = """
from protocol import subjects
from protocol.subjects import LEDGER, PROGRESS as FAR

class Weaver(Actor):
    publishes: ClassVar[tuple[Subject[Any], ...]] = (subjects.PREVIEW,)
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.KEYS,)

    @handles(subjects.DOMAIN, at_once=1)
    async def weave(self) -> None:
        limit_ms = subjects.VERIFY_PAGE.timeout_ms
        await self.bus.call(subjects.BROWSE, page)
        await self.bus.call(subjects.FETCH.at(tier="x"), page)
        await self.bus.tell(FAR.at(replica="r"), progress)
        await (await self.bus.journal(LEDGER)).append("topic", line)
"""
    uses = Uses(ast.parse(code))

    assert (uses.entries, uses.appends) == ({"BROWSE", "FETCH", "PROGRESS", "LEDGER"}, True)


@pytest.mark.parametrize("name", ACTORS)
def test_an_actor_publishes_what_it_declares(name: str) -> None:
    declared = named(*KINDS[name].publishes)
    subscribed = named(*(handler.subject for handler in handlers(KINDS[name]) if isinstance(handler.subject, Event)))

    # What it subscribes to it may also name to subscribe for others, as the gateway does for MCP over stdio.
    assert used(name, Subject) - (subscribed - declared) == declared


@pytest.mark.parametrize("name", ACTORS)
def test_an_actor_keeps_what_it_declares(name: str) -> None:
    kind = KINDS[name]

    assert used(name, Bucket) == named(*kind.buckets)
    assert used(name, Objects) == named(*kind.stores)
    assert used(name, Journal) == named(*kind.journals, *kind.reads)


@pytest.mark.parametrize("name", ACTORS)
def test_only_who_declares_it_writes_a_journal(name: str) -> None:
    modules = code_of(ACTORS[name].partition(":")[0])

    assert any(uses_of(module).appends for module in modules) == bool(KINDS[name].journals)
