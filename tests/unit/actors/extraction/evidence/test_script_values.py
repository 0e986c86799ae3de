"""Values that scripts of a page hold are read as data; what must be run is only pointed out."""

from __future__ import annotations

import json

import pytest

from actors.extraction.evidence import script_values
from actors.extraction.evidence.json_values import Json, walk
from actors.extraction.evidence.script_values import dereferenced


def assigned(script: str) -> list[tuple[str, Json]]:
    return list(script_values.assignments(script, script_values.Patience()))


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

    assert list(script_values.function_expressions(script, ("__NUXT__",))) == ["(function(a){return {a:a}}(1))"]


@pytest.mark.parametrize(
    "piece", ["window.abc={a:'", "window.abc={a:1,b:[true];", 'window.abc=JSON.parse("', "__ABC=[{"]
)
def test_loses_patience_with_unreadable_code(piece: str) -> None:
    patience = script_values.Patience()

    found = [name for _ in range(500) for name in script_values.assignments(piece * 100, patience)]

    assert found == []
    assert patience.attempts > -script_values.MAX_ATTEMPTS


def push(text: str) -> str:
    return f"self.__next_f.push({json.dumps([1, text])})"


def test_reads_rows_that_are_split_over_pushes() -> None:
    scripts = [push('1:{"title":"On bl'), push('ue"}\n2:["a"]\n')]

    assert script_values.flight_rows(script_values.flight_pushes(scripts)) == [{"title": "On blue"}, ["a"]]


def test_finds_the_row_after_a_text_without_a_line_break() -> None:
    text = "Ein Satz – mit Strich.\nUnd noch einer."
    scripts = [push(f'3:T{len(text.encode()):x},{text}4:{{"after":true}}\n')]

    assert script_values.flight_rows(script_values.flight_pushes(scripts)) == [text, {"after": True}]


def test_passes_over_imports_hints_and_what_is_broken() -> None:
    rows = ['1:I["(app)/page.js",["1"],"default"]', ':HL["/a.css","style"]', "2:{broken", '3:{"kept":1}', '4:"text"']
    scripts = ["(self.__next_f=self.__next_f||[]).push([0])", push("\n".join(rows[:1] + rows[2:]) + "\n")]

    assert script_values.flight_rows(script_values.flight_pushes(scripts)) == [{"kept": 1}, "text"]


def test_gives_up_on_a_script_of_broken_pushes() -> None:
    assert script_values.flight_pushes(['self.__next_f.push([1,"' * 20_000]) == []


def test_bears_a_length_beyond_the_end() -> None:
    assert script_values.flight_rows([f"1:T{'f' * 8},abc"]) == ["abc"]


@pytest.mark.parametrize(
    ("flat", "value"),
    [
        ([{"a": 1, "b": 2}, "text", [1, 3], 5], {"a": "text", "b": ["text", 5]}),
        ([["ShallowReactive", 1], {"a": 2}, ["Ref", 3], "x"], {"a": "x"}),
        ([{"day": 1, "none": -1}, ["Date", "2024-02-03"]], {"day": "2024-02-03", "none": None}),
        ([["Set", 1, 2], "a", "b"], ["a", "b"]),
        ([["Map", 1, 2], "key", "value"], {"key": "value"}),
        ([5], 5),
        ([], None),
        ("text", None),
        ([{"a": 99}], {"a": None}),
    ],
)
def test_joins_parts(flat: Json, value: Json) -> None:
    assert dereferenced(flat) == value


def test_reads_names_that_are_parts() -> None:
    assert dereferenced([{"_1": 2}, "title", "On blue"], numbered_keys=True) == {"title": "On blue"}


def test_ends_circles() -> None:
    value = dereferenced([{"self": 0, "list": 1}, [0, 1]])

    assert isinstance(value, dict)
    assert value["self"] is value
    assert len(list(walk(value))) == 1
