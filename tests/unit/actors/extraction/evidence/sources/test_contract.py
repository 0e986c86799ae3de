"""Every source of evidence answers in the same way, whatever page it is asked about."""

from __future__ import annotations

import pytest

from actors.extraction.evidence.claim import Claim, ClaimPlace, EvidenceSource, PageField
from actors.extraction.evidence.sources import sources
from actors.extraction.parse.tree import read
from protocol.confidence import Source

MAX_TEXT_CHARS = 20_000
MAX_VALUE_CHARS = 2_000
MAX_CLAIMS = 2_000

URL = "https://shop.example/things/blue-thing?x=1"

PAGES = {
    "empty": "",
    "no markup": "just words",
    "article": """<html lang=en><head><title>On blue things | Shop</title><link rel=canonical href=/things/blue-thing>
        <meta name=author content="Ada Byron"><meta property=og:title content="On blue things">
        <meta property=og:type content=article><meta property=article:published_time content=2024-02-03>
        <script type="application/ld+json">{"@type":"Article","headline":"On blue things","author":{"name":"Ada Byron"},
        "datePublished":"2024-02-03","articleBody":"Blue things are blue.\\n\\nVery."}</script></head>
        <body><h1>On blue things</h1><p class=byline>By Ada Byron</p><time datetime=2024-02-03>3 Feb</time>
        <p>Blue things are blue.</p></body></html>""",
    "product": """<title>Blue thing</title><script id="__NEXT_DATA__" type="application/json">{"props":{"product":
        {"name":"Blue thing","price":12.5,"currency":"EUR","brand":"Blueco","sku":"B-12"}}}</script>
        <div itemscope itemtype="https://schema.org/Product"><h1 itemprop=name>Blue thing</h1><span class=price>12,50 €
        </span><button>Add to cart</button><span>SKU: B-12</span></div>""",
    "values over lines": "<title>a\n\n b</title><meta property=og:title content='a\n b\n\tc'><h1>a\n<br>\nb</h1>"
    "<script type='application/ld+json'>{'@type':'Article','headline':'a\\n\\nb','author':['x\\ny',{'name':'z\\n'}]}"
    "</script>",
    "wrong types": "<title>A thing of a kind</title><script type='application/ld+json'>"
    '[{"@type":["Article",5,null,{}],"headline":[[],{}],"author":[[["x"]],5,{"name":{"name":1}}],"image":{"url":[{}]},'
    '"offers":5,"@id":7,"url":{},"mainEntityOfPage":[[]]},5,null,[[]],{"@type":{},"@graph":{"@graph":[]}},'
    '{"@type":"Product","name":"A thing of a kind","offers":[null,[],{"price":[],"priceCurrency":{}}],"brand":[null]}]'
    "</script><script>window.__STATE__={title:'A thing of a kind',author:[[]],datePublished:{},price:[{}]}</script>",
    "circles": '<script type="application/ld+json">{"@graph":[{"@id":"a","@type":"Article","author":{"@id":"a"},'
    '"publisher":{"@id":"b"}},{"@id":"b","@type":"Organization","name":"B","parent":{"@id":"a"}}]}</script>',
    "long values": f"<title>{'long ' * 50_000}</title><h1>{'long ' * 50_000}</h1>"
    f"<meta property=og:description content='{'long ' * 50_000}'><meta name=author content='{'x' * 50_000}'>"
    f'<script type=\'application/ld+json\'>{{"@type":"Article","headline":"{"y" * 90_000}"}}</script>',
    "many claims": "<meta property=og:title content=x>" * 5_000 + "<h1>x</h1>" * 5_000,
    "deep": "<div>" * 5_000 + "text" + "<script type='application/ld+json'>" + "[" * 5_000 + "</script>",
    "surrogates and zeros": "<title>a\ud800b\x00c</title><h1>\udfff</h1><meta property=og:title content='\ud800'>",
}


def name(source: EvidenceSource) -> str:
    """Return the name of a source's module."""
    return source.claims.__module__.rpartition(".")[2]


def claims_of(source: EvidenceSource, page: str) -> list[Claim]:
    return list(source.claims(read(PAGES[page], URL)))


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("source", sources(), ids=name)
def test_gives_claims_of_one_bounded_line(source: EvidenceSource, page: str) -> None:
    claims = claims_of(source, page)

    assert {type(part) for claim in claims for part in (claim.field, claim.source, claim.place)} <= {
        PageField,
        Source,
        ClaimPlace,
    }
    assert [claim for claim in claims if " ".join(claim.value.split()) != claim.value or not claim.value] == []
    assert [claim for claim in claims if len(claim.value) > _limit(claim.field)] == []
    assert [claim for claim in claims if len(str(claim.place)) > 200] == []
    assert len(claims) <= MAX_CLAIMS


@pytest.mark.parametrize("source", sources(), ids=name)
def test_says_the_same_again(source: EvidenceSource) -> None:
    assert claims_of(source, "article") == claims_of(source, "article")


@pytest.mark.parametrize("address", ["", "no address", "https://[broken", "https://x.example/%zz?\ud800"])
@pytest.mark.parametrize("source", sources(), ids=name)
def test_bears_any_address(source: EvidenceSource, address: str) -> None:
    claims = list(source.claims(read(PAGES["product"], address)))

    assert all(claim.value for claim in claims)


def test_every_module_with_claims_is_a_source() -> None:
    found = sources()

    assert len({source.claims for source in found}) == len(found)
    assert {"json_ld", "microdata", "open_graph", "embedded_json"} <= {name(source) for source in found}


def _limit(field: PageField) -> int:
    return MAX_TEXT_CHARS if field is PageField.TEXT else MAX_VALUE_CHARS
