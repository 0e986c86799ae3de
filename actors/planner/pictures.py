"""How a page looks, for models that see: where that is wanted, and where it may be shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from actors import redact
from protocol.models import ImagePart

Look = Callable[[], Awaitable[ImagePart | None]]
"""Returns how the page looks now; None where no picture of it can be had, or may be shown."""

_LOOKS: Final = re.compile(
    r"\b(?:icons?|images?|logos?|pictures?|photos?|avatars?|thumbnails?|banners?|colou?rs?|shapes?|identify|recogni[sz]e"
    r"|red|blue|green|yellow|orange|purple|pink)\b",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile("\"[^\"]*\"|'[^']*'|“[^”]*”|„[^“]*“|«[^»]*»|`[^`]*`")


def unquoted(words: str) -> str:
    """Return words without those in quotation marks, which are the page's and say nothing of what is wanted of it."""
    return _QUOTED.sub(" ", words)


def about_looks(words: str) -> str:
    """Return the first of the words by which a task is about how something looks (001 §5.4); empty: it is not."""
    match = _LOOKS.search(unquoted(words))
    return match[0] if match else ""


def may_be_shown(values: Iterable[str]) -> bool:
    """Return whether a page may be shown in a task with values of these names: a picture may hold what is secret."""
    return not any(map(redact.is_secret, values))
