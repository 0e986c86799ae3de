"""Functions that hold a state are run without anything to reach for, and never for long."""

from __future__ import annotations

import pytest

from actors.fetchers import script_engine


def test_gives_what_functions_return() -> None:
    source = '(function(a,b){return {title:a,parts:[b,void 0],text:"a;b)"}}("On blue",2));window.more={}'

    assert script_engine.evaluate([source, "(() => [1])()"]) == [
        {"title": "On blue", "parts": [2, None], "text": "a;b)"},
        [1],
    ]


def test_leaves_out_what_fails_or_reaches_out() -> None:
    sources = ["(function(){return window.location}())", "(function(){throw 1}())", "(function(){", "(function(){}())"]

    assert script_engine.evaluate(sources) == []


@pytest.mark.slow
def test_stops_endless_loops_and_endless_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    # The limits of the engine count its own time; the deadline is for a process that gets no processor.
    monkeypatch.setattr(script_engine, "DEADLINE_SECONDS", 60.0)
    sources = [
        "(function(){while(true){}}())",
        "(function(){var a=[];while(1){a.push(a.concat(a,[1]))}}())",
        "(()=>({a:1}))()",
    ]

    assert script_engine.evaluate(sources) == [{"a": 1}]


def test_starts_nothing_for_nothing() -> None:
    assert script_engine.evaluate([]) == []
    assert script_engine.evaluate(["x" * (script_engine.MAX_CHARS + 1)]) == []
