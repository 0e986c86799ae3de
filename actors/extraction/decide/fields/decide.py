"""Decides the fields of a page among the claims of its sources, and how sure each is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from actors.extraction.decide.content.content import Content
from actors.extraction.decide.fields import plain
from actors.extraction.decide.fields.election import Elected, elect
from actors.extraction.decide.fields.kind import page_type
from actors.extraction.decide.fields.questions import Question, of, ordered, questions
from actors.extraction.decide.fields.standing import Standing
from actors.extraction.decide.fields.title_attempts import attempts
from actors.extraction.evidence.claim import Claim, Field
from actors.extraction.evidence.normalise import one_line
from actors.extraction.parse.tree import Page
from protocol.browse import TitleAttempt
from protocol.confidence import BASELINES, Confidence, Source, confidence
from protocol.page import PageFields, PageType

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
    elected = {name: elect(name, question.candidates, question.rows) for name, question in asked.items()}
    title = _standing(elected["title"]) or Standing(page.url, Source.FALLBACK, BASELINES[Source.FALLBACK])
    published, modified = _dates(page, heard, elected["date"])
    told = {
        "title": title,
        "authors": _standing(elected["author"]),
        "published": published,
        "modified": modified,
        "description": plain.description(heard, title.value),
        "site_name": plain.site_name(page, heard, title.value),
        "canonical_url": plain.canonical_url(page, heard),
        "image": plain.image(page, heard, content),
        "page_type": page_type(heard, content.page_types),
    }
    found = {name: standing for name, standing in told.items() if standing is not None}
    return Decided(
        title=one_line(title.value, MAX_TITLE_CHARS),
        fields=_fields({name: standing.value for name, standing in found.items()}),
        confidences={name: confidence(standing.source, standing.score) for name, standing in found.items()},
        attempts=_attempts(heard, asked["title"], elected["title"]),
    )


def _standing(elected: Elected | None) -> Standing | None:
    """Return a winner with the surest of the sources that say it."""
    if elected is None:
        return None
    source = max((claim.source for claim, _ in elected.winner.said), key=lambda kind: BASELINES[kind])
    return Standing(elected.winner.value, source, elected.score)


def _dates(page: Page, claims: Sequence[Claim], elected: Elected | None) -> tuple[Standing | None, Standing | None]:
    """Return the days of publication and of the last change; a day that is only told as the latter is no former."""
    day = _standing(elected)
    if elected and all(plain.is_of_change(claim) for claim, _ in elected.winner.said):
        return None, day
    return day, plain.modified(page, claims, day.value if day else "")


def _fields(values: Mapping[str, str]) -> PageFields:
    return PageFields(
        description=values.get("description", ""),
        authors=tuple(values["authors"].split("\n")) if "authors" in values else (),
        published=values.get("published", ""),
        modified=values.get("modified", ""),
        site_name=values.get("site_name", ""),
        canonical_url=values.get("canonical_url", ""),
        image=values.get("image", ""),
        page_type=PageType(values["page_type"]) if "page_type" in values else UNSET,
    )


def _attempts(claims: Sequence[Claim], asked: Question, elected: Elected | None) -> tuple[TitleAttempt, ...]:
    return attempts(of(claims, Field.TITLE), asked.candidates, elected)
