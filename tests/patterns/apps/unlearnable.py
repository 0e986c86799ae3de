"""Applications of which nothing may be learned, or of which a part never may be asked again."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from typing import Any

from tests.patterns.apps.articles import article
from tests.patterns.apps.model import NAV, Application, Record, Store, texts
from tests.patterns.apps.words import Prose
from tests.site.answers import Ask, Reply

_DRAW = """
document.title = one.title;
root.innerHTML = `<article><h1>${h(one.title)}</h1>${one.body.map((text) => `<p>${h(text)}</p>`).join('')}</article>`;
"""
_turns = itertools.count()
_used: set[str] = set()


def _shown(record: Record) -> list[str]:
    return texts(record, "title", "body")


def _data(record: Record) -> Any:
    return {key: record[key] for key in ("id", "title", "body", "author")}


def _signature(record: Record) -> str:
    return hashlib.sha256(f"secret/{record['id']}".encode()).hexdigest()[:40]


def _signed(store: Store, ask: Ask, match: re.Match[str]) -> Any:
    record = store.one("id", match[1])
    if ask.query["sig"] != _signature(record):
        raise PermissionError("the signature is wrong")
    return _data(record)


def _ticket(store: Store, ask: Ask, match: re.Match[str]) -> Any:
    return {"ticket": Prose(f"ticket/{next(_turns)}").token(24)}


def _once(store: Store, ask: Ask, match: re.Match[str]) -> Any:
    if match[1] in _used:
        raise PermissionError("the ticket is used up")
    _used.add(match[1])
    return _data(store.one("id", ask.query["doc"]))


def _words(store: Store, ask: Ask, match: re.Match[str]) -> Any:
    """Answer with a script that has the words of a page."""
    body = f"window.WORDS = {json.dumps(_data(store.one('id', match[1])))};"
    return Reply(200, body.encode(), (("Content-Type", "text/javascript"), ("Cache-Control", "no-store")))


UNLEARNABLE = (
    Application(
        name="foreign",
        make=article,
        path=lambda one: f"/essay/{one['id']}",
        api=(
            (r"/assets/words-(\d+)\.js", _words),
            (r"/api/stats/(\d+)", lambda store, ask, match: {"id": int(match[1]), "views": 4_711, "related": []}),
        ),
        shown=_shown,
        script=f"""
await get('/api/stats/' + part[1]);
await new Promise((done) => {{ const made = document.createElement('script'); made.onload = done;
  made.src = BASE + `/assets/words-${{part[1]}}.js`; document.head.append(made); }});
const one = window.WORDS;{_DRAW}""",
    ),
    Application(
        name="signed",
        make=article,
        path=lambda one: f"/file/{one['id']}",
        api=((r"/cdn/doc/(\d+)", _signed),),
        token=_signature,
        shown=_shown,
        shell=NAV,
        script=f"""
const sig = document.querySelector('meta[name=api-token]').content;
const one = await get(`/cdn/doc/${{part[1]}}?expires=1999999999&sig=${{sig}}`);{_DRAW}""",
    ),
    Application(
        name="tickets",
        make=article,
        path=lambda one: f"/vault/{one['id']}",
        api=((r"/api/ticket", _ticket), (r"/api/once/(\w+)", _once)),
        shown=_shown,
        script=f"""
const {{ ticket }} = await get('/api/ticket');
const one = await get(`/api/once/${{ticket}}?doc=${{part[1]}}`);{_DRAW}""",
    ),
    Application(
        name="opening",
        make=article,
        path=lambda one: f"/parcel/{one['id']}",
        api=((r"/api/parcel/(\d+)/open", lambda store, ask, match: _data(store.one("id", match[1]))),),
        writes=1,
        shown=_shown,
        script=f"""
const one = await post(`/api/parcel/${{part[1]}}/open`, {{ by: 'reader' }});{_DRAW}""",
    ),
    Application(
        name="counted",
        make=article,
        path=lambda one: f"/leaf/{one['id']}",
        api=(
            (r"/api/leaf/(\d+)", lambda store, ask, match: _data(store.one("id", match[1]))),
            (r"/api/leaf/(\d+)/(?:views|draft|lock)", lambda store, ask, match: {"ok": True}),
        ),
        writes=3,
        shown=_shown,
        script=f"""
const one = await get('/api/leaf/' + part[1]);
const write = (method, what) => fetch(`${{BASE}}/api/leaf/${{part[1]}}/${{what}}`, {{ method, body: '{{"n":1}}' }});
await Promise.all([write('POST', 'views'), write('PUT', 'draft'), write('DELETE', 'lock')]);{_DRAW}""",
    ),
)
