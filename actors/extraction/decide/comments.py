"""Finds what readers wrote below an article: by the names of elements, by headings, and by dates in a row."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from actors.extraction.decide.block_arrays import BlockArrays, Columns, Floats

_NAMED, _HEADED, _DATED = 1.5, 1.5, 1.0
"""What each kind of evidence takes from a score (cross-validated)."""

_NAMES = (
    *("comment", "komment", "koment", "comentar", "hozzaszolas", "yorum", "reply", "replies", "respond", "responses"),
    *("reacties", "disqus", "opinie", "guestbook", "pinglun", "liuyan", "otzyv"),
)
_WORDS = (
    r"comments?|repl(?:y|ies)|responses|join the discussion|kommenta\w*|koment\w*|comentari\w*|commentaires?|commenti"
    r"|reacties|avis|opini[ei]|diskus\w*|yorum\w*|hozzászólás\w*|bình luận|коммент\w*|комент\w*|отзыв\w*|обсужд\w*"
    r"|відгук\w*|σχ[οό]λι\w*|תגובות|تعليق\w*"
)
_UNSPACED = "评论|評論|留言|回复|回應|コメント|댓글"
_HEADING = re.compile(
    rf"^\W*(?:\d[\d.,]*\W+)?(?:(?:{_WORDS})(?![^\W\d_])|{_UNSPACED})|(?:\b(?:{_WORDS})|{_UNSPACED})[\W\d]*$"
)
"""Such a heading begins or ends with the word, beside a number; in the middle of a sentence it says something else."""

_HEADING_WORDS, _HEADING_CHARS = 8, 80
"""Words up to which a text may be a heading, whatever element it stands in, and the characters of it that are read."""

_SENTENCE_WORDS = 15
"""Words of a text behind which a page has begun: what is said of comments above it is a number of them, no heading."""

_MOST_OF_PAGE = 0.9
"""The share of a page from which an element is the page, whatever its name."""

_FEWEST, _MOSTLY_DATED, _FEW_WORDS = 3, 0.6, 20
"""Look-alikes beside each other, the share of them with a date or time, and their words, from which they are posts."""


def comment_evidence(arrays: BlockArrays, columns: Columns) -> Floats:
    """Return what speaks for each block being a comment, 0 for nothing: on a page with an article it is no content."""
    evidence = _NAMED * arrays.blocks_in(_named(arrays, columns))
    evidence += _HEADED * _headed(arrays)
    evidence += _DATED * arrays.blocks_in(_dated(arrays, columns))
    return np.asarray(evidence, np.float32)


def _named(arrays: BlockArrays, columns: Columns) -> NDArray[np.bool_]:
    size = arrays.sums(arrays.tokens)
    titles = arrays.sums((columns["own_heading"] == 1).astype(np.float32))
    return np.asarray(arrays.called(_NAMES) & (size < _MOST_OF_PAGE * size[0]) & (titles == 0), np.bool_)


def _headed(arrays: BlockArrays) -> NDArray[np.bool_]:
    """Find what follows a heading of comments, as far as the element goes that holds more than the heading."""
    headed = np.zeros(len(arrays.blocks), np.bool_)
    begun = int(np.argmax(arrays.tokens >= _SENTENCE_WORDS))
    for at, block in enumerate(arrays.blocks[begun:], begun):
        if block.tokens <= _HEADING_WORDS and _HEADING.search(block.text[:_HEADING_CHARS].lower()):
            headed[at + 1 : arrays.end[arrays.up[arrays.box[at]]]] = True
    return headed


def _dated(arrays: BlockArrays, columns: Columns) -> NDArray[np.bool_]:
    row, count = arrays.rows
    size = arrays.sums(arrays.tokens)
    dated = np.bincount(row, arrays.sums(columns["says_date"].astype(np.float32)) > 0) / count
    posts = (count >= _FEWEST) & (dated > _MOSTLY_DATED) & (np.bincount(row, size) >= _FEW_WORDS)
    return np.asarray(posts[row], np.bool_)
