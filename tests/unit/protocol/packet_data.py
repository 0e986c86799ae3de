"""Packets of our own making, with the structure that 003 gives to its examples."""

from __future__ import annotations

from typing import Any


def envelope(packet: str, kind: str, role: str) -> dict[str, Any]:
    """Make the part that every packet has."""
    return {
        "protocol": {"name": "laika.llmcp", "version": 1},
        "id": packet,
        "type": kind,
        "created_at": "2026-01-28T12:34:56.789000Z",
        "conversation": {"id": "c-1", "turn": 1},
        "sender": {"role": role},
    }


def summary() -> dict[str, Any]:
    """Capture a page."""
    return {
        "doc_type": "web.observation.summary.v1",
        "url": "https://weft.test/tides",
        "title": "Tides",
        "captured_at": "2026-01-28T12:34:56.789000Z",
        "markdown": "# Tides\n\nHigh water at noon.",
        "extracted_links": [{"url": "https://weft.test/moon", "text": "the moon", "context": "pulled by the moon"}],
        "signals": ["paywall_or_login", "overlay_blocking"],
    }


def chunk() -> dict[str, Any]:
    """Make the last of three parts."""
    return {
        "doc_type": "web.observation.chunk.v1",
        "url": "https://weft.test/tides",
        "title": "Tides",
        "chunk_index": 3,
        "chunk_count": 3,
        "markdown": "Low water at six.",
    }


def collection_index() -> dict[str, Any]:
    """Make a collection of one source."""
    return {
        "doc_type": "collection.index.v1",
        "collection_id": "col:7",
        "title": "Water",
        "sources": [
            {
                "source_id": "src:1",
                "url": "https://weft.test/tides",
                "title": "Tides",
                "captured_at": "2026-01-28T01:02:03Z",
            }
        ],
    }


def collection_source() -> dict[str, Any]:
    """Make the source of that collection."""
    return {
        "doc_type": "collection.source.v1",
        "collection_id": "col:7",
        "source_id": "src:1",
        "url": "https://weft.test/tides",
        "title": "Tides",
        "captured_at": "2026-01-28T01:02:03Z",
        "markdown": "# Tides",
        "extracted_links": [{"url": "https://weft.test/moon", "text": "the moon", "context": "pulled by the moon"}],
    }


def document(content: dict[str, Any]) -> dict[str, Any]:
    """Wrap content as a document."""
    return {
        "doc_id": "doc:web:summary",
        "kind": content["doc_type"],
        "trust": "untrusted",
        "source": {"browser": "safari", "tab_id": "3"},
        "content": content,
    }


def request_packet() -> dict[str, Any]:
    """Ask to sum up one page."""
    return {
        **envelope("req-1", "request", "agent"),
        "input": {
            "user_message": {"id": "u-1", "text": "when is high water?"},
            "task": {"name": "web.summarize", "args": {"style": "concise"}},
        },
        "context": {"documents": [document(summary())]},
        "output": {"format": "json"},
    }


def render() -> dict[str, Any]:
    """Make an answer as a tree with every kind of node."""

    def text(words: str) -> dict[str, Any]:
        return {"type": "text", "text": words}

    return {
        "type": "doc",
        "children": [
            {"type": "heading", "level": 2, "children": [text("Tides")]},
            {
                "type": "paragraph",
                "children": [
                    text("Noon, says "),
                    {"type": "link", "href": "https://weft.test/tides", "children": [text("the table")]},
                ],
            },
            {
                "type": "list",
                "ordered": False,
                "items": [{"type": "list_item", "children": [text("spring")]}],
            },
            {"type": "blockquote", "children": [{"type": "paragraph", "children": [text("High water at noon.")]}]},
            {"type": "code_block", "language": "text", "text": "12:00"},
        ],
    }


def response_packet(assistant: dict[str, Any] | None = None) -> dict[str, Any]:
    """Answer that request."""
    return {
        **envelope("res-1", "response", "assistant"),
        "in_reply_to": {"request_id": "req-1"},
        "assistant": assistant
        or {
            "title": "Tides",
            "render": render(),
            "citations": [
                {
                    "source_id": "src:1",
                    "doc_id": "doc:web:summary",
                    "url": "https://weft.test/tides",
                    "quote": "High water at noon.",
                    "locator": {"type": "text_fragment", "value": "High water"},
                    "confidence": 0.72,
                }
            ],
        },
        "tool_calls": [{"name": "browser.click", "arguments": {"handleId": "weft-1"}}],
    }
