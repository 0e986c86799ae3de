"""The result of an extraction, whatever the page was written in."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from protocol.browse import ApiPattern, SelectorAttempt, TitleAttempt
from protocol.confidence import Confidence
from protocol.documents import WebObservationSummary
from protocol.pages import Outlinks, PageEvidence


class Extraction(Struct, frozen=True):
    """A page as a document, how sure each field is, and what was tried; `tables` is parallel to the document's.

    `fields` holds how sure the fields beyond title and content are, by their wire names. `markdown_link` is the
    address under which the page offers itself in Markdown, if it does. `outlinks` are those of markup.
    """

    summary: WebObservationSummary
    evidence: PageEvidence
    title: Confidence
    content: Confidence
    tables: tuple[Confidence, ...] = ()
    selectors: tuple[SelectorAttempt, ...] = ()
    titles: tuple[TitleAttempt, ...] = ()
    fields: Mapping[str, Confidence] = msgspec.field(default_factory=dict[str, Confidence])
    apis: tuple[ApiPattern, ...] = ()
    markdown_link: str = ""
    outlinks: Outlinks | None = None
