"""Makes an item of what a tab of a browser session shows."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from actors.runner.reading.bounding import MAX_TITLE_CHARS, cut
from actors.runner.reading.sections import markdown_of
from actors.runner.reading.told import ElementTold, Extract, PageInfoTold, PageItem, SectionTold
from protocol.browse import MAX_URL_CHARS
from protocol.browsers.results import Navigated, PageContent, PageInfo
from protocol.tiers import BROWSER


@dataclass(frozen=True)
class Seen:
    """What was read in a tab: where it went, and of its elements and its words what was wanted."""

    went: Navigated
    info: PageInfo | None = None
    content: PageContent | None = None


def item_of(index: int, url: str, seen: Seen, wanted: Extract) -> PageItem:
    """Tell of a tab what was read there."""
    went, info, content = seen.went, seen.info, seen.content
    where = info.page if info is not None else went.page
    parts = _sections(content)
    words = UNSET if parts is UNSET else markdown_of(parts)
    shown = UNSET if words is UNSET else cut(words, wanted.max_content_length)
    cut_short = (content is not None and content.truncated) or (words is not UNSET and words != shown)
    return PageItem(
        index=index,
        url=url,
        success=True,
        final_url=where.url[:MAX_URL_CHARS],
        title=where.title[:MAX_TITLE_CHARS],
        page_type=UNSET if info is None else info.page.type.value,
        element_count=UNSET if info is None else info.total_elements,
        content_sections=parts,
        content=shown,
        page_info=UNSET if info is None else _info(info),
        tier=BROWSER,
        truncated=True if cut_short else UNSET,
    )


def _sections(content: PageContent | None) -> tuple[SectionTold, ...] | UnsetType:
    if content is None:
        return UNSET
    return tuple(
        SectionTold(tag=one.tag, text=one.text, heading=one.heading, attention=one.attention)
        for one in content.sections
    )


def _info(info: PageInfo) -> PageInfoTold:
    return PageInfoTold(
        type=info.page.type.value,
        element_count=info.total_elements,
        elements=tuple(
            ElementTold(
                type=one.type.value,
                label=one.label,
                id=one.id,
                region=one.region,
                value=one.value,
                href=one.href,
                states=one.states,
            )
            for one in info.elements
        ),
    )
