"""How a pattern is used for one page, and what came of that."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct

from protocol.patterns.mapping import Fields, PageMapping
from protocol.patterns.pattern import AnswerCheck, ApiRequest


class Drift(StrEnum):
    """How an answer is not what the pattern knows."""

    STATUS = "status"
    """Another status than 2xx that is no passing trouble (404 is the page's own, not a drift, where pages had it)."""

    NOT_JSON = "not_json"
    LOGIN_WALL = "login_wall"
    MISSING = "missing"
    RETYPED = "retyped"
    EMPTIED = "emptied"
    PAGING = "paging"
    UNLIKE = "unlike"
    """The page that was made of it was not accepted, or is not what rendering shows."""

    NEW_KIND = "new_kind"
    """A value is none of those that told kinds of pages apart so far: of those kinds nothing has changed."""


class PatternCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a tier asks in the place of a page: the requests, and how their answers are the page.

    `slots` are the pieces of the page's address, `other_marks` what other pages are known by, `trust` is why it may.
    """

    pattern_id: str
    version: int
    domain: str
    requests: tuple[ApiRequest, ...]
    shapes: tuple[dict[str, Any], ...]
    mapping: PageMapping
    checks: tuple[AnswerCheck, ...] = ()
    other_marks: tuple[str, ...] = ()
    slots: dict[str, str] = {}
    trust: Literal["high", "medium"]
    reason: str = ""

    @classmethod
    def of_requests(cls, requests: tuple[ApiRequest, ...], slots: dict[str, str]) -> PatternCall:
        """Return what asks for answers alone, of which no page is made."""
        return cls(
            pattern_id="",
            version=0,
            domain="",
            requests=requests,
            shapes=(),
            mapping=PageMapping(page=Fields(fields={}), markdown=()),
            slots=slots,
            trust="medium",
        )


class PatternUsed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """PATTERN_USED: a page was asked for by a pattern. `drift` is how the answer was not what it knows, None: it was.

    `version` is that of the pattern, as it was then. `transient`: the network, a limit, a challenge or a status of 5xx,
    which teach nothing of the pattern. `code` is the fault that it ended in, `url` is empty where a login was used.
    `limited` and `login_ended` tell of 429, and of a login that has ended.
    """

    pattern_id: str
    domain: str
    url: str
    at_ms: int
    version: int
    drift: Drift | None = None
    where: str = ""
    transient: bool = False
    limited: bool = False
    login_ended: bool = False
    code: str = ""
