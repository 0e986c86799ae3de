"""Feeds that a page offers."""

from __future__ import annotations

from actors.extraction.select.links import MAX_FEEDS, feeds
from protocol.page import FeedLink
from tests.support.whole_page import parsed


def test_feeds_are_linked_from_the_head() -> None:
    page = parsed(
        "<link rel=alternate type=application/rss+xml title=News href=/feed>"
        "<link rel='ALTERNATE home' type='application/atom+xml; charset=utf-8' href=atom.xml>"
        "<link rel=alternate type=application/json title='JSON feed' href=/feed.json>"
        "<link rel=alternate type=application/rss+xml title=Again href=/feed>"
        "<link rel=alternate type=application/json href=/wp-json/posts/1>"
        "<link rel=alternate type=text/xml+oembed href=/oembed?format=xml>"
        "<link rel=alternate hreflang=de href=/de>"
        "<link rel=stylesheet type=text/css href=feed.css>"
        "<link rel=alternate type=application/rss+xml href='javascript:x'>"
    )

    assert feeds(page) == (
        FeedLink(url="https://site.example/feed", type="application/rss+xml", title="News"),
        FeedLink(url="https://site.example/dir/atom.xml", type="application/atom+xml"),
        FeedLink(url="https://site.example/feed.json", type="application/json", title="JSON feed"),
    )


def test_many_feeds_are_bounded() -> None:
    page = parsed("".join(f"<link rel=alternate type=application/rss+xml href=/{number}>" for number in range(50_000)))

    assert len(feeds(page)) == MAX_FEEDS
