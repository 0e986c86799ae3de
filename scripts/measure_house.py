"""`scripts/measure-house [DIR] [--suite]`: figures of a checkout, by which one version of it is compared with another.

The rooms are measured by reading the code of `protocol`, `bus` and `actors`. The way of one page is measured by running
it: a Weft in one process reads one static page, asked for over REST, and every function of ours that runs meanwhile is
noted. The way itself are the modules whose coroutines run, from the socket of the gateway and back: what these call
without waiting are details for later. Counted are the classes that these modules define, and the
types of ours that they name.

DIR is another checkout with a virtual environment of its own, such as a clone of an earlier version.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGES = ("protocol", "bus", "actors")
RECORD = "--record"
SMALL_LINES, LARGE_LINES, LARGE_FUNCTION = 50, 400, 45
REPEATED_LINES = 6
START_S = 60.0
COROUTINES = 0x80 | 0x200
"""The flags of the code of coroutines and asynchronous generators (`inspect.CO_COROUTINE`, `CO_ASYNC_GENERATOR`)."""

Figures = dict[str, str]


@dataclass(frozen=True)
class Module:
    """A module of ours: its dotted name, its lines, and its tree."""

    name: str
    lines: Sequence[str]
    tree: ast.Module


def modules(root: Path) -> dict[str, Module]:
    """Read every module of the packages below `root`."""
    read: dict[str, Module] = {}
    for file in sorted(file for package in PACKAGES for file in (root / package).rglob("*.py")):
        name = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        text = file.read_text()
        read[name] = Module(name, text.splitlines(), ast.parse(text))
    return read


def imports(known: Mapping[str, Module]) -> dict[str, set[str]]:
    """Return which modules of ours each module imports, at its top or within its functions."""
    wanted: dict[str, set[str]] = {}
    for module in known.values():
        names = wanted.setdefault(module.name, set())
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    names.add(full if full in known else node.module)
        wanted[module.name] = {name for name in names if name in known and name != module.name}
    return wanted


def cycles(wanted: Mapping[str, set[str]]) -> int:
    """Count the groups of modules that import each other (Tarjan's strongly connected components of more than one)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups = 0

    def visit(name: str) -> None:
        nonlocal groups
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in wanted[name]:
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = [stack.pop()]
            while group[-1] != name:
                group.append(stack.pop())
            groups += len(group) > 1

    sys.setrecursionlimit(10_000)
    for name in wanted:
        if name not in index:
            visit(name)
    return groups


def repeated(known: Mapping[str, Module]) -> int:
    """Count the lines that stand in runs of at least six lines which stand elsewhere, too, letter for letter."""
    places: defaultdict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for module in known.values():
        lines = [(number, line.strip()) for number, line in enumerate(module.lines) if _counts(line.strip())]
        for start in range(len(lines) - REPEATED_LINES + 1):
            window = lines[start : start + REPEATED_LINES]
            places[tuple(line for _, line in window)].append((module.name, start))
    marked = {
        (name, start + offset)
        for found in places.values()
        if len(found) > 1
        for name, start in found
        for offset in range(REPEATED_LINES)
    }
    return len(marked)


def _counts(line: str) -> bool:
    return len(line) > 1 and not line.startswith(("#", "import ", "from ", '"""'))


def rooms(root: Path) -> Figures:
    """Measure modules, classes, functions, and how they hang together."""
    known = modules(root)
    wanted = imports(known)
    importers = Counter(name for names in wanted.values() for name in names)
    sizes = [len(module.lines) for module in known.values()]
    nodes = [node for module in known.values() for node in ast.walk(module.tree)]
    classes = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    public = Counter(name for name in classes if not name.startswith("_"))
    functions = [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return {
        "modules": f"{len(known)}",
        "lines": f"{sum(sizes):,}",
        "classes": f"{len(classes):,}",
        "class names that stand twice": f"{sum(count > 1 for count in public.values())}",
        f"modules of fewer than {SMALL_LINES} lines": f"{sum(size < SMALL_LINES for size in sizes)}",
        "modules with one importer": f"{sum(count == 1 for count in importers.values())}",
        "lines of a file, p90 / most": f"{_p90(sizes)} / {max(sizes)}",
        f"files of over {LARGE_LINES} lines": f"{sum(size > LARGE_LINES for size in sizes)}",
        "lines of a function, p90 / most": f"{_p90(functions)} / {max(functions)}",
        f"functions of over {LARGE_FUNCTION} lines": f"{sum(size > LARGE_FUNCTION for size in functions)}",
        "import cycles": f"{cycles(wanted)}",
        f"lines repeated in runs of {REPEATED_LINES}": f"{repeated(known):,}",
    }


def _p90(values: Sequence[int]) -> int:
    return round(statistics.quantiles(values, n=10)[-1])


# -- the way of one page ---------------------------------------------------------------------------------------------


def way(root: Path) -> Figures:
    """Have a Weft of that checkout read one static page, and count what runs."""
    with tempfile.TemporaryDirectory() as folder, ThreadingHTTPServer(("127.0.0.1", 0), _Page) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        try:
            calls = _recorded(root, Path(folder), f"http://127.0.0.1:{site.server_address[1]}")
        finally:
            site.shutdown()
    awaited = {file for file, is_coroutine in calls if is_coroutine}
    known = modules(root)
    names = {name for name in map(_dotted, awaited) if name in known}
    defined = {
        (name, node.name) for name in names for node in ast.walk(known[name].tree) if isinstance(node, ast.ClassDef)
    }
    every_class = {
        node.name for module in known.values() for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)
    }
    named = {name for _, name in defined} | {
        alias.name
        for name in names
        for node in ast.walk(known[name].tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in every_class
    }
    return {
        "modules on the way of a page": f"{len(names)}",
        "classes that these define": f"{len(defined)}",
        "types of ours that these name": f"{len(named)}",
        "modules in which anything runs meanwhile": f"{len({file for file, _ in calls})}",
    } | {f"  {name}": "" for name in sorted(names)}


def _dotted(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            self.send_error(404)
            return
        paragraphs = (f"<p>Paragraph {number} of {self.path}, long enough to be content.</p>" for number in range(60))
        body = f"<html lang=en><title>Page</title><main><h1>Page</h1>{''.join(paragraphs)}</main></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that is overridden
        """Say nothing."""


def _recorded(root: Path, folder: Path, site: str) -> set[tuple[str, bool]]:
    """Return the files of the functions that ran, and whether each was a coroutine."""
    ready_file, record = folder / "ready.json", folder / "record.json"
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("WEFT_", "OTEL_", "VIRTUAL_ENV"))
    }
    own = {"WEFT_DATA_DIR": f"{folder / 'data'}", "WEFT_PORT": "0", "WEFT_ALLOW_PRIVATE": "127.0.0.0/8"}
    python, arguments = root / ".venv/bin/python", ("up", "--single-process", "--ready-file", str(ready_file))
    process = subprocess.Popen(  # noqa: S603 - a program of ours
        [python, Path(__file__).resolve(), RECORD, record, *arguments],
        cwd=root,
        env=clean | own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(ready_file, process)
        ready = json.loads(ready_file.read_text())
        _browse(ready, f"{site}/first")  # whatever is loaded or opened once is no part of the way
        time.sleep(1.0)
        process.send_signal(signal.SIGUSR1)
        _browse(ready, f"{site}/second")
        process.send_signal(signal.SIGUSR2)
        _wait_for(record, process)
        return {(file, is_coroutine) for file, is_coroutine in json.loads(record.read_text())}
    finally:
        process.terminate()
        process.wait(START_S)


def _wait_for(file: Path, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_S
    while not file.exists():
        if process.poll() is not None or time.monotonic() > until:
            raise SystemExit(f"no Weft runs in {process.args!r}: exit status {process.poll()}")
        time.sleep(0.05)


def _browse(ready: Mapping[str, Any], url: str) -> None:
    key = Path(ready["keyFile"]).read_text(encoding="ascii").strip()
    body = json.dumps({"url": url, "options": {"maxCostTier": "intelligence"}}).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{ready['rest']}/api/browse", body, headers)  # noqa: S310 - our own machine
    with urllib.request.urlopen(request, timeout=START_S) as response:  # noqa: S310 - our own machine
        response.read()


def record() -> None:
    """Run `weft` with the arguments given; note between SIGUSR1 and SIGUSR2 which functions below this folder run."""
    target, root = Path(sys.argv[2]), f"{Path.cwd()}/"
    sys.argv = ["weft", *sys.argv[3:]]
    sys.path.insert(0, root)
    calls: set[tuple[str, bool]] = set()
    recording = False

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if recording and event == "call" and code.co_filename.startswith(root):
            file = code.co_filename.removeprefix(root)
            if file.startswith(PACKAGES):
                calls.add((file, bool(code.co_flags & COROUTINES)))

    def begin(*_: object) -> None:
        nonlocal recording
        recording = True

    def end(*_: object) -> None:
        nonlocal recording
        recording = False
        half = target.with_suffix(".half")
        half.write_text(json.dumps(sorted(calls)))
        half.rename(target)

    signal.signal(signal.SIGUSR1, begin)
    signal.signal(signal.SIGUSR2, end)
    sys.setprofile(note)
    threading.setprofile(note)
    from actors.cli.main import main as weft  # noqa: PLC0415 - of the checkout that is measured

    weft()


# -- the suite -------------------------------------------------------------------------------------------------------


def suite(root: Path) -> Figures:
    """Run the tests as a newcomer does, and measure how long that takes and what it costs."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(  # noqa: S603 - a program of ours
        [root / "scripts/test"], cwd=root, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "suite": done.stdout.strip().rpartition("\n")[2],
        "suite, wall": f"{(time.monotonic() - began) / 60:.1f} min",
        "suite, CPU": f"{cpu_s / 60:.1f} min",
    }


def _lines(figures: Figures) -> Iterator[str]:
    width = max(map(len, figures))
    for name, value in figures.items():
        yield f"{name:{width}}  {value}".rstrip()


def main() -> None:
    """Print the figures of a checkout."""
    parser = argparse.ArgumentParser(prog="scripts/measure-house", description="Measure the house that the code makes.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), help="another checkout, with its own .venv")
    parser.add_argument("--suite", action="store_true", help="run the tests of it, too, and time them")
    asked = parser.parse_args()
    root = asked.folder.resolve()
    figures = rooms(root) | way(root) | (suite(root) if asked.suite else {})
    print("\n".join(_lines(figures)))


if __name__ == "__main__":
    record() if RECORD in sys.argv[1:2] else main()
