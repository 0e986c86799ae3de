"""The suite's tools that answer by themselves."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from protocol.offers.results import Audio, Block, Embedded, OfferedResult, Picture, ResourceContents, Text

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
"""A picture of one pixel."""

_HEADER = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\0\0\0\0"
SILENCE = base64.b64encode(_HEADER).decode()
"""A sound of no length."""

_PICTURE = Picture(data=PIXEL, mime_type="image/png")


def said(*words: str, is_error: bool = False) -> OfferedResult:
    """Return words as the result of a tool."""
    return OfferedResult(content=tuple(Text(text=text) for text in words), is_error=is_error)


def shown(*blocks: Block) -> OfferedResult:
    """Return content as the result of a tool."""
    return OfferedResult(content=blocks)


def _held(uri: str, media_type: str, text: str) -> Embedded:
    return Embedded(resource=ResourceContents(uri=uri, mime_type=media_type, text=text))


Given = Mapping[str, Any]

TOOLS: Mapping[str, Callable[[Given], OfferedResult]] = {
    "test_simple_text": lambda _: said("This is a simple text response for testing."),
    "test_image_content": lambda _: shown(_PICTURE),
    "test_audio_content": lambda _: shown(Audio(data=SILENCE, mime_type="audio/wav")),
    "test_embedded_resource": lambda _: shown(
        _held("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": lambda _: shown(
        Text(text="Multiple content types test:"),
        _PICTURE,
        _held("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
    "test_error_handling": lambda _: said("This tool intentionally returns an error for testing", is_error=True),
    "test_reconnection": lambda _: said("There is no stream to come back to."),
    "test_custom_header": lambda given: said(f"Region: {given.get('region')}"),
    "json_schema_2020_12_tool": lambda given: said(f"Taken: {dict(given)}"),
    "greet": lambda given: said(f"Hello, {given.get('name')}!"),
}
