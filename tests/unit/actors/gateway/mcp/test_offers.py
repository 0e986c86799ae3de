"""What other actors bring is listed and served after our own, and what is wrong with it harms nobody else."""

from __future__ import annotations

from typing import Any

import anyio
import msgspec
import pytest
from anyio.lowlevel import checkpoint
from mcp.shared.exceptions import MCPError
from mcp.types import HEADER_MISMATCH, INVALID_PARAMS, PromptReference, ResourceTemplateReference, TextContent

from actors.gateway.mcp import serializers
from actors.gateway.mcp.offer_catalogue import ListsChanged, OfferChange, Offers
from actors.gateway.mcp.toolbox import TOOLS
from actors.gateway.mcp.toolsets import DEFAULT_TOOLSETS
from bus.transport import KeyEntry
from protocol.codec import encode
from protocol.faults import Code, FaultError, fault
from protocol.offers.offer import (
    OFFER_TTL_MS,
    AskOffer,
    CallTool,
    Complete,
    GetPrompt,
    Offer,
    OfferedPrompt,
    OfferedResource,
    OfferedTemplate,
    ReadResource,
)
from protocol.offers.results import (
    Acknowledged,
    Audio,
    Completion,
    Contents,
    Embedded,
    Link,
    Message,
    Messages,
    OfferedResult,
    Outcome,
    Picture,
    Refused,
    ResourceContents,
    Text,
)
from tests.unit.actors.gateway.mcp.market import (
    MODERN,
    SCOPES,
    TASKS,
    TEST_S,
    connected,
    http,
    market,
    never,
    post,
    tool,
)

eras = pytest.mark.parametrize("mode", ["legacy", MODERN])

OFFER = Offer(
    tools=(tool("weave"), tool("card"), tool("browse")),
    resources=(OfferedResource(uri="loom://threads", name="Threads", mime_type="text/plain"),),
    templates=(OfferedTemplate(uri_template="loom://cloth/{id}", name="Cloth"),),
    prompts=(OfferedPrompt(name="pattern", description="A pattern to weave"),),
)
EVERY_BLOCK = OfferedResult(
    content=(
        Text(text="Woven."),
        Picture(data="aGk=", mime_type="image/png"),
        Audio(data="aGk=", mime_type="audio/wav"),
        Embedded(resource=ResourceContents(uri="loom://a", mime_type="text/plain", text="thread")),
        Link(uri="loom://b", name="b", mime_type="text/plain"),
    ),
    structured_content={"rows": [1, 2, 3]},
)


async def woven(asked: AskOffer) -> Outcome:
    await checkpoint()
    match asked.do:
        case CallTool():
            return EVERY_BLOCK
        case ReadResource(uri=uri):
            return Contents(contents=(ResourceContents(uri=uri, mime_type="text/plain", text="twenty"),))
        case GetPrompt(arguments=arguments):
            text = f"Weave {arguments}"
            return Messages(messages=(Message(role="user", content=Text(text=text)),), description="A pattern")
        case Complete(value=value):
            return Completion(values=(f"{value}ill",), total=1)
        case _:
            raise AssertionError


# -- lists -----------------------------------------------------------------------------------------------------------


@eras
async def test_what_is_offered_is_listed_sorted_after_our_own(mode: str) -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, never) as at, connected(at, mode) as client:
            tools = [one.name for one in (await client.list_tools()).tools]
            resources = [one.uri for one in (await client.list_resources()).resources]
            templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
            prompts = [one.name for one in (await client.list_prompts()).prompts]

    assert tools == [*(name for name, one in TOOLS.items() if one.toolset in DEFAULT_TOOLSETS), "card", "weave"]
    assert (resources, templates[-1], prompts[-1]) == (["loom://threads"], "loom://cloth/{id}", "pattern")


async def test_lists_are_the_same_to_the_byte_each_time() -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, never, gateways=2) as at, http(at) as client:
            listed = [encode((await post(client, "tools/list", {}))["result"]) for _ in range(4)]

    assert len(set(listed)) == 1


@pytest.mark.parametrize(
    ("path", "headers", "seen"),
    [
        ("/mcp", {}, True),
        ("/mcp?toolsets=offers", {}, True),
        ("/mcp?toolsets=core", {}, False),
        ("/mcp", {SCOPES: "browse,operate"}, False),
        ("/mcp", {SCOPES: "offers"}, True),
    ],
)
async def test_what_is_offered_is_seen_and_used_by_those_who_may(
    path: str,
    headers: dict[str, str],
    seen: bool,  # noqa: FBT001 - a table
) -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, woven) as at, http(at, **headers) as client:
            listed = await post(client, "tools/list", {}, path=path)
            called = await post(client, "tools/call", {"name": "weave", "arguments": {}}, path=path)
            read = await post(client, "resources/read", {"uri": "loom://threads"}, path=path)
            got = await post(client, "prompts/get", {"name": "pattern"}, path=path)

    assert ("weave" in [one["name"] for one in listed["result"]["tools"]]) is seen
    assert ["result" in answer for answer in (called, read, got)] == [seen] * 3
    assert len(at.loom.asked) == (3 if seen else 0)


async def test_a_name_of_ours_stays_ours() -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, never) as at, http(at) as client:
            listed = (await post(client, "tools/list", {}))["result"]["tools"]
            called = await post(client, "tools/call", {"name": "browse", "arguments": {}})

    assert [one["description"] for one in listed if one["name"] == "browse"] == [TOOLS["browse"].description]
    assert "url" in called["result"]["content"][0]["text"]
    assert at.loom.asked == []


def entry(key: str, value: Any, revision: int = 1) -> KeyEntry:
    return KeyEntry(key, value if isinstance(value, bytes | None) else encode(value), revision)


def test_of_two_by_one_name_the_actor_counts_that_sorts_first() -> None:
    offers = Offers()

    offers.apply(entry("weaver.1", Offer(tools=(tool("weave"),))))
    offers.apply(entry("carder.1", Offer(tools=(tool("weave"), tool("card")))))
    both = {name: one.actor for name, one in offers.current.tools.items()}
    offers.apply(entry("carder.1", None))

    assert both == {"card": "carder", "weave": "carder"}
    assert {name: one.actor for name, one in offers.current.tools.items()} == {"weave": "weaver"}


def test_an_actor_is_there_as_long_as_one_of_its_replicas_is() -> None:
    offers = Offers()
    for key in ("loom.1", "loom.2"):
        offers.apply(entry(key, OFFER))

    offers.apply(entry("loom.1", None))
    one_left = set(offers.current.tools)
    offers.apply(entry("loom.2", None))

    assert one_left == {"browse", "card", "weave"}
    assert not offers.current.tools


def test_an_offer_that_is_repeated_is_no_news() -> None:
    offers, heard = Offers(), list[OfferChange]()
    with offers.subscribed(heard.append):
        for revision in range(3):
            offers.apply(entry("loom.1", OFFER, revision))
        offers.apply(entry("loom.1", msgspec.structs.replace(OFFER, prompts=()), 4))

    assert heard == [
        ListsChanged(tools=True, resources=True, prompts=True),
        ListsChanged(tools=False, resources=False, prompts=True),
    ]


def test_an_offer_that_is_not_repeated_is_gone() -> None:
    now = 1_000.0
    offers = Offers(clock=lambda: now)
    offers.apply(entry("loom.1", Offer(tools=(tool("weave"),))))
    offers.apply(entry("carder.1", Offer(tools=(tool("card"),))))

    now += OFFER_TTL_MS / 1_000
    offers.apply(entry("loom.1", Offer(tools=(tool("weave"),))))
    now += 0.001
    offers.sweep()

    assert set(offers.current.tools) == {"weave"}


def bad(**fields: Any) -> dict[str, Any]:
    return {"tools": [{"name": "card", "description": "Cards", "inputSchema": {"type": "object"}} | fields]}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("carder.1", b"not JSON"),
        ("carder.1", {"tools": 5}),
        ("carder.1", bad(name="a.b")),
        ("carder.1", bad(name="c" * 49)),
        ("carder.1", bad(name="")),
        ("carder.1", bad(description="")),
        ("carder.1", bad(description="d" * 4_001)),
        ("carder.1", bad(inputSchema={})),
        ("carder.1", bad(inputSchema={"type": "object", "properties": {"a": 5}})),
        ("carder.1", bad(outputSchema={"type": "array"})),
        ("carder.1", bad(timeoutMs=600_001)),
        ("carder.1", {"tools": bad()["tools"] * 101}),
        ("carder.1", {"resources": [{"uri": "u" * 2_001, "name": "Long"}]}),
        ("carder.1", {"prompts": [{"name": "with blank"}]}),
        ("carder.1.x", bad()),
        ("carder=1", bad()),
        ("carder.1", bad(title="x" * 200, inputSchema={"type": "object", "description": "d" * 262_144})),
    ],
)
def test_a_bad_offer_harms_its_actor_alone(key: str, value: Any) -> None:
    offers = Offers()
    offers.apply(entry("weaver.1", Offer(tools=(tool("weave"),))))
    offers.apply(entry("carder.1", Offer(tools=(tool("card"),))))

    offers.apply(entry(key, value, 2))

    assert set(offers.current.tools) == {"weave"} | ({"card"} if key != "carder.1" else set())


async def test_whoever_listens_hears_what_is_offered_anew() -> None:
    heard = list[str]()
    with anyio.fail_after(TEST_S):
        async with (
            market(OFFER, never) as at,
            connected(at, MODERN) as client,
            client.listen(tools_list_changed=True) as changes,
        ):
            await at.standing.change(Offer(prompts=OFFER.prompts))
            await at.standing.change(Offer(tools=(tool("dye"),)))
            async for change in changes:
                heard.append(type(change).__name__)
                if "dye" in [one.name for one in (await client.list_tools(cache_mode="bypass")).tools]:
                    break

    assert set(heard) == {"ToolsListChanged"}


# -- use -------------------------------------------------------------------------------------------------------------


@eras
async def test_a_tool_is_run_and_everything_it_answers_arrives(mode: str) -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, woven) as at, connected(at, mode) as client:
            result = await client.call_tool("weave", {"rows": 3})

    assert [asked.do for asked in at.loom.asked] == [CallTool(name="weave", arguments={"rows": 3})]
    assert at.loom.asked[0].caller == "somebody"
    assert [block.model_dump(by_alias=True, exclude_none=True) for block in result.content] == [
        msgspec.to_builtins(block) for block in EVERY_BLOCK.content
    ]
    assert (result.structured_content, result.is_error) == ({"rows": [1, 2, 3]}, False)


@pytest.mark.parametrize(("mode", "data"), [("legacy", None), (MODERN, [1, 2])])
async def test_data_that_is_no_object_is_left_out_where_it_could_not_be_read(mode: str, data: Any) -> None:
    async def listing(_asked: AskOffer) -> Outcome:
        await checkpoint()
        return OfferedResult(content=(Text(text="1, 2"),), structured_content=[1, 2])

    with anyio.fail_after(TEST_S):
        async with market(OFFER, listing) as at, connected(at, mode) as client:
            result = await client.call_tool("weave")

    assert (result.structured_content, result.is_error) == (data, False)


@eras
async def test_resources_prompts_and_completions_come_from_whoever_offers_them(mode: str) -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, woven) as at, connected(at, mode) as client:
            listed = await client.read_resource("loom://threads")
            by_form = await client.read_resource("loom://cloth/7")
            prompt = await client.get_prompt("pattern", {"rows": "3"})
            completed = await client.complete(PromptReference(name="pattern"), {"name": "kind", "value": "tw"})
            of_form = await client.complete(
                ResourceTemplateReference(uri="loom://cloth/{id}"), {"name": "id", "value": "w"}, {"kind": "silk"}
            )

    assert [str(one.contents[0].uri) for one in (listed, by_form)] == ["loom://threads", "loom://cloth/7"]
    assert isinstance(prompt.messages[0].content, TextContent)
    assert prompt.messages[0].content.text == "Weave {'rows': '3'}"
    assert (completed.completion.values, completed.completion.total) == (["twill"], 1)
    assert of_form.completion.values == ["will"]
    assert at.loom.asked[-1].do == Complete(
        kind="template", of="loom://cloth/{id}", argument="id", value="w", others={"kind": "silk"}
    )


async def test_nothing_is_suggested_for_what_nobody_offers() -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, never) as at, connected(at, MODERN) as client:
            completed = await client.complete(PromptReference(name="monitor_page"), {"name": "url", "value": "h"})

    assert completed.completion.values == []


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "spin", "arguments": {}}),
        ("resources/read", {"uri": "loom://cloth/7/edge"}),
        ("prompts/get", {"name": "knit"}),
        ("tools/list", {"cursor": "2"}),
        ("prompts/list", {"cursor": "2"}),
        ("resources/list", {"cursor": "2"}),
        ("resources/templates/list", {"cursor": "2"}),
    ],
)
async def test_what_there_is_not_is_an_error_of_the_protocol(method: str, params: dict[str, Any]) -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, never) as at, http(at) as client:
            answer = await post(client, method, params)

    assert answer["error"]["code"] == INVALID_PARAMS


# -- what goes wrong -------------------------------------------------------------------------------------------------


async def refusing(_asked: AskOffer) -> Outcome:
    await checkpoint()
    return Refused(code=-32050, message="Out of thread", data={"spools": 0})


async def failing(_asked: AskOffer) -> Outcome:
    await checkpoint()
    raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, "rows: not a number", field="rows"))


async def acknowledging(_asked: AskOffer) -> Outcome:
    await checkpoint()
    return Acknowledged()


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", {"name": "weave", "arguments": {}}),
    ("resources/read", {"uri": "loom://threads"}),
    ("prompts/get", {"name": "pattern"}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "pattern"}, "argument": {"name": "kind", "value": "t"}},
    ),
]
every_call = pytest.mark.parametrize(("method", "params"), CALLS)


@every_call
async def test_an_error_of_the_protocol_is_passed_on(method: str, params: dict[str, Any]) -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, refusing) as at, http(at) as client:
            answer = await post(client, method, params)

    assert answer["error"] == {"code": -32050, "message": "Out of thread", "data": {"spools": 0}}


@every_call
async def test_an_answer_to_something_else_is_an_error(method: str, params: dict[str, Any]) -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, acknowledging) as at, http(at) as client:
            answer = await post(client, method, params)

    assert answer["error"]["code"] == -32603
    assert "Acknowledged" in answer["error"]["message"]


async def test_a_fault_of_a_tool_is_a_result_that_the_model_can_read() -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, failing) as at, connected(at, MODERN) as client:
            result = await client.call_tool("weave")
            with pytest.raises(MCPError) as refused:
                await client.get_prompt("pattern")

    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    assert "rows: not a number" in result.content[0].text
    assert (result.structured_content or {})["code"] == "VALIDATION_INVALID_REQUEST"
    assert refused.value.error.code == INVALID_PARAMS


@pytest.mark.parametrize(
    ("offered", "answer", "code"),
    [
        (tool("weave", timeout_ms=50), anyio.sleep_forever, "INTERNAL_DEADLINE"),
        (tool("weave"), None, "INTERNAL_UNAVAILABLE"),
    ],
)
async def test_an_actor_that_does_not_answer_is_not_waited_for(offered: Any, answer: Any, code: str) -> None:
    async def silent(_asked: AskOffer) -> Outcome:
        await answer()
        raise AssertionError

    with anyio.fail_after(TEST_S):
        async with market(Offer(tools=(offered,)), silent) as at, connected(at, MODERN) as client:
            if answer is None:
                await at.loom.bus.drain(0)
            result = await client.call_tool("weave")

    assert (result.structured_content or {})["code"] == code


async def test_a_header_that_is_missing_says_nothing_to_who_may_not_know_of_the_tool() -> None:
    region = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    offer = Offer(tools=(msgspec.structs.replace(tool("weave"), input_schema=region),))
    call = {"name": "weave", "arguments": {"region": "north"}}
    unscoped: dict[str, Any] = {SCOPES: "browse,operate"}

    with anyio.fail_after(TEST_S):
        async with market(offer, never) as at, http(at) as client:
            known = await post(client, "tools/call", call)
            unknown = await post(client, "tools/call", call, **unscoped)

    assert known["error"]["code"] == HEADER_MISMATCH
    assert (unknown["error"]["code"], unknown["error"]["message"]) == (INVALID_PARAMS, "Unknown tool: weave")


async def test_a_client_that_leaves_ends_the_work() -> None:
    begun, ended = anyio.Event(), anyio.Event()

    async def slow(_asked: AskOffer) -> Outcome:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    with anyio.fail_after(TEST_S):
        async with market(OFFER, slow) as at, http(at) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(post, client, *CALLS[0])
            await begun.wait()
            tasks.cancel_scope.cancel()
        await ended.wait()


async def test_an_answer_that_is_too_long_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serializers, "MAX_ANSWER_BYTES", 100)
    with anyio.fail_after(TEST_S):
        async with market(OFFER, woven) as at, connected(at, MODERN) as client:
            result = await client.call_tool("weave")

    assert (result.structured_content or {})["code"] == "CONTENT_TOO_LARGE"


async def test_a_resource_that_holds_nothing_is_not_there() -> None:
    async def empty(_asked: AskOffer) -> Outcome:
        await checkpoint()
        return Contents(contents=())

    with anyio.fail_after(TEST_S):
        async with market(OFFER, empty) as at, http(at) as client:
            answer = await post(client, "resources/read", {"uri": "loom://threads"})

    assert (answer["error"]["code"], answer["error"]["data"]) == (INVALID_PARAMS, {"uri": "loom://threads"})


# -- what the server says of itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "is_modern"), [("legacy", False), ("auto", True)])
async def test_the_server_says_what_it_can_do_and_no_more(mode: str, is_modern: bool) -> None:  # noqa: FBT001 - a table
    with anyio.fail_after(TEST_S):
        async with market(OFFER, never) as at, connected(at, mode) as client:
            can, server = client.server_capabilities, client.server_info

    assert can.model_dump(by_alias=True, exclude_none=True) == {
        "completions": {},
        "logging": {},
        "prompts": {"listChanged": is_modern},
        "resources": {"listChanged": is_modern, "subscribe": is_modern},
        "tools": {"listChanged": is_modern},
        **({"extensions": {TASKS: {}}} if is_modern else {}),
    }
    assert server is not None
    assert (server.name, server.title) == ("weft", "Weft")
    assert [icon.src.partition(",")[0] for icon in server.icons or []] == ["data:image/svg+xml;base64"]
