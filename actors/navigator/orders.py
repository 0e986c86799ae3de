"""What the navigator asks of a fetcher and of the verifier, in their words."""

from __future__ import annotations

from urllib.parse import urlsplit

from protocol.documents import Document, WebObservationSummary, untrusted
from protocol.pages import BrowsePage, Fetched, FetchPage, PageClaim

OPENING_CHARS = 4_000
"""What the verifier gets to read of a page: the title and the first words."""

TITLE_CHARS = 500


def fetch(asked: BrowsePage, url: str | None = None) -> FetchPage:
    """Order the page, or another one of the same site in its place."""
    options = asked.options
    return FetchPage(
        url=url or asked.url,
        freshness=options.freshness_requirement,
        session=options.session_profile,
        include_html=options.include_html,
        include_network=options.include_network,
        include_console=options.include_console,
        wait_for_selector=options.wait_for_selector,
        scroll_to_load=options.scroll_to_load,
        dismiss_overlays=options.dismiss_overlays,
        obey_robots=asked.obey_robots,
        single_shot=asked.single_shot,
    )


def claim(asked: BrowsePage, page: Fetched, url: str | None = None) -> PageClaim:
    """Claim that this is the page that was asked for."""
    return PageClaim(
        url=url or asked.url,
        final_url=page.final_url,
        status=page.status,
        tier=page.tier,
        evidence=page.evidence,
        opening=_opening(page.document),
        session=asked.options.session_profile is not None,
        retry_after_ms=page.retry_after_ms,
    )


def same_host(url: str, other: str) -> bool:
    """Return whether two addresses lie on one host; no address lies on none."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host is not None and host == urlsplit(other).hostname


def _opening(document: Document[WebObservationSummary]) -> Document[WebObservationSummary]:
    """Take the title and the first words of a page, as untrusted as the whole."""
    content = document.content
    title = content.title[:TITLE_CHARS]
    markdown = content.markdown[: OPENING_CHARS - len(title)]
    return untrusted(document.doc_id, WebObservationSummary(url=content.url, title=title, markdown=markdown))
