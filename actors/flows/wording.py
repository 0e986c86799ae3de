"""Words and addresses of pages with the values of parameters taken out of them, and put in again."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import unquote, urlsplit

from actors.sites import site_of
from protocol.faults import FaultError
from protocol.flows import AddressIs

ANY: Final = "*"
"""A segment of an address that names one thing of many."""

LEAST_CHARS: Final = 3
"""A shorter value may stand in any text by chance: it is no trace of what was typed."""

_MAX_SLUG_CHARS: Final = 40
_ONE_OF_MANY: Final = re.compile(r"^[0-9a-f]{8,}(?:-[0-9a-f]{4,})*$|\d{3,}|^\d+$", re.IGNORECASE)


def slug(label: str) -> str:
    """Return a label as the name of a parameter: its letters and digits, joined by `_`; "" where it has none."""
    folded = "".join(one for one in unicodedata.normalize("NFKD", label) if not unicodedata.combining(one))
    return re.sub(r"\W+", "_", folded.casefold()).strip("_")[:_MAX_SLUG_CHARS].strip("_")


def abstracted(text: str, values: Mapping[str, str], secrets: Iterable[str] = ()) -> str:
    """Return a text with `{name}` in place of each value; "" where anything secret stands in it."""
    if is_told(text, secrets):
        return ""
    for name, value in sorted(values.items(), key=lambda one: -len(one[1])):
        if len(value) >= LEAST_CHARS:
            text = f"{{{name}}}".join(re.split(rf"(?<!\w){re.escape(value)}(?!\w)", text))
    return text


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with the values that it names."""
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), text)


def is_told(text: str, secrets: Iterable[str]) -> bool:
    """Return whether something secret stands in a text: in short ones only as a word of its own."""
    folded = text.casefold()
    words = set(re.findall(r"\w+", folded))
    return any(
        one and (one.casefold() in folded if len(one) >= LEAST_CHARS else one.casefold() in words) for one in secrets
    )


def shape_of(url: str, values: Mapping[str, str], secrets: Iterable[str] = ()) -> AddressIs | None:
    """Return the shape of an address; None where it is none of the web, or tells something secret."""
    parts = urlsplit(url)
    secrets = tuple(secrets)
    if parts.scheme not in {"http", "https"} or is_told(unquote(parts.path), secrets):
        return None
    segments = (abstracted(unquote(one), values) for one in parts.path.split("/"))
    return AddressIs(
        host=parts.netloc.lower(),
        path="/".join(ANY if _ONE_OF_MANY.search(one) and "{" not in one else one for one in segments) or "/",
        query=tuple(sorted({name for name in _names(parts.query) if not is_told(name, secrets)})),
    )


def site_of_page(url: str, secrets: Iterable[str] = ()) -> str:
    """Return the site of a page; "" where it is none of the web, or tells something secret."""
    if urlsplit(url).scheme not in {"http", "https"}:
        return ""
    try:
        site = site_of(url)
    except FaultError:
        return ""
    return "" if is_told(site, secrets) else site


def has_shape(url: str, shape: AddressIs, values: Mapping[str, str]) -> bool:
    """Return whether an address has a shape, with the values that it names."""
    parts = urlsplit(url)
    segments, wanted = (parts.path or "/").split("/"), shape.path.split("/")
    return (
        parts.netloc.lower() == shape.host
        and len(segments) == len(wanted)
        and all(one == ANY or filled(one, values) == unquote(own) for own, one in zip(segments, wanted, strict=True))
        and set(shape.query) <= set(_names(parts.query))
    )


def _names(query: str) -> list[str]:
    return [unquote(pair.partition("=")[0]) for pair in query.split("&") if pair]
