"""Finds what structured data hold to be read: bodies of articles, posts of threads, descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from actors.extraction.evidence.data import entities
from actors.extraction.evidence.data.prose import plain
from actors.extraction.evidence.data.schema_org import types
from actors.extraction.parse.values import Json, items, mapping, scalar

MAX_POSTS = 500
MAX_DEPTH = 8
"""How deep answers to answers are followed."""

MIN_DESCRIPTION_CHARS = 200
"""A shorter description of a product is a teaser."""

_ANSWERS = ("acceptedAnswer", "suggestedAnswer", "comment", "answer", "reply")


def bodies(nodes: Iterable[Mapping[str, Json]]) -> list[str]:
    """Return the bodies of articles, of posts not."""
    articles = (node for node in nodes if entities.family(node) != "Forum")
    opened = (part for node in articles for part in (node, mapping(node.get("mainEntity"))))
    return [plain(text) for part in opened if (text := scalar(part.get("articleBody")))]


def descriptions(nodes: Iterable[Mapping[str, Json]], family: str = "") -> list[str]:
    """Return descriptions: of any length, or of a family of types those that are content."""
    wanted = (node for node in nodes if not family or entities.family(node) == family)
    texts = (plain(text) for node in wanted if (text := scalar(node.get("description"))))
    return [text for text in texts if not family or len(text) >= MIN_DESCRIPTION_CHARS]


def thread(nodes: Iterable[Mapping[str, Json]]) -> str:
    """Return the posts of a thread in their order, each once."""
    posts: dict[str, None] = {}
    for node in nodes:
        if entities.family(node) == "Forum" or "Comment" in types(node):
            posts.update(dict.fromkeys(_posts(node, 0)))
        if len(posts) >= MAX_POSTS:
            break
    return "\n".join(posts)


def _posts(node: Mapping[str, Json], depth: int) -> Iterator[str]:
    """Return a post and what answers it."""
    if text := scalar(node.get("text")) or scalar(node.get("articleBody")):
        yield plain(text)
    elif title := scalar(node.get("name")):
        yield plain(title)
    if depth >= MAX_DEPTH:
        return
    for answer in (answer for key in _ANSWERS for answer in items(node.get(key))[:MAX_POSTS]):
        yield from _posts(mapping(answer), depth + 1)
    if main := mapping(node.get("mainEntity")):
        yield from _posts(main, depth + 1)
