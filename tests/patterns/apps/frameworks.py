"""Applications on frameworks, whose pages have data routes or state of their own, and those that want credentials."""

from __future__ import annotations

import json
from typing import Any

from tests.patterns.apps.articles import article
from tests.patterns.apps.model import DIV, NAV, Application, Record, markup, texts
from tests.patterns.apps.words import iso
from tests.site.answers import Ask

_BUILD = "Zk3vQ8sXw1"
_TOKEN = "anonymous-5f2c9e"
_NEXT_DATA: dict[str, Any] = {
    "props": {"pageProps": {}},
    "page": "/post/[slug]",
    "query": {},
    "buildId": _BUILD,
    "isFallback": True,
}
_NEXT = (
    "<div id=__next><div id=root></div></div><script id=__NEXT_DATA__ type=application/json>"
    + json.dumps(_NEXT_DATA).translate({ord("{"): "{{", ord("}"): "}}"})
    + "</script>"
)
_NUXT = "<div id=__nuxt><div id=root></div></div>"


def devalued(answer: Any) -> list[Any]:
    """Write JSON as devalue does: a list, in which every value is told by its place."""
    out: list[Any] = []

    def put(value: Any) -> int:
        place = len(out)
        out.append(None)
        if isinstance(value, dict):
            out[place] = {key: put(one) for key, one in value.items()}  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType] - JSON
        elif isinstance(value, list):
            out[place] = [put(one) for one in value]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType] - JSON
        else:
            out[place] = value
        return place

    put(answer)
    return out


_REVIVE = """
const seen = [];
const revive = (place) => { if (place in seen) return seen[place]; const value = answer[place];
  if (Array.isArray(value)) {
    const made = seen[place] = []; for (const one of value) made.push(revive(one)); return made; }
  if (value && typeof value === 'object') { const made = seen[place] = {};
    for (const key in value) made[key] = revive(value[key]); return made; }
  return value; };
return revive(0);
"""


def _note(record: Record) -> Any:
    return {
        **{key: record[key] for key in ("id", "slug", "title", "body", "author", "tags")},
        "date": iso(record["when"]),
    }


def _with_header(header: str, value: str, ask: Ask, answer: Any) -> Any:
    if ask.headers.get(header) != value:
        raise PermissionError(f"{header} is missing")
    return answer


FRAMEWORKS = (
    Application(
        name="nextdoor",
        make=article,
        path=lambda one: f"/post/{one['slug']}",
        api=(
            (
                rf"/_next/data/{_BUILD}/post/([\w-]+)\.json",
                lambda store, ask, match: {"pageProps": {"post": _note(store.one("slug", match[1]))}, "__N_SSG": True},
            ),
        ),
        shown=lambda one: texts(one, "title", "author", "body"),
        key="author",
        list_key="body",
        shell=_NEXT,
        script="""
const build = JSON.parse(document.getElementById('__NEXT_DATA__').textContent).buildId;
const { pageProps: { post } } = await get(`/_next/data/${build}/post/${part[1]}.json?slug=${part[1]}`);
document.title = post.title;
root.innerHTML = `<main><article><h1>${h(post.title)}</h1><p>${h(post.author)}</p>
  <time>${new Date(post.date).toLocaleDateString('en-US',
    { month: 'long', day: 'numeric', year: 'numeric', timeZone: 'UTC' })}
  </time>${post.body.map((text) => `<p>${h(text)}</p>`).join('')}</article></main>`;
""",
    ),
    Application(
        name="nuxtnotes",
        make=article,
        path=lambda one: f"/notes/{one['slug']}",
        api=(
            (
                r"/notes/([\w-]+)/_payload\.json",
                lambda store, ask, match: {
                    "data": {f"note-{match[1]}": _note(store.one("slug", match[1]))},
                    "prerenderedAt": 1_700_000_000_000,
                },
            ),
        ),
        encode=devalued,
        decode=_REVIVE,
        shown=lambda one: texts(one, "title", "author", "body", "tags"),
        key="author",
        list_key="body",
        shell=_NUXT,
        script="""
const { data } = await get(location.pathname + '/_payload.json');
const note = data['note-' + part[1]];
document.title = note.title;
root.innerHTML = `<main><h1>${h(note.title)}</h1><p><i>${h(note.author)}</i></p>
  ${note.body.map((text) => `<p>${h(text)}</p>`).join('')}
  <ul>${note.tags.map((tag) => `<li>${h(tag)}</li>`).join('')}</ul></main>`;
""",
    ),
    Application(
        name="remixed",
        make=article,
        path=lambda one: f"/guides/{one['slug']}",
        api=(
            (
                r"/guides/([\w-]+)",
                lambda store, ask, match: (
                    {"guide": _note(store.one("slug", match[1])), "user": None} if "_data" in ask.query else None
                ),
            ),
        ),
        shown=lambda one: texts(one, "title", "author", "body"),
        key="author",
        list_key="body",
        shell=NAV,
        script="""
const { guide } = await get(location.pathname + '?_data=routes%2Fguides.%24slug');
document.title = guide.title + ' · Guides';
root.innerHTML = `<article><header><h1>${h(guide.title)}</h1></header>
  ${guide.body.map((text) => `<p>${h(text)}</p>`).join('')}
  <footer><p>Written by ${h(guide.author)}</p></footer></article>`;
""",
    ),
    Application(
        name="stateful",
        make=article,
        path=lambda one: f"/essay/{one['id']}",
        api=(),
        state=lambda one: {"route": "essay", "essay": _note(one), "session": {"user": None}},
        shown=lambda one: texts(one, "title", "author", "body"),
        key="author",
        list_key="",
        shell=DIV,
        script="""
const { essay } = await adapt(window.__INITIAL_STATE__);
document.title = essay.title;
root.innerHTML = `<main><h1>${h(essay.title)}</h1><h2>${h(essay.author)}</h2>
  ${essay.body.map((text) => `<p>${h(text)}</p>`).join('')}</main>`;
""",
    ),
    Application(
        name="bearer",
        make=article,
        path=lambda one: f"/brief/{one['id']}",
        api=(
            (
                r"/auth/anonymous",
                lambda store, ask, match: {"accessToken": _TOKEN, "tokenType": "Bearer", "expiresIn": 600},
            ),
            (
                r"/v1/briefs/(\d+)",
                lambda store, ask, match: _with_header(
                    "authorization", f"Bearer {_TOKEN}", ask, {"brief": _note(store.one("id", match[1]))}
                ),
            ),
        ),
        writes=1,
        shown=lambda one: texts(one, "title", "author", "body"),
        key="author",
        list_key="body",
        script="""
const { accessToken } = await post('/auth/anonymous', { client: 'web' });
const { brief } = await get('/v1/briefs/' + part[1], { headers: { Authorization: 'Bearer ' + accessToken } });
document.title = brief.title;
root.innerHTML = `<article><h1>${h(brief.title)}</h1><p>${h(brief.author)}</p>
  ${brief.body.map((text) => `<p>${h(text)}</p>`).join('')}</article>`;
""",
    ),
    Application(
        name="headers",
        make=article,
        path=lambda one: f"/report/{one['id']}",
        api=(
            (
                r"/reports/v3/(\d+)",
                lambda store, ask, match: _with_header(
                    "x-client-name",
                    "web-reader",
                    ask,
                    {"report": {**_note(store.one("id", match[1])), "html": markup(store.one("id", match[1])["body"])}},
                ),
            ),
        ),
        shown=lambda one: texts(one, "title", "author", "body"),
        key="author",
        client="xhr",
        script="""
const { report } = await get('/reports/v3/' + part[1], { headers: { 'X-Client-Name': 'web-reader' } });
document.title = report.title;
root.innerHTML = `<h1>${h(report.title)}</h1><address>${h(report.author)}</address><section>${report.html}</section>`;
""",
    ),
)
