"""A model server that does as a function says: it gets what a model is asked, and returns what one would answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
from anyio.abc import SocketStream

from protocol.packets import ToolCall
from tests.support.models import ScriptedServer, document, scripted


@dataclass(frozen=True)
class ModelQuestion:
    """What a model is asked: all words of its prompt, the names of the tools it may call, the schema it must hold."""

    words: str
    tools: frozenset[str]
    schema: str


@dataclass(frozen=True)
class ModelReply:
    """What it answers: words, data that match the schema, or calls of tools."""

    text: str = ""
    data: Any = None
    calls: Sequence[ToolCall] = ()


@asynccontextmanager
async def behaving(behave: Callable[[ModelQuestion], ModelReply]) -> AsyncGenerator[ScriptedServer]:
    """Run a server of OpenAI's dialect within the block; it answers one request after the other."""
    servers = list[ScriptedServer]()

    async def reply(stream: SocketStream) -> None:
        question = _question(servers[0].asked[-1].body)
        await document(_completion(behave(question), question))(stream)

    async with scripted(reply) as server:
        servers.append(server)
        yield server


def _question(body: Any) -> ModelQuestion:
    words = "\n".join(str(one.get("content") or "") for one in body["messages"])
    form = body.get("response_format", {}).get("json_schema", {}).get("name", "")
    forced: Any = body.get("tool_choice") or {}
    named = str(form or forced.get("function", {}).get("name", ""))
    tools = frozenset(one["function"]["name"] for one in body.get("tools", ()))
    return ModelQuestion(words=words, tools=tools - {named}, schema=named)


def _completion(reply: ModelReply, question: ModelQuestion) -> dict[str, Any]:
    text = reply.text if reply.data is None else msgspec.json.encode(reply.data).decode()
    message: dict[str, Any] = {"role": "assistant", "content": text}
    calls = [(one.name.replace(".", "_"), one.arguments) for one in reply.calls]
    if calls:
        message["tool_calls"] = [
            {
                "id": f"c{number}",
                "type": "function",
                "function": {"name": name, "arguments": msgspec.json.encode(arguments).decode()},
            }
            for number, (name, arguments) in enumerate(calls)
        ]
    finish = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": len(question.words) // 4, "completion_tokens": 10}
    return {
        "model": "behaving-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage,
    }
