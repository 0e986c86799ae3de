"""The list of tools: what a model pays for in each conversation, and what each tool has to say of itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import jsonschema
import msgspec
import pytest
from mcp.client.client import Client
from mcp.types import ListToolsResult
from splintr import Tokenizer

from actors.gateway.access.caller import EVERY_SCOPE, Caller
from actors.gateway.app_context import AppContext
from actors.gateway.mcp import tool_schemas
from actors.gateway.mcp.server import make_server
from actors.gateway.mcp.toolbox import TOOLS
from actors.gateway.mcp.toolsets import DEFAULT_TOOLSETS, Toolset
from actors.gateway.request import RequestContext
from protocol.schemas import schema
from tests.conftest import COUNTS
from tests.unit.actors.gateway_data import FakeBus

MAX_TOOLS = 42
MAX_TOKENS = 5_000
ROOM_FOR_RUNS = 700
"""What the tools of the toolset `runs` may cost."""
MAX_CORE_TOKENS = 1_500
NAME = re.compile(r"[a-zA-Z0-9_-]{1,40}")
MAX_DESCRIPTION_BYTES = 2_000

encodings = pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
everybody = pytest.mark.parametrize("name", TOOLS)


async def listed(toolsets: frozenset[Toolset] = DEFAULT_TOOLSETS) -> ListToolsResult:
    """List the tools as a local client gets them, which gets all."""
    app = AppContext(bus=FakeBus(), grace_ms=0, version="1")
    request = RequestContext(caller=Caller("someone", EVERY_SCOPE, local=True), toolsets=toolsets)
    async with Client(make_server(app, request=request)) as client:
        return await client.list_tools()


def tokens(result: ListToolsResult, encoding: str) -> int:
    """Count what a model pays for the list, written as most clients write it: with a blank after each mark."""
    tools = [tool.model_dump(mode="json", exclude_none=True, by_alias=True) for tool in result.tools]
    return len(Tokenizer.from_pretrained(encoding).encode(json.dumps(tools)))


@pytest.mark.slow
@encodings
async def test_all_tools_together_are_cheap(encoding: str, record_property: Callable[[str, object], None]) -> None:
    result, without_runs = await listed(), await listed(DEFAULT_TOOLSETS - {Toolset.RUNS})

    whole = tokens(result, encoding)
    record_property(COUNTS, f"tokens of {len(result.tools)} tools by {encoding}: {whole:,} of {MAX_TOKENS:,}")
    assert len(result.tools) <= MAX_TOOLS
    assert tokens(without_runs, encoding) <= MAX_TOKENS - ROOM_FOR_RUNS
    assert whole <= MAX_TOKENS


async def test_some_clients_take_the_first_forty_tools_and_lose_little() -> None:
    assert [tool.name for tool in (await listed()).tools][40:] == ["list_task_runs", "get_runtime_profile"]


@pytest.mark.slow
@encodings
async def test_the_core_is_cheaper_yet(encoding: str, record_property: Callable[[str, object], None]) -> None:
    result = await listed(frozenset({Toolset.CORE}))

    core = tokens(result, encoding)
    record_property(COUNTS, f"tokens of the core by {encoding}: {core:,} of {MAX_CORE_TOKENS:,}")
    assert [tool.name for tool in result.tools] == [name for name, one in TOOLS.items() if one.toolset is Toolset.CORE]
    assert core <= MAX_CORE_TOKENS


async def test_the_order_is_always_the_same() -> None:
    assert (await listed()).model_dump_json() == (await listed()).model_dump_json()
    assert [tool.name for tool in (await listed()).tools] == [
        name for name, one in TOOLS.items() if one.toolset in DEFAULT_TOOLSETS
    ]


@everybody
async def test_a_tool_says_what_it_is(name: str) -> None:
    (tool,) = (tool for tool in (await listed(frozenset(Toolset))).tools if tool.name == name)

    assert NAME.fullmatch(name)
    assert tool.title
    assert 0 < len((tool.description or "").encode()) <= MAX_DESCRIPTION_BYTES
    assert tool.annotations is not None
    assert tool.annotations.model_dump(exclude_none=True)
    assert (tool.input_schema["type"], tool.input_schema["additionalProperties"]) == ("object", False)
    for told in (tool.input_schema, tool.output_schema or {}):
        jsonschema.Draft202012Validator.check_schema(told)


@everybody
def test_a_tool_tells_all_its_arguments(name: str) -> None:
    told, whole = tool_schemas.input_schema(schema(TOOLS[name].arguments)), schema(TOOLS[name].arguments)

    assert list(told["properties"]) == list(whole["properties"])
    assert told.get("required", []) == whole["required"]


class Inner(msgspec.Struct, frozen=True, kw_only=True):
    """Prose of a type."""

    word: str = "x"


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Prose of the arguments."""

    count: int = 5
    flag: bool = False
    name: str | None = None
    inner: Inner = Inner()
    later: Inner | None = None


def test_what_a_model_need_not_know_is_left_out() -> None:
    assert tool_schemas.input_schema(schema(Arguments)) == {
        "type": "object",
        "properties": {
            "count": {"type": "integer", "default": 5},
            "flag": {"type": "boolean"},
            "name": {"type": "string"},
            "inner": {"$ref": "#/$defs/Inner", "default": {"word": "x"}},
            "later": {"$ref": "#/$defs/Inner"},
        },
        "additionalProperties": False,
        "$defs": {
            "Inner": {"type": "object", "properties": {"word": {"type": "string", "default": "x"}}, "required": []}
        },
    }


def test_an_answer_is_declared_by_its_type_and_those_of_a_few_fields() -> None:
    whole = schema(Arguments)

    assert tool_schemas.output_schema(whole, ()) is None
    assert tool_schemas.output_schema(whole, ("count", "inner", "name")) == {
        "type": "object",
        "properties": {"count": {"type": "integer"}, "inner": {"type": "object"}, "name": {"type": "string"}},
        "required": [],
    }


def test_what_a_name_says_is_not_described() -> None:
    whole = schema(TOOLS["browse"].arguments)

    assert "description" in tool_schemas.input_schema(whole)["properties"]["includeHtml"]
    assert tool_schemas.input_schema(whole, {"includeHtml"})["properties"]["includeHtml"] == {"type": "boolean"}
