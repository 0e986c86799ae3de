"""A document says what it is, and that nobody is to obey it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from protocol.codec import MalformedError, decoder, encode
from protocol.documents import (
    CollectionIndex,
    CollectionSource,
    Content,
    Document,
    Signal,
    Trust,
    WebObservationChunk,
    WebObservationSummary,
    untrusted,
)
from tests.requirements import requirement
from tests.unit.protocol import packet_data

CONTENTS: dict[type, dict[str, Any]] = {
    WebObservationSummary: packet_data.summary(),
    WebObservationChunk: packet_data.chunk(),
    CollectionIndex: packet_data.collection_index(),
    CollectionSource: packet_data.collection_source(),
}

ADDITIONS: dict[type, dict[str, Any]] = {
    WebObservationSummary: {"tables": [], "parts": {}},
    WebObservationChunk: {},
    CollectionIndex: {},
    CollectionSource: {},
}


def read(row: dict[str, Any]) -> Document[Content]:
    found: Document[Content] = decoder(Document[Content]).decode(msgspec.json.encode(row))
    return found


def written(document: Document[Content]) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(encode(document))
    return found


def refused(row: dict[str, Any]) -> str:
    with pytest.raises(MalformedError) as caught:
        read(row)
    return caught.value.fault.message


@requirement("003.document.wrapper")
@requirement("003.document.summary")
@requirement("003.document.chunk")
@requirement("003.document.collection-index")
@requirement("003.document.collection-source")
@pytest.mark.parametrize("kind", CONTENTS)
def test_each_kind_is_read_as_its_type_and_written_as_it_was(kind: type) -> None:
    row = packet_data.document(CONTENTS[kind])

    document = read(row)

    assert type(document.content) is kind
    assert written(document) == row | {"content": {**ADDITIONS[kind], **CONTENTS[kind]}}


@requirement("003.document.untrusted")
@pytest.mark.parametrize("content", CONTENTS.values(), ids=lambda row: row["doc_type"])
def test_what_came_from_the_web_cannot_be_trusted(content: dict[str, Any]) -> None:
    said = refused(packet_data.document(content) | {"trust": "trusted"})

    assert said == f"a document of kind {content['doc_type']} comes from the web, so trust must be untrusted"


@requirement("003.document.untrusted")
def test_trust_is_never_left_out() -> None:
    row = packet_data.document(packet_data.summary())
    del row["trust"]

    assert refused(row) == "trust: Object missing required field `trust`"


@requirement("003.document.wrapper")
def test_the_kind_repeats_the_type_of_the_content() -> None:
    row = packet_data.document(packet_data.summary()) | {"kind": "collection.index.v1"}

    assert refused(row) == "kind is collection.index.v1, but content.doc_type is web.observation.summary.v1"


@requirement("003.document.wrapper")
def test_a_kind_that_is_not_known_is_refused() -> None:
    assert refused(packet_data.document(packet_data.summary() | {"doc_type": "web.video.v1"})) == (
        "kind: Invalid enum value 'web.video.v1'"
    )


@requirement("003.document.chunk")
@pytest.mark.parametrize(("index", "count"), [(0, 3), (4, 3), (1, 0)])
def test_chunks_count_from_one_to_the_last(index: int, count: int) -> None:
    refused(packet_data.document(packet_data.chunk() | {"chunk_index": index, "chunk_count": count}))


@requirement("003.document.summary")
def test_a_page_needs_no_time_links_or_signals() -> None:
    row = packet_data.summary()
    for name in ("captured_at", "extracted_links", "signals"):
        del row[name]

    assert read(packet_data.document(row)).content == WebObservationSummary(
        url="https://weft.test/tides", title="Tides", markdown="# Tides\n\nHigh water at noon."
    )


@requirement("003.document.summary")
def test_a_signal_is_one_of_those_that_are_known() -> None:
    assert refused(packet_data.document(packet_data.summary() | {"signals": ["boredom"]})) == (
        "content.signals[0]: Invalid enum value 'boredom'"
    )
    assert len(Signal) == 15


@requirement("003.document.untrusted")
@pytest.mark.parametrize("content", CONTENTS.values(), ids=lambda row: row["doc_type"])
def test_wrapping_marks_the_kind_and_the_trust(content: dict[str, Any]) -> None:
    typed: Content = msgspec.convert(content, Content)

    document = untrusted("doc_1", typed)

    assert (document.kind, document.trust, document.content) == (content["doc_type"], Trust.UNTRUSTED, typed)
