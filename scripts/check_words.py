"""Holds the words of the code: names of the field, one name for one thing, docstrings whose first word says something.

`python scripts/check_words.py [PATH ...]` prints what falls short and ends with 1 if anything does. What is left out of
names, and what stands for it instead, is the table below: add to it what a reader of the field would not guess.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

PACKAGES = ("protocol", "bus", "actors")
WITH_TESTS = (*PACKAGES, "tests", "scripts")

NAMES: Mapping[str, str] = MappingProxyType(
    {
        "absence": "unavailability",
        "anew": "reconnect",
        "announce": "tool schemas",
        "apart": "worker process",
        "asked": "request",
        "asking": "bus client",
        "awake": "open tab",
        "before": "prescan",
        "came": "result",
        "climb": "browse run",
        "company": "neighbours",
        "creating": "submission",
        "desk": "app context",
        "done": "result",
        "doors": "authentication",
        "ending": "finalization",
        "entrance": "authentication",
        "era": "protocol version",
        "failing": "error mapping",
        "folding": "reducer",
        "following": "consumer",
        "foresee": "preview",
        "foresight": "preview service",
        "hands": "step context",
        "hears": "subscribes",
        "held": "open session",
        "here": "replica state",
        "histories": "run log",
        "ill": "render failure",
        "jail": "sandbox",
        "joining": "pagination merge",
        "judging": "validation",
        "keeping": "cookie sync",
        "ladder": "escalation",
        "loan": "lease",
        "makes": "publishes",
        "manners": "politeness",
        "means": "dependencies",
        "news": "signal",
        "opinions": "weak labels",
        "outlook": "estimate",
        "overtaken": "superseded",
        "passed": "skipped",
        "performing": "dispatch",
        "places": "site key",
        "playing": "executor",
        "resting": "stability",
        "run_words": "run renderers",
        "said": "response",
        "sayings": "messages",
        "seats": "process pool",
        "settling": "stability",
        "shop": "offer client, or commerce",
        "shots": "single attempts",
        "sight": "snapshot",
        "signs": "markers",
        "spots": "elements",
        "statements": "mappers",
        "taking": "capture",
        "tally": "counters",
        "telling": "views",
        "told": "response",
        "underway": "in flight",
        "walls": "blockers",
        "wish": "render options",
        "written": "serializers",
    }
)
"""What is no name of a module, a class or a function, and what is said instead."""

VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        "asked": "request, arguments, query",
        "came": "result, response",
        "found": "what it is that was found: elements, match, candidates",
        "said": "message, response, text",
        "seen": "what it is that was seen: visited, observation",
        "told": "response, event, notification",
    }
)
"""What is no name of a variable or an argument: it says how a thing came, not what it is."""

WIRE_NAMES = frozenset({"Absence", "BatchResult", "BatchSummary", "Heading", "Link", "Said", "Text"})
"""Classes whose names stand in JSON Schemas that others read: they stay as they are, and may stand twice."""

WIRE_PLACES = ("protocol/", "actors/gateway/pages.py", "actors/runner/templates/")
"""Where such classes stand; elsewhere each name is one class."""

EMPTY_VERBS = frozenset({"Give", "Gives", "Tell", "Tells"})
"""First words of docstrings that say nothing: return, parse, publish, match and the like say what is done."""


def complaints(files: Sequence[Path]) -> Iterator[str]:
    """Yield every complaint, as `path:line: text`."""
    classes: defaultdict[str, list[str]] = defaultdict(list)
    for file in files:
        tree = ast.parse(file.read_text())
        product = file.parts[0] in PACKAGES
        if product and (better := NAMES.get(file.stem)):
            yield f"{file}:1: module {file.stem}: {better}"
        for node in ast.walk(tree):
            yield from _of_node(file, node, product=product)
            if product and isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(f"{file}:{node.lineno}")
    for name, places in sorted(classes.items()):
        of_wire = [place for place in places if name in WIRE_NAMES and place.startswith(WIRE_PLACES)]
        counted = [place for place in places if place not in of_wire[1:]]
        if len(counted) > 1:
            yield f"{counted[0]}: class {name} stands twice: {', '.join(counted[1:])}"


def _of_node(file: Path, node: ast.AST, *, product: bool) -> Iterator[str]:
    match node:
        case ast.Module() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            line = getattr(node, "lineno", 1)
            first = (ast.get_docstring(node) or "x").split()[0].rstrip(":,.;")
            if first in EMPTY_VERBS:
                yield f"{file}:{line}: a docstring begins with {first!r}"
            name = getattr(node, "name", "")
            better = NAMES.get(name.strip("_").lower())
            if product and better and name not in WIRE_NAMES:
                yield f"{file}:{line}: {name}: {better}"
        case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
            if product and (better := VARIABLES.get(name)):
                yield f"{file}:{node.lineno}: variable {name}: {better}"
        case _:
            pass


def files_of(paths: Sequence[str]) -> list[Path]:
    """Return the Python files below the given paths, or of the whole project."""
    roots = [Path(path) for path in paths or WITH_TESTS]
    found = [file for root in roots for file in ([root] if root.is_file() else sorted(root.rglob("*.py")))]
    return [file for file in found if "node_modules" not in file.parts]


def main() -> int:
    """Print the complaints; returns 1 when there are any."""
    lines = list(complaints(files_of(sys.argv[1:])))
    for line in lines:
        print(line)
    print(f"{len(lines)} complaints" if lines else "the words are those of the field")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
