"""An API that is asked for its answers alone: no page is made of them."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from protocol.browse import Freshness
from protocol.pages import Url
from protocol.patterns.pattern import MAX_REQUESTS, ApiRequest


class AskApi(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """API_ASK: send these requests, and return the JSON that answers each.

    `site` is an address of the site that they belong to, which says whose robots.txt and login count; `login` opens
    that of the profile `session`, as `caller` may use it. With `as_text` an answer that is no JSON is its text.
    """

    site: Url
    requests: Annotated[tuple[ApiRequest, ...], Meta(min_length=1, max_length=MAX_REQUESTS)]
    slots: dict[str, str] = {}
    freshness: Freshness = Freshness.ANY
    obey_robots: bool = False
    as_text: bool = False
    session: str | None = None
    caller: str = ""
    login: bytes = b""


class ApiAnswers(Struct, frozen=True, kw_only=True):
    """The answers, in the order of their requests, and the addresses that were asked."""

    answers: tuple[Any, ...]
    urls: tuple[str, ...]
    from_cache: bool = False
