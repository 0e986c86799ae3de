"""The list of tools: what a model pays for in each conversation, and what each tool has to say of itself."""

from __future__ import annotations

import re

import jsonschema
import msgspec
import pytest
from mcp.client.client import Client
from mcp.types import ListToolsResult

from actors.gateway.access.caller import EVERY_SCOPE, Caller
from actors.gateway.app_context import AppContext
from actors.gateway.mcp import tool_schemas
from actors.gateway.mcp.server import make_server
from actors.gateway.mcp.toolbox import TOOLS
from actors.gateway.mcp.toolsets import EVERY_TOOLSET, Toolset
from actors.gateway.request import RequestContext
from protocol.schemas import schema
from tests.unit.actors.gateway_data import FakeBus

CHARS_PER_TOKEN = 4
MAX_TOOLS = 40
MAX_TOKENS = 5_000
ROOM_FOR_RUNS = 700
"""What the tools of the toolset `runs` may cost."""
MAX_CORE_TOKENS = 1_500
NAME = re.compile(r"[a-zA-Z0-9_-]{1,40}")
MAX_DESCRIPTION_BYTES = 2_000

everybody = pytest.mark.parametrize("name", TOOLS)


async def listed(toolsets: frozenset[Toolset] = EVERY_TOOLSET) -> ListToolsResult:
    """List the tools as a client gets them."""
    app = AppContext(bus=FakeBus(), grace_ms=0, version="1")
    request = RequestContext(caller=Caller("someone", EVERY_SCOPE), toolsets=toolsets)
    async with Client(make_server(app, request=request)) as client:
        return await client.list_tools()


def tokens(result: ListToolsResult) -> float:
    return len(result.model_dump_json(exclude_none=True, by_alias=True)) / CHARS_PER_TOKEN


async def test_all_tools_together_are_cheap() -> None:
    result = await listed()

    own = len(result.tools) + (0 if any(entry.toolset is Toolset.RUNS for entry in TOOLS.values()) else 7)
    assert own <= MAX_TOOLS
    assert tokens(await listed(EVERY_TOOLSET - {Toolset.RUNS})) <= MAX_TOKENS - ROOM_FOR_RUNS
    assert tokens(result) <= MAX_TOKENS


async def test_the_core_is_cheaper_yet() -> None:
    result = await listed(frozenset({Toolset.CORE}))

    assert [tool.name for tool in result.tools] == [name for name, one in TOOLS.items() if one.toolset is Toolset.CORE]
    assert tokens(result) <= MAX_CORE_TOKENS


async def test_the_order_is_always_the_same() -> None:
    assert (await listed()).model_dump_json() == (await listed()).model_dump_json()
    assert [tool.name for tool in (await listed()).tools] == list(TOOLS)


@everybody
async def test_a_tool_says_what_it_is(name: str) -> None:
    (tool,) = (tool for tool in (await listed()).tools if tool.name == name)

    assert NAME.fullmatch(name)
    assert tool.title
    assert 0 < len((tool.description or "").encode()) <= MAX_DESCRIPTION_BYTES
    assert tool.annotations is not None
    assert tool.annotations.model_dump(exclude_none=True)
    assert (tool.input_schema["type"], tool.input_schema["additionalProperties"]) == ("object", False)
    assert tool.output_schema is not None
    assert tool.output_schema["type"] == "object"
    for told in (tool.input_schema, tool.output_schema):
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


def test_an_answer_that_explains_itself_is_told_by_its_type() -> None:
    assert tool_schemas.output_schema(schema(Arguments), None) == {"type": "object"}
