"""What the tiers and the verifier are asked for a browse."""

from __future__ import annotations

from actors.navigator.beyond import Beyond
from protocol.documents import Document, WebObservationSummary, untrusted
from protocol.pages import BrowsePage, Fetched, FetchPage, PageClaim

OPENING_CHARS = 4_000
"""What the verifier gets to read of a page: the title and the first words."""

TITLE_CHARS = 500


def fetch_request(browse: BrowsePage, url: str | None = None, *, for_history: bool = False) -> FetchPage:
    """Build the request for the page, or for another one of the same site in its place."""
    options = browse.options
    return FetchPage(
        url=url or browse.url,
        freshness=options.freshness_requirement,
        session=options.session_profile,
        login=browse.login,
        include_html=options.include_html,
        include_network=options.include_network,
        include_console=options.include_console,
        wait_for_selector=options.wait_for_selector,
        scroll_to_load=options.scroll_to_load,
        dismiss_overlays=options.dismiss_overlays,
        obey_robots=browse.obey_robots,
        single_shot=browse.single_shot,
        outlinks=browse.outlinks,
        caller=browse.caller if options.session_profile is not None else "",
        for_history=for_history,
    )


def verify_request(
    browse: BrowsePage, page: Fetched, url: str | None = None, *, beyond: Beyond | None = None
) -> PageClaim:
    """Build the request to judge whether this is the page that was asked for, by what is known `beyond` it too."""
    return PageClaim(
        url=url or browse.url,
        final_url=page.final_url,
        status=page.status,
        tier=page.tier,
        evidence=page.evidence,
        opening=_opening(page.document),
        session=browse.options.session_profile is not None,
        retry_after_ms=page.retry_after_ms,
        absent_alike=beyond.absent_alike if beyond else None,
        same_text_elsewhere=beyond.same_elsewhere if beyond else False,
    )


def _opening(document: Document[WebObservationSummary]) -> Document[WebObservationSummary]:
    """Take the title and the first words of a page, as untrusted as the whole."""
    content = document.content
    title = content.title[:TITLE_CHARS]
    markdown = content.markdown[: OPENING_CHARS - len(title)]
    return untrusted(document.doc_id, WebObservationSummary(url=content.url, title=title, markdown=markdown))
