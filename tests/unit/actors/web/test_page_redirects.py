"""Where a document leads that came with 200."""

from __future__ import annotations

import pytest

from actors.web.page_redirects import page_redirect

URL = "http://site.example/dir/"
WORDS = "word " * 60


@pytest.mark.parametrize(
    ("document", "target"),
    [
        ('<meta http-equiv="refresh" content="0;url=/new">', "http://site.example/new"),
        ("<meta http-equiv=Refresh content=\"1; URL='//b.example/?a=1&amp;b=2'\">", "http://b.example/?a=1&b=2"),
        ("<meta http-equiv=refresh content='5, url=/comma'>", "http://site.example/comma"),
        ("<meta http-equiv=refresh content=0>", URL),
        ("<base href=http://c.example/d/><meta http-equiv=refresh content='0;url=e'>", "http://c.example/d/e"),
        ("<meta http-equiv=refresh content=60>", ""),
        ("<meta http-equiv=refresh content=5>", ""),
        ("<meta http-equiv=refresh content='30;url=/later'>", ""),
        ("<meta http-equiv=refresh content='0;url=javascript:alert(1)'>", ""),
        ("<meta http-equiv=refresh content='0;url=file:///etc/passwd'>", ""),
        ("<noscript><meta http-equiv=refresh content='0;url=/nojs'></noscript>", ""),
        ("<!-- <meta http-equiv=refresh content='0;url=/c'> -->x", ""),
        ("<frameset cols='200,*'><frame src=nav><frame src=main></frameset>", "http://site.example/dir/main"),
        (
            "<frameset rows='80,*'><frame src=t><frameset cols='20%,80%'><frame src=l><frame src=r></frameset>",
            "http://site.example/dir/r",
        ),
        ("<body><iframe src=//app.example/ width='100%' height='100%'></iframe>", "http://app.example/"),
        ("<style>iframe { position: fixed; inset: 0 }</style><iframe src=/in></iframe>", "http://site.example/in"),
        (f"<p>{WORDS}<iframe src=/in height='100%'></iframe>", ""),
        ("<iframe src='/_Incapsula_Resource?x' height='100%'></iframe>", ""),
        ("<div id=root></div><iframe src=/hidden style='display:none;height:100%'></iframe>", ""),
        ("<iframe src=https://video.example/1 width=560 height=315></iframe>", ""),
        ("<p>Nothing leads on.</p>", ""),
    ],
)
def test_a_document_leads_where_a_browser_would_go(document: str, target: str) -> None:
    redirect = page_redirect(document.encode(), URL)

    assert (redirect.url if redirect else "") == target


def test_a_header_counts_as_an_element_does() -> None:
    redirect = page_redirect(b"<p>Wait</p>", URL, "0; url=/new")

    assert redirect is not None
    assert redirect.url == "http://site.example/new"
