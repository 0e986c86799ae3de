"""Evaluates expressions of pages that only a script engine can read, in a process of its own without host objects."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import orjson

from actors.extraction.evidence.json_values import Json

MAX_EXPRESSIONS = 4
MAX_CHARS = 1_000_000
"""How much of an expression is run: the longest of the data sets has 312,000 characters."""

MEMORY_BYTES = 64 * 1024 * 1024
SECONDS = 1
"""What the engine may use for one expression."""

DEADLINE_SECONDS = 5.0
"""How long the process may live: its start takes most of the time on a busy machine."""

_WORKER = """
import json, sys
try:
    import resource
except ImportError:
    resource = None
if resource:
    resource.setrlimit(resource.RLIMIT_AS, ({memory} * 8, {memory} * 8))
    resource.setrlimit(resource.RLIMIT_CPU, (4, 4))

import quickjs
if resource:
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
answers = []
for expression in json.loads(sys.stdin.buffer.read()):
    context = quickjs.Context()
    context.set_memory_limit({memory})
    context.set_time_limit({seconds})
    context.set_max_stack_size(512 * 1024)
    try:
        context.set("source", expression)
        answers.append(context.eval("JSON.stringify((0, eval)('(' + source + ')'))"))
    except quickjs.JSException:
        answers.append(None)
sys.stdout.write(json.dumps([answer if isinstance(answer, str) else None for answer in answers]))
"""
"""What the process runs: an engine without host objects, under limits of memory, time and files."""


def evaluate(expressions: Sequence[str]) -> list[Json]:
    """Return the values of the expressions that have one that JSON can hold; an expression ends where its brackets do.

    It starts a process and waits for it: call it from a worker, and only for pages that say nothing otherwise.
    """
    wanted = [_cut(expression) for expression in expressions[:MAX_EXPRESSIONS] if len(expression) <= MAX_CHARS]
    if not wanted:
        return []
    code = _WORKER.format(memory=MEMORY_BYTES, seconds=SECONDS)
    try:
        finished = subprocess.run(  # noqa: S603 - our own interpreter, our own code
            [sys.executable, "-I", "-c", code],
            input=orjson.dumps(wanted),
            capture_output=True,
            timeout=DEADLINE_SECONDS,
            check=True,
            env={},
        )
        answers: list[str | None] = orjson.loads(finished.stdout)
    except (subprocess.SubprocessError, OSError, ValueError):
        return []
    return [value for answer in answers if answer for value in _read(answer)]


def _read(answer: str) -> list[Json]:
    try:
        return [orjson.loads(answer)]
    except ValueError:
        return []


def _cut(expression: str) -> str:
    """Cut what follows the call in the script; strings and comments are passed over."""
    depth = 0
    position = 0
    while position < len(expression):
        character = expression[position]
        if character in "\"'`":
            position = _string_end(expression, position)
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth < 0:
                return expression[:position]
        elif character == ";" and depth == 0:
            return expression[:position]
        position += 1
    return expression


def _string_end(expression: str, start: int) -> int:
    """Return where a string literal ends, the end of the text for one that does not."""
    quote = expression[start]
    position = expression.find(quote, start + 1)
    while position > 0:
        before = position - 1
        while expression[before] == "\\":
            before -= 1
        if (position - before) % 2:
            return position
        position = expression.find(quote, position + 1)
    return len(expression)
