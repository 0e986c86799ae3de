"""Puts the claims of a page as the three questions that are voted on: its title, who wrote it, and when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from actors.extraction.decide.fields import candidates as made
from actors.extraction.decide.fields.election import AGREE
from actors.extraction.decide.fields.vote import Candidate, Features, features, head, page_features
from actors.extraction.evidence.claim import Claim, Field
from actors.extraction.evidence.dates import month_comes_first
from actors.extraction.parse.tree import Page

MAX_CLAIMS = 24
"""How many claims of one kind of place are heard on one field."""

_DAY_FIRST = (".uk", ".au", ".nz", ".ie", ".in", ".za", ".sg", ".de", ".fr", ".it", ".es", ".nl", ".eu")
"""Ends of hosts whose English writes the day before the month."""


@dataclass(frozen=True)
class Question:
    """The candidates for a field, and what is known of each."""

    candidates: Sequence[Candidate]
    rows: Sequence[Features]


def ordered(claims: Iterable[Claim]) -> list[Claim]:
    """Put claims into an order that does not depend on which source was asked first; each keeps its own."""
    return sorted(dict.fromkeys(claim for claim in claims if claim.value.strip()), key=head)


def questions(page: Page, claims: Sequence[Claim]) -> Mapping[str, Question]:
    """Put the questions; `claims` are `ordered`."""
    known = page_features(claims)
    sites = [claim.value for claim in of(claims, Field.SITE_NAME) if claim.place != "url: host"]
    found = {
        "title": made.of_titles(of(claims, Field.TITLE), page.url, sites),
        "author": made.of_authors(of(claims, Field.AUTHOR), sites, page.url),
        "date": made.of_dates(of(claims, Field.PUBLISHED, Field.MODIFIED), month_first=month_first(page)),
    }
    return {name: Question(group, features(group, AGREE[name], known)) for name, group in found.items()}


def of(claims: Iterable[Claim], *fields: Field) -> list[Claim]:
    """Return the claims about some fields."""
    heard: Counter[str] = Counter()
    found: list[Claim] = []
    for claim in claims:
        if claim.field in fields and heard[place := head(claim)] < MAX_CLAIMS:
            heard[place] += 1
            found.append(claim)
    return found


def month_first(page: Page) -> bool:
    """Return whether a page writes 3/4/2019 for a day in March, as far as its language and host tell."""
    language = page.root.attr("lang") or "en"
    try:
        host = urlsplit(page.url).hostname or ""
    except ValueError:
        host = ""
    return month_comes_first(language) and not (host.endswith(_DAY_FIRST) and language.lower() in ("en", ""))
