"""A proposal of a model is one of a known tool with its arguments, or none at all."""

from __future__ import annotations

from typing import Any

import pytest

from protocol.packets import ToolCall
from protocol.tools import TOOLS, ClickHandle, arguments_of
from tests.requirements import requirement

RIGHT: dict[str, list[dict[str, Any]]] = {
    "browser.observe_dom": [{}, {"maxChars": 1, "rootHandleId": "laika-1"}],
    "browser.get_selection_links": [{}, {"maxLinks": 200}],
    "browser.click": [{"handleId": "laika-1"}],
    "browser.type": [{"handleId": "laika-1", "text": ""}],
    "browser.select": [{"handleId": "laika-1", "value": "a"}],
    "browser.scroll": [{"deltaY": -2}, {"deltaY": 0.5}],
    "browser.open_tab": [{"url": "https://a.example"}],
    "browser.navigate": [{"url": "https://a.example"}],
    "browser.back": [{}],
    "browser.forward": [{}],
    "browser.refresh": [{}],
    "search": [{"query": "tides"}, {"query": "tides", "engine": "bing", "newTab": False}],
    "artifact.save": [
        {"title": "T", "markdown": "m"},
        {"title": "T", "markdown": "", "tags": ["a"], "redaction": "none"},
    ],
    "artifact.share": [{"artifactId": "a", "format": "csv", "filename": "a.csv", "target": "clipboard"}],
    "artifact.open": [{"artifactId": "a"}, {"artifactId": "a", "target": "browser", "newTab": True}],
    "integration.invoke": [{"integration": "i", "operation": "o", "payload": {"a": [1]}, "idempotencyKey": "k"}],
    "app.calculate": [{"expression": "1+1"}, {"expression": "1/3", "precision": 2}],
    "collection.create": [{"title": "T"}, {"title": "T", "tags": []}],
    "collection.add_sources": [
        {"collectionId": "c", "sources": [{"type": "url", "url": "https://a.example"}, {"type": "note", "text": "n"}]}
    ],
    "collection.list_sources": [{"collectionId": "c"}],
    "source.capture": [{"collectionId": "c", "url": "https://a.example", "mode": "list", "maxChars": 9}],
    "source.refresh": [{"sourceId": "s"}],
    "transform.list_types": [{}],
    "transform.run": [{"collectionId": "c", "type": "quiz", "config": {"questions": 3}}],
}

WRONG: list[tuple[str, dict[str, Any]]] = [
    ("shell.exec", {"command": "id"}),
    ("browser.click", {}),
    ("browser.click", {"handleId": ""}),
    ("browser.observe_dom", {"maxChars": 0}),
    ("browser.observe_dom", {"maxChars": True}),
    ("browser.navigate", {"url": None}),
    ("artifact.share", {"artifactId": "a", "format": "exe"}),
    ("collection.add_sources", {"collectionId": "c", "sources": [{"type": "file", "path": "/etc/passwd"}]}),
    ("transform.run", {"collectionId": "c", "type": "quiz", "config": "all"}),
    *((name, {**RIGHT[name][0], "then": "pay"}) for name in RIGHT),
]


@requirement("003.tool-call.validation")
def test_each_tool_takes_its_arguments() -> None:
    assert list(RIGHT) == list(TOOLS)
    for name, calls in RIGHT.items():
        for arguments in calls:
            assert isinstance(arguments_of(ToolCall(name=name, arguments=arguments)), TOOLS[name])


def test_arguments_come_as_their_type() -> None:
    call = ToolCall(name="browser.click", arguments={"handleId": "laika-1"})

    assert arguments_of(call) == ClickHandle(handle_id="laika-1")


@requirement("003.tool-call.validation")
@pytest.mark.parametrize(("name", "arguments"), WRONG)
def test_unknown_tools_and_arguments_are_refused(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=name):
        arguments_of(ToolCall(name=name, arguments=arguments))
