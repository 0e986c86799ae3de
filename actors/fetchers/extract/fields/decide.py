"""Decides the fields of a page among the claims of its sources, and how sure each is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from actors.fetchers.extract.choice.content import Content
from actors.fetchers.extract.fields import plain
from actors.fetchers.extract.fields.election import Elected, elect
from actors.fetchers.extract.fields.kind import page_type
from actors.fetchers.extract.fields.normalise import one_line
from actors.fetchers.extract.fields.questions import Question, of, ordered, questions
from actors.fetchers.extract.fields.title_attempts import attempts
from actors.fetchers.extract.sources.claim import Claim, Field
from actors.fetchers.extract.tree import Page
from protocol.browse import TitleAttempt
from protocol.confidence import BASELINES, Confidence, Source, confidence
from protocol.page import PageFields

MAX_TITLE_CHARS = 300


@dataclass(frozen=True)
class Decided:
    """The title and the fields of a page; `confidences` has every field that has a value, by its name.

    `attempts` tells where a title was looked for.
    """

    title: str
    fields: PageFields
    confidences: Mapping[str, Confidence]
    attempts: tuple[TitleAttempt, ...]


def decide(page: Page, claims: Sequence[Claim], content: Content) -> Decided:
    """Decide every field that is told by claims; what is not told stays empty."""
    heard = ordered(claims)
    asked = questions(page, heard)
    title, sure, tried = _title(page, heard, asked["title"])
    confidences = {"title": sure}
    authors = _elected("authors", "author", asked["author"], confidences)
    written = _elected("", "date", asked["date"], confidences)
    published, changed = _dates(page, heard, written, confidences)
    kind = page_type(heard, content.page_types)
    if kind:
        confidences["page_type"] = confidence(Source.HEURISTIC, kind[1])
    told = {
        "description": plain.description(heard, title),
        "site_name": plain.site_name(page, heard, title),
        "canonical_url": plain.canonical_url(page, heard),
        "image": plain.image(page, heard, content),
    }
    confidences |= {name: confidence(found.source, found.score) for name, found in told.items() if found}
    values = {name: found.value for name, found in told.items() if found}
    fields = PageFields(
        authors=tuple(authors.winner.value.split("\n")) if authors else (),
        published=published,
        modified=changed,
        page_type=kind[0] if kind else UNSET,
        **values,
    )
    return Decided(title, fields, confidences, tried)


def _title(page: Page, claims: Sequence[Claim], asked: Question) -> tuple[str, Confidence, tuple[TitleAttempt, ...]]:
    elected = elect("title", asked.candidates, asked.rows)
    if elected is None:
        return page.url[:MAX_TITLE_CHARS], confidence(Source.FALLBACK), attempts((), (), None)
    tried = attempts(of(claims, Field.TITLE), asked.candidates, elected)
    return one_line(elected.winner.value, MAX_TITLE_CHARS), _sure(elected), tried


def _sure(elected: Elected) -> Confidence:
    """Give the confidence in a winner, from the surest of the sources that say it."""
    source = max((claim.source for claim, _ in elected.winner.said), key=lambda kind: BASELINES[kind])
    return confidence(source, elected.score)


def _elected(field: str, name: str, asked: Question, confidences: dict[str, Confidence]) -> Elected | None:
    elected = elect(name, asked.candidates, asked.rows)
    if elected and field:
        confidences[field] = _sure(elected)
    return elected


def _dates(
    page: Page, claims: Sequence[Claim], written: Elected | None, confidences: dict[str, Confidence]
) -> tuple[str, str]:
    """Give the days of publication and of the last change; a day that is only told as the latter is no former."""
    day = written.winner.key if written else ""
    only_changed = written is not None and all(claim.field is Field.MODIFIED for claim, _ in written.winner.said)
    published = "" if only_changed else day
    changed = plain.modified(page, claims, published)
    if written:
        confidences["modified" if only_changed else "published"] = _sure(written)
    if only_changed:
        return "", day
    if changed:
        confidences["modified"] = confidence(changed.source, changed.score)
    return published, changed.value if changed else ""
