"""What a page sells is told as it stands there; a page that sells nothing has no product."""

from __future__ import annotations

import json

import pytest

from actors.extraction.decide.product import product
from actors.extraction.evidence.claim import Claim
from actors.extraction.evidence.sources import embedded_json, json_ld, microdata, open_graph, visible_product
from actors.extraction.parse.tree import Page, read
from protocol.page import Product

URL = "https://shop.example.de/things/blue-thing"

SHOP = """<html lang="{language}"><head><title>Blue thing | Shop</title></head><body>
  <header><a class="cart">0,00 €</a><nav><a href="/">Home</a></nav></header>
  <main><h1>Blue thing</h1>
    <p class="vendor">{maker}</p>
    <div class="price-box">{price}</div>
    <p>{stock}</p>
    {button}
    <dl><dt>{label}</dt><dd>B-1234</dd><dt>EAN</dt><dd>4006381333931</dd></dl>
  </main>
  <section class="related"><h2>Others</h2>
    <a class="card" href="/a"><b>Red thing</b><span class="price">5,00 €</span></a>
    <a class="card" href="/b"><b>Green thing</b><span class="price">7,00 €</span></a>
  </section></body></html>"""


def shop(**parts: str) -> str:
    given = {
        "language": "en",
        "maker": "Brand: Blueco",
        "price": "<span class=price>12,50 €</span>",
        "stock": "In stock",
        "button": "<button>Add to cart</button>",
        "label": "SKU:",
    }
    return SHOP.format(**{**given, **parts})


def sold(markup: str, url: str = URL) -> Product | None:
    page = read(markup, url)
    answer = product(page, claims(page))
    return answer[0] if answer else None


def claims(page: Page) -> list[Claim]:
    sources = (json_ld, microdata, open_graph, embedded_json, visible_product)
    return [claim for source in sources for claim in source.claims(page)]


SEEN = Product(
    name="Blue thing",
    price="12.50",
    currency="EUR",
    availability="InStock",
    brand="Blueco",
    sku="B-1234",
    gtin="4006381333931",
)


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({}, id="plainly"),
        pytest.param(
            {"price": "<del class=price>19,90 €</del> <span class=price>12,50 €</span>"}, id="beside an old price"
        ),
        pytest.param({"price": "<span class=price><b>12</b><sup>50</sup> <i>€</i></span>"}, id="with raised cents"),
        pytest.param(
            {"price": "<span class=price><i>€</i>\n<b>12</b><b class=decimals>,50</b></span>"}, id="over elements"
        ),
        pytest.param(
            {
                "language": "de",
                "maker": "Marke: Blueco",
                "stock": "Auf Lager",
                "button": "<input type=submit value='In den Warenkorb'>",
                "label": "Artikelnummer",
            },
            id="in German",
        ),
        pytest.param(
            {"language": "sk", "maker": "Výrobca: Blueco", "stock": "Skladom", "button": "<button>Do košíka</button>"},
            id="in Slovak",
        ),
        pytest.param({"maker": "<a class=brand>Visit the Blueco Store</a>"}, id="with an invitation to its maker"),
        pytest.param({"maker": "<a class=brand>Visita lo Store di Blueco</a>"}, id="with an invitation in Italian"),
        pytest.param(
            {"price": "<span class=price>12,50 €</span> <p>or 3 x 4,17 € a month</p>"}, id="beside instalments"
        ),
    ],
)
def test_reads_what_is_seen(parts: dict[str, str]) -> None:
    assert sold(shop(**parts)) == SEEN


@pytest.mark.parametrize(
    ("parts", "availability"),
    [
        ({"stock": "Sold out", "button": "<button disabled>Add to cart</button>"}, "OutOfStock"),
        ({"stock": "Ausverkauft", "button": "<button disabled>In den Warenkorb</button>"}, "OutOfStock"),
        ({"stock": "Pre-order", "button": "<button disabled>Add to cart</button>"}, "PreOrder"),
        ({"stock": ""}, "InStock"),
    ],
)
def test_tells_whether_it_can_be_bought(parts: dict[str, str], availability: str) -> None:
    answer = sold(shop(**parts))

    assert answer is not None
    assert answer.availability == availability


def test_reads_what_no_label_tells_from_scripts_and_the_address() -> None:
    markup = """<title>Blue thing</title><h1>Blue thing</h1><p class=price>12,50 €</p><button>Add to cart</button>
      <script>dataLayer.push({"product_ean": "4006381333931", 'productMPN': 1, "ean": "4006381333931",
        mpn: "BT-9", "id": "7654321"})</script>"""

    answer = sold(markup, "https://shop.example.de/blue-thing-7654321.html")

    assert answer is not None
    assert (answer.gtin, answer.mpn, answer.sku) == ("4006381333931", "BT-9", "7654321")


def test_takes_a_number_of_the_shop_for_no_number_of_the_maker() -> None:
    node = {"@type": "Product", "name": "Blue thing", "sku": "77-1", "mpn": "77-1", "offers": {"price": "12.5"}}

    answer = sold(shop() + f'<script type="application/ld+json">{json.dumps(node)}</script>')

    assert answer is not None
    assert (answer.sku, answer.mpn) == ("B-1234", "")


@pytest.mark.parametrize("code", ["4006381333931 (EAN-13)", "4006381333930, 4006381333931", "4 006381 333931"])
def test_takes_the_code_whose_check_digit_is_right(code: str) -> None:
    answer = sold(shop().replace("4006381333931", code))

    assert answer is not None
    assert answer.gtin == "4006381333931"


def test_believes_what_data_and_eyes_agree_on() -> None:
    node = {
        "@type": "Product",
        "name": "Blue thing",
        "brand": "Blueco",
        "offers": {"price": "12.5", "priceCurrency": "EUR", "availability": "http://schema.org/InStock"},
    }
    linked = f'<script type="application/ld+json">{json.dumps(node)}</script>'

    both = read(shop() + linked, URL)
    seen = read(shop(), URL)
    told = read(linked, URL)

    answers = [product(page, claims(page)) for page in (both, seen, told)]
    sure = [answer[1]["price"].score for answer in answers if answer]
    assert [answer[0].price for answer in answers if answer] == ["12.50"] * 3
    assert sure[0] > max(sure[1:])


def test_prefers_what_is_seen_to_another_thing_in_the_data() -> None:
    node = {"@type": "Product", "name": "Red", "url": "https://shop.example.de/red", "offers": {"price": "5"}}
    other = {"@type": "Product", "name": "Green", "offers": {"price": "7"}}
    linked = f'<script type="application/ld+json">{json.dumps([node, other])}</script>'

    answer = sold(shop() + linked)

    assert answer is not None
    assert answer.price == "12.50"


def test_takes_the_name_of_the_market_for_no_maker_where_the_page_names_one() -> None:
    node = {"@type": "Product", "name": "Blue thing", "brand": "Trade", "offers": {"price": "12.5"}}
    linked = f'<script type="application/ld+json">{json.dumps(node)}</script>'

    at_market, elsewhere = (sold(shop() + linked, f"https://www.{host}/1") for host in ("tradefield.example", "a.test"))

    assert [one and one.brand for one in (at_market, elsewhere)] == ["Blueco", "Trade"]


def test_takes_the_dollar_of_the_country() -> None:
    markup = shop(price="<span class=price>$12.50</span>")

    found = [sold(markup, url) for url in ("https://a.example.ca/x", "https://a.example.com/en-nz/x")]

    assert [answer.currency for answer in found if answer] == ["CAD", "NZD"]


@pytest.mark.parametrize(
    "markup",
    [
        pytest.param("", id="nothing"),
        pytest.param("<h1>On blue</h1><p>It cost $5 in 1990, says the shop.</p>", id="an article that names a price"),
        pytest.param(
            '<script type="application/ld+json">{"@type":"Article","headline":"The best"}</script>'
            + shop().replace("<button>Add to cart</button>", ""),
            id="an article that shows a price",
        ),
        pytest.param(
            "<h1>Things</h1>"
            + "".join(
                f"<div class=card><a href=/{number}>Thing {number}</a><span class=price>{number},00 €</span>"
                "<button>Add to cart</button></div>"
                for number in range(1, 13)
            ),
            id="a list of goods",
        ),
    ],
)
def test_sells_nothing(markup: str) -> None:
    assert sold(markup) is None


@pytest.mark.parametrize(
    ("head", "sells"),
    [
        pytest.param("<meta property=og:type content=article>", True, id="Open Graph calls it an article, too"),
        pytest.param("<meta property=og:type content=product>", True, id="Open Graph calls it a product"),
        pytest.param(
            '<script type="application/ld+json">{"@type":"NewsArticle","headline":"Blue thing"}</script>',
            False,
            id="linked data call it an article",
        ),
    ],
)
def test_weighs_what_the_page_calls_itself(head: str, *, sells: bool) -> None:
    assert (sold(head + shop()) is not None) is sells


def test_takes_the_price_of_a_paywall_for_none() -> None:
    markup = """<meta property=og:type content=article><meta property=product:price:amount content=1>
        <meta property=product:price:currency content=EUR><h1>On blue</h1><p>Read on for 1 euro.</p>"""

    assert sold(markup) is None


@pytest.mark.parametrize(
    "markup",
    [
        "<h1>x</h1><button>Add to cart</button>" + "<p class=price>$1.99</p>" * 20_000,
        "<h1>x</h1>" + "<div class=price>" * 3_000 + "$5<button>Add to cart</button>",
        "<h1>x</h1><button>Add to cart</button><p class=price>$" + "1," * 50_000,
        "<h1>x</h1><button>Add to cart</button>" + "<p>SKU:</p><p>A1</p>" * 10_000 + "<p class=price>$5",
    ],
)
def test_bears_hostile_shops(markup: str) -> None:
    answer = sold(markup)

    assert answer is None or len(answer.price) < 20
