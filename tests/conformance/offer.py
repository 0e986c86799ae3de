"""What the conformance suite expects a server to have, as an offer."""

from __future__ import annotations

from typing import Any

from protocol.offers.offer import (
    Offer,
    OfferedPrompt,
    OfferedResource,
    OfferedTemplate,
    OfferedTool,
    PromptArgument,
    TaskUse,
)

NOTHING: dict[str, Any] = {"type": "object", "properties": {}}

DIALECT_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

PLAIN_TOOLS = (
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_error_handling",
    "test_reconnection",
    "test_logging_tool",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
)
"""Those without arguments."""


def _object(required: tuple[str, ...] = (), /, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


_TEXT: dict[str, Any] = {"type": "string"}

TOOLS = (
    *(OfferedTool(name=name, description=f"Fixture: {name}", input_schema=NOTHING) for name in PLAIN_TOOLS),
    OfferedTool(
        name="test_sampling", description="Ask the client's model", input_schema=_object(("prompt",), prompt=_TEXT)
    ),
    OfferedTool(name="test_elicitation", description="Ask the user", input_schema=_object(("message",), message=_TEXT)),
    OfferedTool(
        name="test_custom_header",
        description="Takes an argument that stands in a header, too",
        input_schema=_object(region={"type": "string", "x-mcp-header": "Region"}),
    ),
    OfferedTool(
        name="json_schema_2020_12_tool", description="Arguments in the whole dialect", input_schema=DIALECT_2020_12
    ),
    OfferedTool(name="greet", description="Greets at once", input_schema=_object(("name",), name=_TEXT)),
    OfferedTool(
        name="slow_compute",
        description="Takes its time",
        input_schema=_object(seconds={"type": "number"}, label=_TEXT),
        tasks=TaskUse.POSSIBLE,
    ),
    OfferedTool(name="failing_job", description="Fails", input_schema=NOTHING, tasks=TaskUse.REQUIRED),
    OfferedTool(name="protocol_error_job", description="Breaks", input_schema=NOTHING, tasks=TaskUse.REQUIRED),
    OfferedTool(
        name="confirm_delete", description="Asks first", input_schema=_object(filename=_TEXT), tasks=TaskUse.REQUIRED
    ),
    OfferedTool(name="multi_input", description="Asks twice at once", input_schema=NOTHING, tasks=TaskUse.REQUIRED),
    OfferedTool(
        name="test_tool_with_task", description="Asks, then works", input_schema=NOTHING, tasks=TaskUse.REQUIRED
    ),
)

RESOURCES = (
    OfferedResource(
        uri="test://static-text", name="Static text", description="Always the same words", mime_type="text/plain"
    ),
    OfferedResource(
        uri="test://static-binary", name="Static binary", description="Always the same picture", mime_type="image/png"
    ),
    OfferedResource(
        uri="test://watched-resource", name="Watched", description="Can be subscribed to", mime_type="text/plain"
    ),
)

TEMPLATES = (
    OfferedTemplate(
        uri_template="test://template/{id}/data",
        name="By id",
        description="Data by an id",
        mime_type="application/json",
    ),
)

_TWO = (
    PromptArgument(name="arg1", description="First test argument", required=True),
    PromptArgument(name="arg2", description="Second test argument", required=True),
)

PROMPTS = (
    OfferedPrompt(name="test_simple_prompt", description="Fixture: words"),
    OfferedPrompt(name="test_prompt_with_arguments", description="Fixture: two arguments", arguments=_TWO),
    OfferedPrompt(
        name="test_prompt_with_embedded_resource",
        description="Fixture: a resource",
        arguments=(PromptArgument(name="resourceUri", description="Resource to embed", required=True),),
    ),
    OfferedPrompt(name="test_prompt_with_image", description="Fixture: a picture"),
    OfferedPrompt(name="test_input_required_result_prompt", description="Fixture: asks the user first"),
)


def offer(turn: int = 0) -> Offer:
    """Return the offer; each `turn` differs from the one before in a tool and a prompt, but not in their names."""
    triggers = ("test_trigger_tool_change", "test_trigger_prompt_change")
    return Offer(
        tools=(
            *TOOLS,
            *(OfferedTool(name=one, description=f"Turn {turn}", input_schema=NOTHING) for one in triggers),
        ),
        resources=RESOURCES,
        templates=TEMPLATES,
        prompts=(*PROMPTS, OfferedPrompt(name="test_changing_prompt", description=f"Turn {turn}")),
    )
