"""Makes pages of the site by their markup."""

from __future__ import annotations

from urllib.parse import urlencode


def page(html: str, **options: str | int) -> str:
    """Return the path of a page of the site with this markup; `options` as `/asked` knows them."""
    return f"/asked?{urlencode({'body': html, **options})}"
