"""Remembers which pages are to be asked for once, as a browser asks again for what broke off without being told to."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit, urlunsplit


@dataclass(eq=False)
class _Visit:
    """A visit of one page: the addresses that it leads to, and those of them that broke off."""

    targets: set[str]
    broken: set[str] = field(default_factory=set[str])


class Shots:
    """The visits under way that ask once. Only plain HTTP needs it: in a tunnel a browser does not ask again."""

    def __init__(self) -> None:
        self._visits: list[_Visit] = []

    @contextmanager
    def once(self, url: str) -> Generator[None]:
        """Ask for this address, and for those that it leads to, no second time while the block lasts."""
        visit = _Visit({_plain(url)})
        self._visits.append(visit)
        try:
            yield
        finally:
            self._visits.remove(visit)

    def spent(self, target: str) -> bool:
        """Return whether everybody who wanted this address has asked in vain."""
        visits = self._of(target)
        return bool(visits) and all(_plain(target) in visit.broken for visit in visits)

    def broke(self, target: str) -> None:
        """Note that the exchange broke off, for one of those who wanted it."""
        plain = _plain(target)
        waiting = (visit for visit in self._of(target) if plain not in visit.broken)
        if (visit := next(waiting, None)) is not None:
            visit.broken.add(plain)

    def led(self, target: str, location: str) -> None:
        """Note that an address leads to another one."""
        with suppress(ValueError):
            onward = _plain(urljoin(target, location))
            for visit in self._of(target):
                visit.targets.add(onward)

    def _of(self, target: str) -> list[_Visit]:
        plain = _plain(target)
        return [visit for visit in self._visits if plain in visit.targets]


def _plain(url: str) -> str:
    """Write an address as a browser hands it to its proxy; one that is none stays as it is."""
    try:
        parts = urlsplit(url)
        host, port = parts.netloc.lower(), ":80" if parts.scheme == "http" else ""
        return urlunsplit((parts.scheme, host.removesuffix(port), parts.path or "/", parts.query, ""))
    except ValueError:
        return url
