"""What an application of our own is: its data, its API, its pages, and what a reader must find on them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from tests.patterns.apps.words import Prose
from tests.site.answers import Ask

Record = dict[str, Any]
"""What one page of an application is about."""

PAGES = 14
"""Pages of each application."""

PLAIN = "<header><a href=/>{name}</a></header><main id=root><p>Loading</p></main><footer>Made by {name}</footer>"
DIV = "<div id=root></div>"
NAV = (
    "<nav><ul><li><a href=/>Home</a></li><li><a href=/about>About {name}</a></li><li><a href=/help>Help</a></li></ul>"
    "</nav><div class=page><div id=root class=content></div><aside><h4>Elsewhere</h4><p>Follow us.</p></aside></div>"
)


@dataclass(frozen=True)
class Store:
    """The records of an application, and what was done to it that is done once."""

    records: tuple[Record, ...]
    done: list[str] = field(default_factory=list[str])

    def one(self, key: str, value: object) -> Record:
        """Return a record; LookupError where there is none."""
        return next(iter(self.some(key, value)), None) or _nothing(value)

    def some(self, key: str, value: object) -> list[Record]:
        """Return records by one of their values."""
        return [record for record in self.records if str(record[key]) == str(value)]


Route = tuple[str, Callable[[Store, Ask, re.Match[str]], Any]]
"""The addresses of an API, and its JSON (or a whole Reply) for one of them."""


@dataclass(frozen=True)
class Application:
    """One application.

    `make(number, fixed, free)` makes a record: addresses and ids by `fixed`, words that may change by `free`. `script`
    is the body of an async function that draws the page with `get(path, init)`, `post(path, body)`, `h` (escapes),
    `root`, `part` (segments of the path) and `query`. `key` is a plain text of the answers that is shown as it is
    (`key_of` is what the record calls it, if otherwise), and `list_key` a list: both may change. `reads` matches the
    bodies of a POST that only reads. `encode` is how the JSON is sent, `decode` its inverse in JavaScript. `login` is a
    cookie of a saved login. `writes` counts the unsafe requests of a page that is shown. `state` is JSON that stands in
    the page, and `token` a text that does.
    """

    name: str
    make: Callable[[int, Prose, Prose], Record]
    path: Callable[[Record], str]
    api: tuple[Route, ...]
    shown: Callable[[Record], list[str]]
    script: str
    key: str = ""
    key_of: str = ""
    list_key: str = ""
    shell: str = PLAIN
    language: str = "en"
    client: Literal["fetch", "xhr"] = "fetch"
    reads: str = ""
    login: tuple[str, str] | None = None
    writes: int = 0
    encode: Callable[[Any], Any] = lambda answer: answer
    decode: str = ""
    state: Callable[[Record], Any] | None = None
    token: Callable[[Record], str] = lambda record: ""

    def records(self, version: int) -> Store:
        """Return the records, whose words differ by version."""
        return _records(self, version)

    def pages(self, version: int = 0) -> tuple[AppPage, ...]:
        """Return the pages, and what they show."""
        return tuple(AppPage(self.path(one), tuple(self.shown(one)), one) for one in self.records(version).records)


@dataclass(frozen=True)
class AppPage:
    """A page: its address on its host, and the texts that a reader finds there."""

    path: str
    facts: tuple[str, ...]
    record: Record


@cache
def _records(app: Application, version: int) -> Store:
    seed = app.name
    return Store(
        tuple(
            app.make(n, Prose(f"{seed}/{n}", app.language), Prose(f"{seed}/{n}/{version}", app.language))
            for n in range(PAGES)
        )
    )


def _nothing(value: object) -> Record:
    raise LookupError(value)


def texts(record: Record, *keys: str) -> list[str]:
    """Return what stands under some keys, lists one by one."""
    return [str(one) for key in keys for one in _flat(record[key])]


def markup(paragraphs: list[str]) -> str:
    """Return paragraphs as HTML."""
    return "\n".join(f"<p>{html.escape(one, quote=False)}</p>" for one in paragraphs)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:  # pyright: ignore[reportUnknownVariableType] - JSON
            yield from _flat(one)
    elif isinstance(value, dict):
        for one in value.values():  # pyright: ignore[reportUnknownVariableType] - JSON
            yield from _flat(one)
    elif value is not None:
        yield value
