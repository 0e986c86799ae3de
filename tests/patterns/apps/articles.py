"""Applications that publish articles: by ids, slugs, dates and languages, as HTML, paragraphs or blocks."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from tests.patterns.apps.model import DIV, NAV, Application, Record, markup, texts
from tests.patterns.apps.words import Prose, iso, long_date, slug_of

_US_DATE = "toLocaleDateString('en-US', { month: 'long', day: 'numeric', year: 'numeric', timeZone: 'UTC' })"


def article(number: int, fixed: Prose, free: Prose) -> Record:
    """Make an article."""
    title, when = fixed.title(), fixed.moment()
    return {
        "id": 1040 + 7 * number,
        "title": title,
        "slug": f"{slug_of(title)}-{number}",
        "when": when,
        "body": free.paragraphs(4, 6),
        "author": free.name(),
        "summary": free.sentence(),
        "section": slug_of(fixed.label()),
        "tags": [free.label() for _ in range(free.number(2, 4))],
    }


def translated(number: int, fixed: Prose, free: Prose) -> Record:
    """Make an article in one of three languages."""
    language = ("en", "de", "ja")[number % 3]
    again = [Prose(f"locales/{number}/{kind.token()}", language) for kind in (fixed, free)]
    made = article(number, *again)
    more = again[1].paragraphs(4, 4) if language == "ja" else []
    return made | {"language": language, "body": made["body"] + more}


def blocks(number: int, fixed: Prose, free: Prose) -> Record:
    """Make an article of blocks: headings, paragraphs and lists."""
    made = article(number, fixed, free)
    content: list[Record] = []
    for paragraph in made["body"]:
        content += [{"type": "heading", "text": free.label().title()}, {"type": "paragraph", "text": paragraph}]
    content.append({"type": "list", "items": [free.sentence() for _ in range(free.number(2, 5))]})
    return made | {"blocks": content}


def wiki(number: int, fixed: Prose, free: Prose) -> Record:
    """Make an article of an encyclopedia: sections and a box of facts."""
    name = f"{fixed.place()} {fixed.noun().title()} {number + 2}"
    sections = [(head, free.paragraphs(1, 2)) for head in ("History", "Building", "Reception")]
    lead = free.paragraph()
    facts = {"Opened": str(free.number(1800, 2000)), "Height": f"{free.number(10, 90)} m", "Owner": free.name()}
    rows = "".join(f"<tr><th>{key}</th><td>{value}</td></tr>" for key, value in facts.items())
    body = "".join(f"<h2>{head}</h2>{markup(said)}" for head, said in sections)
    return {
        "title": name,
        "lead": lead,
        "sections": [[head, *said] for head, said in sections],
        "facts": list(facts.values()),
        "html": f'<div class="mw-parser-output"><table class="infobox">{rows}</table><p>{lead}</p>{body}</div>',
    }


def _story(record: Record) -> Any:
    return {
        "data": {
            "type": "stories",
            "id": str(record["id"]),
            "attributes": {
                **{key: record[key] for key in ("title", "slug", "summary", "author")},
                "paragraphs": record["body"],
                "publishedAt": iso(record["when"]),
                "wordCount": sum(len(one.split()) for one in record["body"]),
            },
            "links": {"self": f"/api/stories/{record['id']}"},
        }
    }


def _post(record: Record) -> Any:
    return {
        "id": record["id"],
        "date_gmt": iso(record["when"]).rstrip("Z"),
        "slug": record["slug"],
        "type": "post",
        "title": {"rendered": record["title"]},
        "excerpt": {"rendered": f"<p>{record['summary']}</p>\n", "protected": False},
        "content": {"rendered": markup(record["body"]) + "\n", "protected": False},
        "_embedded": {"author": [{"id": 3, "name": record["author"], "slug": slug_of(record["author"])}]},
    }


def _dated(record: Record) -> str:
    return f"/{record['when']:%Y/%m/%d}/{record['slug']}"


ARTICLES = (
    Application(
        name="stories",
        make=article,
        path=lambda one: f"/story/{one['id']}",
        api=((r"/api/stories/(\d+)", lambda store, ask, match: _story(store.one("id", match[1]))),),
        shown=lambda one: texts(one, "title", "summary", "author", "body"),
        key="summary",
        script=f"""
const one = (await get('/api/stories/' + part[1])).data.attributes;
document.title = one.title + ' | Stories';
root.innerHTML = `<article><h1>${{h(one.title)}}</h1><p class="lead">${{h(one.summary)}}</p>
  <div class="byline">By <a rel="author" href="/authors">${{h(one.author)}}</a>
  <time datetime="${{one.publishedAt}}">${{new Date(one.publishedAt).{_US_DATE}}}</time></div>
  ${{one.paragraphs.map((text) => `<p>${{h(text)}}</p>`).join('')}}</article>`;
""",
    ),
    Application(
        name="gazette",
        make=article,
        path=_dated,
        api=(
            (
                r"/content/(\d+)/(\d+)/(\d+)/([\w-]+)\.json",
                lambda store, ask, match: (
                    {key: one for key, one in store.one("slug", match[4]).items() if key not in ("when", "tags")}
                    | {"topics": store.one("slug", match[4])["tags"]}
                ),
            ),
        ),
        shown=lambda one: texts(one, "title", "summary", "body", "tags"),
        key="summary",
        list_key="body",
        shell=NAV,
        client="xhr",
        script="""
const one = await get('/content' + location.pathname + '.json');
document.title = one.title;
const make = (name, text, place) => { const made = document.createElement(name); made.textContent = text;
  place.append(made); return made; };
root.textContent = '';
make('h1', one.title, root);
make('h3', one.summary || '', root);
for (const text of one.body) make('p', text, root);
const list = make('ul', '', root);
for (const text of one.topics) make('li', text, list);
""",
    ),
    Application(
        name="press",
        make=article,
        path=lambda one: f"/{one['slug']}/",
        api=(
            (
                r"/wp-json/wp/v2/posts",
                lambda store, ask, match: [_post(one) for one in store.some("slug", ask.query["slug"])],
            ),
        ),
        shown=lambda one: texts(one, "title", "author", "body"),
        key="name",
        key_of="author",
        shell=NAV,
        script=f"""
const [one] = await get('/wp-json/wp/v2/posts?slug=' + encodeURIComponent(part[0]) + '&_embed=1');
document.title = one.title.rendered + ' - Press';
root.innerHTML = `<article class="post type-post"><header class="entry-header">
  <h1 class="entry-title">${{one.title.rendered}}</h1>
  <span class="posted-on">${{new Date(one.date_gmt + 'Z').{_US_DATE}}}</span>
  <span class="byline"> by ${{h(one._embedded.author[0].name)}}</span></header>
  <div class="entry-content">${{one.content.rendered}}</div></article>`;
""",
    ),
    Application(
        name="encyclopedia",
        make=wiki,
        path=lambda one: f"/wiki/{quote(one['title'].replace(' ', '_'))}",
        api=(
            (
                r"/w/api\.php",
                lambda store, ask, match: {
                    "parse": {
                        "title": store.one("title", ask.query["page"].replace("_", " "))["title"],
                        "pageid": 77,
                        "text": store.one("title", ask.query["page"].replace("_", " "))["html"],
                        "sections": [{"toclevel": 1, "line": head} for head in ("History", "Building", "Reception")],
                    }
                },
            ),
        ),
        shown=lambda one: texts(one, "title", "lead", "sections", "facts"),
        script="""
const page = encodeURIComponent(part[1]);
const { parse } = await get('/w/api.php?action=parse&format=json&formatversion=2&prop=text%7Csections&page=' + page);
document.title = parse.title + ' - Encyclopedia';
root.innerHTML = `<h1 id="firstHeading">${h(parse.title)}</h1><div id="bodyContent">${parse.text}</div>`;
""",
    ),
    Application(
        name="magazin",
        make=blocks,
        language="de",
        path=lambda one: f"/artikel/{one['slug'].rpartition('-')[0]}-{one['id']}",
        api=(
            (
                r"/api/artikel/(\d+)",
                lambda store, ask, match: {
                    "artikel": {key: store.one("id", match[1])[key] for key in ("id", "title", "summary", "blocks")}
                    | {"autor": {"name": store.one("id", match[1])["author"]}}
                    | {"datum": iso(store.one("id", match[1])["when"])},
                    "status": "ok",
                },
            ),
        ),
        shown=lambda one: [*texts(one, "title", "summary", "author", "body"), long_date(one["when"], "de")],
        key="summary",
        list_key="blocks",
        script="""
const { artikel } = await get('/api/artikel/' + part[1].split('-').pop());
document.title = artikel.title + ' – Magazin';
const drawn = { heading: (one) => `<h2>${h(one.text)}</h2>`, paragraph: (one) => `<p>${h(one.text)}</p>`,
  list: (one) => `<ul>${one.items.map((item) => `<li>${h(item)}</li>`).join('')}</ul>` };
const datum = new Date(artikel.datum).toLocaleDateString('de-DE',
  { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
root.innerHTML = `<article><h1>${h(artikel.title)}</h1><p><strong>${h(artikel.summary)}</strong></p>
  <p>Von ${h(artikel.autor.name)}, ${datum}</p>${artikel.blocks.map((one) => drawn[one.type](one)).join('')}</article>`;
""",
    ),
    Application(
        name="handbook",
        make=blocks,
        path=lambda one: f"/docs/{one['section']}-{one['id']}/{one['slug']}",
        api=(
            (
                r"/docs-data/([\w-]+)/([\w-]+)\.json",
                lambda store, ask, match: {
                    "meta": {"title": store.one("slug", match[2])["title"], "section": match[1]},
                    "page": store.one("slug", match[2])["blocks"],
                    "updated": f"{store.one('slug', match[2])['when']:%Y-%m-%d}",
                },
            ),
        ),
        shown=lambda one: [*texts(one, "title", "body"), f"Last updated {one['when']:%Y-%m-%d}"],
        list_key="page",
        shell=NAV,
        script="""
const one = await get(`/docs-data/${part[1]}/${part[2]}.json`);
document.title = `${one.meta.title} · Handbook`;
root.innerHTML = '<h1></h1>';
root.firstChild.textContent = one.meta.title;
for (const block of one.page) {
  if (block.type === 'heading') root.insertAdjacentHTML('beforeend', `<h2>${h(block.text)}</h2>`);
  else if (block.type === 'paragraph') root.insertAdjacentHTML('beforeend', `<p>${h(block.text)}</p>`);
  else root.insertAdjacentHTML('beforeend', `<ol>${block.items.map((item) => `<li>${h(item)}</li>`).join('')}</ol>`);
}
root.insertAdjacentHTML('beforeend', `<p>Last updated ${one.updated}</p>`);
""",
    ),
    Application(
        name="locales",
        make=translated,
        path=lambda one: f"/{one['language']}/news/{one['id']}",
        api=(
            (
                r"/api/news/(\d+)",
                lambda store, ask, match: {
                    "lang": ask.query["lang"],
                    "item": {key: store.one("id", match[1])[key] for key in ("id", "title", "body", "author", "tags")}
                    | {"ts": int(store.one("id", match[1])["when"].timestamp())},
                },
            ),
        ),
        shown=lambda one: [*texts(one, "title", "body", "author"), long_date(one["when"], one["language"])],
        key="author",
        list_key="body",
        script="""
const { item, lang } = await get(`/api/news/${part[2]}?lang=${part[0]}`);
document.documentElement.lang = lang;
document.title = item.title;
const names = { en: 'en-US', de: 'de-DE', ja: 'ja-JP' };
const day = new Date(item.ts * 1000).toLocaleDateString(names[lang],
  { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
root.innerHTML = `<article lang="${lang}"><h1>${h(item.title)}</h1><p>${day}</p>
  <p class="meta">${h(item.author)}</p>${item.body.map((text) => `<p>${h(text)}</p>`).join('')}
  <p class="tags">${item.tags.map((tag) => `<a href="/tags">${h(tag)}</a>`).join(' ')}</p></article>`;
""",
    ),
    Application(
        name="journal",
        make=article,
        path=lambda one: f"/read/{one['slug']}",
        api=(
            (
                r"/api/resolve",
                lambda store, ask, match: {"kind": "entry", "ref": f"e{store.one('slug', ask.query['slug'])['id']}"},
            ),
            (
                r"/api/entries/e(\d+)",
                lambda store, ask, match: {
                    "entry": {"heading": store.one("id", match[1])["title"], "text": store.one("id", match[1])["body"]},
                    "authorId": int(match[1]) * 3,
                },
            ),
            (
                r"/api/authors/(\d+)",
                lambda store, ask, match: {
                    "author": store.one("id", int(match[1]) // 3)["author"],
                    "bio": store.one("id", int(match[1]) // 3)["summary"],
                },
            ),
        ),
        shown=lambda one: texts(one, "title", "body", "author"),
        key="author",
        list_key="text",
        shell=DIV,
        script="""
const { ref } = await get('/api/resolve?slug=' + part[1]);
const { entry, authorId } = await get('/api/entries/' + ref);
const { author, bio } = await get('/api/authors/' + authorId);
document.title = entry.heading + ' — Journal';
root.innerHTML = `<main><article><h1>${h(entry.heading)}</h1>${entry.text.map((text) => `<p>${h(text)}</p>`).join('')}
  </article><section><h2>About the author</h2><p><b>${h(author)}</b></p><p>${h(bio)}</p></section></main>`;
""",
    ),
)
