"""Applications that sell: products by handle, id and SKU, over REST and GraphQL, and lists of them."""

from __future__ import annotations

import json
from typing import Any

from tests.patterns.apps.model import DIV, NAV, Application, Record, markup, texts
from tests.patterns.apps.words import Prose, iso, long_date, money, slug_of
from tests.site.answers import Ask

STOCK = {"IN_STOCK": "In stock", "LOW": "Only a few left", "SOLD_OUT": "Sold out"}


def product(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a product; every third has no brand."""
    title = f"{fixed.label().title()} No. {fixed.number(2, 99)}"
    return {
        "id": 55_000 + 13 * number,
        "title": title,
        "handle": f"{slug_of(title)}-{number}",
        "sku": f"SK-{fixed.token(6).upper()}",
        "cents": free.number(500, 250_000),
        "vendor": free.name() + " & Co",
        "brand": None if number % 3 == 2 else free.place(),
        "stock": free.pick(*STOCK),
        "text": free.paragraphs(3, 4),
        "specs": [[name, f"{free.number(1, 90)} {unit}"] for name, unit in (("Weight", "kg"), ("Length", "cm"))]
        + [["Material", free.noun()]],
        "rating": free.number(20, 50) / 10,
        "when": free.moment(),
        "reviews": [
            {"id": f"r{number}{each}", "stars": free.number(1, 5), "by": free.name(), "words": free.paragraph(2)}
            for each in range(free.number(2, 5))
        ],
    }


def shelf(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a page of a category."""
    return {
        "category": ("lamps", "clocks", "boats")[number % 3],
        "page": number % 5 + 1,
        "items": [
            {"id": fixed.token(), "title": f"{free.label().title()} {free.number(1, 900)}", "teaser": free.sentence(),
             "cents": free.number(300, 90_000)}
            for _ in range(12)
        ],
    }  # fmt: skip


def feed(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a page of a feed that goes on from a cursor."""
    return {
        "cursor": Prose(f"cursor/{number}").token(12),
        "after": Prose(f"cursor/{number + 1}").token(12),
        "items": [
            {"id": fixed.token(), "headline": free.title(), "text": free.paragraph(2), "by": free.name()}
            for _ in range(8)
        ],
    }


def rates(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a table of prices of one thing over days."""
    rows = [{"day": free.moment(), "open": free.number(10_000, 900_000) / 100, "volume": free.number(1_000, 9_000_000)}
            for _ in range(14)]  # fmt: skip
    return {"symbol": f"{fixed.token(4).upper()}{number}", "name": fixed.label().title(), "rows": rows,
            "note": free.paragraph(5)}  # fmt: skip


def _handle(record: Record) -> Any:
    return {
        **{key: record[key] for key in ("id", "title", "handle", "vendor")},
        "description": markup(record["text"]),
        "price": record["cents"],
        "available": record["stock"] != "SOLD_OUT",
        "type": "Goods",
        "tags": ["new", "home"],
        "variants": [{"id": record["id"] * 10, "sku": record["sku"], "price": record["cents"], "title": "Default"}],
        "images": [f"//cdn.example/{record['handle']}.jpg"],
        "options": [{"name": "Title", "position": 1, "values": ["Default"]}],
    }


def _node(record: Record) -> Any:
    return {
        "__typename": "Product",
        "id": f"gid://shop/Product/{record['id']}",
        "title": record["title"],
        "descriptionHtml": markup(record["text"]),
        "vendor": record["vendor"],
        "priceRange": {"min": {"amount": f"{record['cents'] / 100:.2f}", "currencyCode": "USD"}},
        "metafields": [{"key": key, "value": value} for key, value in record["specs"]],
    }


def _variables(ask: Ask) -> dict[str, Any]:
    given: dict[str, Any] = json.loads(ask.body) if ask.body else {"variables": json.loads(ask.query["variables"])}
    variables: dict[str, Any] = given["variables"]
    return variables


def _result(record: Record) -> Any:
    return {
        "category": {"key": record["category"], "label": record["category"].title()},
        "paging": {"page": record["page"], "size": 12, "total": 57},
        "hits": [{**one, "price": {"value": one["cents"], "currency": "USD"}} for one in record["items"]],
    }


def _shelf_of(records: list[Record], ask: Ask) -> Record:
    return next(one for one in records if str(one["page"]) == ask.query["page"] or len(records) == 1)


def _shown(record: Record) -> list[str]:
    return [*texts(record, "title", "text"), money(record["cents"])]


SHOPS = (
    Application(
        name="boutique",
        make=product,
        path=lambda one: f"/products/{one['handle']}",
        api=((r"/products/([\w-]+)\.js", lambda store, ask, match: _handle(store.one("handle", match[1]))),),
        shown=lambda one: texts(one, "title", "text", "vendor"),
        key="vendor",
        script="""
const one = await get(location.pathname + '.js');
document.title = one.title + ' – Boutique';
const price = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(one.price / 100);
root.innerHTML = `<div class="product"><h1 class="product__title">${h(one.title)}</h1>
  <div class="price"><span class="price-item">${price}</span></div>
  <button ${one.available ? '' : 'disabled'}>${one.available ? 'Add to cart' : 'Sold out'}</button>
  <div class="product__description rte">${one.description}<p>Made by ${h(one.vendor)}</p></div></div>`;
""",
    ),
    Application(
        name="kaufhaus",
        make=product,
        language="de",
        path=lambda one: f"/artikel/{one['id']}",
        api=(
            (
                r"/rest/items/(\d+)",
                lambda store, ask, match: (
                    {
                        key: one
                        for key, one in store.one("id", match[1]).items()
                        if one is not None and key not in ("cents", "when", "reviews", "handle")
                    }
                    | {"price": {"amount": f"{store.one('id', match[1])['cents'] / 100:.2f}", "currency": "EUR"}}
                ),
            ),
        ),
        shown=lambda one: [
            *texts(one, "title", "text", "specs", "brand"),
            money(one["cents"], "de"),
            {"IN_STOCK": "Auf Lager", "LOW": "Nur noch wenige", "SOLD_OUT": "Ausverkauft"}[one["stock"]],
        ],
        key="vendor",
        list_key="text",
        shell=NAV,
        script="""
const one = await get('/rest/items/' + part[1]);
const lager = { IN_STOCK: 'Auf Lager', LOW: 'Nur noch wenige', SOLD_OUT: 'Ausverkauft' };
document.title = one.title + ' | Kaufhaus';
const preis = Number(one.price.amount).toLocaleString('de-DE', { style: 'currency', currency: one.price.currency });
root.innerHTML = `<h1>${h(one.title)}</h1><p class="preis"><strong>${preis}</strong></p>
  <p class="lager">${lager[one.stock]}</p><p>Artikelnummer: ${h(one.sku)}</p>
  ${one.brand ? `<p>Marke: ${h(one.brand)}</p>` : ''}<p>Verkauf durch ${h(one.vendor)}</p>
  <h2>Beschreibung</h2>${one.text.map((text) => `<p>${h(text)}</p>`).join('')}
  <h2>Daten</h2><table><thead><tr><th>Merkmal</th><th>Wert</th></tr></thead><tbody>
  ${one.specs.map(([name, value]) => `<tr><td>${h(name)}</td><td>${h(value)}</td></tr>`).join('')}</tbody></table>`;
""",
    ),
    Application(
        name="emporium",
        make=product,
        path=lambda one: f"/p/{one['handle']}",
        api=(
            (
                r"/graphql",
                lambda store, ask, match: {"data": {"product": _node(store.one("handle", _variables(ask)["handle"]))}},
            ),
        ),
        reads=r'"query":\s*"query ',
        shown=lambda one: texts(one, "title", "text", "vendor"),
        key="vendor",
        list_key="metafields",
        shell=DIV,
        script="""
const { data } = await post('/graphql', { operationName: 'ProductPage', variables: { handle: part[1] },
  query: 'query ProductPage($handle: String!) { product(handle: $handle) { id title descriptionHtml vendor '
    + 'priceRange { min { amount currencyCode } } metafields { key value } __typename } }' });
const one = data.product;
document.title = `${one.title} | Emporium`;
const { amount, currencyCode } = one.priceRange.min;
root.innerHTML = `<main><h1>${h(one.title)}</h1><h2>${h(one.vendor)}</h2>
  <div>${Number(amount).toLocaleString('en-US', { style: 'currency', currency: currencyCode })}</div>
  <section>${one.descriptionHtml}</section>
  <dl>${one.metafields.map(({ key, value }) => `<dt>${h(key)}</dt><dd>${h(value)}</dd>`).join('')}</dl></main>`;
""",
    ),
    Application(
        name="depot",
        make=product,
        path=lambda one: f"/shop/{one['sku']}",
        api=(
            (
                r"/api/graphql",
                lambda store, ask, match: {
                    "data": {"item": _node(store.one("sku", _variables(ask)["sku"]))},
                    "extensions": {"cost": 3},
                },
            ),
        ),
        shown=_shown,
        key="vendor",
        client="xhr",
        script="""
const variables = encodeURIComponent(JSON.stringify({ sku: part[1] }));
const hash = encodeURIComponent(JSON.stringify({ persistedQuery: { version: 1, sha256Hash:
  '9a1f0c3d5e7b2a4c6e8f0a1b3c5d7e9f1a2b4c6d8e0f2a3b5c7d9e1f3a5b7c9d' } }));
const { data } = await get(`/api/graphql?operationName=Item&variables=${variables}&extensions=${hash}`);
document.title = data.item.title;
root.innerHTML = `<h1>${h(data.item.title)}</h1><p>Sold by ${h(data.item.vendor)} for
  <b>$${Number(data.item.priceRange.min.amount).toLocaleString('en-US', { minimumFractionDigits: 2 })}</b></p>
  <table><tbody>${data.item.metafields.map((one) => `<tr><th>${h(one.key)}</th><td>${h(one.value)}</td></tr>`).join('')}
  </tbody></table><div>${data.item.descriptionHtml}</div>`;
""",
    ),
    Application(
        name="shelves",
        make=shelf,
        path=lambda one: f"/c/{one['category']}?page={one['page']}",
        api=(
            (
                r"/api/search",
                lambda store, ask, match: _result(_shelf_of(store.some("category", ask.query["category"]), ask)),
            ),
        ),
        shown=lambda one: [
            text for item in one["items"] for text in (item["title"], item["teaser"], money(item["cents"]))
        ],
        key="teaser",
        list_key="hits",
        shell=NAV,
        script="""
const page = query.get('page') || '1';
const found = await get(`/api/search?category=${part[1]}&page=${page}&size=12`);
document.title = found.category.label + ' – Shelves';
root.innerHTML = `<h1>${h(found.category.label)}</h1><p>Page ${found.paging.page}, ${found.paging.total} products</p>
  <div class="grid">${found.hits.map((one) => `<div class="card"><h3><a href="/d/${one.id}">${h(one.title)}</a></h3>
  <p>${h(one.teaser)}</p><span class="price">$${(one.price.value / 100).toFixed(2).replace(/\\B(?=(\\d{3})+\\.)/g, ',')}
  </span></div>`).join('')}</div>`;
""",
    ),
    Application(
        name="stream",
        make=feed,
        path=lambda one: f"/feed?after={one['cursor']}",
        api=(
            (
                r"/api/feed",
                lambda store, ask, match: {
                    "items": store.one("cursor", ask.query["cursor"])["items"],
                    "next": store.one("cursor", ask.query["cursor"])["after"],
                },
            ),
        ),
        shown=lambda one: [text for item in one["items"] for text in texts(item, "headline", "text", "by")],
        key="by",
        list_key="items",
        script="""
const found = await get('/api/feed?limit=8&cursor=' + query.get('after'));
document.title = 'The stream';
root.innerHTML = '<h1>The stream</h1>' + found.items.map((one) => `<section id="${one.id}"><h2>
  <a href="/e/${one.id}">${h(one.headline)}</a></h2><p>${h(one.text)}</p><p><i>${h(one.by)}</i></p></section>`).join('')
  + `<a rel="next" href="/feed?after=${found.next}">Older</a>`;
""",
    ),
    Application(
        name="reviews",
        make=product,
        path=lambda one: f"/gp/{one['id']}",
        api=(
            (
                r"/api/products/(\d+)",
                lambda store, ask, match: {
                    "product": {
                        key: store.one("id", match[1])[key] for key in ("id", "title", "sku", "vendor", "rating")
                    }
                    | {"about": " ".join(store.one("id", match[1])["text"][:2])}
                },
            ),
            (
                r"/api/products/(\d+)/reviews",
                lambda store, ask, match: {
                    "count": len(store.one("id", match[1])["reviews"]),
                    "reviews": store.one("id", match[1])["reviews"],
                },
            ),
        ),
        shown=lambda one: [
            *texts(one, "title", "vendor"),
            *one["text"][:2],
            f"{one['rating']:.1f} out of 5",
            *(text for each in one["reviews"] for text in (each["by"], each["words"])),
        ],
        key="vendor",
        list_key="reviews",
        shell=NAV,
        script="""
const [{ product }, { reviews, count }] = await Promise.all([
  get('/api/products/' + part[1]), get(`/api/products/${part[1]}/reviews?limit=10`)]);
document.title = product.title + ': reviews';
root.innerHTML = `<h1>${h(product.title)}</h1><p>${product.rating.toFixed(1)} out of 5</p><p>${h(product.vendor)}</p>
  <p>${h(product.about)}</p><h2>${count} reviews</h2><ul class="reviews">${reviews.map((one) => `<li>
  <h4>${'★'.repeat(one.stars)}${'☆'.repeat(5 - one.stars)} ${h(one.by)}</h4>
  <p>${h(one.words)}</p></li>`).join('')}</ul>`;
""",
    ),
    Application(
        name="quotes",
        make=rates,
        path=lambda one: f"/quotes/{one['symbol']}",
        api=(
            (
                r"/market/([A-Z0-9]+)/history",
                lambda store, ask, match: {
                    "s": "ok",
                    "instrument": {
                        "ticker": store.one("symbol", match[1])["symbol"],
                        "name": store.one("symbol", match[1])["name"],
                        "note": store.one("symbol", match[1])["note"],
                    },
                    "rows": [{**row, "day": iso(row["day"])} for row in store.one("symbol", match[1])["rows"]],
                },
            ),
        ),
        shown=lambda one: [
            one["name"],
            one["note"],
            *(
                text
                for row in one["rows"]
                for text in (long_date(row["day"]), f"{row['open']:,.2f}", f"{row['volume']:,}")
            ),
        ],
        key="note",
        list_key="rows",
        script="""
const { instrument, rows } = await get(`/market/${part[1]}/history?range=2w`);
document.title = `${instrument.ticker} quotes`;
const day = (text) => new Date(text).toLocaleDateString('en-US',
  { year: 'numeric', month: 'long', day: 'numeric', timeZone: 'UTC' });
const two = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
root.innerHTML = `<h1>${h(instrument.name)} (${h(instrument.ticker)})</h1><p>${h(instrument.note)}</p>
  <table><caption>History</caption><thead><tr><th>Date</th><th>Open</th><th>Volume</th></tr></thead><tbody>
  ${rows.map((row) => `<tr><td>${day(row.day)}</td><td>${row.open.toLocaleString('en-US', two)}</td>
  <td>${row.volume.toLocaleString('en-US')}</td></tr>`).join('')}</tbody></table>`;
""",
    ),
)
