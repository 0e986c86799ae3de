"""Whatever a model writes is understood as far as it is safe, and never further."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs

from actors.answerer.model_output import MAX_OUTPUT_CHARS, ModelOutput, OutputReading, read_model_output
from protocol.faults import FaultError
from protocol.packets import Assistant, Citation, ToolCall
from protocol.render import Blockquote, Doc, Heading, List, ListItem, Paragraph, Text
from tests.requirements import requirement
from tests.unit.protocol import packet_data

CLICK = {"name": "browser.click", "arguments": {"handleId": "weft-1"}}
CALL = ToolCall(name="browser.click", arguments={"handleId": "weft-1"})


def written(row: object) -> str:
    return msgspec.json.encode(row).decode()


def said(markdown: str, reading: OutputReading, *calls: ToolCall, citations: tuple[Citation, ...] = ()) -> ModelOutput:
    return ModelOutput(Assistant(markdown=markdown, citations=citations), calls, reading)


HIGH = '{"assistant":{"markdown":"High."},"tool_calls":[]}'


@requirement("003.output.repair")
@requirement("003.output.fallback")
@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param(HIGH, said("High.", OutputReading.STRICT), id="packet"),
        pytest.param(f"\n {HIGH}\n", said("High.", OutputReading.STRICT), id="blank space"),
        pytest.param('{"markdown":"High."}', said("High.", OutputReading.STRICT), id="assistant alone"),
        pytest.param(f"```json\n{HIGH}\n```", said("High.", OutputReading.REPAIRED), id="fence"),
        pytest.param(f"```\n{HIGH}```", said("High.", OutputReading.REPAIRED), id="fence without a last line"),
        pytest.param(
            f"```json  \n\n{HIGH}\n\n```\n", said("High.", OutputReading.REPAIRED), id="fence with blank space"
        ),
        pytest.param(f"<think>maybe {{}}</think>\n{HIGH}", said("High.", OutputReading.STRICT), id="thoughts"),
        pytest.param(f"<THINK>a<think>b</Think>{HIGH}", said("High.", OutputReading.STRICT), id="loud thoughts"),
        pytest.param(
            f"<think>a</think>{HIGH}<think>b</think>", said("High.", OutputReading.STRICT), id="thoughts around"
        ),
        pytest.param(
            f"<think>a</think>\n```json\n{HIGH}\n```",
            said("High.", OutputReading.REPAIRED),
            id="thoughts before a fence",
        ),
        pytest.param(f"<think>a\n{HIGH}", said(f"<think>a\n{HIGH}", OutputReading.MARKDOWN), id="thoughts without end"),
        pytest.param('{"markdown":"High.",}', said("High.", OutputReading.REPAIRED), id="trailing comma"),
        pytest.param(
            '{"markdown":"a,} b,]", \n}', said("a,} b,]", OutputReading.REPAIRED), id="commas inside strings stay"
        ),
        pytest.param(
            '{"markdown":"a\\",}", "tool_calls":[{"name":"search","arguments":{"query":"a",},},],}',
            said('a",}', OutputReading.REPAIRED, ToolCall(name="search", arguments={"query": "a"})),
            id="trailing commas everywhere",
        ),
        pytest.param("# High\n\nat noon", said("# High\n\nat noon", OutputReading.MARKDOWN), id="Markdown"),
        pytest.param("", said("", OutputReading.MARKDOWN), id="nothing"),
        pytest.param("42", said("42", OutputReading.MARKDOWN), id="a number"),
        pytest.param('["High."]', said('["High."]', OutputReading.MARKDOWN), id="a list"),
        pytest.param("```python\nx = 1\n```", said("```python\nx = 1\n```", OutputReading.MARKDOWN), id="fenced code"),
        pytest.param('{"markdown":"Hi', said('{"markdown":"Hi', OutputReading.BROKEN_JSON), id="cut off"),
        pytest.param('{"title":"T"}', said('{"title":"T"}', OutputReading.BROKEN_JSON), id="no words"),
        pytest.param('{"assistant":"High."}', said('{"assistant":"High."}', OutputReading.BROKEN_JSON), id="no object"),
        pytest.param('{"assistant":null}', said('{"assistant":null}', OutputReading.BROKEN_JSON), id="null"),
        pytest.param(
            '{"markdown":"High.","render":{"type":"table"}}',
            said("High.", OutputReading.STRICT),
            id="a tree that is none",
        ),
    ],
)
def test_outputs_are_read_leniently(output: str, expected: ModelOutput) -> None:
    assert read_model_output(output) == expected


@requirement("003.response.render")
def test_a_whole_packet_is_read_with_its_tree_and_citations() -> None:
    row = packet_data.response_packet()

    found = read_model_output(written(row))

    assert msgspec.json.decode(msgspec.json.encode(found.assistant)) == row["assistant"]
    assert (found.tool_calls, found.reading) == ((CALL,), OutputReading.STRICT)


@requirement("003.tool-call.shape")
@pytest.mark.parametrize("key", ["tool_calls", "toolCalls"])
def test_tool_calls_may_be_written_either_way(key: str) -> None:
    assert read_model_output(written({"markdown": "Click.", key: [CLICK]})) == said(
        "Click.", OutputReading.STRICT, CALL
    )


@requirement("003.tool-call.shape")
@pytest.mark.parametrize(
    "calls",
    [
        [CLICK, {"name": "browser.back"}],
        [CLICK, {**CLICK, "id": "call-1"}],
        [CLICK, {"name": "", "arguments": {}}],
        [CLICK, {"name": "shell.exec", "arguments": {"command": "id"}}],
        [CLICK, {"name": "browser.click", "arguments": {"handleId": "weft-1", "then": "pay"}}],
        [CLICK, {"name": "browser.scroll", "arguments": {"deltaY": "far"}}],
        [CLICK, {"name": "browser.back", "arguments": "{}"}],
        [CLICK, None],
        CLICK,
        "browser.click",
        None,
        1,
    ],
)
def test_one_bad_tool_call_discards_all(calls: object) -> None:
    output = read_model_output(written({"markdown": "Click.", "tool_calls": calls}))

    assert output == structs.replace(said("Click.", OutputReading.STRICT), discarded=calls is not None)


def test_tool_calls_need_no_words_beside_them() -> None:
    output = read_model_output(written({"tool_calls": [CLICK]}))

    assert output == said("", OutputReading.STRICT, CALL)


@requirement("003.output.markdown-mode")
def test_markdown_mode_never_has_tool_calls() -> None:
    output = written({"markdown": "Click.", "tool_calls": [CLICK]})

    assert read_model_output(output, tools=False) == said("Click.", OutputReading.STRICT)


@requirement("003.output.fallback")
def test_broken_json_has_neither_tool_calls_nor_citations() -> None:
    output = written({"markdown": "Click.", "tool_calls": [CLICK], "citations": [{"doc_id": "d"}]})[:-1]

    assert read_model_output(output) == said(output, OutputReading.BROKEN_JSON)


@requirement("003.output.markdown-mode")
def test_markdown_may_end_in_a_block_of_citations() -> None:
    output = (
        "High at noon.\n\n"
        "---CITATIONS---\n"
        '{"doc_id":"doc_1","quote":"High water at noon."}\n'
        "\n"
        "not JSON\n"
        '{"quote":"from nowhere"}\n'
        '{"source_id":"src_2"}\n'
        "---END CITATIONS---\n"
        "That is all."
    )

    assert read_model_output(output) == said(
        "High at noon.\n\nThat is all.",
        OutputReading.MARKDOWN,
        citations=(Citation(doc_id="doc_1", quote="High water at noon."), Citation(source_id="src_2")),
    )


@pytest.mark.parametrize(
    "output",
    ["a\n---CITATIONS---\n{}", "a\n---END CITATIONS---\n---CITATIONS---", "a ---CITATIONS---\n---END CITATIONS---"],
)
def test_a_block_of_citations_that_is_not_whole_is_text(output: str) -> None:
    assert read_model_output(output) == said(output, OutputReading.MARKDOWN)


@requirement("003.output.caps")
def test_an_output_over_the_cap_is_not_read() -> None:
    with pytest.raises(FaultError, match="VALIDATION_INVALID_REQUEST: The model wrote 400001 characters"):
        read_model_output("x" * (MAX_OUTPUT_CHARS + 1))


@pytest.mark.slow
@settings(max_examples=300)
@given(output=st.text() | st.text(alphabet='{}[]",:\\` \nabc<>/think-'), tools=st.booleans())
@example(output="\ud800", tools=True)
@example(output="9" * 5_000, tools=True)
@example(output='{"markdown":"a","x":' + "9" * 5_000 + "}", tools=True)
@example(output="[" * 100_000, tools=True)
@example(output='{"assistant":' * 20_000, tools=True)
@example(output='{"markdown":"\ud800"}', tools=True)
def test_any_text_is_read(*, output: str, tools: bool) -> None:
    assert isinstance(read_model_output(output, tools=tools), ModelOutput)


@settings(max_examples=100)
@given(st.text(max_size=30), st.sampled_from(["markdown", "title", "citations", "render"]), st.none() | st.integers())
def test_json_of_the_wrong_type_is_read(text: str, field: str, value: int | None) -> None:
    row = {"assistant": {"markdown": text, field: value}}

    assert read_model_output(written(row)).tool_calls == ()


HOSTILE = {
    "fence": "```" + "\n" * (MAX_OUTPUT_CHARS - 4) + "x",
    "thoughts": "<think>" * (MAX_OUTPUT_CHARS // 7),
    "citations": "---CITATIONS---\n" * (MAX_OUTPUT_CHARS // 16),
    "end of citations": "---CITATIONS---" + "\n" * (MAX_OUTPUT_CHARS - 20) + "x",
    "quotes": '{"' + '\\"' * (MAX_OUTPUT_CHARS // 2 - 1),
    "commas": "{" + ",  " * (MAX_OUTPUT_CHARS // 3 - 1),
}


@requirement("003.output.caps")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_output_takes_no_longer_than_its_length(name: str) -> None:
    """A pattern that tries every beginning with every end would take hours."""
    assert read_model_output(HOSTILE[name]).tool_calls == ()


def test_a_tree_is_read_in_the_words_of_siblings_too() -> None:
    tree = {
        "type": "document",
        "children": [
            {"type": "heading", "level": 1, "text": "Tides"},
            {"type": "quote", "children": [{"type": "paragraph", "children": ["High."]}]},
            {"type": "list", "ordered": False, "items": [{"type": "list_item", "text": "noon"}]},
        ],
    }

    found = read_model_output(written({"assistant": {"render": tree}}))

    high, noon = Text(text="High."), Text(text="noon")
    assert found.assistant.render == Doc(
        children=(
            Heading(level=1, children=(Text(text="Tides"),)),
            Blockquote(children=(Paragraph(children=(high,)),)),
            List(ordered=False, items=(ListItem(children=(noon,)),)),
        )
    )


def test_one_argument_is_known_by_its_other_name() -> None:
    call = {"name": "browser.observe_dom", "arguments": {"maxItemsChars": 240}}

    found = read_model_output(written({"markdown": "Look.", "tool_calls": [call]}))

    assert found.tool_calls == (ToolCall(name="browser.observe_dom", arguments={"maxItemChars": 240}),)
