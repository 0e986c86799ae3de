"""Proposes what to read next where the sources do not seem to answer: their links that match the question, a search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from urllib.parse import urldefrag, urljoin, urlsplit

from actors.answerer.local.questions import Question
from actors.answerer.local.words import content_terms
from actors.answerer.source import AnswerSource
from actors.markdown.structure import plain_words

MAX_LINKS = 3
_MAX_READ = 2_000
"""Links of a source that are looked at."""

_LINK = re.compile(r"(?<![!\\])\[([^\[\]]{1,200})\]\(<?([^()<>\s]{1,2000})")
_MAX_TEXT = 80
_MAX_SEARCH = 200


def next_reading(question: Question, sources: Sequence[AnswerSource], missing: Sequence[str]) -> tuple[str, ...]:
    """Return addresses to read, each with the text of its link, and the words to search for."""
    wanted, read = set(question.terms), {urldefrag(source.url).url for source in sources}
    scores = dict[str, tuple[float, str]]()
    for source in sources:
        for address, text in islice(_links(source), _MAX_READ):
            url = urldefrag(urljoin(source.url, address)).url
            share = len(wanted.intersection(content_terms(text))) / max(len(wanted), 1)
            if share and url not in read and urlsplit(url).scheme in ("http", "https"):
                scores[url] = max(scores.get(url, (0.0, "")), (share, text))
    best = sorted(scores, key=lambda url: -scores[url][0])[:MAX_LINKS]
    links = tuple(f'read {url} ("{scores[url][1][:_MAX_TEXT]}")' for url in best)
    words = " ".join(missing) or question.text
    return (*links, f'search for "{words[:_MAX_SEARCH]}"')


def _links(source: AnswerSource) -> Iterator[tuple[str, str]]:
    for match in _LINK.finditer(source.markdown):
        yield match[2], plain_words(match[1])
    for link in source.parts.navigation:
        yield link.url, link.text
