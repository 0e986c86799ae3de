"""The registry of visits that allow a single attempt: Chromium retries a broken exchange by itself."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit, urlunsplit


@dataclass(eq=False)
class _Visit:
    """A visit of one page: the addresses that it redirects to, and those of them that broke off."""

    targets: set[str]
    broken: set[str] = field(default_factory=set[str])


class SingleAttempts:
    """The visits in flight that allow a single attempt. Only plain HTTP needs it: a tunnel is not retried."""

    def __init__(self) -> None:
        self._visits: list[_Visit] = []

    @contextmanager
    def limit(self, url: str) -> Generator[None]:
        """Allow one attempt at this address, and at those that it redirects to, while the block lasts."""
        visit = _Visit({_plain(url)})
        self._visits.append(visit)
        try:
            yield
        finally:
            self._visits.remove(visit)

    def exhausted(self, target: str) -> bool:
        """Whether every visit of this address has failed."""
        visits = self._of(target)
        return bool(visits) and all(_plain(target) in visit.broken for visit in visits)

    def failed(self, target: str) -> None:
        """Record that the exchange broke off, for one of the visits that wait for it."""
        plain = _plain(target)
        waiting = (visit for visit in self._of(target) if plain not in visit.broken)
        if (visit := next(waiting, None)) is not None:
            visit.broken.add(plain)

    def redirected(self, target: str, location: str) -> None:
        """Record that an address redirects to another one."""
        with suppress(ValueError):
            onward = _plain(urljoin(target, location))
            for visit in self._of(target):
                visit.targets.add(onward)

    def _of(self, target: str) -> list[_Visit]:
        plain = _plain(target)
        return [visit for visit in self._visits if plain in visit.targets]


def _plain(url: str) -> str:
    """Normalize an address as Chromium sends it to a proxy; an invalid one stays as it is."""
    try:
        parts = urlsplit(url)
        host, port = parts.netloc.lower(), ":80" if parts.scheme == "http" else ""
        return urlunsplit((parts.scheme, host.removesuffix(port), parts.path or "/", parts.query, ""))
    except ValueError:
        return url
