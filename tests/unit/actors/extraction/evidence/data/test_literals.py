"""Values that scripts assign are read as data; what must be run is only pointed out."""

from __future__ import annotations

import pytest

from actors.extraction.evidence.data import literals
from actors.extraction.parse.values import Json


def assigned(script: str) -> list[tuple[str, Json]]:
    return list(literals.assignments(script, literals.Patience()))


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ('window.__STATE__ = {"a": [true, null]};', [("__STATE__", {"a": [True, None]})]),
        ('window["__STATE__"]={"a":1}', [("__STATE__", {"a": 1})]),
        ("window.shop = {name: 'Blue', 'n': 1}; more()", [("shop", {"name": "Blue", "n": 1})]),
        ('var __INITIAL_DATA__ = {"a": 1}', [("__INITIAL_DATA__", {"a": 1})]),
        (r'window.data = JSON.parse("{\"a\": \"it\\u0027s\"}")', [("data", {"a": "it's"})]),
        (r"""window.data = JSON.parse('{"a": "it\'s \x41"}')""", [("data", {"a": "it's A"})]),
        ('window.data=JSON.parse(decodeURIComponent("%7B%22a%22%3A1%7D"))', [("data", {"a": 1})]),
        ("window.now == {a: 1}", []),
        ("window.empty = {}", []),
        ("window.count = 5; window.call = function(){}", []),
        ("window.__NUXT__=(function(a){return {a:a}}(1))", []),
    ],
)
def test_reads_assigned_values(script: str, found: list[tuple[str, Json]]) -> None:
    assert assigned(script) == found


def test_points_out_functions_of_the_names_asked_for() -> None:
    script = "window.other=(function(){}());window.__NUXT__=(function(a){return {a:a}}(1))"

    assert list(literals.functions(script, ("__NUXT__",))) == ["(function(a){return {a:a}}(1))"]


@pytest.mark.parametrize(
    "piece", ["window.abc={a:'", "window.abc={a:1,b:[true];", 'window.abc=JSON.parse("', "__ABC=[{"]
)
def test_loses_patience_with_unreadable_code(piece: str) -> None:
    patience = literals.Patience()

    found = [name for _ in range(500) for name in literals.assignments(piece * 100, patience)]

    assert found == []
    assert patience.attempts > -literals.MAX_ATTEMPTS
