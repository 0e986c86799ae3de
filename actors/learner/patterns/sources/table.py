"""THE table of sources, in the order in which a page is looked at: those that ask a site stand last."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from actors.learner.patterns.sources.api_extraction import ApiExtraction
from actors.learner.patterns.sources.asyncapi_discovery import AsyncApiDiscovery
from actors.learner.patterns.sources.backend_fingerprinting import BackendFingerprinting
from actors.learner.patterns.sources.bootstrap import Bootstrap
from actors.learner.patterns.sources.cross_site_transfer import CrossSiteTransfer
from actors.learner.patterns.sources.docs_page_detection import DocsPageDetection
from actors.learner.patterns.sources.graphql_introspection import GraphQlIntrospection
from actors.learner.patterns.sources.known import KnownApi
from actors.learner.patterns.sources.link_discovery import LinkDiscovery
from actors.learner.patterns.sources.manual import Manual
from actors.learner.patterns.sources.openapi_discovery import OpenApiDiscovery
from actors.learner.patterns.sources.source import HintSource
from actors.learner.patterns.sources.user_feedback import UserFeedback
from protocol.patterns.pattern import PagePattern


def all_sources(
    feedback: UserFeedback,
    own: Callable[[], tuple[KnownApi, ...]] = tuple,
    kept: Callable[[], Iterable[PagePattern]] = tuple,
) -> tuple[HintSource, ...]:
    """Return one of each source: `own` is what the operator has written down, `kept` are the patterns of all sites."""
    return (
        Bootstrap(),
        Manual(own),
        feedback,
        ApiExtraction(),
        LinkDiscovery(),
        BackendFingerprinting(),
        CrossSiteTransfer(kept),
        DocsPageDetection(),
        GraphQlIntrospection(),
        OpenApiDiscovery(),
        AsyncApiDiscovery(),
    )
