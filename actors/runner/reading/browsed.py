"""Makes an item of a page that the ladder of tiers has got."""

from __future__ import annotations

from itertools import chain, islice

from msgspec import UNSET

from actors.runner.reading.bounding import MAX_TITLE_CHARS, cut
from actors.runner.reading.sections import sections
from actors.runner.reading.told import ElementTold, Extract, PageInfoTold, PageItem
from protocol.browse import MAX_URL_CHARS
from protocol.browsers.pageinfo import ElementKind
from protocol.documents import WebObservationSummary
from protocol.page import FormField
from protocol.pages import Browsed

_OTHER = "other"
_MAX_LABEL_CHARS = 200
_HIDDEN = "hidden"
_KINDS = {
    "select": ElementKind.SELECT,
    "checkbox": ElementKind.CHECKBOX,
    "radio": ElementKind.RADIO,
    "file": ElementKind.FILE,
}


def item_of(index: int, url: str, browsed: Browsed, wanted: Extract) -> PageItem:
    """Tell of a page what is wanted."""
    page, content = browsed.page, browsed.page.document.content
    info = _info(content, wanted.max_elements) if wanted.page_info else UNSET
    words = cut(content.markdown, wanted.max_content_length) if wanted.content else UNSET
    return PageItem(
        index=index,
        url=url,
        success=True,
        final_url=page.final_url[:MAX_URL_CHARS],
        title=content.title[:MAX_TITLE_CHARS],
        page_type=UNSET if info is UNSET else info.type,
        element_count=UNSET if info is UNSET else info.element_count,
        content_sections=UNSET if words is UNSET else sections(words),
        content=words,
        page_info=info,
        tier=page.tier,
        confidence=browsed.confidence.overall.score,
        truncated=True if words is not UNSET and len(words) < len(content.markdown) else UNSET,
    )


def _info(content: WebObservationSummary, most: int) -> PageInfoTold:
    """Count what can be acted on, as far as the extraction knows: links, and the fields of forms that are seen."""
    parts = content.parts
    fields = [field for form in parts.forms for field in form.fields if field.type != _HIDDEN]
    links = (*content.extracted_links, *parts.navigation)
    told = chain(
        (_field(field) for field in fields),
        (
            ElementTold(type=ElementKind.LINK, label=link.text[:_MAX_LABEL_CHARS], href=link.url[:MAX_URL_CHARS])
            for link in links
        ),
    )
    kind = parts.fields.page_type
    return PageInfoTold(
        type=_OTHER if kind is UNSET else kind.value,
        element_count=len(fields) + len(links),
        elements=tuple(islice(told, most)),
        links=len(links),
        forms=len(parts.forms),
        headings=len(parts.fields.outline),
    )


def _field(field: FormField) -> ElementTold:
    label = field.label or field.name
    states = ("required",) if field.required else ()
    kind = _KINDS.get(field.type, ElementKind.INPUT)
    return ElementTold(type=kind, label=label[:_MAX_LABEL_CHARS], value=field.value, states=states)
