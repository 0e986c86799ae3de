"""Reads the meta elements of a page, other than Open Graph's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from turbohtml import Element

from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.parse.text import collapsed
from actors.extraction.parse.tree import Page
from protocol.confidence import Source

MAX_METAS = 400
MAX_CHARS = 2_000
MAX_NAME_CHARS = 100

_NAMES = {
    PageField.SITE_NAME: "application-name apple-mobile-web-app-title site_name sitename publisher copyright"
    " dc.publisher dcterms.publisher twitter:site:name citation_journal_title parsely-site",
    PageField.LANGUAGE: "content-language language dc.language dcterms.language citation_language",
    PageField.PAGE_TYPE: "parsely-type pagetype page-type page_type content-type-name sailthru.type",
}
_FIELDS = {name: field for field, names in _NAMES.items() for name in names.split()}

_NO_DATE = re.compile(
    r"expir|validat|crawl|update-frequency|publisher|event|start|end|template|revisit|candidate|format"
)
_NO_TITLE = re.compile(r"site|app|itunes|image|journal|msapplication|apple|section|video|audio|conference")
_PATTERNS = (
    (PageField.MODIFIED, re.compile(r"modif|updat|revis|lastmod|last-mod"), _NO_DATE),
    (
        PageField.AUTHOR,
        re.compile(r"author|creator|^byl$|byline|writer|autor(?!e)|contributor"),
        re.compile(
            r"url|image|avatar|authorization|author[-_:]?id|creator:id|book:author:|email|slug|generator",
        ),
    ),
    (PageField.PUBLISHED, re.compile(r"publi|pubdate|date|created|issued|time$|displaydate"), _NO_DATE),
    (
        PageField.TITLE,
        re.compile(r"(?:^|[.:_-])(?:title|headline|hdl|fb_title)$|citation_title|^title"),
        _NO_TITLE,
    ),
    (PageField.DESCRIPTION, re.compile(r"(?:^|[.:_-])(?:description|abstract)$"), _NO_TITLE),
    (
        PageField.IMAGE,
        re.compile(r"(?:^|[.:_-])(?:image(?::src|\.full)?|image-url|thumbnail(?:url)?|image_src)$"),
        re.compile(r"author|avatar|logo|publisher|msapplication|alt$"),
    ),
)
"""What the name of a meta element must hold, and must not, to speak of a field; the first that fits counts."""

_WRITTEN_BY = re.compile(r"written by|author|by|geschrieben von|verfasst von|autor|écrit par|escrito por|scritto da")


def claims(page: Page) -> Iterable[Claim]:
    """Return what the meta elements say, in their order."""
    labels: dict[str, str] = {}
    for element in page.root.select("meta")[:MAX_METAS]:
        name, value = _read(element)
        if not value or name.startswith("og:"):
            continue
        if name.startswith(("twitter:label", "twitter:data")):
            labels[name] = value
        elif field := _field(name):
            place = ClaimPlace(PlaceKind.META, name if "itemprop" not in element.attrs else f"itemprop {name}")
            yield Claim(field, value, place, Source.META_TAGS)
    for number in "12":
        who = labels.get(f"twitter:data{number}", "")
        if who and _WRITTEN_BY.fullmatch(labels.get(f"twitter:label{number}", "").lower()):
            yield Claim(PageField.AUTHOR, who, ClaimPlace(PlaceKind.META, "twitter:data"), Source.META_TAGS)


def _read(element: Element) -> tuple[str, str]:
    attrs = element.attrs
    name = attrs.get("property") or attrs.get("name") or attrs.get("itemprop") or attrs.get("http-equiv") or ""
    value = attrs.get("content") or attrs.get("value") or ""
    return str(name).strip().lower()[:MAX_NAME_CHARS], collapsed(str(value), MAX_CHARS)


@lru_cache(1024)
def _field(name: str) -> PageField | None:
    """Return which field a name speaks of."""
    fields = (field for field, yes, no in _PATTERNS if yes.search(name) and not no.search(name))
    return (_FIELDS.get(name) or next(fields, None)) if name else None
