"""The program behind a site, told by its marks, and what that program has as JSON everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from actors.learner.patterns.sources.backends import BACKENDS, Backend
from actors.learner.patterns.sources.source import ApiEndpoint, Ask, hints, of_site, origin_of, resolved
from protocol.patterns.pattern import PagePattern, PatternSource
from protocol.patterns.sample import PageHints, PageSample


class BackendFingerprinting(Struct, frozen=True):
    """Looks the marks of a page up in the table of programs."""

    name: ClassVar[PatternSource] = PatternSource.BACKEND_FINGERPRINTING

    async def find(self, sample: PageSample, ask: Ask) -> tuple[PagePattern, ...]:  # noqa: ARG002 - it asks nobody
        """Return the conventions of the program behind the page."""
        return hints(self.name, sample, _endpoints(sample))


def backends_of(sample: PageSample) -> tuple[Backend, ...]:
    """Return the programs whose marks a page has."""
    return tuple(one for one in BACKENDS if _is_marked(sample.hints, one))


def _is_marked(page: PageHints, backend: Backend) -> bool:
    generator = page.generator.strip().lower()
    headers = {name.lower(): value.lower() for name, value in page.headers.items()}
    relation = backend.root[0]
    return (
        any(generator.startswith(name) for name in backend.generators)
        or any(name in headers and piece in headers[name] for name, piece in backend.headers)
        or any(piece in script.lower() for script in page.scripts for piece in backend.scripts)
        or (backend.generators != () and relation != "" and _linked(page, relation) != "")
    )


def _linked(page: PageHints, relation: str) -> str:
    return next((address for names, address, _ in page.links if relation in names.lower().split()), "")


def _endpoints(sample: PageSample) -> Iterator[ApiEndpoint]:
    origin = origin_of(sample.final_url)
    for backend in backends_of(sample):
        root = _root(sample, backend)
        for one in backend.apis:
            api = one.api.replace("{root}", root) if one.api.startswith("{root}") else origin + one.api
            yield ApiEndpoint(
                url=api, page=origin + one.page if one.page else "", reason=f"the site runs on {backend.name}"
            )


def _root(sample: PageSample, backend: Backend) -> str:
    """Return where the API of a program lies at a site, without a slash at its end."""
    relation, ending = backend.root
    linked = resolved(sample.final_url, _linked(sample.hints, relation)) if relation else ""
    if not linked or not of_site(linked, sample.final_url):
        return origin_of(sample.final_url) + backend.usual_root
    return linked.partition("?")[0].removesuffix(ending)
