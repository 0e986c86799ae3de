"""Writes what every prompt for a model has: messages, schemas, and words of strangers behind a marker.

What stands behind a marker is data (003 "Instruction/data separation"): each line of it is redacted, and cannot forge
the marker, whose random part is made anew for each prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from actors import redact
from protocol.models import ModelMessage, TextPart

_INVISIBLE = re.compile(
    r"[\u0000-\u0008\u000b-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e0fff]"
)
"""What a reader does not see, and a model reads: control and direction marks, and the alphabet of tags."""


def object_schema(**properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has these properties, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def message(role: Literal["system", "user"], text: str) -> ModelMessage:
    """Return a message of words."""
    return ModelMessage(role=role, parts=(TextPart(text=text),))


def fenced(name: str, lines: Sequence[str], marker: str) -> str:
    """Write lines of others behind a marker that they cannot forge."""
    name, body = _line(name), "\n".join(_line(line) for line in lines)
    return f"<<<{marker} {name}>>>\n{body}\n<<<{marker} end of {name}>>>"


def _line(text: str) -> str:
    """Return a line of a document as it may leave."""
    return redact.text(" ".join(visible(text).split()))


def visible(text: str) -> str:
    """Return a text without what a reader does not see."""
    return _INVISIBLE.sub("", text)
