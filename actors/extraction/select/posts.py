"""Finds who wrote each post, answer and review of the main content, and when: what stands beside the words of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct
from turbohtml import Element

from actors.extraction.decide.content import Content
from actors.extraction.evidence.dates import day
from actors.extraction.parse.text import one_line
from actors.extraction.parse.tree import Page
from actors.extraction.select import roles
from actors.extraction.select.records import read_record
from protocol.page import PageType

_DECLARED = (
    "[itemtype*='schema.org/Comment'],[itemtype*='schema.org/Answer'],[itemtype*='schema.org/Question']"
    ",[itemtype*='schema.org/Review'],[itemtype*='schema.org/UserReview'],[itemtype*='DiscussionForumPosting']"
    ",[itemprop~='comment'],[itemprop~='review'],[itemprop~='suggestedAnswer'],[itemprop~='acceptedAnswer']"
)
"""What says itself that it is somebody's words."""

_CALLED = (
    ".post,.message,.comment,.review,.answer,.question,.reply,.topic-post,.postcontainer,.forum-post,.post-container"
    ",.review-item,.comment-item,.hentry,[data-author],[id^='post-'],[id^='post_'],[id^='comment-'],[id^='review-']"
)
"""What forums and shops call it."""

_YEAR = re.compile(r"(?:19|20)\d\d")
_PROBABLY_FORUM = 0.3
_MANY = 2
_MAX_POSTS = 500
_MAX_AUTHOR_CHARS = 80
_MAX_DATE_CHARS = 60
_FIRST_BLOCKS = 6


class Post(Struct, frozen=True):
    """An element that holds somebody's words, with the line that says whose they are and of when."""

    element: Element
    author: str
    date: str


def posts(page: Page, content: Content) -> list[Post]:
    """Return the posts of the main content of which the content itself does not say who wrote them, or when."""
    called = content.page_types.get(PageType.FORUM, 0.0) >= _PROBABLY_FORUM
    selector = f"{_DECLARED},{_CALLED}" if called else f"{_DECLARED},.review"
    members = [element for element in page.root.select(selector) if element in content.holders][:_MAX_POSTS]
    if len(members) < _MANY:
        return []
    first = _first_words(content, set(members))
    written = [post for member in members if (post := _post(member, page, first.get(member, ""))) is not None]
    return written if len(written) >= _MANY else []


def _post(member: Element, page: Page, words: str) -> Post | None:
    if not words:
        return None
    fields = {key.role: text for key, text in read_record(member, page).fields.items() if key.role}
    author = one_line(fields.get(roles.AUTHOR, "") or member.attr("data-author") or "", _MAX_AUTHOR_CHARS)
    date = _as_day(one_line(fields.get(roles.DATE, ""), _MAX_DATE_CHARS))
    if not author:
        return None
    author, date = ("" if part.lower() in words else part for part in (author, date))
    if (year := _YEAR.search(date)) is not None and year[0] in words:
        date = ""  # it is written otherwise
    return Post(member, author, date) if author or date else None


def _as_day(date: str) -> str:
    """Return the day alone where a date can be read in one way: the hour and what is said around it cost more."""
    readings = {day(date), day(date, month_first=True)}
    return readings.pop() or date if len(readings) == 1 else date


def _first_words(content: Content, members: set[Element]) -> dict[Element, str]:
    """Return the first kept words of each post, in lower case."""
    texts: dict[Element, list[str]] = {}
    for block in content.blocks:
        for member in islice(_members_around(block.box.element, members), 1):
            held = texts.setdefault(member, [])
            if len(held) < _FIRST_BLOCKS:
                held.append(block.text.lower())
    return {member: " ".join(held) for member, held in texts.items()}


def _members_around(element: Element, members: set[Element]) -> Iterator[Element]:
    for holder in (element, *element.ancestors):
        if isinstance(holder, Element) and holder in members:
            yield holder
