"""A web site of our own that behaves well or badly on request."""

from __future__ import annotations

from tests.site.server import Site, serve_site, site_in_thread

__all__ = ["Site", "serve_site", "site_in_thread"]
