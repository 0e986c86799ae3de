"""Leaves out the heading that repeats the title of the page, which is a field of its own."""

from __future__ import annotations

import re

from turbohtml import Element

_HEADINGS = "h1,h2,h3,h4,h5,h6"
_WORD = re.compile(r"\w+")
_TITLES = "title,meta[property='og:title'],meta[name='twitter:title']"
_MAX_TITLES = 4
_MAX_CHARS = 500
_PARTED = re.compile(r"\s+[|\-\u2013\u2014\u00b7\u2022\u00bb:/]+\s+|\s*[|\u00bb]\s*|:\s+")
"""Where titles join the name of a page with that of its site."""


def drop_title(body: Element, root: Element) -> None:
    """Take out a first heading that repeats the title of the page."""
    heading = body.select_one(_HEADINGS)
    if heading is not None and _is_title(heading, root):
        heading.extract()


def _is_title(heading: Element, root: Element) -> bool:
    said = _words(heading.text)
    titles = (each.attr("content") or each.text for each in root.select(_TITLES)[:_MAX_TITLES])
    return any(said == _words(part) for title in titles for part in (title, *_PARTED.split(title[:_MAX_CHARS])))


def _words(text: str) -> list[str]:
    return _WORD.findall(text[:_MAX_CHARS].lower())
