"""JSON is read as pages write it, and nothing that is handed in raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.extraction.evidence import json_values
from actors.extraction.evidence.json_values import Json


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param('{"a": [1, null, true]}', [{"a": [1, None, True]}], id="whole"),
        pytest.param('<!-- {"a": 1} -->', [{"a": 1}], id="in a comment"),
        pytest.param('//<![CDATA[\n{"a": 1}\n//]]>', [{"a": 1}], id="in CDATA"),
        pytest.param('/*<![CDATA[*/{"a": 1}/*]]>*/', [{"a": 1}], id="in CDATA in comments"),
        pytest.param('{"a": "two\nlines"}', [{"a": "two lines"}], id="a line break in a text"),
        pytest.param(r'{"a": "\d+ \x"}', [{"a": r"\d+ \x"}], id="escapes that JSON does not know"),
        pytest.param(r'{"a": "C:\\d"}', [{"a": r"C:\d"}], id="an escaped backslash"),
        pytest.param('{"a": [1, 2,], "b": 3,}', [{"a": [1, 2], "b": 3}], id="commas at the end"),
        pytest.param('{"a": 1};', [{"a": 1}], id="a semicolon"),
        pytest.param('{"a": 1}{"b": 2}', [{"a": 1}, {"b": 2}], id="two values"),
        pytest.param('{"a": 1},\n{"b": 2}', [{"a": 1}, {"b": 2}], id="two values and a comma"),
        pytest.param("{'a': 'b', c: 1}", [{"a": "b", "c": 1}], id="JSON5"),
        pytest.param("{&quot;a&quot;: 1}", [{"a": 1}], id="escaped as HTML"),
        pytest.param('{"a": "say "hello" now"}', [{"a": 'say "hello" now'}], id="quotes in a text"),
        pytest.param('{"a": [1, 2', [{"a": [1, 2]}], id="cut"),
        pytest.param('\ufeff{"a": 1}', [{"a": 1}], id="a byte order mark"),
        pytest.param("", [], id="nothing"),
        pytest.param("just words", [], id="words"),
        pytest.param("{", [], id="a bracket"),
    ],
)
def test_reads_what_pages_write(text: str, values: list[Json]) -> None:
    assert json_values.read(text) == values


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 50_000, "[" * 500 + "]" * 500 + "x", "\ud800", "9" * 9_000])
def test_bears_hostile_texts(text: str) -> None:
    assert len(json_values.read(text)) <= 1


def test_leaves_out_what_is_too_long() -> None:
    assert json_values.read("[" + "1," * json_values.MAX_CHARS + "1]") == []


@given(st.text(alphabet='{}[]":,\\ \nab1', max_size=80))
def test_never_raises(text: str) -> None:
    assert isinstance(json_values.read(text), list)
