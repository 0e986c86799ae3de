"""Chooses the title of a page among the places where one may stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from lxml.html import HtmlElement
from msgspec import UNSET

from actors.fetchers.extract.dom import first, text_of
from actors.fetchers.extract.extraction import one_line
from protocol.browse import TitleAttempt
from protocol.confidence import BASELINES, Confidence, Source, confidence

_MAX_TITLE_CHARS = 300


@dataclass(frozen=True)
class Title:
    """The title that was chosen, and every place that was looked at."""

    text: str
    confidence: Confidence
    attempts: tuple[TitleAttempt, ...]


def choose(root: HtmlElement, url: str) -> Title:
    """Take the first that there is: `og:title`, the heading, `<title>`; at last the address."""
    found = tuple((name, source, one_line(text, _MAX_TITLE_CHARS)) for name, source, text in _candidates(root, url))
    chosen, source, text = next(candidate for candidate in found if candidate[2])
    attempts = tuple(
        TitleAttempt(
            source=name,
            matched=bool(value),
            confidence_score=BASELINES[kind],
            selected=name == chosen,
            value=value or UNSET,
            skip_reason=UNSET if name == chosen else "a surer source has a title" if value else "not there or empty",
        )
        for name, kind, value in found
    )
    return Title(text=text, confidence=confidence(source), attempts=attempts)


def name_of(url: str) -> str:
    """Make a title of an address: its last part, or its host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return one_line(unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc or url, _MAX_TITLE_CHARS)


def _candidates(root: HtmlElement, url: str) -> Iterator[tuple[str, Source, str]]:
    yield "og:title", Source.STRUCTURED_DATA, _meta(root, "og:title")
    yield "h1", Source.SELECTOR_MATCH, _heading(root)
    yield "title", Source.META_TAGS, _document_title(root)
    yield "url", Source.FALLBACK, name_of(url) or url


def _meta(root: HtmlElement, name: str) -> str:
    for meta in root.iter("meta"):
        if (meta.get("property") or meta.get("name") or "").lower() == name and (
            text := (meta.get("content") or "").strip()
        ):
            return text
    return ""


def _heading(root: HtmlElement) -> str:
    body = first(root, "main", "article")
    places = (place for place in (body, root) if place is not None)
    texts = (text_of(heading) for place in places for heading in place.iter("h1"))
    return next((text for text in texts if text), "")


def _document_title(root: HtmlElement) -> str:
    icons = {title for image in root.iter("svg") for title in image.iter("title")}
    return next((element.text or "" for element in root.iter("title") if element not in icons), "")
