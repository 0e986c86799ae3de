"""What a client shows of itself: its id, which opens nothing, and the tools that it wants."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Scope

from actors.gateway.http import HttpStatusError
from actors.gateway.mcp.clients import NO_CLIENT_ID, ClientId, new_client_id, read_client_id
from actors.gateway.mcp.toolsets import DEFAULT_TOOLSETS, Toolset, toolsets_of, toolsets_of_query
from actors.gateway.request import RequestContext, request_context, with_request
from actors.settings import Settings
from protocol.faults import Code
from tests.unit.actors.gateway_data import settings

ALL = frozenset(Toolset)


@pytest.mark.parametrize(
    ("capabilities", "told"),
    [
        ({"elicitation": {"form": {}}, "roots": {}}, {"elicitation": {"form": {}}, "roots": {}}),
        ({"elicitation": {}, "experimental": {"a": {"b": 1}}, "sampling": None}, {"elicitation": {}}),
        ({}, {}),
    ],
)
def test_an_id_carries_what_a_client_can_do(capabilities: dict[str, Any], told: dict[str, Any]) -> None:
    made = new_client_id({"capabilities": capabilities, "clientInfo": {"name": "a-client", "version": "1"}})

    assert read_client_id(made.header()) == made == ClientId(made.name, told, "a-client")


def test_every_id_is_new() -> None:
    assert len({new_client_id().name for _ in range(100)}) == 100


@pytest.mark.parametrize("capabilities", [None, "all", 7, [], {"sampling": {"words": "many" * 1_000}}])
def test_what_an_id_cannot_carry_is_not_known(capabilities: object) -> None:
    made = new_client_id({"capabilities": capabilities, "clientInfo": capabilities})

    read = read_client_id(made.header())

    assert read.name == made.name
    assert len(made.header()) < 1_100
    assert not read.capabilities


@pytest.mark.parametrize("written", [None, "", " ", "a b", "a/b", "é", "a" * 65, "a.b.c", "a" * 5_000])
def test_what_is_no_id_of_ours_counts_as_none(written: str | None) -> None:
    assert read_client_id(written) == NO_CLIENT_ID


@given(st.text(max_size=200))
def test_an_id_is_read_whatever_it_is(written: str) -> None:
    assert isinstance(read_client_id(written), ClientId)


def test_the_id_and_the_tools_of_a_client_are_known_to_its_request_alone() -> None:
    scope: Scope = {"type": "http"}

    inside = request_context(with_request(scope, RequestContext(client_id="mine", toolsets=frozenset({Toolset.RUNS}))))

    assert (inside.client_id, request_context(scope).client_id) == ("mine", "")
    assert (inside.toolsets, request_context(scope).toolsets) == (frozenset({Toolset.RUNS}), DEFAULT_TOOLSETS)


# -- toolsets ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (b"", ALL),
        (b"other=1", ALL),
        (b"toolsets=core", {Toolset.CORE}),
        (b"toolsets=core,browser", {Toolset.CORE, Toolset.BROWSER}),
        (b"toolsets=core%2C%20runs", {Toolset.CORE, Toolset.RUNS}),
        (b"a=b&toolsets=core&toolsets=runs", {Toolset.CORE, Toolset.RUNS}),
        (b"toolsets=core,core,", {Toolset.CORE}),
    ],
)
def test_the_address_names_the_tools(query: bytes, wanted: set[Toolset]) -> None:
    assert toolsets_of_query(query, ALL) == wanted


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (b"toolsets=", "No toolset is named."),
        (b"toolsets=,", "No toolset is named."),
        (b"toolsets=looms", "No such toolset: looms."),
        (b"toolsets=core,looms,CORE", "No such toolset: looms, CORE."),
        (b"toolsets=" + b"x" * 500, f"No such toolset: {'x' * 64}."),
    ],
)
def test_a_toolset_that_there_is_not_is_refused_by_name(query: bytes, message: str) -> None:
    with pytest.raises(HttpStatusError) as caught:
        toolsets_of_query(query, ALL)

    told = caught.value.fault
    assert (caught.value.status, told.code, told.message) == (400, Code.VALIDATION_INVALID_REQUEST, message)
    assert told.field == "toolsets"
    assert all(name in told.actions[0].description for name in Toolset)


def test_the_setting_knows_every_toolset() -> None:
    words = get_args(get_args(get_args(get_type_hints(Settings, include_extras=True)["toolsets"])[0])[0])

    assert set(words) == {toolset.value for toolset in Toolset}
    assert toolsets_of(settings()) == DEFAULT_TOOLSETS
    assert toolsets_of(settings(toolsets=("core",))) == {Toolset.CORE}
