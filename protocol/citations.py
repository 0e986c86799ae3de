"""Where a claim was read: the citation of LLMCP (003 "Citation shape")."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from protocol.confidence import Score


class Locator(Struct, frozen=True, kw_only=True):
    """A hint where in the source the evidence stands."""

    type: Literal["text_fragment", "section_heading"]
    value: str


class Citation(Struct, frozen=True, kw_only=True):
    """Evidence for a claim: `doc_id` of a page, or `source_id` of a collection's source, or both."""

    source_id: str | UnsetType = UNSET
    doc_id: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    quote: str | UnsetType = UNSET
    locator: Locator | UnsetType = UNSET
    confidence: Score | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Refuse a citation that cites nothing."""
        if not self.source_id and not self.doc_id:
            msg = "a citation names a doc_id or a source_id"
            raise ValueError(msg)
