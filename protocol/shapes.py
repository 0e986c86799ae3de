"""What a text has to look like, in words for people, in place of the regular expression that a message holds it to."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final

from msgspec import Meta

_COMPLAINT: Final = re.compile(r"Expected `str` matching regex (['\"].*['\"])", re.DOTALL)
_EMPTY: Final = "Expected `str` of length >= 1"
_ID: Final = re.compile(r"\^([a-z]+)(?:_|\[_:\])\[")
"""How the expression of an id begins."""

_NAME = "letters, digits, '.', '_' and '-' alone, such as my-name_2"
_ADDRESS = "a whole address, such as https://example.com/page"
_ASCII = "ASCII letters, digits and punctuation without a space, such as Xk3-9f"

WORDED: Final = r"[^\s\x1c-\x1f\x85\ufeff]"
"""What has more than blanks, whether Python or ECMAScript is asked which signs are such."""

Worded = Annotated[str, Meta(min_length=1, pattern=WORDED)]
"""A title, a name, and what else has to have a sign that is seen."""

SHAPES: Mapping[str, str] = MappingProxyType(
    {
        r"^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$": "a UUID, such as 123e4567-e89b-42d3-a456-426614174000",
        r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*$": _NAME,
        r"^[A-Za-z0-9_.-]+$": _NAME,
        r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$": f"at most 64 {_NAME}",
        r"^[A-Za-z0-9_.:-]+$": "letters, digits, '.', '_', ':' and '-' alone, such as conv_Xk3-9f",
        r"^[A-Za-z0-9_-]{1,64}$": "1 to 64 letters, digits, '_' and '-', such as my-name_2",
        r"^[A-Za-z0-9_-]{0,64}$": "at most 64 letters, digits, '_' and '-', such as my-name_2",
        r"^[a-zA-Z0-9_-]{1,48}$": "1 to 48 letters, digits, '_' and '-', such as my-name_2",
        r"^[a-z][a-z0-9_]{0,63}$": "small letters, digits and '_', such as batch_extract_pages",
        r"^[a-z0-9][a-z0-9._-]{0,63}$": "small letters, digits, '.', '_' and '-', such as my-engine",
        r"^[A-Za-z_][\w.-]*$": "a name that begins with a letter, such as last_name",
        r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$": "a language tag, such as en or pt-BR",
        r"^\d{4}(-\d\d(-\d\d)?)?$": "a year, month or day, such as 2026-05-01",
        r"^[1-9][0-9]{0,3}[mhd]$": "a number and m, h or d, such as 12h",
        r"^[0-9]{0,20}$": "at most 20 digits, such as 1234",
        r"^[0-9]{1,20}\.[0-9]{1,20}$": "two numbers with a point between them, such as 12.345",
        r"^[!-~]+$": _ASCII,
        r"^[\x21-\x7e]*$": _ASCII,
        r"^[\x21-\x7e]{0,256}$": f"at most 256 {_ASCII}",
        r"^[\x21-\x7e]{1,255}$": f"1 to 255 {_ASCII}",
        r"^[\x20-\x7e]+$": "ASCII letters, digits, spaces and punctuation, such as MyProgram/1.0 (+https://example.com/)",
        r"^(?:[A-Za-z0-9_-]{43}=?)?$": "32 bytes in URL-safe Base64: 43 letters, digits, '_' and '-'",
        r"^[A-Za-z0-9*._-]+$": "the name of a tool, in which * stands for anything, such as browser_*",
        r"^(?:[A-Za-z0-9_.-]+\*?|\*)$": "the name of a tool, or its beginning and a star, such as browser_*",
        r"^[a-z0-9*._:-]+$": "a host in small letters, in which * stands for anything, such as *.example.com",
        r"\S": _ADDRESS,
        WORDED: "words, such as how looms are warped",
        r"^https?://[^\s@]+$": _ADDRESS,
        r"^https?://[A-Za-z0-9.:\[\]_-]+(?:[/?][^\s\x1c-\x1f\x85\ufeff]*)?$": _ADDRESS,
        r"^(?:https?://[A-Za-z0-9.:\[\]_-]+(?:[/?][^\s\x1c-\x1f\x85\ufeff]*)?)?$": _ADDRESS,
        r"^(?:https?://[^\s#@]+)?$": _ADDRESS,
        r"^(?:https?://[^\s?#@]+)?$": _ADDRESS,
        r"^(?:https?://[^\s/?#@]+)?$": "scheme and host alone, such as https://weft.example",
        r"^(?:wss?://[^\s/?#@]+(?:/[^\s?#@]*)?)?$": "the address of a socket, such as wss://push.example/app",
        r"^INTEGRATION_SECRET_[A-Z0-9_]{1,64}$": "the name of a variable, such as INTEGRATION_SECRET_CRM",
    }
)
"""By the regular expression, without the end that lets no line follow."""

_BEGINNINGS: Final = (
    ("^(?:(?:nats|", "addresses of NATS with commas between them, such as nats://127.0.0.1:4222"),
    ("^(?:>|", "a subject of NATS, such as web.fetch.* or >"),
    ("^(?:[0-9]{1,13}|", "a time, such as 2026-05-01T12:00:00Z or the milliseconds since 1970"),
    ("^(?:data:image/", "a JPEG, PNG or WebP in base64, such as /9j/4AAQSkZJRg=="),
    ("^(?:anthropic|", "provider and model with a slash between them, such as openai/gpt-4o"),
    ("^(BRAVE_API_KEY|", "BRAVE_API_KEY, TAVILY_API_KEY or a name such as SEARCH_KEY_MINE"),
    ("^(?:https?://)?(?:(?:", "the host of a site, such as example.com or example.com:8443"),
    ("^(?:(?:[^", "the host of a site, such as example.com or example.com:8443"),
)
"""Of those that are put together from others: how they begin."""

_END: Final = r"(?!\n)"


def in_words(complaint: str) -> str:
    """Return a complaint of msgspec in words, where it shows an expression or speaks of a length of nothing."""
    if complaint == _EMPTY:
        return "It is empty"
    if (shown := _COMPLAINT.fullmatch(complaint)) is None:
        return complaint
    words = shape(str(ast.literal_eval(shown[1])))
    return f"It has to be {words}" if words else complaint


def shape(expression: str) -> str:
    """Return what fits an expression, with an example; nothing for one that is not known."""
    plain = expression.removesuffix(_END)
    if known := SHAPES.get(plain):
        return known
    if prefix := _ID.match(plain):
        return f"an id that Weft has given, which begins with {prefix[1]}_"
    return next((words for beginning, words in _BEGINNINGS if plain.startswith(beginning)), "")
