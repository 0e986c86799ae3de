"""A call is one of a known tool with its arguments, by the name and the form that its surface has, or none at all."""

from __future__ import annotations

from typing import Any

import pytest

from actors.routing_file import read_routing
from actors.runner.tools.table import RUNS
from protocol.browsers.operations import Click, CreateTab, Navigate, ObserveDom
from protocol.packets import ToolCall
from protocol.tools.app import SearchWeb
from protocol.tools.registry import TOOLS, arguments_of, find, named_on
from protocol.tools.tool import SCHEMA_VERSION, Surface
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
"""003's tools, each with arguments that it takes."""

WRONG: list[tuple[str, dict[str, Any]]] = [
    ("shell.exec", {"command": "id"}),
    ("navigate", {"url": "https://a.example"}),
    ("execute_javascript", {"script": "1"}),
    ("collection.delete", {"collectionId": "c"}),
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
def test_a_model_may_propose_each_tool_of_003_with_its_arguments() -> None:
    assert set(RIGHT) == set(named_on(Surface.LLMCP))
    for name, calls in RIGHT.items():
        for arguments in calls:
            assert type(arguments_of(ToolCall(name=name, arguments=arguments))) is find(name).arguments


@pytest.mark.parametrize(
    ("call", "operation"),
    [
        (ToolCall(name="browser.click", arguments={"handleId": "laika-7"}), Click(element_id="7")),
        (ToolCall(name="browser.navigate", arguments={"url": "https://a.example"}), Navigate(url="https://a.example")),
        (ToolCall(name="browser.open_tab", arguments={"url": "https://a.example"}), CreateTab(url="https://a.example")),
        (
            ToolCall(name="browser.observe_dom", arguments={"maxItems": 3, "rootHandleId": "laika-2"}),
            ObserveDom(max_items=3, root="2", include_markdown=True, capture_links=True),
        ),
        (ToolCall(name="search", arguments={"query": "tides"}), SearchWeb(query="tides")),
    ],
    ids=lambda one: one.name if isinstance(one, ToolCall) else "",
)
def test_a_proposal_becomes_the_operation_that_all_surfaces_share(call: ToolCall, operation: object) -> None:
    assert arguments_of(call) == operation


@requirement("003.tool-call.validation")
@pytest.mark.parametrize(("name", "arguments"), WRONG)
def test_unknown_tools_and_arguments_are_refused(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=name):
        arguments_of(ToolCall(name=name, arguments=arguments))


@pytest.mark.parametrize("surface", Surface)
def test_every_name_of_a_surface_is_that_of_one_tool(surface: Surface) -> None:
    named = named_on(surface)

    assert len(named) == sum(tool.proposable or surface is not Surface.LLMCP for tool in TOOLS.values())
    assert all(find(name, surface) is tool for name, tool in named.items())


def test_all_tools_have_one_version() -> None:
    assert SCHEMA_VERSION == 1


@pytest.mark.parametrize(
    ("tool", "row"),
    [
        ("navigate", "browser_navigate"),
        ("click", "browser_click"),
        ("type_text", "browser_fill"),
        ("scroll", "browser_scroll_*"),
        ("scroll_by", "browser_scroll_*"),
        ("create_tab", "browser_tab_*"),
        ("switch_tab", "browser_tab_*"),
        ("close_tab", "browser_tab_*"),
        ("go_back", "browser_go_back"),
        ("go_forward", "browser_go_forward"),
        ("get_page_content", "browser_get_page_content"),
        ("get_console_logs", "browser_get_console_*"),
        ("execute_javascript", "browser_execute_javascript"),
        ("get_page_info", "browser_get_interactive_elements"),
        ("screenshot", "browser_get_screenshot"),
        ("observe_dom", "browser_snapshot"),
    ],
)
def test_the_routes_of_004_find_the_tools(tool: str, row: str) -> None:
    route = read_routing().table.find(TOOLS[tool].name_on(Surface.ROUTING))

    assert route is not None
    assert route.pattern == row


def test_what_the_runner_runs_is_what_names_it() -> None:
    named = {name for name, tool in TOOLS.items() if tool.actor == "runner"}

    assert set(RUNS) == named
