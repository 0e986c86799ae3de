"""What a server may say, however wrong: it is read, or refused, and nothing else."""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from actors.router.providers.errors import kind_of_body, retry_after_ms
from actors.router.providers.openai_wire import MAX_TOKENS, Assembly, Chunk, UnreadableCallError
from actors.router.structured_output import json_in

leaves = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8)
words = st.sampled_from(
    (
        *("choices", "delta", "message", "content", "tool_calls", "index", "id", "function", "name", "arguments"),
        *("usage", "prompt_tokens", "completion_tokens", "finish_reason", "error", "code", "type", "status", "model"),
    )
)
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=5), max_leaves=20
)


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Make an object with some of these fields."""
    return st.fixed_dictionaries({}, optional=fields)


function = some(name=st.text(max_size=3), arguments=st.sampled_from(["", "{", "{}", '{"a":1}', "[]", {"a": 1}]))
call = some(index=st.integers(-3, 3), id=st.text(max_size=2), function=function)
delta = some(content=st.text(max_size=3), refusal=st.text(max_size=3), tool_calls=st.lists(call, max_size=3))
choice = some(delta=delta, message=delta, finish_reason=st.sampled_from(["stop", "length", "odd", None]))
figures = some(prompt_tokens=st.integers(), completion_tokens=st.integers())
chunks = some(choices=st.lists(choice, max_size=2), usage=figures, model=st.text(max_size=3))


@given(anything)
def test_what_is_no_chunk_is_refused(value: Any) -> None:
    with contextlib.suppress(msgspec.DecodeError):
        Assembly().add(msgspec.json.decode(msgspec.json.encode(value), type=Chunk))


@given(st.lists(chunks, max_size=6))
def test_chunks_in_any_order_come_to_an_answer_or_to_an_error(values: list[dict[str, Any]]) -> None:
    assembly = Assembly()
    written = "".join(assembly.add(msgspec.json.decode(msgspec.json.encode(value), type=Chunk)) for value in values)

    try:
        completion = assembly.completion("asked")
    except UnreadableCallError:
        return
    assert completion.text == written
    assert 0 <= completion.usage.input <= MAX_TOKENS
    assert all(call.name and isinstance(call.arguments, dict) for call in completion.tool_calls)


@given(st.binary() | anything.map(msgspec.json.encode), st.text(max_size=12))
def test_errors_and_their_headers_are_read_or_passed_over(body: bytes, after: str) -> None:
    kind_of_body(body)
    wait_ms = retry_after_ms({"retry-after": after, "retry-after-ms": after}, 0.0)
    json_in(body.decode(errors="replace"))

    assert wait_ms is None or 0 <= wait_ms <= 86_400_000
