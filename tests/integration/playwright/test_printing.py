"""Pages of our own are printed by a browser that reaches nothing and runs nothing."""

from __future__ import annotations

import io
from collections.abc import Generator

import pytest
from pdfplumber.pdf import PDF

from actors.fetchers.playwright.printing import print_page
from actors.safe_html import html_page
from tests.integration.playwright.browsing import Browsing, browsing

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TEXT = "# Tides\n\n" + "The barrage holds 240 MW — 潮汐. [source](https://tides.example/)\n\n" * 120 + "The last line."


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with browsing() as running:
        yield running


def printed(web: Browsing, html: str) -> list[str]:
    data: bytes = web.portal.call(print_page, web.browser, html)
    with PDF(io.BytesIO(data)) as pdf:
        return [page.extract_text() for page in pdf.pages]


def test_a_text_is_printed_whole_on_its_sheets(web: Browsing) -> None:
    pages = printed(web, html_page("Tides", TEXT))

    assert len(pages) > 1
    assert pages[0].startswith("Tides\nThe barrage holds 240 MW")
    assert pages[-1].endswith("The last line.")


def test_a_page_with_scripts_and_addresses_runs_nothing_and_reaches_nothing(web: Browsing) -> None:
    count = web.site.hits.total()
    address = web.site.url("/article")
    hostile = (
        f"<p id=p>calm</p><script>document.getElementById('p').textContent = 'ran'</script><img src='{address}'>"
        f"<iframe src='{address}'></iframe><link rel=stylesheet href='{address}'>"
        "<img src=x onerror='document.body.textContent=1'><iframe src='file:///etc/passwd'></iframe>"
    )
    leading = f"<meta http-equiv=refresh content='0;url={address}'>"

    pages = [*printed(web, hostile), *printed(web, hostile + leading)]

    assert "calm" in pages[0]
    assert "root:" not in "".join(pages)
    assert "ran" not in "".join(pages)
    assert web.site.hits.total() == count
