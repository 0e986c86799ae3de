"""Reads the meta elements of a page, other than Open Graph's."""

from __future__ import annotations

import re
from collections.abc import Iterable

from actors.fetchers.extract.sources.claim import Claim, Field
from actors.fetchers.extract.tree import Page
from protocol.confidence import Source

MAX_METAS = 400
MAX_CHARS = 2_000

_MODIFIED = re.compile(r"modif|updat|revis|lastmod|last-mod")
_PUBLISHED = re.compile(r"publi|pubdate|date|created|issued|time$|displaydate")
_NO_DATE = re.compile(r"expir|validat|crawl|update-frequency|publisher|event|start|end|template|revisit|candidate|format")
_AUTHOR = re.compile(r"author|creator|^byl$|byline|writer|autor(?!e)|contributor")
_NO_AUTHOR = re.compile(r"url|image|avatar|authorization|author[-_:]?id|creator:id|book:author:|email|slug|generator")
_TITLE = re.compile(r"(?:^|[.:_-])(?:title|headline|hdl|fb_title)$|citation_title|^title")
_NO_TITLE = re.compile(r"site|app|itunes|image|journal|msapplication|apple|section|video|audio|conference")
_DESCRIPTION = re.compile(r"(?:^|[.:_-])(?:description|abstract)$")
_IMAGE = re.compile(r"(?:^|[.:_-])(?:image(?::src|\.full)?|image-url|thumbnail(?:url)?|image_src)$")
_SITE = frozenset({"application-name", "apple-mobile-web-app-title", "site_name", "sitename", "dc.publisher"})
_SITE |= {"publisher", "twitter:site:name", "dcterms.publisher", "citation_journal_title", "parsely-site", "copyright"}
_LANGUAGE = frozenset({"content-language", "language", "dc.language", "dcterms.language", "citation_language"})
_TYPE = frozenset({"parsely-type", "pagetype", "page-type", "page_type", "content-type-name", "sailthru.type"})
_WRITTEN_BY = re.compile(r"written by|author|by|geschrieben von|verfasst von|autor|écrit par|escrito por|scritto da")


def claims(page: Page) -> Iterable[Claim]:
    """Give what the meta elements say, in their order."""
    labels: dict[str, str] = {}
    for element in page.root.select("meta")[:MAX_METAS]:
        attrs = element.attrs
        value = str(attrs.get("content") or attrs.get("value") or "").strip()[:MAX_CHARS]
        called = attrs.get("property") or attrs.get("name") or attrs.get("itemprop") or attrs.get("http-equiv") or ""
        name = str(called).strip().lower()
        if not value or not name or name.startswith("og:"):
            continue
        if name.startswith(("twitter:label", "twitter:data")):
            labels[name] = value
        elif field := _field(name):
            yield Claim(field, value, f"meta: {name}", Source.META_TAGS)
    for number in "12":
        if _WRITTEN_BY.fullmatch(labels.get(f"twitter:label{number}", "").lower()):
            yield Claim(Field.AUTHOR, labels.get(f"twitter:data{number}", ""), "meta: twitter:data", Source.META_TAGS)


def _field(name: str) -> Field | None:
    """Tell which field a name speaks of."""
    exact = {**dict.fromkeys(_SITE, Field.SITE_NAME), **dict.fromkeys(_LANGUAGE, Field.LANGUAGE)}
    exact |= dict.fromkeys(_TYPE, Field.PAGE_TYPE)
    if name in exact:
        return exact[name]
    patterns = (
        (Field.MODIFIED, _MODIFIED, _NO_DATE),
        (Field.AUTHOR, _AUTHOR, _NO_AUTHOR),
        (Field.PUBLISHED, _PUBLISHED, _NO_DATE),
        (Field.TITLE, _TITLE, _NO_TITLE),
        (Field.DESCRIPTION, _DESCRIPTION, _NO_TITLE),
        (Field.IMAGE, _IMAGE, _NO_DATE),
    )
    return next((field for field, yes, no in patterns if yes.search(name) and not no.search(name)), None)
