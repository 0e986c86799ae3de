"""Leaves out headings that say nothing below them: the page's own title, and that of a section that was moved."""

from __future__ import annotations

import re

from turbohtml import Element, Text

from actors.fetchers.extract.markdown.verbatim import TAG

_HEADINGS = "h1,h2,h3,h4,h5,h6"
_WORD = re.compile(r"\w+")
_TITLES = "title,meta[property='og:title'],meta[name='twitter:title']"
_MEDIA = frozenset({"img", TAG})
_MAX_TITLES = 4
_MAX_CHARS = 500
_PARTED = re.compile(r"\s+[|\-\u2013\u2014\u00b7\u2022\u00bb:/]+\s+|\s*[|\u00bb]\s*|:\s+")
"""Where titles join the name of a page with that of its site."""


def drop_title(body: Element, root: Element) -> None:
    """Take out a first heading that repeats the title of the page."""
    heading = body.select_one(_HEADINGS)
    if heading is not None and _is_title(heading, root):
        heading.extract()


def drop_last(body: Element) -> None:
    """Take out a last heading that nothing follows (any more)."""
    headings = body.select(_HEADINGS)
    if headings and not _says_more(headings[-1], body):
        headings[-1].extract()


def _is_title(heading: Element, root: Element) -> bool:
    said = _words(heading.text)
    titles = (each.attr("content") or each.text for each in root.select(_TITLES)[:_MAX_TITLES])
    return any(said == _words(part) for title in titles for part in (title, *_PARTED.split(title[:_MAX_CHARS])))


def _says_more(heading: Element, body: Element) -> bool:
    """Tell whether something of the content follows a heading."""
    inside = set(heading.descendants)
    for node in heading.following:
        if node in inside:
            continue
        if isinstance(node, Text):
            if not node.data.isspace() and _is_within(node, body):
                return True
        elif isinstance(node, Element) and node.tag in _MEDIA and _is_within(node, body):
            return True
    return False


def _is_within(node: Element | Text, body: Element) -> bool:
    return any(ancestor == body for ancestor in node.ancestors)


def _words(text: str) -> list[str]:
    return _WORD.findall(text[:_MAX_CHARS].lower())
