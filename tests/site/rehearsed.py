"""Answers as a test in the same process has arranged them, one after another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from tests.site.answers import Answer, Ask, Reply

ARRANGED: defaultdict[str, list[Callable[[Ask], Answer]]] = defaultdict(list)
"""What is answered next, by the path; the last answer is given again and again."""


def _rehearsed(ask: Ask) -> Answer:
    answers = ARRANGED.get(ask.path)
    if not answers:
        return Reply(404)
    return (answers.pop(0) if len(answers) > 1 else answers[0])(ask)


REHEARSED: tuple[tuple[str, Callable[[Ask], Answer]], ...] = (
    ("/rehearsed", _rehearsed),
    ("/robots.txt", _rehearsed),
)
