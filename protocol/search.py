"""Searching: what is asked, and what comes back, whichever engine answers (003 `search`)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from protocol.browse import stated_version
from protocol.confidence import Score

MAX_QUERY_CHARS: Final = 512
MAX_RESULTS: Final = 10
MAX_PER_HOST: Final = 2

KEY_VARIABLES: Final = ("BRAVE_API_KEY", "TAVILY_API_KEY")
KEY_FAMILY: Final = "SEARCH_KEY_"
"""How other variables begin that hold keys of search engines: no process but the runner has them."""

LOCAL_INDEX: Final = "local"
"""The engine that needs none: what was read and kept before."""


class EngineKind(StrEnum):
    """How an engine is asked."""

    SEARXNG = "searxng"
    BRAVE = "brave"
    TAVILY = "tavily"
    PAGE = "page"


class SearchEngine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A search engine as its operator describes it; of a page `url` has `{query}` where the words stand."""

    name: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$(?!\n)")]
    kind: EngineKind
    url: Annotated[str, Meta(pattern=r"^https?://[^\s@]+$(?!\n)", max_length=2_000)]
    key_variable: (
        Annotated[str, Meta(pattern=r"^(BRAVE_API_KEY|TAVILY_API_KEY|SEARCH_KEY_[A-Z0-9_]{1,64})$(?!\n)")] | None
    ) = None
    enabled: bool = True
    obey_robots: bool = True
    """Whether the robots.txt of a page's site is obeyed."""
    allow_private: tuple[str, ...] = ()
    timeout_ms: Annotated[int, Meta(ge=500, le=60_000)] = 10_000


class SearchFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of search engines, those to be asked first before the others."""

    engines: tuple[SearchEngine, ...] = ()


class SearchHit(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One result: `confidence` is how probable it is that it is a result for this query, and no advertisement.

    `source_id` and `collection_id` where it is a source of the caller's.
    """

    url: str
    title: str
    snippet: str = ""
    confidence: Score
    source_id: str = ""
    collection_id: str = ""
    published: str = ""


class SearchResults(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Results, the best first, two of a host at most; `engine` has answered, `note` says why it is another one."""

    query: str
    engine: str
    hits: tuple[SearchHit, ...]
    note: str = ""
    schema_version: str = stated_version()


class SearchPassages(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """PASSAGES: search what a caller has kept and read, by BM25: in one collection where it is named."""

    caller: str
    query: Annotated[str, Meta(min_length=1, max_length=MAX_QUERY_CHARS)]
    collection: str | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20
    per_source: Annotated[int, Meta(ge=1, le=100)] = 3


class FoundPassage(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A passage that matches; a larger `score` is better."""

    url: str
    title: str
    text: str
    score: float
    kind: Literal["source", "text", "page"]
    source_id: str = ""
    artifact_id: str = ""
    collection_id: str = ""
    at: int = 0


class Passages(Struct, frozen=True, kw_only=True):
    """Passages, the best first, and how many there are to search in."""

    passages: tuple[FoundPassage, ...]
    indexed: int
