"""A citation cites something."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import pytest

from protocol.codec import MalformedError, decoder, encode
from protocol.packets import Citation, Locator
from tests.requirements import requirement


def read(row: dict[str, Any]) -> Citation:
    found: Citation = decoder(Citation).decode(msgspec.json.encode(row))
    return found


@requirement("003.citation.shape")
@pytest.mark.parametrize("kind", ["text_fragment", "section_heading"])
def test_a_whole_citation_is_read_and_written_as_it_was(kind: Literal["text_fragment", "section_heading"]) -> None:
    row = {
        "source_id": "src_1",
        "doc_id": "doc:web:summary",
        "url": "https://weft.test/tides",
        "quote": "High water at noon.",
        "locator": {"type": kind, "value": "High water"},
        "confidence": 0.72,
    }

    citation = read(row)

    assert citation.locator == Locator(type=kind, value="High water")
    assert msgspec.json.decode(encode(citation)) == row


@requirement("003.citation.shape")
@pytest.mark.parametrize("row", [{"doc_id": "doc:1"}, {"source_id": "src:1"}])
def test_a_document_or_a_source_is_enough(row: dict[str, Any]) -> None:
    assert msgspec.json.decode(encode(read(row))) == row


@requirement("003.citation.shape")
@pytest.mark.parametrize(
    "row",
    [
        {},
        {"url": "https://weft.test/tides", "quote": "High water at noon."},
        {"doc_id": "", "source_id": ""},
        {"doc_id": "doc:1", "confidence": 1.01},
        {"doc_id": "doc:1", "confidence": -0.01},
        {"doc_id": "doc:1", "locator": {"type": "page", "value": "3"}},
        {"doc_id": "doc:1", "locator": {"type": "text_fragment"}},
    ],
)
def test_anything_less_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        read(row)
