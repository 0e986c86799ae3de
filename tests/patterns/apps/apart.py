"""Applications that are kept apart: nobody looks at how they come out until all else is done.

They are of another style than the others: typed values, joined entries, columns, positions, envelopes in envelopes.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from tests.patterns.apps.model import Application, Record, markup
from tests.patterns.apps.words import Prose, slug_of

_SHELL = "<div class=app-shell><div class=topbar>{name}</div><div class=outlet id=root></div></div>"
_MAKE = """
const el = (name, given = {}, ...inside) => { const made = Object.assign(document.createElement(name), given);
  made.append(...inside.filter((one) => one !== null && one !== undefined)); return made; };
const show = (title, ...inside) => { document.title = title; root.replaceChildren(...inside); };
"""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def leaflet(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a leaflet: some text about a thing, with notes that belong to it."""
    name = f"{fixed.noun().title()} at {fixed.place()}"
    return {
        "key": fixed.token(10),
        "num": 90_210 + 17 * number,
        "name": name,
        "link": f"{slug_of(name)}-{fixed.token(4)}",
        "lines": [free.paragraph(3) for _ in range(free.number(3, 5))],
        "owner": free.name(),
        "place": free.place(),
        "made": free.moment(),
        "price": free.number(200, 99_000),
        "grade": free.number(0, 3),
        "notes": [{"who": free.name(), "what": free.paragraph(1), "score": free.number(1, 10)}
                  for _ in range(free.number(3, 6))],
    }  # fmt: skip


def _owned(record: Record) -> list[str]:
    return [record["name"], *record["lines"]]


def _noted(record: Record) -> list[str]:
    return [*_owned(record), *(note["what"] for note in record["notes"])]


def _typed(record: Record) -> Any:
    def text(value: str) -> Any:
        return {"stringValue": value}

    return {"name": f"projects/x/databases/(default)/documents/leaflets/{record['key']}", "fields": {
        "name": text(record["name"]), "owner": text(record["owner"]),
        "price": {"integerValue": str(record["price"])}, "made": {"timestampValue": record["made"].isoformat()},
        "lines": {"arrayValue": {"values": [text(line) for line in record["lines"]]}}}}  # fmt: skip


def _joined(record: Record) -> Any:
    notes = [
        {"sys": {"id": f"n{place}", "type": "Entry"}, "fields": note} for place, note in enumerate(record["notes"])
    ]
    return {"total": 1, "items": [{"sys": {"id": record["key"]}, "fields": {
        "heading": record["name"], "slug": record["link"], "paragraphs": record["lines"],
        "notes": [{"sys": {"type": "Link", "linkType": "Entry", "id": note["sys"]["id"]}} for note in notes]}}],
        "includes": {"Entry": list(reversed(notes))}}  # fmt: skip


def _positions(record: Record) -> Any:
    return [[record["key"], [record["name"], None, record["owner"]]], [[line, len(line)] for line in record["lines"]],
            [[None, note["who"], [note["what"]], note["score"]] for note in record["notes"]], 1]  # fmt: skip


def _columns(record: Record) -> Any:
    notes = record["notes"]
    return {"head": {"label": record["name"], "intro": "\n".join(record["lines"]), "owner": record["owner"]},
            "schema": {"columns": ["who", "what", "score"]},
            "data": {"who": [one["who"] for one in notes], "what": [one["what"] for one in notes],
                     "score": [one["score"] for one in notes]}}  # fmt: skip


def _relay(record: Record) -> Any:
    return {
        "data": {
            "node": {
                "__typename": "Leaflet",
                "id": record["key"],
                "title": record["name"],
                "bodyText": record["lines"],
                "owner": {"displayName": record["owner"]},
                "notes": {
                    "pageInfo": {"hasNextPage": False},
                    "edges": [{"cursor": str(place), "node": note} for place, note in enumerate(record["notes"])],
                },
            }
        }
    }


def _entities(record: Record) -> Any:
    users = {f"u{place}": {"name": note["who"]} for place, note in enumerate(record["notes"])}
    return {"result": record["num"], "entities": {
        "leaflets": {str(record["num"]): {"title": record["name"], "text": markup(record["lines"]),
                                          "noteIds": list(range(len(record["notes"])))}},
        "notes": {str(place): {"text": note["what"], "by": f"u{place}"} for place, note in enumerate(record["notes"])},
        "users": users}}  # fmt: skip


def _dotted(record: Record) -> Any:
    ticks = int((record["made"] - _EPOCH).total_seconds() * 1000)
    return {
        "d": {
            "__type": "Leaflet:#Model",
            "LeafletID": record["num"],
            "LeafletName": record["name"],
            "CreatedOn": f"/Date({ticks})/",
            "UnitPrice": record["price"] / 100,
            "Grade": record["grade"],
            "Paragraphs": {"results": [{"Body": line} for line in record["lines"]]},
            "OwnerName": record["owner"],
        }
    }


def _minified(record: Record) -> Any:
    return {
        "a": record["link"],
        "b": record["name"],
        "c": record["lines"],
        "d": {"e": record["owner"], "f": record["place"]},
        "g": [{"h": note["who"], "i": note["what"], "j": note["score"]} for note in record["notes"]],
        "k": True,
    }


def _asked(body: bytes) -> Any:
    return json.loads(body)


APART = (
    Application(
        name="firestore",
        make=leaflet,
        shell=_SHELL,
        path=lambda one: f"/leaflets/view/{one['key']}",
        api=((r"/v1/projects/x/databases/\(default\)/documents/leaflets/(\w+)",
             lambda store, ask, match: _typed(store.one("key", match[1]))),),
        script=_MAKE + """
const { fields } = await get('/v1/projects/x/databases/(default)/documents/leaflets/' + part[2]);
const cents = Number(fields.price.integerValue);
show(fields.name.stringValue, el('h1', { textContent: fields.name.stringValue }),
  el('p', {}, 'Price: ', el('b', { textContent: '$' + (cents / 100).toFixed(2) })),
  ...fields.lines.arrayValue.values.map((one) => el('p', { textContent: one.stringValue })),
  el('p', {}, 'Kept by ', el('i', { textContent: fields.owner?.stringValue ?? '' })));
""",
        shown=lambda one: [*_owned(one), f"${one['price'] / 100:.2f}", f"Kept by {one['owner']}"],
        list_key="values",
    ),
    Application(
        name="entries",
        make=leaflet,
        shell=_SHELL,
        path=lambda one: f"/info/{one['link']}",
        api=((r"/spaces/q1/entries", lambda store, ask, match: _joined(store.one("link", ask.query["fields.slug"]))),),
        script=_MAKE + """
const found = await get('/spaces/q1/entries?content_type=leaflet&include=2&fields.slug=' + part[1]);
const { fields } = found.items[0];
const byId = Object.fromEntries(found.includes.Entry.map((one) => [one.sys.id, one.fields]));
show(fields.heading + ' – Info', el('h1', { textContent: fields.heading }),
  ...fields.paragraphs.map((line) => el('p', { textContent: line })), el('h2', { textContent: 'Notes' }),
  ...fields.notes.map((link) => el('blockquote', {}, el('p', { textContent: byId[link.sys.id].what }),
    el('p', { textContent: '— ' + byId[link.sys.id].who }))));
""",
        shown=_noted,
        list_key="paragraphs",
    ),
    Application(
        name="positions",
        make=leaflet,
        shell=_SHELL,
        path=lambda one: f"/place/{one['link']}/data/{one['key']}",
        api=((r"/maps/preview",
             lambda store, ask, match: _positions(store.one("key", ask.query["pb"].removeprefix("!1s")))),),
        script=_MAKE + """
const address = '/maps/preview?authuser=0&hl=en&pb=' + encodeURIComponent('!1s' + part[3]);
const [[, [name, , owner]], lines, notes] = await get(address);
show(name, el('h1', { textContent: name }), el('h3', { textContent: 'By ' + owner }),
  el('div', {}, ...lines.map(([line]) => el('p', { textContent: line }))),
  el('div', {}, ...notes.map(([, who, [what], score]) => el('section', {},
    el('h4', { textContent: who + ' (' + score + '/10)' }),
    el('p', { textContent: what })))));
""",
        shown=_noted,
    ),
    Application(
        name="columns",
        make=leaflet,
        shell=_SHELL,
        path=lambda one: f"/dash?sheet={one['num']}",
        api=((r"/sheets/(\d+)/frame", lambda store, ask, match: _columns(store.one("num", match[1]))),),
        script=_MAKE + """
const { head, data, schema } = await get(`/sheets/${query.get('sheet')}/frame?fmt=columns`);
const table = el('table', {}, el('tr', {},
  ...schema.columns.map((one) => el('th', { textContent: one.toUpperCase() }))));
data.who.forEach((who, row) => table.append(el('tr', {},
  el('td', { textContent: who }), el('td', { textContent: data.what[row] }),
  el('td', { textContent: data.score[row].toFixed(1) }))));
show(head.label, el('h1', { textContent: head.label }),
  ...head.intro.split('\\n').map((one) => el('p', { textContent: one })),
  el('p', { textContent: head.owner ?? '' }), table);
""",
        shown=_noted,
        key="owner",
    ),
    Application(
        name="relay",
        make=leaflet,
        shell=_SHELL,
        path=lambda one: f"/n/{one['key']}",
        api=((r"/api/query", lambda store, ask, match: _relay(store.one("key", _asked(ask.body)["variables"]["id"]))),),
        script=_MAKE + """
const { data: { node } } = await post('/api/query', { id: 'LeafletScreenQuery', variables: { id: part[1], first: 20 },
  query: 'query LeafletScreenQuery($id: ID!, $first: Int) { node(id: $id) { ...Leaflet_node } }' });
show(node.title, el('h1', { textContent: node.title }), ...node.bodyText.map((one) => el('p', { textContent: one })),
  el('p', {}, 'Owner: ', node.owner.displayName ?? ''),
  el('ul', {}, ...node.notes.edges.map(({ node: one }) => el('li', {},
    el('b', { textContent: one.who }), el('p', { textContent: one.what })))));
""",
        shown=lambda one: [*_noted(one), f"Owner: {one['owner']}"],
        key="displayName",
        key_of="owner",
        list_key="edges",
        reads=r'"query":\s*"query ',
    ),
    Application(
        name="entities",
        make=leaflet,
        shell=_SHELL,
        path=lambda one: f"/x/{one['link']}.{one['num']}.html",
        api=((r"/store/normalized/(\d+)", lambda store, ask, match: _entities(store.one("num", match[1]))),),
        script=_MAKE + """
const { result, entities } = await get('/store/normalized/' + location.pathname.split('.')[1]);
const one = entities.leaflets[result];
show(one.title, el('h1', { textContent: one.title }),
  el('div', { innerHTML: one.text }), el('h2', { textContent: 'Remarks' }),
  ...one.noteIds.map((id) => entities.notes[id]).map((note) => el('div', {},
    el('strong', { textContent: entities.users[note.by].name }),
    el('p', { textContent: note.text }))));
""",
        shown=_noted,
    ),
    Application(
        name="dotted",
        make=leaflet,
        shell=_SHELL,
        path=lambda one: f"/Pages/Leaflet.aspx?LeafletID={one['num']}",
        api=((r"/Services/Leaflets\.svc/Get", lambda store, ask, match: _dotted(store.one("num", ask.query["id"]))),),
        script=_MAKE + """
const { d } = await get('/Services/Leaflets.svc/Get?id=' + query.get('LeafletID'));
const made = new Date(Number(d.CreatedOn.match(/\\d+/)[0]));
show(d.LeafletName, el('h1', { textContent: d.LeafletName }), el('table', {}, ...[
    ['Created', made.toISOString().slice(0, 10)], ['Price', '$' + d.UnitPrice.toFixed(2)], ['Grade', 'ABCD'[d.Grade]],
    ['Owner', d.OwnerName ?? '']].map(([name, value]) => el('tr', {},
    el('th', { textContent: name }), el('td', { textContent: value })))),
  ...d.Paragraphs.results.map((one) => el('p', { textContent: one.Body })));
""",
        shown=lambda one: [*_owned(one), f"{one['made']:%Y-%m-%d}", f"${one['price'] / 100:.2f}", one["owner"]],
        key="OwnerName",
        key_of="owner",
        list_key="results",
    ),
    Application(
        name="minified",
        make=leaflet,
        shell=_SHELL,
        path=lambda one: f"/{one['num']}/{one['link']}",
        api=((r"/a/b/c", lambda store, ask, match: {"p": _minified(store.one("link", ask.query["k"])), "s": 0}),),
        script=_MAKE + """
const { p } = await get('/a/b/c?v=3&k=' + part[1]);
show(p.b, el('h1', { textContent: p.b }), el('p', { className: 'x1' }, p.d.e, ' · ', p.d.f),
  ...p.c.map((one) => el('div', { className: 'x2' }, el('span', { textContent: one }))),
  ...p.g.map((one) => el('div', { className: 'x3' },
    el('div', { textContent: one.h }), el('div', { textContent: one.i }))));
""",
        shown=_noted,
    ),
    Application(
        name="batched",
        make=leaflet,
        shell=_SHELL,
        path=lambda one: f"/leaflet/{one['link']}",
        api=((r"/trpc/leaflet\.bySlug,leaflet\.notes", lambda store, ask, match: [
            {"result": {"data": {"json": {"title": one["name"], "lines": one["lines"], "owner": one["owner"]}}}}
            | {"notes": None} if not place else {"result": {"data": {"json": one["notes"]}}}
            for one in [store.one("link", json.loads(ask.query["input"])["0"]["json"]["slug"])] for place in (0, 1)
        ]),),
        script=_MAKE + """
const asked = { 0: { json: { slug: part[1] } }, 1: { json: { slug: part[1], limit: 20 } } };
const input = encodeURIComponent(JSON.stringify(asked));
const [first, second] = await get('/trpc/leaflet.bySlug,leaflet.notes?batch=1&input=' + input);
const one = first.result.data.json;
show(one.title, el('h1', { textContent: one.title }), el('p', { textContent: 'From the hand of ' + (one.owner ?? '') }),
  el('pre', { hidden: true }), ...one.lines.map((line) => el('p', { textContent: line })),
  el('ol', {}, ...second.result.data.json.map((note) => el('li', { textContent: note.who + ': ' + note.what }))));
""",
        shown=_noted,
        key="owner",
        list_key="lines",
    ),
    Application(
        name="indexed",
        make=leaflet,
        shell=_SHELL,
        shown=_owned,
        path=lambda one: f"/find?query={quote(one['name'])}&hit={one['key']}",
        api=((r"/indexes/leaflets/query", lambda store, ask, match: {
            "hits": [
                {"objectID": one["key"], "name": one["name"], "content": one["lines"], "owner": one["owner"],
                 "_highlightResult": {"name": {"value": f"<em>{one['name']}</em>", "matchLevel": "full"}}}
                for one in [store.one("key", _asked(ask.body)["filters"].removeprefix("objectID:"))]
            ],
            "nbHits": 1, "page": 0, "processingTimeMS": 2, "query": _asked(ask.body)["query"],
        }),),
        script=_MAKE + """
const found = await post('/indexes/leaflets/query', {
  query: query.get('query'), filters: 'objectID:' + query.get('hit'), hitsPerPage: 20, page: 0 });
const [one] = found.hits;
show(one.name, el('h1', { textContent: one.name }),
  el('p', { textContent: found.nbHits + ' leaflet, kept by ' + (one.owner ?? '') }),
  ...one.content.map((line) => el('p', { textContent: line })));
""",
        key="owner",
        list_key="content",
        reads=r'"hitsPerPage"',
    ),
)  # fmt: skip
