"""What an offering actor wants of the user reaches clients of both eras, and nobody else may put words in between."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    TextContent,
)

from actors.gateway.mcp import notifications
from protocol.offers.offer import AskOffer, Offer, OfferedPrompt
from protocol.offers.results import (
    InputRequest,
    InputRequired,
    LogLevel,
    LogLine,
    Message,
    Messages,
    OfferedResult,
    Outcome,
    Step,
    Text,
)
from tests.unit.actors.gateway.mcp.market import MODERN, TEST_S, Loom, connected, http, market, post, tool
from tests.unit.actors.gateway.mcp.replicas import CALLER

eras = pytest.mark.parametrize("mode", ["legacy", MODERN])

OFFER = Offer(tools=(tool("weave"), tool("dye")), prompts=(OfferedPrompt(name="pattern"),))
FORM: dict[str, Any] = {"type": "object", "properties": {"color": {"type": "string"}}}
COLOR = InputRequest(method="elicitation/create", params={"message": "Which color?", "requestedSchema": FORM})
HELLO = {"role": "user", "content": {"type": "text", "text": "Hello"}}
WORDS = InputRequest(method="sampling/createMessage", params={"messages": [HELLO], "maxTokens": 9})
ROOTS = InputRequest(method="roots/list")
EVERYTHING = {"color": COLOR, "words": WORDS, "roots": ROOTS}
ANSWERS: dict[str, Any] = {"color": {"action": "accept", "content": {"color": "red"}}}


async def elicited(_context: Any, _params: Any) -> ElicitResult:
    await checkpoint()
    return ElicitResult(action="accept", content={"color": "red"})


async def sampled(_context: Any, _params: Any) -> CreateMessageResult:
    await checkpoint()
    return CreateMessageResult(role="assistant", content=TextContent(text="Hi"), model="small")


async def rooted(_context: Any) -> ListRootsResult:
    await checkpoint()
    return ListRootsResult.model_validate({"roots": [{"uri": "file:///cloth"}]})


CALLBACKS: dict[str, Any] = {
    "elicitation_callback": elicited,
    "sampling_callback": sampled,
    "list_roots_callback": rooted,
}


async def asking(asked: AskOffer) -> Outcome:
    """Ask for everything, then once more, then be done."""
    await checkpoint()
    match asked.state:
        case None:
            return InputRequired(requests=EVERYTHING, state="round 1")
        case "round 1":
            return InputRequired(requests={"color": COLOR}, state="round 2")
        case _:
            return OfferedResult(content=(Text(text=f"Done after {asked.state}"),))


@eras
async def test_the_user_and_the_client_are_asked_until_the_tool_is_done(mode: str) -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, asking, gateways=2) as at, connected(at, mode, **CALLBACKS) as client:
            result = await client.call_tool("weave")

    assert isinstance(result.content[0], TextContent)
    assert result.content[0].text == "Done after round 2"
    first, second, third = at.loom.asked
    assert first.responses == {}
    assert second.responses["color"] == {"action": "accept", "content": {"color": "red"}}
    assert second.responses["words"]["content"] == {"type": "text", "text": "Hi"}
    assert second.responses["roots"]["roots"] == [{"uri": "file:///cloth"}]
    assert set(third.responses) == {"color"}


@eras
async def test_a_prompt_may_ask_too(mode: str) -> None:
    async def filled(asked: AskOffer) -> Outcome:
        await checkpoint()
        if not asked.responses:
            return InputRequired(requests={"color": COLOR})
        return Messages(messages=(Message(role="user", content=Text(text=f"Dye it {asked.responses}")),))

    with anyio.fail_after(TEST_S):
        async with market(OFFER, filled) as at, connected(at, mode, **CALLBACKS) as client:
            prompt = await client.get_prompt("pattern")

    assert isinstance(prompt.messages[0].content, TextContent)
    assert "red" in prompt.messages[0].content.text


@eras
async def test_a_client_is_not_asked_for_what_it_cannot_do(mode: str) -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, asking) as at, connected(at, mode, elicitation_callback=elicited) as client:
            with pytest.raises(MCPError) as refused:
                await client.call_tool("weave")

    assert refused.value.error.code == MISSING_REQUIRED_CLIENT_CAPABILITY
    assert refused.value.error.data == {"requiredCapabilities": {"sampling": {}, "roots": {}}}
    assert len(at.loom.asked) == 1


async def test_an_actor_that_asks_for_ever_is_cut_off() -> None:
    async def insatiable(_asked: AskOffer) -> Outcome:
        await checkpoint()
        return InputRequired(requests={"color": COLOR})

    with anyio.fail_after(TEST_S):
        async with market(OFFER, insatiable) as at, connected(at, "legacy", **CALLBACKS) as client:
            with pytest.raises(MCPError, match="after 10 rounds"):
                await client.call_tool("weave")


# -- the state that a client carries ---------------------------------------------------------------------------------

CAN: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}


async def with_state(asked: AskOffer) -> Outcome:
    await checkpoint()
    if asked.state is None:
        return InputRequired(requests={"color": COLOR}, state="known to the actor alone")
    return OfferedResult(content=(Text(text=asked.state),))


async def test_the_state_is_sealed_for_the_client_and_open_to_the_actor_at_any_replica() -> None:
    call = {"name": "weave", "arguments": {"rows": 3}}
    with anyio.fail_after(TEST_S):
        async with market(OFFER, with_state, gateways=2) as at, http(at) as client:
            first = await post(client, "tools/call", call, CAN)
            state = first["result"]["requestState"]
            second = await post(client, "tools/call", {**call, "inputResponses": ANSWERS, "requestState": state}, CAN)

    assert first["result"]["resultType"] == "input_required"
    assert "known" not in state
    assert second["result"]["content"][0]["text"] == "known to the actor alone"


@pytest.mark.parametrize(
    ("changed", "who"),
    [
        ({"requestState": "{state}x"}, "somebody"),
        ({"requestState": "x{state}"}, "somebody"),
        ({"requestState": "nothing"}, "somebody"),
        ({"arguments": {"rows": 4}}, "somebody"),
        ({"name": "dye"}, "somebody"),
        ({}, "somebody else"),
    ],
)
async def test_a_state_that_was_changed_or_moved_is_refused(changed: dict[str, Any], who: str) -> None:
    call = {"name": "weave", "arguments": {"rows": 3}}
    with anyio.fail_after(TEST_S):
        async with market(OFFER, with_state) as at, http(at) as client:
            state = (await post(client, "tools/call", call, CAN))["result"]["requestState"]
            again: dict[str, Any] = {**call, "inputResponses": ANSWERS, "requestState": state, **changed}
            again["requestState"] = again["requestState"].format(state=state)
            answer = await post(client, "tools/call", again, CAN, **{CALLER: who})

    assert answer["error"]["code"] == INVALID_PARAMS
    assert len(at.loom.asked) == 1


async def test_answers_that_are_none_are_refused_before_the_actor_sees_them() -> None:
    call = {"name": "weave", "arguments": {}, "inputResponses": {"color": 12345}}
    with anyio.fail_after(TEST_S):
        async with market(OFFER, with_state) as at, http(at) as client:
            answer = await post(client, "tools/call", call, CAN)

    assert answer["error"]["code"] == INVALID_PARAMS
    assert at.loom.asked == []


# -- what is said on the way -----------------------------------------------------------------------------------------


def talking(looms: list[Loom]) -> Any:
    async def talk(asked: AskOffer) -> Outcome:
        for number in range(3):
            await looms[0].say(asked.watch, Step(done=number, total=3, message=f"Row {number}"))
        await looms[0].say(asked.watch, LogLine(level=LogLevel.DEBUG, data="thread", logger="shuttle"))
        await looms[0].say(asked.watch, LogLine(level=LogLevel.WARNING, data={"knots": 2}))
        return OfferedResult(content=(Text(text="Woven"),))

    return talk


async def heard(mode: str, level: str | None, *, progress: bool) -> tuple[list[Any], list[Any], list[AskOffer]]:
    """Return what a client hears of a call: steps, and lines of the log; and what the actor was asked."""
    steps, lines, looms = list[Any](), list[Any](), list[Loom]()

    async def step(done: float, total: float | None, message: str | None) -> None:
        await checkpoint()
        steps.append((done, total, message))

    async def line(params: Any) -> None:
        await checkpoint()
        lines.append((params.level, params.data, params.logger))

    with anyio.fail_after(TEST_S):
        async with market(OFFER, talking(looms)) as at:
            looms.append(at.loom)
            async with connected(at, mode, logging_callback=line, log_level=level) as client:
                await _call(client, step if progress else None)
            return steps, lines, at.loom.asked


async def _call(client: Client, progress: Any) -> None:
    await client.call_tool("weave", progress_callback=progress)


STEPS = [(number, 3, f"Row {number}") for number in range(3)]
DEBUG, WARNING = ("debug", "thread", "shuttle"), ("warning", {"knots": 2}, None)


@pytest.mark.parametrize(
    ("mode", "level", "lines"),
    [
        ("legacy", None, [DEBUG, WARNING]),
        (MODERN, "debug", [DEBUG, WARNING]),
        (MODERN, "info", [WARNING]),
        (MODERN, None, []),
    ],
)
async def test_all_that_is_said_arrives_before_the_answer(mode: str, level: str | None, lines: list[Any]) -> None:
    assert (await heard(mode, level, progress=True))[:2] == (STEPS, lines)


async def test_an_actor_is_not_watched_by_a_client_that_wants_to_hear_nothing() -> None:
    steps, lines, asked = await heard(MODERN, None, progress=False)

    assert (steps, lines, [one.watch for one in asked]) == ([], [], [None])


async def test_a_line_of_a_log_that_is_too_long_is_only_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "MAX_LINE_BYTES", 4)

    _, lines, _ = await heard(MODERN, "debug", progress=False)

    assert [line[1] for line in lines] == ["(longer than 0 KiB)"] * 2
