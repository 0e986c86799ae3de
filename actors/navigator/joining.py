"""Puts the pages of one list or article together, as if the site had shown them at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from msgspec import UNSET, structs

from actors.markdown.plain_text import plain_text
from protocol.confidence import Confidence
from protocol.documents import WebObservationSummary, untrusted
from protocol.page import RecordList
from protocol.pages import Fetched


def joined(pages: Sequence[Fetched]) -> Fetched:
    """Join pages in their order; the first gives title, fields and address, the least sure the content's confidence.

    `html`, captures and the console are the first page's own.
    """
    first = pages[0]
    if len(pages) == 1:
        return first
    contents = [page.document.content for page in pages]
    return structs.replace(
        first,
        document=untrusted(first.document.doc_id, _summary(contents)),
        content=_least(page.content for page in pages),
        tables=tuple(chain.from_iterable(page.tables for page in pages)),
        evidence=structs.replace(first.evidence, content_length=sum(page.evidence.content_length for page in pages)),
        apis=tuple({(api.method, api.endpoint): api for page in reversed(pages) for api in page.apis}.values()),
        network=tuple(chain.from_iterable(page.network for page in pages)),
        retry_count=sum(page.retry_count for page in pages),
        from_cache=all(page.from_cache for page in pages),
    )


def _summary(contents: Sequence[WebObservationSummary]) -> WebObservationSummary:
    first, last = contents[0], contents[-1]
    fields = structs.replace(first.parts.fields, next=last.parts.fields.next)
    parts = structs.replace(
        first.parts,
        fields=fields,
        lists=_lists(contents),
        structured=tuple(chain.from_iterable(content.parts.structured for content in contents)),
    )
    return structs.replace(
        first,
        markdown="\n\n".join(content.markdown for content in contents),
        text="\n\n".join(_text(content) for content in contents),
        extracted_links=tuple(chain.from_iterable(content.extracted_links for content in contents)),
        tables=tuple(chain.from_iterable(content.tables for content in contents)),
        signals=tuple(dict.fromkeys(chain.from_iterable(content.signals for content in contents))),
        parts=parts,
    )


def _lists(contents: Sequence[WebObservationSummary]) -> tuple[RecordList, ...]:
    return tuple(chain.from_iterable(content.parts.lists for content in contents))


def _text(content: WebObservationSummary) -> str:
    return plain_text(content.markdown) if content.text is UNSET else content.text


def _least(sure: Iterable[Confidence]) -> Confidence:
    return min(sure, key=lambda confidence: confidence.score)
